-- Codes of the embeddings of memories, with one bit for each dimension, so that a search in a large scope does not read all embeddings.

-- Blocks of codes. A row for each code would take several times as long to read.
CREATE TABLE memory_code (
    id         INTEGER PRIMARY KEY,
    workspace  TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    dimensions INTEGER NOT NULL,
    type       TEXT    NOT NULL,
    -- The number of entries that are not removed.
    used       INTEGER NOT NULL,
    -- The number of bytes of an entry.
    size       INTEGER NOT NULL,
    -- Entries: `seq` of the memory (8 bytes, little-endian; 0 in a removed entry), `updated` of an ephemeral memory or the largest number (8 bytes), and the code.
    entries    BLOB    NOT NULL
) STRICT;

CREATE INDEX memory_code_by_scope ON memory_code (workspace, agent, model, dimensions, type, used);

-- The position of each entry, in bytes.
CREATE TABLE memory_code_place (
    seq      INTEGER PRIMARY KEY,
    code     INTEGER NOT NULL,
    position INTEGER NOT NULL
) STRICT;

-- The embeddings that no block contains yet. A search compares them exactly, and the program moves them into a block when there are enough of them.
CREATE TABLE memory_uncoded (
    seq       INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    agent     TEXT NOT NULL,
    model     TEXT NOT NULL
) STRICT;

CREATE INDEX memory_uncoded_by_scope ON memory_uncoded (workspace, agent, model);

INSERT INTO memory_uncoded (seq, workspace, agent, model)
    SELECT seq, workspace, agent, model FROM memory_vector;

-- The triggers keep the blocks correct for every statement that writes memories, also for those of an earlier version of the program.
CREATE TRIGGER memory_code_removed AFTER DELETE ON memory_code_place BEGIN
    -- `||` concatenates blobs bytewise, and returns a text.
    UPDATE memory_code SET used = used - 1, entries = CAST(
        substr(entries, 1, old.position) || zeroblob(size) || substr(entries, old.position + size + 1) AS BLOB
    ) WHERE id = old.code;
    DELETE FROM memory_code WHERE id = old.code AND used = 0;
END;

CREATE TRIGGER memory_vector_added AFTER INSERT ON memory_vector BEGIN
    INSERT INTO memory_uncoded (seq, workspace, agent, model) VALUES (new.seq, new.workspace, new.agent, new.model);
END;

CREATE TRIGGER memory_vector_changed AFTER UPDATE OF model, vector ON memory_vector BEGIN
    DELETE FROM memory_code_place WHERE seq = old.seq;
    DELETE FROM memory_uncoded WHERE seq = old.seq;
    INSERT INTO memory_uncoded (seq, workspace, agent, model) VALUES (new.seq, new.workspace, new.agent, new.model);
END;

CREATE TRIGGER memory_vector_removed AFTER DELETE ON memory_vector BEGIN
    DELETE FROM memory_code_place WHERE seq = old.seq;
    DELETE FROM memory_uncoded WHERE seq = old.seq;
END;

CREATE TRIGGER memory_attributes_changed AFTER UPDATE OF type, durability, updated ON memory
WHEN new.type <> old.type OR new.durability <> old.durability OR (new.durability = 'ephemeral' AND new.updated <> old.updated) BEGIN
    INSERT INTO memory_uncoded (seq, workspace, agent, model)
        SELECT v.seq, v.workspace, v.agent, v.model FROM memory_code_place p JOIN memory_vector v ON v.seq = p.seq WHERE p.seq = new.seq;
    DELETE FROM memory_code_place WHERE seq = new.seq;
END;
