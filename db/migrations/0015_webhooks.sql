-- Findings that are told to a web hook: what has become of it. Written with the finding, and once more when it is known.
ALTER TABLE findings ADD COLUMN webhook TEXT NOT NULL DEFAULT ''
  CONSTRAINT webhook_of_a_finding CHECK (webhook IN ('', 'pending', 'delivered', 'failed'));

CREATE INDEX findings_to_tell ON findings (job, sequence) WHERE webhook = 'pending';
