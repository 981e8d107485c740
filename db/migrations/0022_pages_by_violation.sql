-- Best first: those that meet the constraints by their objective, then the others by how far they are outside.
DROP INDEX trials_by_objective;
CREATE INDEX trials_by_objective ON trials (job, violation, objective, number, state, bracket) WHERE objective IS NOT NULL;
CREATE INDEX trials_by_violation ON trials (job, violation, number, state, bracket, objective) WHERE violation > 0;
