-- The resource that the best value of a trial's latest training is of (0: not told).
ALTER TABLE trials ADD COLUMN best_resource INTEGER NOT NULL DEFAULT 0 CHECK (best_resource >= 0);
-- What of a trial was changed as it went on from a rung.
ALTER TABLE decisions ADD COLUMN note TEXT NOT NULL DEFAULT '';
