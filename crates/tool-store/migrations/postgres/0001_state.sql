-- Points in time are milliseconds since the Unix epoch, as in the other stores. Words of enums are those of `as_str` in `tool_store`.
-- A file that has been released is never edited: a change is a new file.
--
-- `lapses` is the deadline of a lease or an expiry by the clock of this database, which decides. `lease_until` and `expires` are the same
-- deadline by the clock of the host that wrote it, and are only read back.
--
-- Names are compared byte by byte (`COLLATE "C"`), as in the other stores. Texts that are JSON are kept as they were written, so their type is
-- not `jsonb`. Numbers are `bigint`, so that one reader serves all of them.

-- Requests for approval, and the answers to them.
CREATE TABLE tool_store.approval (
    id            text    COLLATE "C" NOT NULL PRIMARY KEY,
    kind          text    NOT NULL,
    workspace     text    COLLATE "C" NOT NULL,
    key           text    COLLATE "C" NOT NULL,
    place         text    NOT NULL,
    thread        text    COLLATE "C",
    call          text    NOT NULL,
    tool          text    COLLATE "C" NOT NULL,
    principal     text    COLLATE "C" NOT NULL,
    agent         text,
    contract      text    NOT NULL,
    arguments     text    NOT NULL,
    policy        text    NOT NULL,
    decision      text    NOT NULL,
    four_eyes     boolean NOT NULL,
    reason        text,
    nonce         text    NOT NULL,
    created       bigint  NOT NULL,
    expires       bigint  NOT NULL,
    lapses        bigint  NOT NULL,
    parent        text,
    status        text    NOT NULL,
    assignee      text    COLLATE "C",
    -- The answer: all null, or all but `edited` and `answer_reason` set.
    verdict       text,
    edited        text,
    approver      text,
    answer_reason text,
    answered      bigint,
    -- Contents that the host seals on request. In a sealed row, the column of the text (here `arguments` and `edited`) is empty, and `seal_key` is the
    -- id of the key of the value in `sealed`. The same holds for the other tables with these columns.
    sealed        bytea,
    seal_key      text    COLLATE "C",
    edited_sealed bytea,
    edited_key    text    COLLATE "C",
    CHECK ((sealed IS NULL) = (seal_key IS NULL) AND (edited_sealed IS NULL) = (edited_key IS NULL))
);

-- `ApprovalStore::list`: one index for each field of `ApprovalFilter`.
CREATE INDEX approval_by_time      ON tool_store.approval (created, id);
CREATE INDEX approval_by_workspace ON tool_store.approval (workspace, created, id);
CREATE INDEX approval_by_status    ON tool_store.approval (workspace, status, created, id);
CREATE INDEX approval_by_principal ON tool_store.approval (workspace, principal, created, id);
CREATE INDEX approval_by_assignee  ON tool_store.approval (workspace, assignee, created, id) WHERE assignee IS NOT NULL;
CREATE INDEX approval_by_tool      ON tool_store.approval (workspace, tool, created, id);
CREATE INDEX approval_by_key       ON tool_store.approval (workspace, key, created, id);
CREATE INDEX approval_by_thread    ON tool_store.approval (workspace, thread, created, id) WHERE thread IS NOT NULL;
-- `ApprovalStore::expire`, and the open requests of all workspaces.
CREATE INDEX approval_by_expiry    ON tool_store.approval (lapses) WHERE status IN ('pending', 'approved');
CREATE INDEX approval_pending      ON tool_store.approval (created, id) WHERE status = 'pending';
-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX approval_sealed       ON tool_store.approval (seal_key, workspace, id) WHERE seal_key IS NOT NULL;
CREATE INDEX approval_edited       ON tool_store.approval (edited_key, workspace, id) WHERE edited_key IS NOT NULL;

-- Which effects were begun, and how they ended.
CREATE TABLE tool_store.effect (
    workspace      text    COLLATE "C" NOT NULL,
    key            text    COLLATE "C" NOT NULL,
    place          text,
    earlier        text    COLLATE "C",
    call           text    NOT NULL,
    thread         text    COLLATE "C",
    agent          text,
    tool           text    COLLATE "C" NOT NULL,
    contract       text    NOT NULL,
    principal      text    COLLATE "C" NOT NULL,
    arguments_hash text    NOT NULL,
    owner          text    NOT NULL,
    at             bigint  NOT NULL,
    lease_until    bigint  NOT NULL,
    lapses         bigint  NOT NULL,
    state          text    NOT NULL,
    result         text,
    ended          bigint,
    late           boolean NOT NULL,
    resolved_by    text,
    attempt        bigint  NOT NULL,
    -- Whether the key was released for another attempt that nobody has begun.
    released       boolean NOT NULL,
    PRIMARY KEY (workspace, key)
);

-- `EffectLedger::page`, of all workspaces or one, by one field of `EffectFilter`; and `sweep`.
CREATE INDEX effect_by_time      ON tool_store.effect (at, workspace, key) WHERE NOT released;
CREATE INDEX effect_by_workspace ON tool_store.effect (workspace, at, key) WHERE NOT released;
CREATE INDEX effect_by_state     ON tool_store.effect (state, at, workspace, key) WHERE NOT released;
CREATE INDEX effect_by_doubt     ON tool_store.effect (workspace, at, key) WHERE NOT released AND state = 'ambiguous';
CREATE INDEX effect_by_thread    ON tool_store.effect (workspace, thread, at, key) WHERE thread IS NOT NULL;
CREATE INDEX effect_by_principal ON tool_store.effect (workspace, principal, at, key);
CREATE INDEX effect_by_earlier   ON tool_store.effect (workspace, earlier) WHERE earlier IS NOT NULL;
CREATE INDEX effect_by_lease     ON tool_store.effect (lapses) WHERE state = 'running';
-- `Maintenance::purge` looks for effects that ended long ago.
CREATE INDEX effect_by_end       ON tool_store.effect (ended) WHERE state IN ('succeeded', 'failed');

-- One row for each call. A row is updated once, when its call ends, and the free space of a page lets the new version stay beside the old one.
CREATE TABLE tool_store.audit (
    workspace     text   COLLATE "C" NOT NULL,
    key           text   COLLATE "C" NOT NULL,
    place         text,
    call          text   COLLATE "C" NOT NULL,
    thread        text   COLLATE "C",
    principal     text   COLLATE "C",
    runtime_user  text,
    agent         text,
    session       text,
    tool          text   COLLATE "C" NOT NULL,
    contract      text,
    effect        bigint NOT NULL,
    layer         text,
    decision      text   COLLATE "C",
    policy        text,
    approval      text,
    approver      text,
    outcome       text   COLLATE "C",
    error         text,
    arguments     text   NOT NULL,
    original_hash text   NOT NULL,
    used_hash     text,
    output        text,
    output_bytes  bigint,
    attempt       bigint NOT NULL,
    started       bigint NOT NULL,
    duration_us   bigint,
    notes         text   NOT NULL, -- JSON
    PRIMARY KEY (workspace, key)
) WITH (fillfactor = 80);

-- `AuditSink::export`: one index for each field of `AuditFilter`. A model chooses the texts of `tool` and `call`, and an index refuses an entry of
-- more than 2,704 bytes, so these two hold the first characters. Most calls have the outcome `ok`; they are read from `audit_by_workspace`.
CREATE INDEX audit_by_time      ON tool_store.audit (started, workspace, key);
CREATE INDEX audit_by_workspace ON tool_store.audit (workspace, started, key);
CREATE INDEX audit_by_principal ON tool_store.audit (workspace, principal, started, key) WHERE principal IS NOT NULL;
CREATE INDEX audit_by_tool      ON tool_store.audit (workspace, left(tool, 200), started, key);
CREATE INDEX audit_by_call      ON tool_store.audit (workspace, left(call, 200), started, key);
CREATE INDEX audit_by_thread    ON tool_store.audit (workspace, thread, started, key) WHERE thread IS NOT NULL;
CREATE INDEX audit_by_decision  ON tool_store.audit (workspace, decision, started, key) WHERE decision IS NOT NULL;
CREATE INDEX audit_by_outcome   ON tool_store.audit (workspace, outcome, started, key) WHERE outcome <> 'ok';
CREATE INDEX audit_by_failure   ON tool_store.audit (workspace, started, key)
    WHERE outcome IS NOT NULL AND outcome NOT IN ('ok', 'pending', 'unavailable', 'interrupted');

-- Threads. The numbers outlive messages and runs, so that none is given twice.
CREATE TABLE tool_store.thread (
    workspace    text   COLLATE "C" NOT NULL,
    conversation text   COLLATE "C" NOT NULL,
    -- The last sequence number of a message.
    last         bigint NOT NULL,
    -- The last number of a run.
    last_run     bigint NOT NULL DEFAULT 0,
    -- The last sequence number of an event.
    last_event   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, conversation)
) WITH (fillfactor = 50);

-- Events of threads, beside their messages.
CREATE TABLE tool_store.thread_event (
    workspace    text    COLLATE "C" NOT NULL,
    conversation text    COLLATE "C" NOT NULL,
    seq          bigint  NOT NULL,
    -- The last message of the thread when the event was stored: the event comes after it and before the next message.
    message      bigint  NOT NULL,
    kind         text    NOT NULL,
    -- The version of the format of the body.
    version      bigint  NOT NULL,
    -- The event as JSON; empty if it is sealed.
    body         text    NOT NULL,
    -- Whether the event belongs to the running step, and is removed when the step ends.
    transient    boolean NOT NULL,
    at           bigint  NOT NULL,
    sealed       bytea,
    seal_key     text    COLLATE "C",
    PRIMARY KEY (workspace, conversation, seq),
    CHECK ((sealed IS NULL) = (seal_key IS NULL))
);

-- The end of a step removes its events.
CREATE INDEX thread_event_transient ON tool_store.thread_event (workspace, conversation) WHERE transient;
-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX thread_event_sealed    ON tool_store.thread_event (seal_key, workspace, conversation, seq) WHERE seal_key IS NOT NULL;

CREATE TABLE tool_store.message (
    workspace     text   COLLATE "C" NOT NULL,
    conversation  text   COLLATE "C" NOT NULL,
    seq           bigint NOT NULL,
    role          text   NOT NULL,
    -- The call that a tool's message answers: the sequence number of the assistant's message, and the position in it.
    call_message  bigint,
    call_position bigint,
    content       text   NOT NULL,
    at            bigint NOT NULL,
    sealed        bytea,
    seal_key      text   COLLATE "C",
    PRIMARY KEY (workspace, conversation, seq),
    CHECK ((sealed IS NULL) = (seal_key IS NULL))
);

CREATE INDEX message_sealed ON tool_store.message (seal_key, workspace, conversation, seq) WHERE seal_key IS NOT NULL;

-- A call has one result.
CREATE UNIQUE INDEX message_by_call ON tool_store.message (workspace, conversation, call_message, call_position)
    WHERE call_message IS NOT NULL;

-- Child threads: threads that a call of another thread started. Their messages are in the table `message`.
CREATE TABLE tool_store.child_thread (
    workspace     text    COLLATE "C" NOT NULL,
    conversation  text    COLLATE "C" NOT NULL,
    -- The conversation that started the thread.
    parent        text    COLLATE "C" NOT NULL,
    -- The agent of the parent that started the thread.
    caller        text    NOT NULL,
    -- The call that began the current session: the sequence number of the assistant's message in the parent, and the position in it.
    call_message  bigint,
    call_position bigint,
    -- Whether that call returns the outcome of the session.
    waits         boolean NOT NULL,
    -- The sequence number of the message that began the session.
    begins        bigint  NOT NULL,
    kind          text    NOT NULL,
    agent         text    NOT NULL,
    -- A text that a model wrote.
    name          text,
    depth         bigint  NOT NULL,
    resumable     boolean NOT NULL,
    state         text    NOT NULL,
    session       bigint  NOT NULL,
    -- The last session whose outcome the parent has received.
    delivered     bigint  NOT NULL,
    -- The keys of the calls that sent messages in this session, as a JSON array.
    keys          text    NOT NULL,
    -- The open request for variables.
    request       text,
    created       bigint  NOT NULL,
    updated       bigint  NOT NULL,
    PRIMARY KEY (workspace, conversation),
    CHECK ((call_message IS NULL) = (call_position IS NULL))
);

-- `ChildStore::children`, of one parent and in one state.
CREATE INDEX child_thread_by_parent ON tool_store.child_thread (workspace, parent, conversation);
CREATE INDEX child_thread_by_state  ON tool_store.child_thread (state, workspace, conversation);
-- `ChildStore::open_child` counts the live children of a parent.
CREATE INDEX child_thread_live      ON tool_store.child_thread (workspace, parent, conversation) WHERE state <> 'terminated';

-- Runs: who drives a thread, and how each run ended.
CREATE TABLE tool_store.run (
    workspace             text   COLLATE "C" NOT NULL,
    conversation          text   COLLATE "C" NOT NULL,
    number                bigint NOT NULL,
    principal             text,
    agent                 text,
    owner                 text   NOT NULL,
    lease_until           bigint NOT NULL,
    lapses                bigint NOT NULL,
    state                 text   NOT NULL,
    cause                 text,
    stop                  text,
    started               bigint NOT NULL,
    ended                 bigint,
    attempt               bigint NOT NULL,
    steps                 bigint NOT NULL,
    input_tokens          bigint NOT NULL,
    -- A counter is null if no provider of the run has reported it.
    cache_read_tokens     bigint,
    cache_write_5m_tokens bigint,
    cache_write_1h_tokens bigint,
    output_tokens         bigint NOT NULL,
    reasoning_tokens      bigint,
    -- The number of responses without usage.
    unmeasured            bigint NOT NULL,
    -- In millionths of the currency of the host's prices; null if no model of the run has a price.
    cost_micros           bigint,
    PRIMARY KEY (workspace, conversation, number)
);

-- `RunStore::begin_run`: at most one run of a thread is running.
CREATE UNIQUE INDEX run_running  ON tool_store.run (workspace, conversation) WHERE state = 'running';
-- `RunStore::list_runs`, of all workspaces, of one, and of one conversation.
CREATE INDEX run_by_time         ON tool_store.run (started, workspace, conversation, number);
CREATE INDEX run_by_workspace    ON tool_store.run (workspace, started, conversation, number);
CREATE INDEX run_by_conversation ON tool_store.run (workspace, conversation, started, number);
-- `RunStore::retain_runs`.
CREATE INDEX run_by_end          ON tool_store.run (ended) WHERE ended IS NOT NULL;

-- The queue of threads that workers drive.
CREATE TABLE tool_store.work (
    workspace    text   COLLATE "C" NOT NULL,
    conversation text   COLLATE "C" NOT NULL,
    agent        text   COLLATE "C" NOT NULL,
    -- The version of the agent's definition.
    definition   text   COLLATE "C" NOT NULL,
    principal    text,
    -- Facts about the caller, as JSON.
    facts        text,
    state        text   NOT NULL,
    cause        text,
    -- When a worker may claim the row: the time for which it is queued, or the end of the lease of a claimed row.
    ready        bigint,
    -- The time for which a claimed row is queued when it is released.
    again        bigint,
    -- The token of the current claim.
    token        text,
    worker       text,
    recoveries   bigint NOT NULL,
    attempts     bigint NOT NULL,
    created      bigint NOT NULL,
    updated      bigint NOT NULL,
    PRIMARY KEY (workspace, conversation),
    CHECK ((token IS NULL) = (state <> 'claimed')),
    CHECK ((ready IS NULL) = (state IN ('waiting', 'ended')))
) WITH (fillfactor = 50);

-- `WorkStore::claim_work`.
CREATE INDEX work_ready    ON tool_store.work (agent, definition, ready) WHERE ready IS NOT NULL;
-- `WorkStore::list_work`, in one state.
CREATE INDEX work_by_state ON tool_store.work (state, workspace, conversation);

-- Budgets that several runs share. Costs are in millionths of the currency of the host's prices.
CREATE TABLE tool_store.budget (
    workspace       text   COLLATE "C" NOT NULL,
    name            text   COLLATE "C" NOT NULL,
    most_tokens     bigint,
    most_cost       bigint,
    -- The sums of the open reservations.
    reserved_tokens bigint NOT NULL,
    reserved_cost   bigint NOT NULL,
    spent_tokens    bigint NOT NULL,
    spent_cost      bigint NOT NULL,
    -- The number of responses without usage.
    unmeasured      bigint NOT NULL,
    -- When more was used than a limit allows.
    overrun         bigint,
    created         bigint NOT NULL,
    updated         bigint NOT NULL,
    PRIMARY KEY (workspace, name)
);

-- The open reservations of budgets, one for each step of a run.
CREATE TABLE tool_store.budget_reservation (
    workspace text   COLLATE "C" NOT NULL,
    name      text   COLLATE "C" NOT NULL,
    step      text   COLLATE "C" NOT NULL,
    tokens    bigint NOT NULL,
    cost      bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, name, step),
    FOREIGN KEY (workspace, name) REFERENCES tool_store.budget (workspace, name) ON DELETE CASCADE
);

-- Long outputs, in chunks, so that reading a part costs the part. A chunk is bytes, because a text of PostgreSQL cannot hold U+0000.
CREATE TABLE tool_store.spill (
    handle    text   COLLATE "C" NOT NULL PRIMARY KEY,
    workspace text   COLLATE "C" NOT NULL,
    principal text   COLLATE "C" NOT NULL,
    total     bigint NOT NULL,
    at        bigint NOT NULL,
    expires   bigint NOT NULL,
    lapses    bigint NOT NULL
);

CREATE INDEX spill_by_expiry    ON tool_store.spill (lapses);
-- `Maintenance::erase_contents` of one user's spilled outputs.
CREATE INDEX spill_by_principal ON tool_store.spill (workspace, principal);

CREATE TABLE tool_store.spill_chunk (
    handle   text   COLLATE "C" NOT NULL REFERENCES tool_store.spill (handle) ON DELETE CASCADE,
    start    bigint NOT NULL, -- the byte of the text at which the chunk begins
    text     bytea  NOT NULL,
    sealed   bytea,
    seal_key text   COLLATE "C",
    PRIMARY KEY (handle, start),
    CHECK ((sealed IS NULL) = (seal_key IS NULL))
);

CREATE INDEX spill_chunk_sealed ON tool_store.spill_chunk (seal_key, handle, start) WHERE seal_key IS NOT NULL;

-- Kill switches, disables and enablement rows. A row is kept after its switch is turned off; it records the operator, the time and the reason.
CREATE TABLE tool_store.switch (
    -- 0 for a switch that applies to every workspace (its `workspace` is the empty string); 1 for a switch of one workspace.
    reach     bigint  NOT NULL,
    workspace text    COLLATE "C" NOT NULL,
    kind      text    COLLATE "C" NOT NULL,
    tool      text    COLLATE "C" NOT NULL,
    source    text    COLLATE "C" NOT NULL,
    is_on     boolean NOT NULL,
    set_by    text    NOT NULL,
    reason    text,
    at        bigint  NOT NULL,
    -- `SwitchStore::switches` and `SwitchStore::enablement` read in this order.
    PRIMARY KEY (reach, workspace, kind, tool, source)
);

-- `SwitchStore::in_force` reads kill switches and disables that are on: usually a few among many enablement rows.
CREATE INDEX switch_in_force   ON tool_store.switch (reach, workspace, kind, tool, source) WHERE is_on AND kind <> 'enable';
-- `SwitchStore::retire` looks for those that were turned off long ago.
CREATE INDEX switch_turned_off ON tool_store.switch (at) WHERE NOT is_on AND kind <> 'enable';

-- What processes keep in memory and read again when its number has changed. A change raises the number in its own transaction. A process
-- whose last read returned the current number has seen every change. `name` is the payload of the notification on the channel `tool_store`.
CREATE TABLE tool_store.generation (
    name   text   NOT NULL PRIMARY KEY,
    number bigint NOT NULL,
    -- What was read before this number is void, because something was removed since.
    reset  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO tool_store.generation (name, number) VALUES ('switches', 0), ('enablement', 0);

-- Responses to requests with an idempotency key (`ChangeStore::apply`): a repetition of the request gets the first response.
CREATE TABLE tool_store.request (
    workspace   text   COLLATE "C" NOT NULL,
    caller      text   COLLATE "C" NOT NULL,
    key         text   COLLATE "C" NOT NULL,
    fingerprint text   NOT NULL,
    response    text   NOT NULL,
    -- The conversation and the user of the contents of the response, with which it is erased.
    thread      text   COLLATE "C",
    principal   text   COLLATE "C",
    lapses      bigint NOT NULL,
    sealed      bytea,
    seal_key    text   COLLATE "C",
    PRIMARY KEY (workspace, caller, key),
    CHECK ((sealed IS NULL) = (seal_key IS NULL))
);

CREATE INDEX request_sealed ON tool_store.request (seal_key, workspace, caller, key) WHERE seal_key IS NOT NULL;

-- Each request with a key removes some expired ones, and so does `Maintenance::purge`.
CREATE INDEX request_by_expiry ON tool_store.request (lapses);

-- The tools of the program that wrote last.
CREATE TABLE tool_store.catalogue (
    name        text   COLLATE "C" NOT NULL PRIMARY KEY,
    title       text,
    description text   NOT NULL,
    category    text   NOT NULL,
    contract    text   NOT NULL,
    effect      bigint NOT NULL,
    secrets     text   NOT NULL, -- JSON: the keys of the secrets that the tool declares
    aliases     text   NOT NULL, -- JSON: earlier names of the tool
    is_meta     boolean NOT NULL,
    is_global   boolean NOT NULL,
    is_harness  boolean NOT NULL,
    synced_at   bigint NOT NULL
);

-- The values of `catalogue.aliases`, to look names up.
CREATE TABLE tool_store.catalogue_alias (
    alias text COLLATE "C" NOT NULL PRIMARY KEY,
    tool  text COLLATE "C" NOT NULL REFERENCES tool_store.catalogue (name) ON DELETE CASCADE
);
CREATE INDEX catalogue_alias_by_tool ON tool_store.catalogue_alias (tool);

-- The instances that have rows, or that the host has added so that they get the rows of global tools.
CREATE TABLE tool_store.instance (
    workspace text   COLLATE "C" NOT NULL,
    -- The empty text for a workspace that has only one instance.
    slug      text   COLLATE "C" NOT NULL,
    -- The number of the generation `enablement` with which the rows of this instance were changed last.
    version   bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, slug)
);
CREATE INDEX instance_by_version ON tool_store.instance (version);

-- A tool is enabled for an instance if there is a row for both.
CREATE TABLE tool_store.enablement (
    workspace text    COLLATE "C" NOT NULL,
    instance  text    COLLATE "C" NOT NULL,
    tool      text    COLLATE "C" NOT NULL,
    -- The tool's entry in the catalogue, with which the row is removed; null for `agent:` rows, which have no entry.
    entry     text    COLLATE "C" REFERENCES tool_store.catalogue (name) ON DELETE CASCADE,
    source    text    NOT NULL,
    -- Whether a person has enabled the tool, whatever the source is: the row stays when the skill or the flag that outranks it is removed.
    is_manual boolean NOT NULL,
    set_by    text    NOT NULL,
    at        bigint  NOT NULL,
    PRIMARY KEY (workspace, instance, tool),
    FOREIGN KEY (workspace, instance) REFERENCES tool_store.instance (workspace, slug) ON DELETE CASCADE
);
-- The cascade from `catalogue`, and lists of one tool.
CREATE INDEX enablement_by_entry ON tool_store.enablement (entry);
CREATE INDEX enablement_by_tool  ON tool_store.enablement (tool, workspace, instance);

-- The versions of skills that some instance of the workspace has pinned. A version never changes.
CREATE TABLE tool_store.skill_version (
    workspace   text COLLATE "C" NOT NULL,
    skill       text COLLATE "C" NOT NULL,
    version     text COLLATE "C" NOT NULL,
    description text NOT NULL,
    tools       text NOT NULL, -- JSON
    env         text NOT NULL, -- JSON
    files       text NOT NULL, -- JSON: the texts by path
    PRIMARY KEY (workspace, skill, version)
);

-- The values of `skill_version.tools`. They may name tools that are not in the catalogue.
CREATE TABLE tool_store.skill_tool (
    workspace text COLLATE "C" NOT NULL,
    skill     text COLLATE "C" NOT NULL,
    version   text COLLATE "C" NOT NULL,
    tool      text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, skill, version, tool),
    FOREIGN KEY (workspace, skill, version) REFERENCES tool_store.skill_version (workspace, skill, version) ON DELETE CASCADE
);
CREATE INDEX skill_tool_by_tool ON tool_store.skill_tool (tool);

-- The skills of an instance, each with the version that applies to it.
CREATE TABLE tool_store.skill_pin (
    workspace text   COLLATE "C" NOT NULL,
    instance  text   COLLATE "C" NOT NULL,
    skill     text   COLLATE "C" NOT NULL,
    version   text   COLLATE "C" NOT NULL,
    set_by    text   NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, instance, skill),
    FOREIGN KEY (workspace, instance) REFERENCES tool_store.instance (workspace, slug) ON DELETE CASCADE,
    FOREIGN KEY (workspace, skill, version) REFERENCES tool_store.skill_version (workspace, skill, version)
);
CREATE INDEX skill_pin_by_version ON tool_store.skill_pin (workspace, skill, version);

-- Sealed secrets, variables, requests for variables, and the keys that seal values. A sealed value is written by `Sealed`, and `seal_key` is the id
-- of its key, so that the values of a key can be counted and found. The keys themselves are never stored.

-- The keys that the processes of the host use. `check_value` is a known text that the key has sealed.
CREATE TABLE tool_store.seal_key (
    id          text   COLLATE "C" NOT NULL PRIMARY KEY,
    check_value bytea  NOT NULL,
    at          bigint NOT NULL,
    retired     bigint
);

CREATE TABLE tool_store.secret (
    workspace text   COLLATE "C" NOT NULL,
    name      text   COLLATE "C" NOT NULL,
    -- The id of the value.
    id        text   COLLATE "C" NOT NULL,
    sealed    bytea  NOT NULL,
    seal_key  text   COLLATE "C" NOT NULL,
    set_by    text   NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, name)
);
CREATE UNIQUE INDEX secret_by_id ON tool_store.secret (workspace, id);
-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX secret_by_key ON tool_store.secret (seal_key, workspace, id);

CREATE TABLE tool_store.variable (
    workspace text   COLLATE "C" NOT NULL,
    level     text   COLLATE "C" NOT NULL,
    -- The id of the user, prompt, agent or thread; empty for the workspace itself.
    owner     text   COLLATE "C" NOT NULL,
    name      text   COLLATE "C" NOT NULL,
    id        text   COLLATE "C" NOT NULL,
    kind      text   NOT NULL,
    -- The value of a secret is in `sealed`, and all other values are in `value`.
    value     text,
    sealed    bytea,
    seal_key  text   COLLATE "C",
    set_by    text   NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, level, owner, name),
    CHECK ((value IS NULL) = (sealed IS NOT NULL) AND (sealed IS NULL) = (seal_key IS NULL))
);
CREATE UNIQUE INDEX variable_by_id ON tool_store.variable (workspace, id);
CREATE INDEX variable_by_key ON tool_store.variable (seal_key, workspace, id) WHERE seal_key IS NOT NULL;

CREATE TABLE tool_store.variable_request (
    workspace    text   COLLATE "C" NOT NULL,
    id           text   COLLATE "C" NOT NULL,
    -- The thread that waits.
    conversation text   COLLATE "C" NOT NULL,
    agent        text   NOT NULL,
    -- The owner of the values.
    level        text   NOT NULL,
    owner        text   NOT NULL,
    required     text   NOT NULL, -- JSON
    missing      text   NOT NULL, -- JSON
    at           bigint NOT NULL,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX variable_request_by_thread ON tool_store.variable_request (workspace, conversation, id);
CREATE INDEX variable_request_by_time   ON tool_store.variable_request (at, workspace, id);

-- Tools that operators create at run time: workspaces and members, functions with their versions, tools, and bindings of tools to agents.
CREATE TABLE tool_store.workspace (
    workspace            text   COLLATE "C" NOT NULL PRIMARY KEY,
    default_runtime_user text   COLLATE "C",
    retention_tier       text   NOT NULL CHECK (retention_tier IN ('short', 'medium', 'long', 'none')),
    created_at           bigint NOT NULL,
    updated_at           bigint NOT NULL
);

CREATE TABLE tool_store.member (
    workspace text   COLLATE "C" NOT NULL,
    member    text   COLLATE "C" NOT NULL,
    role      text   NOT NULL CHECK (role IN ('viewer', 'approver', 'operator', 'author', 'admin')),
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, member)
);

-- The workspace of a function, a version or a tool is null if it belongs to the system, so it cannot be part of the primary key. Ids are unique in
-- the whole store.
CREATE TABLE tool_store.function (
    id              text   COLLATE "C" NOT NULL PRIMARY KEY,
    workspace       text   COLLATE "C",
    name            text   COLLATE "C" NOT NULL,
    description     text,
    -- The word of the kind, for filters; `code` has the kind itself.
    kind            text   COLLATE "C" NOT NULL,
    code            text   NOT NULL, -- JSON
    default_version text   COLLATE "C",
    runtime_user    text   COLLATE "C",
    effects         text, -- JSON
    created_by      text,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    CHECK ((workspace IS NULL) = (created_by IS NULL))
);
-- Lists merge the rows of a workspace and those of the system. The latter need an index of their own: PostgreSQL sorts what it has found by `IS NULL` in
-- an index on the workspace.
CREATE INDEX function_by_workspace ON tool_store.function (workspace, created_at, id);
CREATE INDEX function_of_system    ON tool_store.function (created_at, id) WHERE workspace IS NULL;

CREATE TABLE tool_store.function_version (
    id            text   COLLATE "C" NOT NULL PRIMARY KEY,
    workspace     text   COLLATE "C",
    function      text   COLLATE "C" NOT NULL REFERENCES tool_store.function (id) ON DELETE CASCADE,
    number        bigint NOT NULL,
    parent        text   COLLATE "C",
    label         text,
    files         text   NOT NULL, -- JSON: the texts by path
    uses          text   NOT NULL, -- JSON: the names of the tools that the code may call
    input_schema  text   NOT NULL,
    output_schema text   NOT NULL,
    created_by    text,
    created_at    bigint NOT NULL,
    CONSTRAINT function_version_by_number UNIQUE (function, number)
);
CREATE INDEX function_version_by_parent ON tool_store.function_version (parent) WHERE parent IS NOT NULL;

-- A version never changes.
CREATE FUNCTION tool_store.refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a version of a function never changes';
END
$$;
CREATE TRIGGER function_version_is_immutable BEFORE UPDATE ON tool_store.function_version
    FOR EACH ROW EXECUTE FUNCTION tool_store.refuse_update();

CREATE TABLE tool_store.stored_tool (
    id                    text    COLLATE "C" NOT NULL PRIMARY KEY,
    workspace             text    COLLATE "C",
    name                  text    COLLATE "C" NOT NULL,
    description           text,
    target                text    COLLATE "C" NOT NULL CHECK (target IN ('server', 'client')),
    function              text    COLLATE "C" REFERENCES tool_store.function (id),
    function_version      text    COLLATE "C" REFERENCES tool_store.function_version (id),
    input_schema          text,
    output_schema         text,
    examples              text, -- JSON
    requires_confirmation boolean NOT NULL,
    enabled               boolean NOT NULL,
    system                boolean NOT NULL,
    source                text    COLLATE "C" NOT NULL,
    created_by            text,
    runtime_user          text    COLLATE "C",
    deleted_at            bigint,
    retention_tier        text    CHECK (retention_tier IN ('short', 'medium', 'long', 'none')),
    -- When a deleted tool is removed; null for an active one and for the tier `none`.
    due                   bigint,
    created_at            bigint  NOT NULL,
    updated_at            bigint  NOT NULL,
    CONSTRAINT stored_tool_has_an_owner CHECK ((workspace IS NULL) = system),
    CONSTRAINT stored_tool_has_an_author CHECK ((created_by IS NULL) = system),
    CONSTRAINT stored_tool_has_a_tier CHECK ((deleted_at IS NULL) = (retention_tier IS NULL)),
    CONSTRAINT stored_tool_has_a_function CHECK ((target = 'server') = (function IS NOT NULL)),
    CONSTRAINT stored_tool_has_a_version CHECK (function IS NOT NULL OR function_version IS NULL)
);
-- Lists, and the counts of the tools of a function and of a version.
CREATE INDEX stored_tool_by_workspace ON tool_store.stored_tool (workspace, created_at, id);
CREATE INDEX stored_tool_of_system    ON tool_store.stored_tool (created_at, id) WHERE workspace IS NULL;
CREATE INDEX stored_tool_by_function  ON tool_store.stored_tool (function, workspace, created_at, id) WHERE function IS NOT NULL;
CREATE INDEX stored_tool_by_version   ON tool_store.stored_tool (function_version) WHERE function_version IS NOT NULL;
-- `StoredToolStore::purge_tools`.
CREATE INDEX stored_tool_by_due       ON tool_store.stored_tool (due, id) WHERE due IS NOT NULL;

CREATE TABLE tool_store.agent_tool (
    -- The workspace of the agent. The tool may belong to the system.
    workspace text   COLLATE "C" NOT NULL,
    agent     text   COLLATE "C" NOT NULL,
    tool      text   COLLATE "C" NOT NULL REFERENCES tool_store.stored_tool (id) ON DELETE CASCADE,
    set_by    text   NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (workspace, agent, tool)
);
CREATE INDEX agent_tool_by_tool ON tool_store.agent_tool (tool, workspace, agent);

-- Changes for `EventStore::events`. Triggers write them, so that a change is an event whatever code makes it, in the transaction of the change.
--
-- Numbers of a sequence are not in the order of commits, so a reader's position is a snapshot: it reads the rows whose transaction `x` was not visible
-- in that snapshot. `tag` is random: a database that was restored and then changed has other tags under the same numbers, so a reader's position in
-- the lost rows is recognized.
CREATE TABLE tool_store.event (
    seq       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    x         xid8   NOT NULL DEFAULT pg_current_xact_id(),
    -- Null for a change that concerns every workspace.
    workspace text   COLLATE "C",
    resource  text   NOT NULL,
    key       text   NOT NULL, -- JSON: an array of texts
    at        bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000),
    tag       text   NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', '')
);
CREATE INDEX event_by_workspace ON tool_store.event (workspace, x);
CREATE INDEX event_by_time      ON tool_store.event (at);
-- The position of a reader that begins before the first change. The newest row is never removed, so there is always one.
INSERT INTO tool_store.event (resource, key) VALUES ('start', '[]');

CREATE FUNCTION tool_store.note_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed record := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF TG_TABLE_NAME = 'audit' THEN
        INSERT INTO tool_store.event (workspace, resource, key) VALUES (changed.workspace, 'audit', json_build_array(changed.key));
    ELSIF TG_TABLE_NAME = 'approval' THEN
        INSERT INTO tool_store.event (workspace, resource, key) VALUES (changed.workspace, 'approvals', json_build_array(changed.id));
    ELSIF TG_TABLE_NAME = 'run' THEN
        INSERT INTO tool_store.event (workspace, resource, key)
        VALUES (changed.workspace, 'runs', json_build_array(changed.conversation, changed.number::text));
    ELSIF TG_TABLE_NAME = 'switch' THEN
        INSERT INTO tool_store.event (workspace, resource, key)
        VALUES (CASE WHEN changed.reach <> 0 THEN changed.workspace END, 'switches', json_build_array(changed.kind, changed.tool, changed.source));
    ELSIF TG_TABLE_NAME = 'instance' THEN
        INSERT INTO tool_store.event (workspace, resource, key) VALUES (changed.workspace, 'enablement', json_build_array(changed.slug));
    ELSIF TG_TABLE_NAME = 'function' THEN
        INSERT INTO tool_store.event (workspace, resource, key) VALUES (changed.workspace, 'functions', json_build_array(changed.id));
    ELSIF TG_TABLE_NAME = 'function_version' THEN
        INSERT INTO tool_store.event (workspace, resource, key) VALUES (changed.workspace, 'functions', json_build_array(changed.function));
    ELSIF TG_TABLE_NAME = 'stored_tool' THEN
        INSERT INTO tool_store.event (workspace, resource, key) VALUES (changed.workspace, 'stored-tools', json_build_array(changed.id));
    ELSIF TG_TABLE_NAME = 'agent_tool' THEN
        INSERT INTO tool_store.event (workspace, resource, key) VALUES (changed.workspace, 'stored-tools', json_build_array(changed.tool));
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER event_of_audit AFTER INSERT OR UPDATE ON tool_store.audit FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_new_approval AFTER INSERT ON tool_store.approval FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_approval AFTER UPDATE ON tool_store.approval FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.assignee IS DISTINCT FROM NEW.assignee OR OLD.arguments IS DISTINCT FROM NEW.arguments)
    EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_new_run AFTER INSERT ON tool_store.run FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
-- The renewal of a lease is not an event.
CREATE TRIGGER event_of_run AFTER UPDATE ON tool_store.run FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD.stop IS DISTINCT FROM NEW.stop OR OLD.owner IS DISTINCT FROM NEW.owner)
    EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_switch AFTER INSERT OR UPDATE ON tool_store.switch FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
-- Each change of enablement rows and skills writes the version of its instance.
CREATE TRIGGER event_of_instance AFTER INSERT OR UPDATE OR DELETE ON tool_store.instance FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_function AFTER INSERT OR UPDATE OR DELETE ON tool_store.function FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_function_version AFTER INSERT OR DELETE ON tool_store.function_version
    FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_stored_tool AFTER INSERT OR UPDATE OR DELETE ON tool_store.stored_tool FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
CREATE TRIGGER event_of_agent_tool AFTER INSERT OR DELETE ON tool_store.agent_tool FOR EACH ROW EXECUTE FUNCTION tool_store.note_event();
