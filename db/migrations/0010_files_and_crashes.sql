-- Each segment writes into a directory of its own: whose directory has the trial's files. How and where its last attempt crashed.
ALTER TABLE trials ADD COLUMN files_epoch INTEGER NOT NULL DEFAULT 0 CHECK (files_epoch >= 0 AND files_epoch <= epoch);
ALTER TABLE trials ADD COLUMN crash TEXT NOT NULL DEFAULT '';
-- One more class. A CHECK is changed in its text: no row is written, and every row that met it before does so now.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''worker_lost'')', '''worker_lost'', ''stalled'')')
  WHERE type = 'table' AND name IN ('jobs', 'trials');
PRAGMA writable_schema = RESET;
