-- Documents of workspaces, each with the state of its index.
CREATE TABLE tool_store.knowledge_document (
    workspace  text   COLLATE "C" NOT NULL,
    file       text   COLLATE "C" NOT NULL,
    id         text   NOT NULL,
    mime       text   NOT NULL,
    size       bigint NOT NULL,
    source     text   NOT NULL,
    principal  text   COLLATE "C",
    status     text   NOT NULL,
    fault      text,
    chunks     bigint NOT NULL,
    -- When a worker may claim the document, by the clock of the database: the time from which it waits, or the end of the lease. Null if there is nothing to
    -- index.
    ready      bigint,
    token      text,
    worker     text,
    -- Expired leases since the content was written.
    recoveries bigint NOT NULL,
    created    bigint NOT NULL,
    updated    bigint NOT NULL,
    indexed    bigint,
    PRIMARY KEY (workspace, file)
);
CREATE INDEX knowledge_document_ready     ON tool_store.knowledge_document (ready) WHERE ready IS NOT NULL;
CREATE INDEX knowledge_document_by_status ON tool_store.knowledge_document (workspace, status, file);
CREATE INDEX knowledge_document_by_user   ON tool_store.knowledge_document (workspace, principal) WHERE principal IS NOT NULL;

CREATE TABLE tool_store.knowledge_content (
    workspace text  COLLATE "C" NOT NULL,
    file      text  COLLATE "C" NOT NULL,
    content   bytea NOT NULL,
    -- The text that was extracted from the content; null if the content is the text.
    text      text,
    PRIMARY KEY (workspace, file),
    FOREIGN KEY (workspace, file) REFERENCES tool_store.knowledge_document (workspace, file) ON DELETE CASCADE
);

CREATE TABLE tool_store.knowledge_chunk (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace text   COLLATE "C" NOT NULL,
    file      text   COLLATE "C" NOT NULL,
    seq       bigint NOT NULL,
    content   text   NOT NULL,
    -- A word that stands for the workspace, by which the index finds the chunks of one workspace without reading those of others.
    scope     text   NOT NULL,
    terms     text   NOT NULL,
    UNIQUE (workspace, file, seq),
    FOREIGN KEY (workspace, file) REFERENCES tool_store.knowledge_document (workspace, file) ON DELETE CASCADE
);
-- The terms are words already, so the index does not use a text search configuration, whose parser depends on the locale of the database.
CREATE INDEX knowledge_chunk_terms ON tool_store.knowledge_chunk USING gin (array_to_tsvector(string_to_array(scope || ' ' || terms, ' ')));
