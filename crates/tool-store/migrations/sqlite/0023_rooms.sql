-- The backlog of rooms. A room is a conversation.
CREATE TABLE room_event (
    workspace    TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    id           TEXT NOT NULL,
    author       TEXT,
    body         TEXT NOT NULL,
    state        TEXT NOT NULL,
    notes        TEXT,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, seq),
    UNIQUE (workspace, conversation, id)
) STRICT;

CREATE INDEX room_event_by_state ON room_event (workspace, conversation, state, seq);
CREATE INDEX room_event_by_author ON room_event (workspace, author) WHERE author IS NOT NULL;

-- The history of rooms. A summary has no key.
CREATE TABLE room_message (
    workspace    TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    key          TEXT,
    author       TEXT,
    body         TEXT NOT NULL,
    is_summary   INTEGER NOT NULL CHECK (is_summary IN (0, 1)),
    at           INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, seq),
    UNIQUE (workspace, conversation, key)
) STRICT;

CREATE INDEX room_message_by_author ON room_message (workspace, author) WHERE author IS NOT NULL;
