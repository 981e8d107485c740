-- What a user writes beside a job or a trial. The core knows nothing of it, and writes the rows without these columns.
ALTER TABLE jobs ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN note_at INTEGER;
ALTER TABLE trials ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN note_at INTEGER;
CREATE INDEX trials_with_note ON trials (job, number) WHERE note <> '';

-- The values of a job that were better than all before them, at any rung: some a job, however many trials it has.
CREATE TABLE bests (
  job INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  resource INTEGER NOT NULL CHECK (resource >= 0),
  value REAL NOT NULL,
  at INTEGER NOT NULL,

  PRIMARY KEY (job, trial, resource),
  FOREIGN KEY (job, trial) REFERENCES trials (job, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- In the order in which they came. 9e999 is infinity.
INSERT INTO bests (job, trial, resource, value, at)
  SELECT job, trial, resource, value, at FROM (
    SELECT d.job, d.trial, d.resource, d.value, d.at, d.sequence,
           CASE json_extract(j.spec_json, '$.objective.goal') WHEN 'maximize' THEN -d.value ELSE d.value END AS cost,
           min(CASE json_extract(j.spec_json, '$.objective.goal') WHEN 'maximize' THEN -d.value ELSE d.value END) OVER (
             PARTITION BY d.job ORDER BY d.sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best
    FROM decisions d JOIN jobs j ON j.id = d.job
    WHERE d.value IS NOT NULL AND d.violation = 0 AND abs(d.value) < 9e999
  ) WHERE best IS NULL OR cost < best;
