-- The user on whose behalf a task ran, so that the erasure of the user reaches the runs of removed tasks.
ALTER TABLE task_run ADD COLUMN principal TEXT;

UPDATE task_run SET principal = (SELECT principal FROM task WHERE task.workspace = task_run.workspace AND task.id = task_run.task);

CREATE INDEX task_run_by_principal ON task_run (workspace, principal) WHERE principal IS NOT NULL;

-- Earlier versions left the current run of a removed task `running`, so no retention period began.
UPDATE task_run SET state = 'failed', reason = 'the task was deleted before the run ended', ended = started
WHERE state = 'running' AND NOT EXISTS (SELECT 1 FROM task WHERE task.workspace = task_run.workspace AND task.id = task_run.task);
