-- `AuditSink::export` of one thread (`AuditFilter::thread`).
CREATE INDEX audit_by_thread ON audit (workspace, thread, started, key) WHERE thread IS NOT NULL;
-- `AuditSink::export` of one outcome (`AuditFilter::outcome`) other than `ok`. Calls with the outcome `ok` are most calls, and are read from
-- `audit_by_workspace` until the page is full: that costs no second index for each row. The same holds for tools and decisions.
CREATE INDEX audit_by_outcome ON audit (workspace, outcome, started, key) WHERE outcome IS NOT NULL AND outcome <> 'ok';

-- `EffectLedger::page` of one thread (`EffectFilter::thread`), and `Maintenance::erase_contents` of a thread.
CREATE INDEX effect_by_thread ON effect (workspace, thread, at, key) WHERE thread IS NOT NULL;
-- `EffectLedger::page` of one workspace in one state. Operators look for a few ambiguous rows among many.
CREATE INDEX effect_by_doubt ON effect (workspace, at, key) WHERE released = 0 AND state = 'ambiguous';
-- `Maintenance::purge` looks for effects that ended long ago.
CREATE INDEX effect_by_end ON effect (ended) WHERE state IN ('succeeded', 'failed');
-- `Maintenance::erase_contents` of one user's spilled outputs.
CREATE INDEX spill_by_principal ON spill (workspace, principal);
