-- Two facts get a column of their own.
--   deleted         a job whose rows are still to go; until now its name began with "/", which no name of a job does
--   starts_no_more  those of its trials that are there go on; until now it was running and had a reason
-- A name is free again once its job is deleted: it is unique among the others. That is no change that a table takes in place,
-- so it is made anew, and takes the place of the old one under the same rowids. Keys are not checked meanwhile (migrate.cpp).

CREATE TABLE jobs_anew (
  -- AUTOINCREMENT: sqlite_sequence remembers the highest id ever given, so that a deleted job's id is not used again.
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  name TEXT NOT NULL CHECK (name <> ''),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  spec_json TEXT NOT NULL CHECK (json_valid(spec_json)),
  state TEXT NOT NULL CHECK (state IN ('running', 'stopping', 'completed', 'stopped', 'failed')),
  reason TEXT NOT NULL,
  starts_no_more INTEGER NOT NULL CHECK (starts_no_more IN (0, 1)),
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  trials_created INTEGER NOT NULL CHECK (trials_created >= 0),
  trials_completed INTEGER NOT NULL CHECK (trials_completed >= 0),
  trials_stopped INTEGER NOT NULL CHECK (trials_stopped >= 0),
  trials_failed INTEGER NOT NULL CHECK (trials_failed >= 0),
  trials_cancelled INTEGER NOT NULL CHECK (trials_cancelled >= 0),
  best_trial INTEGER CHECK (best_trial >= 0),
  best_resource INTEGER CHECK (best_resource >= 0),
  best_value REAL,
  best_anywhere_trial INTEGER CHECK (best_anywhere_trial >= 0),
  best_anywhere_resource INTEGER CHECK (best_anywhere_resource >= 0),
  best_anywhere_value REAL,
  resource_spent INTEGER NOT NULL CHECK (resource_spent >= 0),
  training_ms INTEGER NOT NULL CHECK (training_ms >= 0),
  trials_since_improvement INTEGER NOT NULL CHECK (trials_since_improvement >= 0),
  failures_in_a_row INTEGER NOT NULL CHECK (failures_in_a_row >= 0),
  failing_with TEXT CHECK (failing_with IN ('completed', 'stopped', 'out_of_memory', 'nan_metric', 'invalid_parameters',
                                            'data_unreadable', 'no_metric', 'crashed', 'timed_out', 'worker_lost')),
  ending_as TEXT CHECK (ending_as IN ('completed', 'stopped', 'failed')),
  last_epoch INTEGER NOT NULL CHECK (last_epoch >= 0),
  expected_improvement REAL CHECK (expected_improvement >= 0),
  suggestions_below INTEGER NOT NULL CHECK (suggestions_below >= 0),

  CONSTRAINT ended_at_is_set_when_ended CHECK ((state IN ('completed', 'stopped', 'failed')) = (ended_at IS NOT NULL)),
  CONSTRAINT ending_as_is_set_while_stopping
    CHECK (CASE state WHEN 'running' THEN ending_as IS NULL
                      WHEN 'stopping' THEN ending_as IS NOT NULL
                      ELSE ending_as IS NULL OR ending_as = state END),
  CONSTRAINT no_more_trials_ended_than_created
    CHECK (trials_completed + trials_stopped + trials_failed + trials_cancelled <= trials_created),
  CONSTRAINT best_is_whole
    CHECK ((best_trial IS NULL) = (best_value IS NULL) AND (best_trial IS NULL) = (best_resource IS NULL)),
  CONSTRAINT best_anywhere_is_whole
    CHECK ((best_anywhere_trial IS NULL) = (best_anywhere_value IS NULL)
           AND (best_anywhere_trial IS NULL) = (best_anywhere_resource IS NULL)),
  CONSTRAINT failures_have_a_class CHECK (failures_in_a_row = 0 OR failing_with IS NOT NULL),
  CONSTRAINT starts_no_more_for_a_reason CHECK (starts_no_more = 0 OR reason <> '')
) STRICT;

INSERT INTO jobs_anew
  SELECT id, name, name GLOB '/*', spec_json, state, reason, state = 'running' AND reason <> '', created_at, ended_at,
         trials_created, trials_completed, trials_stopped, trials_failed, trials_cancelled, best_trial, best_resource, best_value,
         best_anywhere_trial, best_anywhere_resource, best_anywhere_value, resource_spent, training_ms, trials_since_improvement,
         failures_in_a_row, failing_with, ending_as, last_epoch, expected_improvement, suggestions_below
  FROM jobs;

-- The highest id ever given, also where its job is gone.
DELETE FROM sqlite_sequence WHERE name = 'jobs_anew';
INSERT INTO sqlite_sequence (name, seq) SELECT 'jobs_anew', seq FROM sqlite_sequence WHERE name = 'jobs';

DROP TABLE jobs;
ALTER TABLE jobs_anew RENAME TO jobs;

CREATE UNIQUE INDEX jobs_by_name ON jobs (name) WHERE deleted = 0;
CREATE INDEX jobs_by_state ON jobs (state, id) WHERE deleted = 0;
CREATE INDEX jobs_deleted ON jobs (id) WHERE deleted = 1;
