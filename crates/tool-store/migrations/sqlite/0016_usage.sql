-- All token counters of a run. A counter is null if no provider of the run has reported it.
ALTER TABLE run ADD COLUMN cache_read_tokens INTEGER;
UPDATE run SET cache_read_tokens = cached_tokens;
ALTER TABLE run DROP COLUMN cached_tokens;
ALTER TABLE run ADD COLUMN cache_write_5m_tokens INTEGER;
ALTER TABLE run ADD COLUMN cache_write_1h_tokens INTEGER;
ALTER TABLE run ADD COLUMN reasoning_tokens INTEGER;
-- The number of responses without usage.
ALTER TABLE run ADD COLUMN unmeasured INTEGER NOT NULL DEFAULT 0;
