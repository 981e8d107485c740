-- What rules found in trials: the first time of each rule in each trial.

CREATE TABLE findings (
  job INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  rule TEXT NOT NULL CHECK (rule <> ''),
  sequence INTEGER NOT NULL CHECK (sequence >= 0),
  tensor TEXT NOT NULL,
  step INTEGER NOT NULL,
  value REAL,
  value_is_nan INTEGER NOT NULL CHECK (value_is_nan IN (0, 1)),
  threshold REAL,
  threshold_is_nan INTEGER NOT NULL CHECK (threshold_is_nan IN (0, 1)),
  message TEXT NOT NULL,
  remedy TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('note', 'stop_trial', 'stop_job')),
  at INTEGER NOT NULL,

  PRIMARY KEY (job, trial, rule),
  FOREIGN KEY (job, trial) REFERENCES trials (job, number) ON DELETE CASCADE,
  CONSTRAINT value_is_nan_or_a_value CHECK (value_is_nan = 0 OR value IS NULL),
  CONSTRAINT threshold_is_nan_or_a_value CHECK (threshold_is_nan = 0 OR threshold IS NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX findings_by_sequence ON findings (job, sequence);

-- One more exit class. A CHECK is changed in its text: no row is written, and every row that met it before does so now.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''stalled'')', '''stalled'', ''stopped_by_rule'')')
  WHERE type = 'table' AND name IN ('jobs', 'trials');
PRAGMA writable_schema = RESET;
