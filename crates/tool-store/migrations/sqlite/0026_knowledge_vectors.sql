-- Embeddings of the chunks of documents.

-- The model that last computed the embeddings of all chunks.
ALTER TABLE knowledge_document ADD COLUMN embed_model TEXT;
-- When a worker may compute embeddings: the time from which the document waits, or the end of the lease. Null if it does not wait.
ALTER TABLE knowledge_document ADD COLUMN embed_ready INTEGER;
ALTER TABLE knowledge_document ADD COLUMN embed_token TEXT;
-- Failed attempts since the last success, and why the last one failed.
ALTER TABLE knowledge_document ADD COLUMN embed_failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE knowledge_document ADD COLUMN embed_fault TEXT;

-- The chunks of earlier versions have no embeddings.
UPDATE knowledge_document SET embed_ready = 0 WHERE chunks > 0;

CREATE INDEX knowledge_document_embed_ready ON knowledge_document (embed_ready) WHERE embed_ready IS NOT NULL;

-- Vectors of unit length, as little-endian floats of 4 bytes.
CREATE TABLE knowledge_vector (
    chunk      INTEGER PRIMARY KEY REFERENCES knowledge_chunk (id) ON DELETE CASCADE,
    workspace  TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    dimensions INTEGER NOT NULL,
    -- One bit for each dimension (`vectors::code`).
    code       BLOB    NOT NULL,
    vector     BLOB    NOT NULL
) STRICT;

-- The codes of up to 256 chunks of a document: the id of the chunk (8 bytes, little-endian), and the code. A search reads them instead of the vectors.
CREATE TABLE knowledge_code (
    workspace  TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    dimensions INTEGER NOT NULL,
    file       TEXT    NOT NULL,
    block      INTEGER NOT NULL,
    entries    BLOB    NOT NULL,
    PRIMARY KEY (workspace, model, dimensions, file, block),
    FOREIGN KEY (workspace, file) REFERENCES knowledge_document (workspace, file) ON DELETE CASCADE
) STRICT;

-- Removed documents.
CREATE INDEX knowledge_code_by_document ON knowledge_code (workspace, file);
