-- What happened to jobs, trials and workers: the log, append-only. Kinds are not listed here: each room that writes to the log
-- has its own, and a reader passes on those that it does not know. Rows of a deleted job stay: they tell of it.
CREATE TABLE events (
  id INTEGER PRIMARY KEY CHECK (id > 0),
  kind TEXT NOT NULL CHECK (kind <> ''),
  job INTEGER,
  trial INTEGER,
  worker TEXT NOT NULL,
  resource INTEGER,
  value REAL,
  exit_class TEXT,
  message TEXT NOT NULL,
  at INTEGER NOT NULL,

  CONSTRAINT a_trial_is_of_a_job CHECK (trial IS NULL OR job IS NOT NULL)
) STRICT;

CREATE INDEX events_by_job ON events (job, id) WHERE job IS NOT NULL;
