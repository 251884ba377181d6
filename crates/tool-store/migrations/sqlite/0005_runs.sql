-- Runs: who drives a thread, and how each run ended.
CREATE TABLE run (
    workspace     TEXT    NOT NULL,
    conversation  TEXT    NOT NULL,
    number        INTEGER NOT NULL,
    principal     TEXT,
    agent         TEXT,
    owner         TEXT    NOT NULL,
    lease_until   INTEGER NOT NULL,
    state         TEXT    NOT NULL,
    cause         TEXT,
    stop          TEXT,
    started       INTEGER NOT NULL,
    ended         INTEGER,
    attempt       INTEGER NOT NULL,
    steps         INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, number)
) STRICT;

-- `RunStore::begin`: at most one run of a thread goes on.
CREATE UNIQUE INDEX run_running ON run (workspace, conversation) WHERE state = 'running';
-- `RunStore::list`, of all workspaces, of one, and of one conversation.
CREATE INDEX run_by_time         ON run (started, workspace, conversation, number);
CREATE INDEX run_by_workspace    ON run (workspace, started, conversation, number);
CREATE INDEX run_by_conversation ON run (workspace, conversation, started, number);
-- `RunStore::retain`.
CREATE INDEX run_by_end ON run (ended) WHERE ended IS NOT NULL;

-- The last number of a thread, which outlives its runs.
ALTER TABLE thread ADD COLUMN last_run INTEGER NOT NULL DEFAULT 0;
