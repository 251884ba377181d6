-- The backlog of rooms. A room is a conversation.
CREATE TABLE tool_store.room_event (
    workspace    text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq          bigint NOT NULL,
    id           text COLLATE "C" NOT NULL,
    author       text COLLATE "C",
    body         text NOT NULL,
    state        text NOT NULL,
    notes        text,
    created      bigint NOT NULL,
    updated      bigint NOT NULL,
    PRIMARY KEY (workspace, conversation, seq),
    UNIQUE (workspace, conversation, id)
);

CREATE INDEX room_event_by_state ON tool_store.room_event (workspace, conversation, state, seq);
CREATE INDEX room_event_by_author ON tool_store.room_event (workspace, author) WHERE author IS NOT NULL;

-- The history of rooms. A summary has no key.
CREATE TABLE tool_store.room_message (
    workspace    text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq          bigint NOT NULL,
    key          text COLLATE "C",
    author       text COLLATE "C",
    body         text NOT NULL,
    is_summary   boolean NOT NULL,
    at           bigint NOT NULL,
    PRIMARY KEY (workspace, conversation, seq),
    UNIQUE (workspace, conversation, key)
);

CREATE INDEX room_message_by_author ON tool_store.room_message (workspace, author) WHERE author IS NOT NULL;
