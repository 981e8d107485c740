-- Constraints: how far a result is outside of them; 0: it meets them all. Several objectives: the values of those after
-- the first, a JSON list in which what is no finite number is "nan", "inf" or "-inf".
ALTER TABLE trials ADD COLUMN violation REAL NOT NULL DEFAULT 0 CHECK (violation >= 0);
ALTER TABLE trials ADD COLUMN more_objectives TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(more_objectives));
ALTER TABLE decisions ADD COLUMN violation REAL NOT NULL DEFAULT 0 CHECK (violation >= 0);
ALTER TABLE decisions ADD COLUMN more_values TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(more_values));
