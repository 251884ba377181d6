-- Child threads: threads that a call of another thread started. Their messages are in the table `message`.
CREATE TABLE child_thread (
    workspace     TEXT    NOT NULL,
    conversation  TEXT    NOT NULL,
    -- The conversation that started the thread.
    parent        TEXT    NOT NULL,
    -- The agent of the parent that started the thread.
    caller        TEXT    NOT NULL,
    -- The call that began the current session: the sequence number of the assistant's message in the parent, and the position in it.
    call_message  INTEGER,
    call_position INTEGER,
    -- Whether that call returns the outcome of the session.
    waits         INTEGER NOT NULL,
    -- The sequence number of the message that began the session.
    begins        INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    -- A text that a model wrote.
    name          TEXT,
    depth         INTEGER NOT NULL,
    resumable     INTEGER NOT NULL,
    state         TEXT    NOT NULL,
    session       INTEGER NOT NULL,
    -- The last session whose outcome the parent has received.
    delivered     INTEGER NOT NULL,
    -- The keys of the calls that sent messages in this session, as a JSON array.
    keys          TEXT    NOT NULL,
    -- The open request for variables.
    request       TEXT,
    created       INTEGER NOT NULL,
    updated       INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation),
    CHECK ((call_message IS NULL) = (call_position IS NULL))
) STRICT;

-- `ChildStore::children`, of one parent and in one state.
CREATE INDEX child_thread_by_parent ON child_thread (workspace, parent, conversation);
CREATE INDEX child_thread_by_state  ON child_thread (state, workspace, conversation);
-- `ChildStore::open_child` counts the live children of a parent.
CREATE INDEX child_thread_live      ON child_thread (workspace, parent, conversation) WHERE state <> 'terminated';
