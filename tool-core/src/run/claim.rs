//! A call's row in the effect ledger: written before the body, held while it runs, ended after it.

use std::future::Future;

use futures::future::{Either, select};

use super::{Prepared, record, stored};
use crate::call::CallResult;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::gate::host::Ledger;
use crate::gate::{Gate, canonical, hash};
use crate::store::{
    AuditRow, Begun, EffectEnd, EffectRow, EffectState, Ended, Intent, Resolution, StoreError,
    Timestamp,
};

/// This process holds the row of a call.
pub(super) struct Claim {
    ledger: Ledger,
    key: String,
    /// This run, so that the end of an earlier run of the call cannot be taken for this one's.
    owner: String,
}

pub(super) enum Claimed {
    /// It runs now, and nowhere else.
    New(Claim),
    /// The call ran before; its stored result.
    Before(String),
}

/// The error of an effect of which nobody knows whether it happened.
fn unknown_effect() -> ToolError {
    ToolError::of(
        ErrorKind::Interrupted,
        "an earlier run of this call was interrupted and may have taken effect; it is not repeated, an operator has to look at it",
    )
}

/// What a row of an earlier run gives: its result, or why there is none.
fn before(row: EffectRow) -> Result<String, ToolError> {
    match row.state {
        EffectState::Succeeded | EffectState::Failed => row.result.ok_or_else(unknown_effect),
        EffectState::Running => Err(ToolError::of(
            ErrorKind::Interrupted,
            "this call is running already, its result comes from there",
        )),
        EffectState::Ambiguous => Err(unknown_effect()),
    }
}

/// The stored result of a call whose approval was used already.
pub(super) async fn replayed(gate: &Gate, key: &str) -> Result<String, ToolError> {
    let used = || {
        ToolError::of(
            ErrorKind::Denied,
            "the approval of this call was used already",
        )
    };
    let ledger = gate.ledger().ok_or_else(used)?;
    let row = ledger.store.get(key).await.map_err(unavailable)?;
    before(row.ok_or_else(used)?)
}

/// Writes the intent, with the audit's row where that is required.
pub(super) async fn claim(
    ledger: &Ledger,
    prepared: &Prepared,
    audit: Option<AuditRow>,
) -> Result<Claimed, ToolError> {
    let (cx, scope) = (&prepared.cx, &prepared.scope);
    let key = cx.idempotency_key().unwrap_or_default().to_owned();
    let now = Timestamp::now();
    let owner = ledger.run();
    let arguments = canonical::canonical(prepared.arguments());
    let intent = Intent {
        key: key.clone(),
        call: scope.call.id.clone(),
        turn: cx.turn_name().to_owned(),
        thread: cx.conversation().map(str::to_owned),
        tool: scope.def.name().to_owned(),
        contract: hash::contract(&scope.def).to_string(),
        tenant: cx.tenant().to_owned(),
        principal: cx.principal().to_owned(),
        arguments_hash: hash::sha256(&[arguments
            .as_deref()
            .unwrap_or_else(|| prepared.arguments())]),
        owner: owner.clone(),
        at: now,
        lease_until: now.plus(ledger.lease),
    };
    match ledger
        .store
        .begin(intent, audit)
        .await
        .map_err(unavailable)?
    {
        Begun::New => Ok(Claimed::New(Claim {
            ledger: ledger.clone(),
            key,
            owner,
        })),
        Begun::Replay(row) => before(row).map(Claimed::Before),
    }
}

fn unavailable(error: StoreError) -> ToolError {
    match error {
        StoreError::Conflict(why) => ToolError::of(
            ErrorKind::Denied,
            "another call of this turn has the same id, give each call an id of its own",
        )
        .operator(why),
        error => record::unwritten(format!("the effect ledger failed: {error}")),
    }
}

impl Claim {
    /// Runs something, and tells the ledger three times a lease that it still does.
    pub(super) async fn hold<R>(&self, run: impl Future<Output = R>) -> R {
        let mut run = std::pin::pin!(run);
        loop {
            let pause = std::pin::pin!(tokio::time::sleep(self.ledger.lease / 3));
            match select(run.as_mut(), pause).await {
                Either::Left((ended, _)) => return ended,
                Either::Right(((), _)) => {
                    let until = Timestamp::now().plus(self.ledger.lease);
                    let renewed = self.ledger.store.renew(&self.key, &self.owner, until);
                    // The run must not wait for a slow store.
                    match select(run.as_mut(), renewed).await {
                        Either::Left((ended, _)) => return ended,
                        Either::Right((Ok(true), _)) => {}
                        Either::Right((Ok(false), _)) => {
                            tracing::warn!(
                                key = self.key,
                                "the ledger no longer counts this call as running, its end will be late"
                            );
                        }
                        Either::Right((Err(error), _)) => {
                            tracing::warn!(%error, key = self.key, "the lease of a running call could not be renewed");
                        }
                    }
                }
            }
        }
    }

    /// Writes what came of the run.
    ///
    /// A body that was cut after it began may have taken effect: that is ambiguous, never failed. One that only waits for a nested
    /// call's approval may run again if it says that it is idempotent, or that it does nothing but by calls.
    pub(super) async fn end(self, result: &CallResult, cx: &ToolContext) {
        let kind = result.error().map(ToolError::kind);
        let state = match kind {
            None => EffectState::Succeeded,
            Some(_) if cx.is_inside() => EffectState::Ambiguous,
            // What it did before it asked for the nested call is done.
            Some(ErrorKind::Pending) => EffectState::Ambiguous,
            Some(_) => EffectState::Failed,
        };
        let again = kind == Some(ErrorKind::Pending)
            && cx
                .scope()
                .is_some_and(|scope| scope.def.hints().idempotent || scope.def.only_calls());
        self.write(state, stored::write(result)).await;
        if again {
            let rerun =
                self.ledger
                    .store
                    .resolve(&self.key, Resolution::Rerun, "gate", Timestamp::now());
            if let Err(error) = rerun.await {
                tracing::error!(%error, key = self.key, "a call that waits for a nested approval could not be freed to run again");
            }
        }
    }

    /// Writes that the run was dropped.
    pub(super) async fn dropped(self, inside: bool) {
        let state = if inside {
            EffectState::Ambiguous
        } else {
            EffectState::Failed
        };
        let error = ToolError::of(ErrorKind::Cancelled, "the call was dropped before its end");
        let result = CallResult::refused(crate::call::ToolCall::new("", "", ""), error);
        self.write(state, stored::write(&result)).await;
    }

    async fn write(&self, state: EffectState, result: Option<String>) {
        let end = EffectEnd {
            state,
            result,
            at: Timestamp::now(),
        };
        match self.ledger.store.end(&self.key, &self.owner, end).await {
            Ok(Ended::InTime) => {}
            Ok(Ended::Late) => tracing::warn!(
                key = self.key,
                "a call ended after its lease had lapsed, the ledger notes it as late"
            ),
            // The lease lapses, and the row becomes ambiguous.
            Err(error) => {
                tracing::error!(%error, key = self.key, "the end of a call could not be written into the effect ledger");
            }
        }
    }
}
