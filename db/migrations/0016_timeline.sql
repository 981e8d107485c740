-- What all workers did within some hours is read by time: segments by their end, which those under way do not have yet; jobs
-- likewise; and of the log what says who was there.
CREATE INDEX segments_by_end ON segments (ended_at, began_at);
CREATE INDEX jobs_by_end ON jobs (ended_at, created_at) WHERE deleted = 0;
CREATE INDEX events_of_workers ON events (at) WHERE kind IN (
  'server_started', 'worker_connected', 'worker_disconnected', 'worker_lost', 'worker_released', 'job_starts_no_more');
