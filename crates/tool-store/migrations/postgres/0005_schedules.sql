-- Scheduled tasks.
CREATE TABLE tool_store.task (
    workspace  text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    principal  text COLLATE "C",
    -- What the author of the task wrote, as JSON.
    definition text NOT NULL,
    enabled    boolean NOT NULL,
    -- The next due time that no process has claimed.
    due        bigint,
    -- The time of a run that was requested and that no process has claimed.
    requested  bigint,
    -- The due time of the current run, and its claim.
    running    bigint,
    token      text,
    worker     text,
    errors     bigint NOT NULL,
    last_error text,
    -- When a process may claim the task.
    ready      bigint,
    version    bigint NOT NULL,
    created    bigint NOT NULL,
    updated    bigint NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE INDEX task_ready ON tool_store.task (ready) WHERE ready IS NOT NULL;
CREATE INDEX task_by_principal ON tool_store.task (workspace, principal) WHERE principal IS NOT NULL;

-- The runs of tasks, and the due times that were skipped. The rows outlive their task.
CREATE TABLE tool_store.task_run (
    workspace    text COLLATE "C" NOT NULL,
    task         text COLLATE "C" NOT NULL,
    due          bigint NOT NULL,
    state        text NOT NULL,
    attempts     bigint NOT NULL,
    conversation text COLLATE "C",
    reason       text,
    started      bigint NOT NULL,
    ended        bigint,
    PRIMARY KEY (workspace, task, due)
);

CREATE INDEX task_run_by_conversation ON tool_store.task_run (workspace, conversation) WHERE conversation IS NOT NULL;
CREATE INDEX task_run_ended ON tool_store.task_run (ended) WHERE ended IS NOT NULL;
