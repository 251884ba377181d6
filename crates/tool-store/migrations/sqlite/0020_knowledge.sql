-- Documents of workspaces, each with the state of its index.
CREATE TABLE knowledge_document (
    workspace  TEXT    NOT NULL,
    file       TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    mime       TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    source     TEXT    NOT NULL,
    principal  TEXT,
    status     TEXT    NOT NULL,
    fault      TEXT,
    chunks     INTEGER NOT NULL,
    -- When a worker may claim the document: the time from which it waits, or the end of the lease. Null if there is nothing to index.
    ready      INTEGER,
    token      TEXT,
    worker     TEXT,
    -- Expired leases since the content was written.
    recoveries INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    updated    INTEGER NOT NULL,
    indexed    INTEGER,
    PRIMARY KEY (workspace, file)
) STRICT, WITHOUT ROWID;

CREATE INDEX knowledge_document_ready     ON knowledge_document (ready) WHERE ready IS NOT NULL;
CREATE INDEX knowledge_document_by_status ON knowledge_document (workspace, status, file);
CREATE INDEX knowledge_document_by_user   ON knowledge_document (workspace, principal) WHERE principal IS NOT NULL;

-- Contents, in a table of their own: SQLite writes all columns of a row again when one of them changes, and a lease changes often.
CREATE TABLE knowledge_content (
    workspace TEXT NOT NULL,
    file      TEXT NOT NULL,
    content   BLOB NOT NULL,
    -- The text that was extracted from the content; null if the content is the text.
    text      TEXT,
    PRIMARY KEY (workspace, file),
    FOREIGN KEY (workspace, file) REFERENCES knowledge_document (workspace, file) ON DELETE CASCADE
) STRICT;

CREATE TABLE knowledge_chunk (
    id        INTEGER PRIMARY KEY,
    workspace TEXT    NOT NULL,
    file      TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    content   TEXT    NOT NULL,
    -- A word that stands for the workspace, by which the index finds the chunks of one workspace without reading those of others.
    scope     TEXT    NOT NULL,
    terms     TEXT    NOT NULL,
    UNIQUE (workspace, file, seq),
    FOREIGN KEY (workspace, file) REFERENCES knowledge_document (workspace, file) ON DELETE CASCADE
) STRICT;

-- The terms are words already. The categories keep the marks of scripts such as Thai, which the default tokenizer would split at.
CREATE VIRTUAL TABLE knowledge_text USING fts5 (
    scope, terms, content = 'knowledge_chunk', content_rowid = 'id', detail = 'column',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
-- Removed chunks leave no terms behind.
INSERT INTO knowledge_text (knowledge_text, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER knowledge_chunk_inserted AFTER INSERT ON knowledge_chunk BEGIN
    INSERT INTO knowledge_text (rowid, scope, terms) VALUES (new.id, new.scope, new.terms);
END;
CREATE TRIGGER knowledge_chunk_removed AFTER DELETE ON knowledge_chunk BEGIN
    INSERT INTO knowledge_text (knowledge_text, rowid, scope, terms) VALUES ('delete', old.id, old.scope, old.terms);
END;
