-- How many trials stand at each rung with each verdict, counted as decisions come: a plan with its actual counts costs the
-- same whether a job has a hundred trials or a hundred thousand. A trial that failed before the rung fills its slot and is
-- not counted.

CREATE TABLE rung_counts (
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  bracket INTEGER NOT NULL,
  rung INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  resource INTEGER NOT NULL,
  trials INTEGER NOT NULL CHECK (trials >= 0),

  PRIMARY KEY (job, bracket, rung, verdict)
) STRICT, WITHOUT ROWID;

INSERT INTO rung_counts (job, bracket, rung, verdict, resource, trials)
  SELECT job, bracket, rung, verdict, max(resource), count(*) FROM decisions
  WHERE value IS NOT NULL OR value_is_nan = 1 GROUP BY job, bracket, rung, verdict;

CREATE TRIGGER count_new_decision AFTER INSERT ON decisions WHEN NEW.value IS NOT NULL OR NEW.value_is_nan = 1
BEGIN
  INSERT INTO rung_counts (job, bracket, rung, verdict, resource, trials)
    VALUES (NEW.job, NEW.bracket, NEW.rung, NEW.verdict, NEW.resource, 1)
    ON CONFLICT (job, bracket, rung, verdict) DO UPDATE SET trials = trials + 1;
END;

CREATE TRIGGER count_verdict AFTER UPDATE ON decisions
  WHEN (NEW.value IS NOT NULL OR NEW.value_is_nan = 1) AND NEW.verdict <> OLD.verdict
BEGIN
  UPDATE rung_counts SET trials = trials - 1
    WHERE job = OLD.job AND bracket = OLD.bracket AND rung = OLD.rung AND verdict = OLD.verdict;
  INSERT INTO rung_counts (job, bracket, rung, verdict, resource, trials)
    VALUES (NEW.job, NEW.bracket, NEW.rung, NEW.verdict, NEW.resource, 1)
    ON CONFLICT (job, bracket, rung, verdict) DO UPDATE SET trials = trials + 1;
END;
