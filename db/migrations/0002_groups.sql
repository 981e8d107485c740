-- Distributed trials: the workers of ranks 1, 2, ... beside `worker`, which is rank 0; a JSON list of ids.
ALTER TABLE trials ADD COLUMN peers TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(peers));
