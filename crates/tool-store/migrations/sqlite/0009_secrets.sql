-- Sealed secrets, variables, requests for variables, and the keys that seal values. A sealed value is written by `Sealed`, and `seal_key` is the id
-- of its key, so that the values of a key can be counted and found. The keys themselves are never stored.

-- The keys that the processes of the host use. `check_value` is a known text that the key has sealed.
CREATE TABLE seal_key (
    id          TEXT    NOT NULL PRIMARY KEY,
    check_value BLOB    NOT NULL,
    at          INTEGER NOT NULL,
    retired     INTEGER
) STRICT;

CREATE TABLE secret (
    workspace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    -- The id of the value.
    id        TEXT    NOT NULL,
    sealed    BLOB    NOT NULL,
    seal_key  TEXT    NOT NULL,
    set_by    TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT;
CREATE UNIQUE INDEX secret_by_id ON secret (workspace, id);
-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX secret_by_key ON secret (seal_key, workspace, id);

CREATE TABLE variable (
    workspace TEXT    NOT NULL,
    level     TEXT    NOT NULL,
    -- The id of the user, prompt, agent or thread; empty for the workspace itself.
    owner     TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    -- The value of a secret is in `sealed`, and all other values are in `value`.
    value     TEXT,
    sealed    BLOB,
    seal_key  TEXT,
    set_by    TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, level, owner, name),
    CHECK ((value IS NULL) = (sealed IS NOT NULL) AND (sealed IS NULL) = (seal_key IS NULL))
) STRICT;
CREATE UNIQUE INDEX variable_by_id ON variable (workspace, id);
CREATE INDEX variable_by_key ON variable (seal_key, workspace, id) WHERE seal_key IS NOT NULL;

CREATE TABLE variable_request (
    workspace    TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    -- The thread that waits.
    conversation TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    -- The owner of the values.
    level        TEXT    NOT NULL,
    owner        TEXT    NOT NULL,
    required     TEXT    NOT NULL, -- JSON
    missing      TEXT    NOT NULL, -- JSON
    at           INTEGER NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT;
CREATE INDEX variable_request_by_thread ON variable_request (workspace, conversation, id);
CREATE INDEX variable_request_by_time   ON variable_request (at, workspace, id);
