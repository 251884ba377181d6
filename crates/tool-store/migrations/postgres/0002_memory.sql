-- Long-term memories of agents, and the notes of threads.

CREATE TABLE tool_store.memory (
    -- Newer memories have larger numbers.
    seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           text   COLLATE "C" NOT NULL,
    workspace    text   COLLATE "C" NOT NULL,
    -- The agent that reads the memory; empty if all agents of the workspace read it.
    agent        text   COLLATE "C" NOT NULL,
    -- The hash of the normalized content.
    hash         text   COLLATE "C" NOT NULL,
    content      text   NOT NULL,
    type         text   NOT NULL,
    durability   text   NOT NULL,
    -- In millionths.
    importance   bigint NOT NULL CHECK (importance BETWEEN 0 AND 1000000),
    source       text   NOT NULL,
    principal    text   COLLATE "C",
    conversation text   COLLATE "C",
    -- The model of the embedding in `memory_vector`.
    model        text   COLLATE "C",
    created      bigint NOT NULL,
    updated      bigint NOT NULL,
    CONSTRAINT memory_by_id UNIQUE (workspace, id),
    CONSTRAINT memory_by_hash UNIQUE (workspace, agent, hash)
);

-- `Maintenance::erase_contents` of one user or one thread.
CREATE INDEX memory_by_principal    ON tool_store.memory (workspace, principal, id) WHERE principal IS NOT NULL;
CREATE INDEX memory_by_conversation ON tool_store.memory (workspace, conversation)  WHERE conversation IS NOT NULL;
-- `Maintenance::purge`.
CREATE INDEX memory_by_expiry       ON tool_store.memory (updated)                  WHERE durability = 'ephemeral';
-- A search for a frequent word reads the newest rows of its scope.
CREATE INDEX memory_by_scope        ON tool_store.memory (workspace, agent, seq);

-- The words of the contents. The program splits texts into words, because the parsers of PostgreSQL make one word of a sentence without spaces. Each row has
-- two labels: its scope, and its scope with its type. The program ranks the rows, because `ts_rank` is not BM25: it does not count in how many rows a word is.
CREATE TABLE tool_store.memory_text (
    rowid  bigint PRIMARY KEY REFERENCES tool_store.memory (seq) ON DELETE CASCADE,
    labels text COLLATE "C" NOT NULL,
    terms  text COLLATE "C" NOT NULL,
    words  tsvector NOT NULL GENERATED ALWAYS AS (array_to_tsvector(string_to_array(rtrim(labels || ' ' || terms), ' '))) STORED
);

CREATE INDEX memory_text_words ON tool_store.memory_text USING gin (words);

-- The embeddings: vectors of unit length, as little-endian floats of 4 bytes.
CREATE TABLE tool_store.memory_vector (
    seq       bigint PRIMARY KEY REFERENCES tool_store.memory (seq) ON DELETE CASCADE,
    workspace text  COLLATE "C" NOT NULL,
    agent     text  COLLATE "C" NOT NULL,
    model     text  COLLATE "C" NOT NULL,
    vector    bytea NOT NULL
);

CREATE INDEX memory_vector_by_scope ON tool_store.memory_vector (workspace, agent, model);

-- The notes of a thread, as JSON.
CREATE TABLE tool_store.thread_note (
    workspace    text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    block        text NOT NULL,
    PRIMARY KEY (workspace, conversation)
);
