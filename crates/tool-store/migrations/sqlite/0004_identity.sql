-- Every record names its workspace, and a call is identified by its place in a thread.
--
-- `workspace` is the empty text for a host that has only one. `key` is `CallId::key`, and `place` is `CallId::to_column`: null where a
-- version before 0.2 wrote the row, whose key then is the hash of workspace, turn and the model's id of the call.

-- Messages. Threads had no workspace before: the workspace of an old thread is the only one that its calls name, or the only one of
-- the file. A thread that several workspaces have written into is given to none of them; it stays in `message_unassigned`.
CREATE TABLE known_workspace AS
    SELECT DISTINCT thread, tenant AS workspace FROM (
        SELECT thread, coalesce(tenant, '') AS tenant FROM audit
        UNION SELECT thread, tenant FROM effect
        UNION SELECT thread, tenant FROM approval
    );
CREATE TABLE owner AS
    SELECT thread, min(workspace) AS workspace FROM (
        SELECT m.thread AS thread, k.workspace AS workspace
        FROM (SELECT DISTINCT thread FROM message) m JOIN known_workspace k ON k.thread = m.thread
        UNION ALL
        SELECT m.thread, coalesce(k.workspace, '')
        FROM (SELECT DISTINCT thread FROM message) m
             LEFT JOIN (SELECT DISTINCT workspace FROM known_workspace) k
        WHERE m.thread NOT IN (SELECT thread FROM known_workspace WHERE thread IS NOT NULL)
    )
    GROUP BY thread HAVING count(DISTINCT workspace) = 1;

ALTER TABLE message RENAME TO message_unassigned;
DROP INDEX message_by_call;

CREATE TABLE thread (
    workspace    TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    -- The last sequence number that was given. It outlives the messages, so that no number is given twice.
    last         INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    workspace     TEXT    NOT NULL,
    conversation  TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    role          TEXT    NOT NULL,
    -- The call that a tool's message answers: the sequence number of the assistant's message, and the position in it.
    call_message  INTEGER,
    call_position INTEGER,
    -- The host's name of the turn, in messages of versions before 0.2.
    turn          TEXT,
    content       TEXT    NOT NULL,
    at            INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, seq)
) STRICT;

-- A call has one result.
CREATE UNIQUE INDEX message_by_call ON message (workspace, conversation, call_message, call_position)
    WHERE call_message IS NOT NULL;

-- An old result names its call by the model's id, with its position behind it where the id had been used in the message before. Two
-- calls of a message can have had one name; then the first is taken. Hosts may have stored contents that are not those of this crate.
CREATE TABLE call_0002 (
    thread   TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (thread, turn, name, seq)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO call_0002 (thread, turn, name, seq, position)
    SELECT thread, turn, id || CASE WHEN nth > 1 THEN '#' || position ELSE '' END, seq, position
    FROM (
        SELECT thread, turn, seq, position, id, row_number() OVER (PARTITION BY thread, seq, id ORDER BY position) AS nth
        FROM (
            SELECT a.thread, a.turn, a.seq, j.key AS position,
                   CASE j.type WHEN 'object' THEN json_extract(j.value, '$.id') END AS id
            FROM message_unassigned a,
                 json_each(CASE WHEN json_valid(a.content) THEN a.content ELSE '{}' END, '$.calls') j
            WHERE a.role = 'assistant' AND typeof(j.key) = 'integer'
        )
        WHERE typeof(id) = 'text'
    )
    ORDER BY thread, seq, position;
INSERT INTO message (workspace, conversation, seq, role, call_message, call_position, turn, content, at)
    -- `position` is that of the row with the largest `seq` (https://www.sqlite.org/lang_select.html#bareagg).
    SELECT o.workspace, m.thread, m.seq, m.role, max(c.seq), c.position, m.turn, m.content, m.at
    FROM message_unassigned m
         JOIN owner o ON o.thread = m.thread
         LEFT JOIN call_0002 c
             ON m.role = 'tool' AND c.thread = m.thread AND c.turn = m.turn AND c.name = m.call AND c.seq < m.seq
    GROUP BY m.thread, m.seq;
DROP TABLE call_0002;
INSERT INTO thread (workspace, conversation, last)
    SELECT workspace, conversation, max(seq) FROM message GROUP BY workspace, conversation;
DELETE FROM message_unassigned WHERE thread IN (SELECT thread FROM owner);
DROP TABLE owner;
DROP TABLE known_workspace;

-- Approvals.
ALTER TABLE approval RENAME TO approval_0002;
DROP INDEX approval_by_created;
DROP INDEX approval_by_status;
DROP INDEX approval_by_tenant;
DROP INDEX approval_by_principal;
DROP INDEX approval_by_assignee;
DROP INDEX approval_by_tool;
DROP INDEX approval_by_turn;
DROP INDEX approval_by_thread;
DROP INDEX approval_by_expiry;
CREATE TABLE approval (
    id            TEXT    NOT NULL PRIMARY KEY,
    kind          TEXT    NOT NULL,
    workspace     TEXT    NOT NULL,
    -- Null in an old row until the program that migrates the file has computed it.
    key           TEXT,
    place         TEXT,
    thread        TEXT,
    -- The host's name of the turn, in rows of versions before 0.2.
    turn          TEXT,
    call          TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
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
INSERT INTO approval (id, kind, workspace, thread, turn, call, tool, principal, agent, contract, arguments, policy, decision, four_eyes,
                      reason, nonce, created, expires, parent, status, assignee, verdict, edited, approver, answer_reason, answered)
    SELECT id, kind, tenant, thread, turn, call, tool, principal, agent, contract, arguments, policy, decision, four_eyes,
           reason, nonce, created, expires, parent, status, assignee, verdict, edited, approver, answer_reason, answered
    FROM approval_0002;
DROP TABLE approval_0002;

-- Lists are by `created`, `id`. Those of one workspace are narrowed in one more way by these, each for one field of `ApprovalFilter`;
-- `approval_by_created` and `approval_by_status` are for lists of all workspaces.
CREATE INDEX approval_by_created   ON approval (created, id);
CREATE INDEX approval_by_status    ON approval (status, created, id);
CREATE INDEX approval_by_workspace ON approval (workspace, created, id);
CREATE INDEX approval_by_standing  ON approval (workspace, status, created, id);
CREATE INDEX approval_by_principal ON approval (workspace, principal, created, id);
CREATE INDEX approval_by_assignee  ON approval (workspace, assignee, created, id) WHERE assignee IS NOT NULL;
CREATE INDEX approval_by_tool      ON approval (workspace, tool, created, id);
CREATE INDEX approval_by_thread    ON approval (workspace, thread, created, id) WHERE thread IS NOT NULL;
-- The gate looks for the approval of a call.
CREATE INDEX approval_by_key       ON approval (workspace, key, created, id);
CREATE INDEX approval_by_expiry    ON approval (expires) WHERE status IN ('pending', 'approved');
-- The program looks for rows to compute keys for whenever it opens the file.
CREATE INDEX approval_without_key  ON approval (id) WHERE key IS NULL;

-- Effects.
ALTER TABLE effect RENAME TO effect_0002;
DROP INDEX effect_by_time;
DROP INDEX effect_by_tenant;
DROP INDEX effect_by_state;
DROP INDEX effect_by_lease;
CREATE TABLE effect (
    workspace      TEXT    NOT NULL,
    key            TEXT    NOT NULL,
    place          TEXT,
    -- The key that a version before 0.2 gave to the same call, in a row that this version began.
    earlier        TEXT,
    call           TEXT    NOT NULL,
    thread         TEXT,
    agent          TEXT,
    tool           TEXT    NOT NULL,
    contract       TEXT    NOT NULL,
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
    released       INTEGER NOT NULL,
    PRIMARY KEY (workspace, key)
) STRICT;
INSERT INTO effect (workspace, key, call, thread, tool, contract, principal, arguments_hash, owner, at, lease_until, state, result,
                    ended, late, resolved_by, attempt, released)
    SELECT tenant, key, call, thread, tool, contract, principal, arguments_hash, owner, at, lease_until, state, result,
           ended, late, resolved_by, attempt, released
    FROM effect_0002;
DROP TABLE effect_0002;

-- `EffectLedger::list`, of all workspaces or one, in a state or in all; and `sweep`.
CREATE INDEX effect_by_time      ON effect (at, workspace, key) WHERE released = 0;
CREATE INDEX effect_by_workspace ON effect (workspace, at, key) WHERE released = 0;
CREATE INDEX effect_by_state     ON effect (state, at, workspace, key) WHERE released = 0;
CREATE INDEX effect_by_earlier   ON effect (workspace, earlier) WHERE earlier IS NOT NULL;
CREATE INDEX effect_by_lease     ON effect (lease_until) WHERE state = 'running';

-- Audit rows.
ALTER TABLE audit RENAME TO audit_0002;
DROP INDEX audit_by_time;
DROP INDEX audit_by_tenant;
DROP INDEX audit_by_principal;
DROP INDEX audit_by_call;
CREATE TABLE audit (
    workspace     TEXT    NOT NULL,
    key           TEXT    NOT NULL,
    place         TEXT,
    call          TEXT    NOT NULL,
    thread        TEXT,
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
    notes         TEXT    NOT NULL, -- JSON
    PRIMARY KEY (workspace, key)
) STRICT;
INSERT INTO audit (workspace, key, call, thread, principal, runtime_user, agent, session, tool, contract, effect, layer, decision,
                   policy, approval, approver, outcome, error, arguments, original_hash, used_hash, output, output_bytes, attempt,
                   started, duration_us, notes)
    SELECT coalesce(tenant, ''), id, call, thread, principal, runtime_user, agent, session, tool, contract, effect, layer, decision,
           policy, approval, approver, outcome, error, arguments, original_hash, used_hash, output, output_bytes, attempt,
           started, duration_us, notes
    FROM audit_0002;
DROP TABLE audit_0002;

-- `AuditSink::export`, of all workspaces or one, by one more field of `AuditFilter`.
CREATE INDEX audit_by_time      ON audit (started, workspace, key);
CREATE INDEX audit_by_workspace ON audit (workspace, started, key);
CREATE INDEX audit_by_principal ON audit (workspace, principal, started, key);
CREATE INDEX audit_by_call      ON audit (workspace, call, started, key);

-- Spilled outputs.
ALTER TABLE spill RENAME COLUMN tenant TO workspace;
