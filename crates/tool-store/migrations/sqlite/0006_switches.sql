-- Kill switches, disables and enablement rows. A row stays when its switch is turned off, with who did it, when and why.
CREATE TABLE switch (
    -- 0 for a switch of every workspace, whose `workspace` is the empty text; 1 for a switch of one workspace.
    reach     INTEGER NOT NULL,
    workspace TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    tool      TEXT    NOT NULL,
    source    TEXT    NOT NULL,
    is_on     INTEGER NOT NULL,
    set_by    TEXT    NOT NULL,
    reason    TEXT,
    at        INTEGER NOT NULL,
    -- `SwitchStore::switches` and `SwitchStore::enablement` read in this order.
    PRIMARY KEY (reach, workspace, kind, tool, source)
) STRICT, WITHOUT ROWID;

-- `SwitchStore::in_force` reads kill switches and disables that are on: usually a few among many enablement rows.
CREATE INDEX switch_in_force ON switch (reach, workspace, kind, tool, source) WHERE is_on = 1 AND kind <> 'enable';
-- `SwitchStore::retire` looks for those that were turned off long ago.
CREATE INDEX switch_turned_off ON switch (at) WHERE is_on = 0 AND kind <> 'enable';

-- Counts the changes of `switch`. A process that knows the number has read all of them.
CREATE TABLE switch_version (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO switch_version (one, version) VALUES (1, 0);
