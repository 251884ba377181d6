-- The cost of a run, in millionths of the currency of the host's prices. It is null if no model of the run has a price.
ALTER TABLE run ADD COLUMN cost_micros INTEGER;

-- Budgets that several runs share. Costs are in millionths of the currency of the host's prices.
CREATE TABLE budget (
    workspace       TEXT NOT NULL,
    name            TEXT NOT NULL,
    most_tokens     INTEGER,
    most_cost       INTEGER,
    -- The sums of the open reservations.
    reserved_tokens INTEGER NOT NULL,
    reserved_cost   INTEGER NOT NULL,
    spent_tokens    INTEGER NOT NULL,
    spent_cost      INTEGER NOT NULL,
    -- The number of responses without usage.
    unmeasured      INTEGER NOT NULL,
    -- When more was used than a limit allows.
    overrun         INTEGER,
    created         INTEGER NOT NULL,
    updated         INTEGER NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT;

-- The open reservations of budgets, one for each step of a run.
CREATE TABLE budget_reservation (
    workspace TEXT NOT NULL,
    name      TEXT NOT NULL,
    step      TEXT NOT NULL,
    tokens    INTEGER NOT NULL,
    cost      INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, name, step),
    FOREIGN KEY (workspace, name) REFERENCES budget (workspace, name) ON DELETE CASCADE
) STRICT;
