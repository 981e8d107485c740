-- One table for each struct of scheduler/rows.hpp, one column for each field, under the same name.
--
-- Times are milliseconds since 1970. SQLite turns NaN into NULL, so a number that may be NaN has a companion `..._is_nan`:
--   nothing: NULL, 0    NaN: NULL, 1    finite or infinite: the value, 0

CREATE TABLE jobs (
  -- AUTOINCREMENT: sqlite_sequence remembers the highest id ever given, so that a deleted job's id is not used again.
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  name TEXT NOT NULL UNIQUE CHECK (name <> ''),
  spec_json TEXT NOT NULL CHECK (json_valid(spec_json)),
  state TEXT NOT NULL CHECK (state IN ('running', 'stopping', 'completed', 'stopped', 'failed')),
  reason TEXT NOT NULL,
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
  CONSTRAINT failures_have_a_class CHECK (failures_in_a_row = 0 OR failing_with IS NOT NULL)
) STRICT;

CREATE INDEX jobs_by_state ON jobs (state, id);

CREATE TABLE trials (
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  number INTEGER NOT NULL CHECK (number >= 0),
  state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'paused', 'completed', 'stopped', 'failed', 'cancelled')),
  configuration TEXT NOT NULL CHECK (json_valid(configuration)),
  origin TEXT NOT NULL CHECK (origin IN ('sampler', 'enqueued')),
  bracket INTEGER NOT NULL CHECK (bracket >= 0),
  rung INTEGER NOT NULL CHECK (rung >= 0),
  resource INTEGER NOT NULL CHECK (resource >= 0),
  checkpoint_resource INTEGER NOT NULL CHECK (checkpoint_resource >= 0),
  until_resource INTEGER NOT NULL CHECK (until_resource >= 0),
  objective REAL,
  objective_is_nan INTEGER NOT NULL CHECK (objective_is_nan IN (0, 1)),
  objective_resource INTEGER NOT NULL CHECK (objective_resource >= 0),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  attempts_in_all INTEGER NOT NULL CHECK (attempts_in_all >= attempts),
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  worker TEXT NOT NULL,
  exit_class TEXT CHECK (exit_class IN ('completed', 'stopped', 'out_of_memory', 'nan_metric', 'invalid_parameters',
                                        'data_unreadable', 'no_metric', 'crashed', 'timed_out', 'worker_lost')),
  message TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  assigned_at INTEGER,
  training_ms INTEGER NOT NULL CHECK (training_ms >= 0),
  segment_training_ms INTEGER NOT NULL CHECK (segment_training_ms >= 0),
  assigned_ms INTEGER NOT NULL CHECK (assigned_ms >= 0),

  PRIMARY KEY (job, number),
  CONSTRAINT ended_at_is_set_when_ended
    CHECK ((state IN ('completed', 'stopped', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
  CONSTRAINT assigned_at_is_set_while_running CHECK ((state = 'running') = (assigned_at IS NOT NULL)),
  CONSTRAINT running_has_epoch_and_worker
    CHECK (state <> 'running' OR (epoch > 0 AND worker <> '' AND started_at IS NOT NULL)),
  CONSTRAINT failed_has_a_class CHECK (state <> 'failed' OR exit_class IS NOT NULL),
  CONSTRAINT objective_is_nan_or_a_value CHECK (objective_is_nan = 0 OR objective IS NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX trials_by_state ON trials (job, state, number);
CREATE INDEX trials_by_objective ON trials (job, objective, number) WHERE objective IS NOT NULL;

-- Written more often than everything else together, so kept small: 30 bytes a row without further metrics.
CREATE TABLE observations (
  job INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  resource INTEGER NOT NULL CHECK (resource >= 0),
  objective REAL,
  objective_is_nan INTEGER NOT NULL CHECK (objective_is_nan IN (0, 1)),
  metrics TEXT CHECK (metrics IS NULL OR json_valid(metrics)),  -- NULL: the objective was the only one
  at INTEGER NOT NULL,

  PRIMARY KEY (job, trial, resource),
  FOREIGN KEY (job, trial) REFERENCES trials (job, number) ON DELETE CASCADE,
  CONSTRAINT objective_is_nan_or_a_value CHECK (objective_is_nan = 0 OR objective IS NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
  job INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  bracket INTEGER NOT NULL CHECK (bracket >= 0),
  rung INTEGER NOT NULL CHECK (rung >= 0),
  resource INTEGER NOT NULL CHECK (resource >= 0),
  sequence INTEGER NOT NULL CHECK (sequence >= 0),
  value REAL,
  value_is_nan INTEGER NOT NULL CHECK (value_is_nan IN (0, 1)),
  verdict TEXT NOT NULL CHECK (verdict IN ('waiting', 'promoted', 'stopped', 'completed')),
  rank INTEGER NOT NULL CHECK (rank >= 0),
  filled INTEGER NOT NULL CHECK (filled >= 0),
  slots INTEGER NOT NULL CHECK (slots >= 0),
  keep INTEGER NOT NULL CHECK (keep >= 0),
  cutoff REAL,
  cutoff_is_nan INTEGER NOT NULL CHECK (cutoff_is_nan IN (0, 1)),
  ahead TEXT NOT NULL CHECK (json_valid(ahead)),
  rule TEXT NOT NULL,
  at INTEGER NOT NULL,

  PRIMARY KEY (job, trial, rung),
  FOREIGN KEY (job, trial) REFERENCES trials (job, number) ON DELETE CASCADE,
  CONSTRAINT waiting_has_no_rank CHECK (verdict <> 'waiting' OR rank = 0),
  CONSTRAINT value_is_nan_or_a_value CHECK (value_is_nan = 0 OR value IS NULL),
  CONSTRAINT cutoff_is_nan_or_a_value CHECK (cutoff_is_nan = 0 OR cutoff IS NULL)
) STRICT, WITHOUT ROWID;
