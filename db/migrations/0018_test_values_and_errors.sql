-- Of the model that a trial has, on rows that no search sees: for the best trial's last word. NULL: there are none.
ALTER TABLE trials ADD COLUMN test_value REAL;
-- Of the trial's value, which is a mean over folds. NULL: it is no mean.
ALTER TABLE trials ADD COLUMN standard_error REAL CHECK (standard_error >= 0);
