-- Changes for `EventStore::events`. Triggers write them, so that a change is an event whatever code makes it, in the transaction of the change.
--
-- SQLite has one writer, so `seq` is in the order of commits. `tag` is random: a copy of the file that was restored and then changed has other tags
-- under the same numbers, so a reader's position in the lost rows is recognized.
CREATE TABLE event (
    -- The newest row is never removed, so a number is used once without `AUTOINCREMENT`, which would write one more page for each event.
    seq       INTEGER PRIMARY KEY,
    -- Null for a change that concerns every workspace.
    workspace TEXT,
    resource  TEXT    NOT NULL,
    key       TEXT    NOT NULL, -- JSON: an array of texts
    at        INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    tag       TEXT    NOT NULL DEFAULT (lower(hex(randomblob(8))))
) STRICT;
CREATE INDEX event_by_workspace ON event (workspace, seq);
-- The position of a reader that begins before the first change. The newest row is never removed, so there is always one.
INSERT INTO event (workspace, resource, key) VALUES (NULL, 'start', '[]');

CREATE TRIGGER event_of_new_approval AFTER INSERT ON approval BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'approvals', json_array(NEW.id));
END;
CREATE TRIGGER event_of_approval AFTER UPDATE ON approval
WHEN OLD.status IS NOT NEW.status OR OLD.assignee IS NOT NEW.assignee OR OLD.arguments IS NOT NEW.arguments BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'approvals', json_array(NEW.id));
END;

CREATE TRIGGER event_of_new_audit AFTER INSERT ON audit BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'audit', json_array(NEW.key));
END;
CREATE TRIGGER event_of_audit AFTER UPDATE ON audit BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'audit', json_array(NEW.key));
END;

CREATE TRIGGER event_of_new_run AFTER INSERT ON run BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'runs', json_array(NEW.conversation, CAST(NEW.number AS TEXT)));
END;
-- The renewal of a lease is not an event.
CREATE TRIGGER event_of_run AFTER UPDATE ON run
WHEN OLD.state IS NOT NEW.state OR OLD.stop IS NOT NEW.stop OR OLD.owner IS NOT NEW.owner BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'runs', json_array(NEW.conversation, CAST(NEW.number AS TEXT)));
END;

CREATE TRIGGER event_of_new_switch AFTER INSERT ON switch BEGIN
    INSERT INTO event (workspace, resource, key)
    VALUES (iif(NEW.reach = 0, NULL, NEW.workspace), 'switches', json_array(NEW.kind, NEW.tool, NEW.source));
END;
CREATE TRIGGER event_of_switch AFTER UPDATE ON switch BEGIN
    INSERT INTO event (workspace, resource, key)
    VALUES (iif(NEW.reach = 0, NULL, NEW.workspace), 'switches', json_array(NEW.kind, NEW.tool, NEW.source));
END;

-- Each change of enablement rows and skills writes the version of its instance.
CREATE TRIGGER event_of_new_instance AFTER INSERT ON instance BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'enablement', json_array(NEW.slug));
END;
CREATE TRIGGER event_of_instance AFTER UPDATE ON instance BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'enablement', json_array(NEW.slug));
END;
CREATE TRIGGER event_of_old_instance AFTER DELETE ON instance BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (OLD.workspace, 'enablement', json_array(OLD.slug));
END;

CREATE TRIGGER event_of_new_function AFTER INSERT ON function BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'functions', json_array(NEW.id));
END;
CREATE TRIGGER event_of_function AFTER UPDATE ON function BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'functions', json_array(NEW.id));
END;
CREATE TRIGGER event_of_old_function AFTER DELETE ON function BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (OLD.workspace, 'functions', json_array(OLD.id));
END;
CREATE TRIGGER event_of_new_function_version AFTER INSERT ON function_version BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'functions', json_array(NEW.function));
END;
CREATE TRIGGER event_of_old_function_version AFTER DELETE ON function_version BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (OLD.workspace, 'functions', json_array(OLD.function));
END;

CREATE TRIGGER event_of_new_stored_tool AFTER INSERT ON stored_tool BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'stored-tools', json_array(NEW.id));
END;
CREATE TRIGGER event_of_stored_tool AFTER UPDATE ON stored_tool BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'stored-tools', json_array(NEW.id));
END;
CREATE TRIGGER event_of_old_stored_tool AFTER DELETE ON stored_tool BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (OLD.workspace, 'stored-tools', json_array(OLD.id));
END;
CREATE TRIGGER event_of_new_agent_tool AFTER INSERT ON agent_tool BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (NEW.workspace, 'stored-tools', json_array(NEW.tool));
END;
CREATE TRIGGER event_of_old_agent_tool AFTER DELETE ON agent_tool BEGIN
    INSERT INTO event (workspace, resource, key) VALUES (OLD.workspace, 'stored-tools', json_array(OLD.tool));
END;
