-- What was called trainer.finer_steps is trainer.adapt_eta: the learning rate of a trial that goes on may become larger too.
UPDATE jobs
   SET spec_json = json_remove(json_set(spec_json, '$.trainer.adapt_eta',
                                        json(iif(json_extract(spec_json, '$.trainer.finer_steps'), 'true', 'false'))),
                               '$.trainer.finer_steps')
 WHERE json_type(spec_json, '$.trainer.finer_steps') IN ('true', 'false');
