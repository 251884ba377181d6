//! Delegation of ledger methods, shared by the wrappers in these tests.

/// Implements the named methods of an `EffectLedger` by calling the wrapped ledger.
macro_rules! pass_on {
    ($this:ident => $ledger:expr; $($method:ident)*) => {
        $(pass_on!(@ $method $this $ledger);)*
    };
    (@ renew $this:ident $ledger:expr) => {
        fn renew<'a>(
            &'a $this,
            key: &'a tool_core::store::CallKey,
            owner: &'a str,
            until: tool_core::store::Timestamp,
        ) -> tool_core::store::StoreFuture<'a, bool> {
            $ledger.renew(key, owner, until)
        }
    };
    (@ end $this:ident $ledger:expr) => {
        fn end<'a>(
            &'a $this,
            key: &'a tool_core::store::CallKey,
            owner: &'a str,
            end: tool_core::store::EffectEnd,
        ) -> tool_core::store::StoreFuture<'a, tool_core::store::Ended> {
            tool_core::store::EffectLedger::end(&$ledger, key, owner, end)
        }
    };
    (@ get $this:ident $ledger:expr) => {
        fn get<'a>(&'a $this, key: &'a tool_core::store::CallKey) -> tool_core::store::StoreFuture<'a, Option<tool_core::store::EffectRow>> {
            tool_core::store::EffectLedger::get(&$ledger, key)
        }
    };
    (@ resolve $this:ident $ledger:expr) => {
        fn resolve<'a>(
            &'a $this,
            key: &'a tool_core::store::CallKey,
            resolution: tool_core::store::Resolution,
            operator: &'a str,
            now: tool_core::store::Timestamp,
        ) -> tool_core::store::StoreFuture<'a, tool_core::store::EffectRow> {
            $ledger.resolve(key, resolution, operator, now)
        }
    };
    (@ sweep $this:ident $ledger:expr) => {
        fn sweep<'a>(&'a $this, scope: tool_core::store::Scope<'a>, now: tool_core::store::Timestamp) -> tool_core::store::StoreFuture<'a, Vec<tool_core::store::EffectRow>> {
            $ledger.sweep(scope, now)
        }
    };
    (@ list $this:ident $ledger:expr) => {
        fn list<'a>(
            &'a $this,
            scope: tool_core::store::Scope<'a>,
            state: Option<tool_core::store::EffectState>,
        ) -> tool_core::store::StoreFuture<'a, Vec<tool_core::store::EffectRow>> {
            tool_core::store::EffectLedger::list(&$ledger, scope, state)
        }
    };
}
