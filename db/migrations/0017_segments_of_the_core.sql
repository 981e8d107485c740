-- Segments are written by the core, as all other rows are.
DROP TRIGGER first_segment_began;
DROP TRIGGER segment_ended;
DROP TRIGGER segment_began;
