-- The catalogue holds what a console shows about a tool, and enablement is a row: a tool is enabled for an instance if there is a row for both.
ALTER TABLE catalogue ADD COLUMN secrets    TEXT    NOT NULL DEFAULT '[]'; -- JSON: the keys of the secrets that the tool declares
ALTER TABLE catalogue ADD COLUMN aliases    TEXT    NOT NULL DEFAULT '[]'; -- JSON: earlier names of the tool
ALTER TABLE catalogue ADD COLUMN is_meta    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalogue ADD COLUMN is_global  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalogue ADD COLUMN is_harness INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalogue ADD COLUMN synced_at  INTEGER NOT NULL DEFAULT 0;

-- The values of `catalogue.aliases`, to look names up.
CREATE TABLE catalogue_alias (
    alias TEXT NOT NULL PRIMARY KEY,
    tool  TEXT NOT NULL REFERENCES catalogue (name) ON DELETE CASCADE
) STRICT;
CREATE INDEX catalogue_alias_by_tool ON catalogue_alias (tool);

-- The instances that have rows, or that the host has added so that they get the rows of global tools.
CREATE TABLE instance (
    workspace TEXT    NOT NULL,
    -- The empty text for a workspace that has only one instance.
    slug      TEXT    NOT NULL,
    -- The number in `enablement_version` of the last change of the rows of this instance.
    version   INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, slug)
) STRICT;
CREATE INDEX instance_by_version ON instance (version);

CREATE TABLE enablement (
    workspace TEXT    NOT NULL,
    instance  TEXT    NOT NULL,
    tool      TEXT    NOT NULL,
    -- The tool's entry in the catalogue, with which the row is removed; null for `agent:` rows, which have no entry.
    entry     TEXT    REFERENCES catalogue (name) ON DELETE CASCADE,
    source    TEXT    NOT NULL,
    -- 1 if a person has enabled the tool, whatever the source is: the row stays when the skill or the flag that outranks it is removed.
    is_manual INTEGER NOT NULL,
    set_by    TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, instance, tool),
    FOREIGN KEY (workspace, instance) REFERENCES instance (workspace, slug) ON DELETE CASCADE
) STRICT;
-- The cascade from `catalogue`, and lists of one tool.
CREATE INDEX enablement_by_entry ON enablement (entry);
CREATE INDEX enablement_by_tool  ON enablement (tool, workspace, instance);

-- The versions of skills that some instance of the workspace has pinned. A version never changes.
CREATE TABLE skill_version (
    workspace   TEXT NOT NULL,
    skill       TEXT NOT NULL,
    version     TEXT NOT NULL,
    description TEXT NOT NULL,
    tools       TEXT NOT NULL, -- JSON
    env         TEXT NOT NULL, -- JSON
    files       TEXT NOT NULL, -- JSON: the texts by path
    PRIMARY KEY (workspace, skill, version)
) STRICT;

-- The values of `skill_version.tools`. They may name tools that are not in the catalogue.
CREATE TABLE skill_tool (
    workspace TEXT NOT NULL,
    skill     TEXT NOT NULL,
    version   TEXT NOT NULL,
    tool      TEXT NOT NULL,
    PRIMARY KEY (workspace, skill, version, tool),
    FOREIGN KEY (workspace, skill, version) REFERENCES skill_version (workspace, skill, version) ON DELETE CASCADE
) STRICT;
CREATE INDEX skill_tool_by_tool ON skill_tool (tool);

-- The skills of an instance, each with the version that applies to it.
CREATE TABLE skill_pin (
    workspace TEXT    NOT NULL,
    instance  TEXT    NOT NULL,
    skill     TEXT    NOT NULL,
    version   TEXT    NOT NULL,
    set_by    TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, instance, skill),
    FOREIGN KEY (workspace, instance) REFERENCES instance (workspace, slug) ON DELETE CASCADE,
    FOREIGN KEY (workspace, skill, version) REFERENCES skill_version (workspace, skill, version)
) STRICT;
CREATE INDEX skill_pin_by_version ON skill_pin (workspace, skill, version);

-- Counts the changes of enablement. Caches of a version before `reset` are void: an instance was removed since.
CREATE TABLE enablement_version (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    reset   INTEGER NOT NULL
) STRICT;
INSERT INTO enablement_version (one, version, reset) VALUES (1, 0, 0);
