-- Limits on calls that several processes share. The empty workspace is the whole host.
CREATE TABLE shared_limit (
    workspace TEXT NOT NULL,
    name      TEXT NOT NULL,
    -- The beginning of the window of a quota, or the time at which a rate allows a whole burst again, in microseconds.
    since     INTEGER NOT NULL,
    used      INTEGER NOT NULL,
    -- A JSON object with the permits of concurrent calls and the ends of their leases.
    permits   TEXT NOT NULL,
    -- When the row counts nothing any more.
    ends      INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT;
