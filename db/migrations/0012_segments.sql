-- The segments of trials: who trained what, from when until when. Kept by what happens to a trial's row. A segment begins and
-- ends in two commits, for a worker is told of it between them, so that no row that counts is passed over.
CREATE TABLE segments (
  job INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  attempt INTEGER NOT NULL CHECK (attempt > 0),
  worker TEXT NOT NULL,
  peers TEXT NOT NULL CHECK (json_valid(peers)),
  from_resource INTEGER NOT NULL CHECK (from_resource >= 0),
  until_resource INTEGER NOT NULL CHECK (until_resource >= 0),
  resource INTEGER NOT NULL CHECK (resource >= 0),
  began_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT,  -- reached_rung, completed, cancelled, given_back, or why it failed

  PRIMARY KEY (job, trial, epoch),
  FOREIGN KEY (job, trial) REFERENCES trials (job, number) ON DELETE CASCADE,
  CONSTRAINT outcome_is_set_when_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
) STRICT, WITHOUT ROWID;

INSERT INTO segments (job, trial, epoch, attempt, worker, peers, from_resource, until_resource, resource, began_at)
  SELECT job, number, epoch, max(attempts, 1), worker, peers, checkpoint_resource, until_resource, resource, assigned_at
  FROM trials
  WHERE state = 'running';

CREATE TRIGGER first_segment_began AFTER INSERT ON trials WHEN NEW.state = 'running'
BEGIN
  INSERT INTO segments (job, trial, epoch, attempt, worker, peers, from_resource, until_resource, resource, began_at)
    VALUES (NEW.job, NEW.number, NEW.epoch, max(NEW.attempts, 1), NEW.worker, NEW.peers, NEW.checkpoint_resource,
            NEW.until_resource, NEW.resource, NEW.assigned_at);
END;

-- Where the next one began in the same commit, the row says why this one ended by its rung and its exit class.
CREATE TRIGGER segment_ended AFTER UPDATE ON trials
  WHEN OLD.state = 'running' AND (NEW.state <> 'running' OR NEW.epoch <> OLD.epoch)
BEGIN
  UPDATE segments
    SET ended_at = OLD.assigned_at + NEW.assigned_ms - OLD.assigned_ms,
        resource = CASE WHEN NEW.epoch = OLD.epoch THEN max(OLD.resource, NEW.resource)
                        WHEN NEW.rung > OLD.rung THEN OLD.until_resource ELSE OLD.resource END,
        outcome = CASE WHEN NEW.state = 'cancelled' THEN 'cancelled'
                       WHEN NEW.exit_class IS NOT NULL THEN NEW.exit_class
                       WHEN NEW.state = 'completed' THEN 'completed'
                       WHEN NEW.state IN ('paused', 'stopped') THEN 'reached_rung'
                       WHEN NEW.state = 'running' AND NEW.rung > OLD.rung THEN 'reached_rung'
                       ELSE 'given_back' END
    WHERE job = OLD.job AND trial = OLD.number AND epoch = OLD.epoch;
END;

-- A worker that was thought lost may come back with the same epoch: then its segment goes on.
CREATE TRIGGER segment_began AFTER UPDATE ON trials
  WHEN NEW.state = 'running' AND (OLD.state <> 'running' OR NEW.epoch <> OLD.epoch)
BEGIN
  INSERT INTO segments (job, trial, epoch, attempt, worker, peers, from_resource, until_resource, resource, began_at)
    VALUES (NEW.job, NEW.number, NEW.epoch, max(NEW.attempts, 1), NEW.worker, NEW.peers, NEW.checkpoint_resource,
            NEW.until_resource, NEW.resource, NEW.assigned_at)
    ON CONFLICT (job, trial, epoch) DO UPDATE SET ended_at = NULL, outcome = NULL;
END;
