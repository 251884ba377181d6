-- Long-term memories of agents, and the notes of threads.

CREATE TABLE memory (
    -- Newer memories have larger numbers.
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    -- The agent that reads the memory; empty if all agents of the workspace read it.
    agent        TEXT    NOT NULL,
    -- The hash of the normalized content.
    hash         TEXT    NOT NULL,
    content      TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    durability   TEXT    NOT NULL,
    -- In millionths.
    importance   INTEGER NOT NULL CHECK (importance BETWEEN 0 AND 1000000),
    source       TEXT    NOT NULL,
    principal    TEXT,
    conversation TEXT,
    -- The model of the embedding in `memory_vector`.
    model        TEXT,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    UNIQUE (workspace, id),
    UNIQUE (workspace, agent, hash)
) STRICT;

-- `Maintenance::erase_contents` of one user or one thread.
CREATE INDEX memory_by_principal    ON memory (workspace, principal, id) WHERE principal IS NOT NULL;
CREATE INDEX memory_by_conversation ON memory (workspace, conversation)  WHERE conversation IS NOT NULL;
-- `Maintenance::purge`.
CREATE INDEX memory_by_expiry       ON memory (updated)                  WHERE durability = 'ephemeral';

-- The words of the contents. The program splits texts into words, so the tokenizer splits only at spaces: every other character belongs to a word. Each row
-- has two labels: its scope, and its scope with its type. A search intersects the rows of a label with the rows of a word, so its time depends on its own
-- scope and not on the whole table.
CREATE VIRTUAL TABLE memory_text USING fts5 (
    labels, terms, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'", detail = 'column'
);

-- Without this, the words of a removed row stay in the file until the index is merged.
INSERT INTO memory_text (memory_text, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
    DELETE FROM memory_text WHERE rowid = old.seq;
END;

-- The embeddings: vectors of unit length, as little-endian floats of 4 bytes.
CREATE TABLE memory_vector (
    seq       INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    workspace TEXT NOT NULL,
    agent     TEXT NOT NULL,
    model     TEXT NOT NULL,
    vector    BLOB NOT NULL
) STRICT;

CREATE INDEX memory_vector_by_scope ON memory_vector (workspace, agent, model);

-- The notes of a thread, as JSON.
CREATE TABLE thread_note (
    workspace    TEXT NOT NULL,
    conversation TEXT NOT NULL,
    block        TEXT NOT NULL,
    PRIMARY KEY (workspace, conversation)
) STRICT;
