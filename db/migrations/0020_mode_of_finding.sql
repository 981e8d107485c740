-- The mode of the tensor that shows a finding; '': it has none, or it was found before this was kept.
ALTER TABLE findings ADD COLUMN mode TEXT NOT NULL DEFAULT '' CHECK (mode IN ('', 'train', 'validation', 'predict'));
