-- Scheduled tasks.
CREATE TABLE task (
    workspace  TEXT NOT NULL,
    id         TEXT NOT NULL,
    principal  TEXT,
    -- What the author of the task wrote, as JSON.
    definition TEXT NOT NULL,
    enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    -- The next due time that no process has claimed.
    due        INTEGER,
    -- The time of a run that was requested and that no process has claimed.
    requested  INTEGER,
    -- The due time of the current run, and its claim.
    running    INTEGER,
    token      TEXT,
    worker     TEXT,
    errors     INTEGER NOT NULL,
    last_error TEXT,
    -- When a process may claim the task.
    ready      INTEGER,
    version    INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    updated    INTEGER NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT;

CREATE INDEX task_ready ON task (ready) WHERE ready IS NOT NULL;
CREATE INDEX task_by_principal ON task (workspace, principal) WHERE principal IS NOT NULL;

-- The runs of tasks, and the due times that were skipped. The rows outlive their task.
CREATE TABLE task_run (
    workspace    TEXT NOT NULL,
    task         TEXT NOT NULL,
    due          INTEGER NOT NULL,
    state        TEXT NOT NULL,
    attempts     INTEGER NOT NULL,
    conversation TEXT,
    reason       TEXT,
    started      INTEGER NOT NULL,
    ended        INTEGER,
    PRIMARY KEY (workspace, task, due)
) STRICT;

CREATE INDEX task_run_by_conversation ON task_run (workspace, conversation) WHERE conversation IS NOT NULL;
CREATE INDEX task_run_ended ON task_run (ended) WHERE ended IS NOT NULL;
