-- Events of threads, beside their messages.

-- The last sequence number of an event. It outlives the events, so that no number is given twice.
ALTER TABLE thread ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0;

CREATE TABLE thread_event (
    workspace    TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    -- The last message of the thread when the event was stored: the event comes after it and before the next message.
    message      INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    -- The version of the format of the body.
    version      INTEGER NOT NULL,
    -- The event as JSON; empty if it is sealed.
    body         TEXT    NOT NULL,
    -- Whether the event belongs to the running step, and is removed when the step ends.
    transient    INTEGER NOT NULL CHECK (transient IN (0, 1)),
    at           INTEGER NOT NULL,
    sealed       BLOB,
    seal_key     TEXT,
    PRIMARY KEY (workspace, conversation, seq),
    CHECK ((sealed IS NULL) = (seal_key IS NULL))
) STRICT, WITHOUT ROWID;

-- The end of a step removes its events.
CREATE INDEX thread_event_transient ON thread_event (workspace, conversation) WHERE transient;
-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX thread_event_sealed    ON thread_event (seal_key, workspace, conversation, seq) WHERE seal_key IS NOT NULL;
