-- Runs of plans, and their events.

-- The number of the last run of a plan. It outlives the runs, so that no number is given twice.
ALTER TABLE thread ADD COLUMN last_plan INTEGER NOT NULL DEFAULT 0;

CREATE TABLE plan_run (
    workspace    TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    -- The user for whom the plan is run.
    principal    TEXT,
    status       TEXT    NOT NULL,
    -- Whether this is the active run of the conversation.
    active       INTEGER NOT NULL CHECK (active IN (0, 1)),
    replaces     INTEGER,
    replaced_by  INTEGER,
    -- The compiled plan as JSON, which no statement changes; empty if it is sealed.
    spec         TEXT    NOT NULL,
    spec_sealed  BLOB,
    spec_key     TEXT,
    -- The nodes, their attempts and artifacts, the approval and the checkpoint as JSON; empty if they are sealed.
    state        TEXT    NOT NULL,
    sealed       BLOB,
    seal_key     TEXT,
    -- The number of events.
    events       INTEGER NOT NULL,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, number),
    CHECK ((spec_sealed IS NULL) = (spec_key IS NULL)),
    CHECK ((sealed IS NULL) = (seal_key IS NULL))
) STRICT;

-- A conversation has at most one active run.
CREATE UNIQUE INDEX plan_run_active ON plan_run (workspace, conversation) WHERE active;
-- The erasure of a user.
CREATE INDEX plan_run_by_principal  ON plan_run (workspace, principal) WHERE principal IS NOT NULL;
-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX plan_run_spec_sealed   ON plan_run (spec_key, workspace, conversation, number) WHERE spec_key IS NOT NULL;
CREATE INDEX plan_run_sealed        ON plan_run (seal_key, workspace, conversation, number) WHERE seal_key IS NOT NULL;

-- What happened in runs of plans: ids and statuses, without texts of the plan.
CREATE TABLE plan_event (
    workspace    TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    run          INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    node         TEXT,
    attempt      INTEGER,
    status       TEXT,
    at           INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, run, seq),
    FOREIGN KEY (workspace, conversation, run) REFERENCES plan_run (workspace, conversation, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
