-- Which training the model that a trial keeps is of: the resource that it was to come to (0: not known), and its learning rate
-- where that is not the one of the trial's configuration any more.
ALTER TABLE trials ADD COLUMN kept_until_resource INTEGER NOT NULL DEFAULT 0 CHECK (kept_until_resource >= 0);
ALTER TABLE trials ADD COLUMN kept_eta REAL;
-- Of the latest training it is known: its rate is the configuration's.
UPDATE trials SET kept_until_resource = until_resource
 WHERE kept_value IS NOT NULL
   AND EXISTS (SELECT 1 FROM decisions
                WHERE decisions.job = trials.job AND decisions.trial = trials.number
                  AND decisions.resource = trials.until_resource AND decisions.value = trials.kept_value);
