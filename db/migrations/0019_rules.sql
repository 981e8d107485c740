-- How far each rule of the job's debugger is in the trial: JSON, as the worker said it.
ALTER TABLE trials ADD COLUMN rules TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(rules));
