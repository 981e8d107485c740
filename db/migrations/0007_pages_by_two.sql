-- What a page of trials is chosen and sorted by stands in one index each: rows that it does not show are not read.
DROP INDEX trials_by_state;
DROP INDEX trials_by_objective;
DROP INDEX trials_without_value;
CREATE INDEX trials_by_state ON trials (job, state, number, bracket);
CREATE INDEX trials_by_objective ON trials (job, objective, number, state, bracket) WHERE objective IS NOT NULL;
CREATE INDEX trials_without_value ON trials (job, number, state, bracket, objective)
  WHERE objective IS NULL OR objective > 1.7976931348623157e308 OR objective < -1.7976931348623157e308;
