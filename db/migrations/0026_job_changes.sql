-- What a user may change of a job that runs; of those that are there what their documents say.
ALTER TABLE jobs ADD COLUMN weight REAL NOT NULL DEFAULT 1 CHECK (weight > 0);
ALTER TABLE jobs ADD COLUMN max_parallel_trials INTEGER NOT NULL DEFAULT 1000 CHECK (max_parallel_trials > 0);
ALTER TABLE jobs ADD COLUMN max_runtime_ms INTEGER CHECK (max_runtime_ms > 0);
ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1) AND (held = 0 OR state = 'running'));
ALTER TABLE jobs ADD COLUMN share_start INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET weight = coalesce(json_extract(spec_json, '$.weight'), 1),
                max_parallel_trials = coalesce(json_extract(spec_json, '$.limits.max_parallel_trials'), 1000),
                -- Whole milliseconds, rounded up.
                max_runtime_ms = CAST(1000 * json_extract(spec_json, '$.limits.max_runtime_seconds') AS INTEGER)
                  + (1000 * json_extract(spec_json, '$.limits.max_runtime_seconds')
                     > CAST(1000 * json_extract(spec_json, '$.limits.max_runtime_seconds') AS INTEGER));
-- Those that run go on level with each other: what each has had of the workers by its weight, in thousandths of a millisecond.
WITH had AS (
  SELECT jobs.id AS job,
         CAST(1000 * coalesce(sum((assigned_ms + attempts_in_all) * (1 + json_array_length(peers))), 0) / weight AS INTEGER)
           AS share
    FROM jobs LEFT JOIN trials ON trials.job = jobs.id
   WHERE jobs.state = 'running' GROUP BY jobs.id)
UPDATE jobs SET share_start = (SELECT max(share) FROM had) - (SELECT share FROM had WHERE had.job = jobs.id)
 WHERE state = 'running';
