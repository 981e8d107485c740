-- Pages of trials that are chosen by bracket, or that have no finite value, cost the same for any number of trials.
CREATE INDEX trials_by_bracket ON trials (job, bracket, number);
CREATE INDEX trials_without_value ON trials (job, number)
  WHERE objective IS NULL OR objective > 1.7976931348623157e308 OR objective < -1.7976931348623157e308;
