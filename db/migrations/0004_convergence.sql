-- What the model of a job's sampler still expects of the next trial, and how many suggestions in a row it expected less of
-- than the job's limit on convergence asks for.
ALTER TABLE jobs ADD COLUMN expected_improvement REAL CHECK (expected_improvement >= 0);
ALTER TABLE jobs ADD COLUMN suggestions_below INTEGER NOT NULL DEFAULT 0 CHECK (suggestions_below >= 0);
