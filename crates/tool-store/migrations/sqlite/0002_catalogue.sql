-- The tools that the program which wrote last knows.
CREATE TABLE catalogue (
    name        TEXT    NOT NULL PRIMARY KEY,
    title       TEXT,
    description TEXT    NOT NULL,
    category    TEXT    NOT NULL,
    contract    TEXT    NOT NULL,
    effect      INTEGER NOT NULL
) STRICT;
