-- The user on whose behalf a task ran, so that the erasure of the user reaches the runs of removed tasks.
ALTER TABLE tool_store.task_run ADD COLUMN principal text COLLATE "C";

UPDATE tool_store.task_run r SET principal = (SELECT t.principal FROM tool_store.task t WHERE t.workspace = r.workspace AND t.id = r.task);

CREATE INDEX task_run_by_principal ON tool_store.task_run (workspace, principal) WHERE principal IS NOT NULL;

-- Earlier versions left the current run of a removed task `running`, so no retention period began.
UPDATE tool_store.task_run r SET state = 'failed', reason = 'the task was deleted before the run ended', ended = r.started
WHERE r.state = 'running' AND NOT EXISTS (SELECT FROM tool_store.task t WHERE t.workspace = r.workspace AND t.id = r.task);
