-- Runs of plans, and their events.

-- The number of the last run of a plan. It outlives the runs, so that no number is given twice.
ALTER TABLE tool_store.thread ADD COLUMN last_plan bigint NOT NULL DEFAULT 0;

CREATE TABLE tool_store.plan_run (
    workspace    text    COLLATE "C" NOT NULL,
    conversation text    COLLATE "C" NOT NULL,
    number       bigint  NOT NULL,
    -- The user for whom the plan is run.
    principal    text    COLLATE "C",
    status       text    NOT NULL,
    -- Whether this is the active run of the conversation.
    active       boolean NOT NULL,
    replaces     bigint,
    replaced_by  bigint,
    -- The compiled plan as JSON, which no statement changes; empty if it is sealed.
    spec         text    NOT NULL,
    spec_sealed  bytea,
    spec_key     text    COLLATE "C",
    -- The nodes, their attempts and artifacts, the approval and the checkpoint as JSON; empty if they are sealed.
    state        text    NOT NULL,
    sealed       bytea,
    seal_key     text    COLLATE "C",
    -- The number of events.
    events       bigint  NOT NULL,
    created      bigint  NOT NULL,
    updated      bigint  NOT NULL,
    PRIMARY KEY (workspace, conversation, number),
    CHECK ((spec_sealed IS NULL) = (spec_key IS NULL)),
    CHECK ((sealed IS NULL) = (seal_key IS NULL))
);

-- A conversation has at most one active run.
CREATE UNIQUE INDEX plan_run_active ON tool_store.plan_run (workspace, conversation) WHERE active;
-- The erasure of a user.
CREATE INDEX plan_run_by_principal  ON tool_store.plan_run (workspace, principal) WHERE principal IS NOT NULL;
-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX plan_run_spec_sealed   ON tool_store.plan_run (spec_key, workspace, conversation, number) WHERE spec_key IS NOT NULL;
CREATE INDEX plan_run_sealed        ON tool_store.plan_run (seal_key, workspace, conversation, number) WHERE seal_key IS NOT NULL;

-- What happened in runs of plans: ids and statuses, without texts of the plan.
CREATE TABLE tool_store.plan_event (
    workspace    text    COLLATE "C" NOT NULL,
    conversation text    COLLATE "C" NOT NULL,
    run          bigint  NOT NULL,
    seq          bigint  NOT NULL,
    kind         text    NOT NULL,
    node         text,
    attempt      bigint,
    status       text,
    at           bigint  NOT NULL,
    PRIMARY KEY (workspace, conversation, run, seq),
    FOREIGN KEY (workspace, conversation, run) REFERENCES tool_store.plan_run (workspace, conversation, number) ON DELETE CASCADE
);
