-- Where trials keep their best round the best come first by that value, which is the one of their models. The last two columns
-- are there so that an index alone says which trials a page passes over.
DROP INDEX trials_by_objective;
CREATE INDEX trials_by_objective
  ON trials (job, violation, coalesce(kept_value, objective), number, state, bracket, kept_value, objective)
  WHERE objective IS NOT NULL;
