-- Embeddings of the chunks of documents.

-- The model that last computed the embeddings of all chunks.
ALTER TABLE tool_store.knowledge_document ADD COLUMN embed_model text;
-- When a worker may compute embeddings, by the clock of the database: the time from which the document waits, or the end of the lease. Null if it does not
-- wait.
ALTER TABLE tool_store.knowledge_document ADD COLUMN embed_ready bigint;
ALTER TABLE tool_store.knowledge_document ADD COLUMN embed_token text;
-- Failed attempts since the last success, and why the last one failed.
ALTER TABLE tool_store.knowledge_document ADD COLUMN embed_failures bigint NOT NULL DEFAULT 0;
ALTER TABLE tool_store.knowledge_document ADD COLUMN embed_fault text;

-- The chunks of earlier versions have no embeddings.
UPDATE tool_store.knowledge_document SET embed_ready = 0 WHERE chunks > 0;

CREATE INDEX knowledge_document_embed_ready ON tool_store.knowledge_document (embed_ready) WHERE embed_ready IS NOT NULL;

-- Vectors of unit length, as little-endian floats of 4 bytes.
CREATE TABLE tool_store.knowledge_vector (
    chunk      bigint PRIMARY KEY REFERENCES tool_store.knowledge_chunk (id) ON DELETE CASCADE,
    workspace  text   COLLATE "C" NOT NULL,
    model      text   COLLATE "C" NOT NULL,
    dimensions bigint NOT NULL,
    -- One bit for each dimension (`vectors::code`).
    code       bytea  NOT NULL,
    vector     bytea  NOT NULL
);

-- The codes of up to 256 chunks of a document: the id of the chunk (8 bytes, little-endian), and the code. A search reads them instead of the vectors.
CREATE TABLE tool_store.knowledge_code (
    workspace  text   COLLATE "C" NOT NULL,
    model      text   COLLATE "C" NOT NULL,
    dimensions bigint NOT NULL,
    file       text   COLLATE "C" NOT NULL,
    block      bigint NOT NULL,
    entries    bytea  NOT NULL,
    PRIMARY KEY (workspace, model, dimensions, file, block),
    FOREIGN KEY (workspace, file) REFERENCES tool_store.knowledge_document (workspace, file) ON DELETE CASCADE
);

-- Removed documents.
CREATE INDEX knowledge_code_by_document ON tool_store.knowledge_code (workspace, file);
