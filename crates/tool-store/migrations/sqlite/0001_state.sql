-- Points in time are milliseconds since the Unix epoch. Words of enums are those of `as_str` in `tool_core::store`.
-- A file that has been released is never edited: a change is a new file.

-- What waits for somebody's word.
CREATE TABLE approval (
    id            TEXT    NOT NULL PRIMARY KEY,
    kind          TEXT    NOT NULL,
    thread        TEXT,
    turn          TEXT    NOT NULL,
    call          TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    tenant        TEXT    NOT NULL,
    principal     TEXT    NOT NULL,
    agent         TEXT,
    contract      TEXT    NOT NULL,
    arguments     TEXT    NOT NULL,
    policy        TEXT    NOT NULL,
    decision      TEXT    NOT NULL,
    four_eyes     INTEGER NOT NULL,
    reason        TEXT,
    nonce         TEXT    NOT NULL,
    created       INTEGER NOT NULL,
    expires       INTEGER NOT NULL,
    parent        TEXT,
    status        TEXT    NOT NULL,
    assignee      TEXT,
    -- The answer: all null, or all but `edited` and `answer_reason` set.
    verdict       TEXT,
    edited        TEXT,
    approver      TEXT,
    answer_reason TEXT,
    answered      INTEGER
) STRICT;

-- Lists are by `created`, `id`; one index for each way to narrow them.
CREATE INDEX approval_by_created   ON approval (created, id);
CREATE INDEX approval_by_status    ON approval (status, created, id);
CREATE INDEX approval_by_tenant    ON approval (tenant, created, id);
CREATE INDEX approval_by_principal ON approval (principal, created, id);
CREATE INDEX approval_by_assignee  ON approval (assignee, created, id) WHERE assignee IS NOT NULL;
CREATE INDEX approval_by_tool      ON approval (tool, created, id);
CREATE INDEX approval_by_turn      ON approval (turn, created, id);
CREATE INDEX approval_by_thread    ON approval (thread, created, id) WHERE thread IS NOT NULL;
CREATE INDEX approval_by_expiry    ON approval (expires) WHERE status IN ('pending', 'approved');

-- Which effects were begun, and how they ended.
CREATE TABLE effect (
    key            TEXT    NOT NULL PRIMARY KEY,
    call           TEXT    NOT NULL,
    turn           TEXT    NOT NULL,
    thread         TEXT,
    tool           TEXT    NOT NULL,
    contract       TEXT    NOT NULL,
    tenant         TEXT    NOT NULL,
    principal      TEXT    NOT NULL,
    arguments_hash TEXT    NOT NULL,
    owner          TEXT    NOT NULL,
    at             INTEGER NOT NULL,
    lease_until    INTEGER NOT NULL,
    state          TEXT    NOT NULL,
    result         TEXT,
    ended          INTEGER,
    late           INTEGER NOT NULL,
    resolved_by    TEXT,
    attempt        INTEGER NOT NULL,
    -- 1 where an operator released the key for another attempt that nobody has begun.
    released       INTEGER NOT NULL
) STRICT;

CREATE INDEX effect_by_time   ON effect (at, key) WHERE released = 0;
CREATE INDEX effect_by_tenant ON effect (tenant, at, key) WHERE released = 0;
CREATE INDEX effect_by_state  ON effect (state, at, key) WHERE released = 0;
CREATE INDEX effect_by_lease  ON effect (lease_until) WHERE state = 'running';

-- One row for each call.
CREATE TABLE audit (
    id            TEXT    NOT NULL PRIMARY KEY,
    call          TEXT    NOT NULL,
    turn          TEXT,
    thread        TEXT,
    tenant        TEXT,
    principal     TEXT,
    runtime_user  TEXT,
    agent         TEXT,
    session       TEXT,
    tool          TEXT    NOT NULL,
    contract      TEXT,
    effect        INTEGER NOT NULL,
    layer         TEXT,
    decision      TEXT,
    policy        TEXT,
    approval      TEXT,
    approver      TEXT,
    outcome       TEXT,
    error         TEXT,
    arguments     TEXT    NOT NULL,
    original_hash TEXT    NOT NULL,
    used_hash     TEXT,
    output        TEXT,
    output_bytes  INTEGER,
    attempt       INTEGER NOT NULL,
    started       INTEGER NOT NULL,
    duration_us   INTEGER,
    notes         TEXT    NOT NULL -- JSON
) STRICT;

CREATE INDEX audit_by_time      ON audit (started, id);
CREATE INDEX audit_by_tenant    ON audit (tenant, started, id);
CREATE INDEX audit_by_principal ON audit (principal, started, id);
CREATE INDEX audit_by_tool      ON audit (tool, started, id);
CREATE INDEX audit_by_call      ON audit (call, started, id);

-- The messages of threads.
CREATE TABLE message (
    thread  TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    turn    TEXT    NOT NULL,
    role    TEXT    NOT NULL,
    call    TEXT,
    content TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (thread, seq)
) STRICT;

-- A call has one result.
CREATE UNIQUE INDEX message_by_call ON message (thread, turn, call) WHERE role = 'tool';

-- Long outputs, in chunks, so that reading a part costs the part.
CREATE TABLE spill (
    handle    TEXT    NOT NULL PRIMARY KEY,
    tenant    TEXT    NOT NULL,
    principal TEXT    NOT NULL,
    total     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    expires   INTEGER NOT NULL
) STRICT;

CREATE INDEX spill_by_expiry ON spill (expires);

CREATE TABLE spill_chunk (
    handle TEXT    NOT NULL REFERENCES spill (handle) ON DELETE CASCADE,
    start  INTEGER NOT NULL, -- the byte of the text at which the chunk begins
    text   TEXT    NOT NULL,
    PRIMARY KEY (handle, start)
) STRICT;
