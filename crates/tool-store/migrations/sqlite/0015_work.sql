-- The queue of threads that workers drive.
CREATE TABLE work (
    workspace    TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    -- The version of the agent's definition.
    definition   TEXT    NOT NULL,
    principal    TEXT,
    -- Facts about the caller, as JSON.
    facts        TEXT,
    state        TEXT    NOT NULL,
    cause        TEXT,
    -- When a worker may claim the row: the time for which it is queued, or the end of the lease of a claimed row.
    ready        INTEGER,
    -- The time for which a claimed row is queued when it is released.
    again        INTEGER,
    -- The token of the current claim.
    token        TEXT,
    worker       TEXT,
    recoveries   INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation),
    CHECK ((token IS NULL) = (state <> 'claimed')),
    CHECK ((ready IS NULL) = (state IN ('waiting', 'ended')))
) STRICT;

-- `WorkStore::claim_work`.
CREATE INDEX work_ready    ON work (agent, definition, ready) WHERE ready IS NOT NULL;
-- `WorkStore::list_work`, in one state.
CREATE INDEX work_by_state ON work (state, workspace, conversation);
