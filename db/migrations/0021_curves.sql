-- Of a job that ends full trainings early: the best value so far by parts of max_resource. []: it does not, or none is known.
ALTER TABLE trials ADD COLUMN curve TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(curve));
