-- The value of the model that a trial has, the best of its rungs, and the resource that both are of. NULL, 0: it keeps the last.
ALTER TABLE trials ADD COLUMN kept_value REAL;
ALTER TABLE trials ADD COLUMN kept_resource INTEGER NOT NULL DEFAULT 0 CHECK (kept_resource >= 0);
