-- The cost of a run, in millionths of the currency of the host's prices. It is null if no model of the run has a price.
ALTER TABLE run ADD COLUMN cost_micros INTEGER;
