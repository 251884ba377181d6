-- Tools that operators create at run time: workspaces and members, functions with their versions, tools, and bindings of tools to agents.

CREATE TABLE workspace (
    workspace            TEXT    NOT NULL PRIMARY KEY,
    default_runtime_user TEXT,
    retention_tier       TEXT    NOT NULL CHECK (retention_tier IN ('short', 'medium', 'long', 'none')),
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL
) STRICT;

CREATE TABLE member (
    workspace TEXT    NOT NULL,
    member    TEXT    NOT NULL,
    role      TEXT    NOT NULL CHECK (role IN ('viewer', 'approver', 'operator', 'author', 'admin')),
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, member)
) STRICT;

-- The workspace of a function, a version or a tool is null if it belongs to the system, so it cannot be part of the primary key. Ids are unique in
-- the whole store.
CREATE TABLE function (
    id              TEXT    NOT NULL PRIMARY KEY,
    workspace       TEXT,
    name            TEXT    NOT NULL,
    description     TEXT,
    -- The word of the kind, for filters; `code` has the kind itself.
    kind            TEXT    NOT NULL,
    code            TEXT    NOT NULL, -- JSON
    default_version TEXT,
    runtime_user    TEXT,
    effects         TEXT, -- JSON
    created_by      TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    CHECK ((workspace IS NULL) = (created_by IS NULL))
) STRICT;
CREATE INDEX function_by_workspace ON function (workspace, created_at, id);

CREATE TABLE function_version (
    id            TEXT    NOT NULL PRIMARY KEY,
    workspace     TEXT,
    function      TEXT    NOT NULL REFERENCES function (id) ON DELETE CASCADE,
    number        INTEGER NOT NULL,
    parent        TEXT,
    label         TEXT,
    files         TEXT    NOT NULL, -- JSON: the texts by path
    uses          TEXT    NOT NULL, -- JSON: the names of the tools that the code may call
    input_schema  TEXT    NOT NULL,
    output_schema TEXT    NOT NULL,
    created_by    TEXT,
    created_at    INTEGER NOT NULL,
    UNIQUE (function, number)
) STRICT;
CREATE INDEX function_version_by_parent ON function_version (parent) WHERE parent IS NOT NULL;

-- A version never changes.
CREATE TRIGGER function_version_is_immutable BEFORE UPDATE ON function_version
BEGIN
    SELECT RAISE(ABORT, 'a version of a function never changes');
END;

CREATE TABLE stored_tool (
    id                    TEXT    NOT NULL PRIMARY KEY,
    workspace             TEXT,
    name                  TEXT    NOT NULL,
    description           TEXT,
    target                TEXT    NOT NULL CHECK (target IN ('server', 'client')),
    function              TEXT    REFERENCES function (id),
    function_version      TEXT    REFERENCES function_version (id),
    input_schema          TEXT,
    output_schema         TEXT,
    examples              TEXT, -- JSON
    requires_confirmation INTEGER NOT NULL CHECK (requires_confirmation IN (0, 1)),
    enabled               INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    system                INTEGER NOT NULL CHECK (system IN (0, 1)),
    source                TEXT    NOT NULL,
    created_by            TEXT,
    runtime_user          TEXT,
    deleted_at            INTEGER,
    retention_tier        TEXT    CHECK (retention_tier IN ('short', 'medium', 'long', 'none')),
    -- When a deleted tool is removed; null for an active one and for the tier `none`.
    due                   INTEGER,
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    CHECK ((workspace IS NULL) = system),
    CHECK ((created_by IS NULL) = system),
    CHECK ((deleted_at IS NULL) = (retention_tier IS NULL)),
    CHECK ((target = 'server') = (function IS NOT NULL)),
    CHECK (function IS NOT NULL OR function_version IS NULL)
) STRICT;
-- Lists, and the counts of the tools of a function and of a version.
CREATE INDEX stored_tool_by_workspace ON stored_tool (workspace, created_at, id);
CREATE INDEX stored_tool_by_function  ON stored_tool (function, created_at, id) WHERE function IS NOT NULL;
CREATE INDEX stored_tool_by_version   ON stored_tool (function_version) WHERE function_version IS NOT NULL;
-- `StoredToolStore::purge_tools`.
CREATE INDEX stored_tool_by_due ON stored_tool (due, id) WHERE due IS NOT NULL;

CREATE TABLE agent_tool (
    -- The workspace of the agent. The tool may belong to the system.
    workspace TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    tool      TEXT    NOT NULL REFERENCES stored_tool (id) ON DELETE CASCADE,
    set_by    TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, tool)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_tool_by_tool ON agent_tool (tool, workspace, agent);
