-- Responses to requests with an idempotency key (`ChangeStore::apply`): a repetition of the request gets the first response.
CREATE TABLE request (
    workspace   TEXT    NOT NULL,
    caller      TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    response    TEXT    NOT NULL,
    -- The conversation and the user of the contents of the response, with which it is erased.
    thread      TEXT,
    principal   TEXT,
    expires     INTEGER NOT NULL,
    PRIMARY KEY (workspace, caller, key)
) STRICT, WITHOUT ROWID;

-- Each request with a key removes some expired ones, and so does `Maintenance::purge`.
CREATE INDEX request_by_expiry ON request (expires);

-- `AuditSink::export` of failed calls (`AuditFilter::failed`).
CREATE INDEX audit_by_failure ON audit (workspace, started, key)
    WHERE outcome IS NOT NULL AND outcome NOT IN ('ok', 'pending', 'unavailable', 'interrupted');
-- `AuditSink::export` of the calls of one tool (`AuditFilter::tool`), and of the calls with one decision (`AuditFilter::decision`).
CREATE INDEX audit_by_tool ON audit (workspace, tool, started, key);
CREATE INDEX audit_by_decision ON audit (workspace, decision, started, key) WHERE decision IS NOT NULL;
