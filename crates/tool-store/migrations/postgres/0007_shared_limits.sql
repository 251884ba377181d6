-- Limits on calls that several processes share. The empty workspace is the whole host. Every call changes a row, so no other column has an index, and pages
-- keep free space, so that most changes write no index entry.
CREATE TABLE tool_store.shared_limit (
    workspace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    -- The beginning of the window of a quota, or the time at which a rate allows a whole burst again, in microseconds.
    since     bigint NOT NULL,
    used      bigint NOT NULL,
    -- A JSON object with the permits of concurrent calls and the ends of their leases.
    permits   text NOT NULL,
    -- When the row counts nothing any more, by the deciding clock.
    ends      bigint NOT NULL,
    updated   bigint NOT NULL,
    PRIMARY KEY (workspace, name)
) WITH (fillfactor = 50);
