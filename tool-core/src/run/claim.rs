//! A call's row in the effect ledger: written before the body, leased while it runs, ended after it.

use std::future::Future;
use std::sync::Arc;

use futures::future::{Either, select};

use super::Prepared;
use super::record::{self, Audited};
use crate::args;
use crate::audit::Audit;
use crate::call::{CallResult, ToolCall, stored};
use crate::context::{Gated, ToolContext};
use crate::digest;
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::gate::host::Ledger;
use crate::run::ask;
use crate::store::{
    self, AuditRow, CallId, CallKey, EffectClaim, EffectEnd, EffectLedger, EffectRow, EffectState,
    Ended, EndedEffect, Intent, StoreError, Timestamp,
};

/// Proof that this process has the lease on the row of a call. Only this file creates it, and other files get it only after the ledger has written
/// the row.
pub(super) struct Claim {
    ledger: Ledger,
    key: CallKey,
    /// Identifies this run, so that the end of an earlier run of the call is not mistaken for the end of this run.
    owner: String,
}

/// The result of asking the ledger to begin a call.
pub(super) enum Begun {
    /// The call runs now, and only in this run.
    New(Claim),
    /// The call runs as a later attempt, which an operator allowed: the number of the attempt, and the name of the operator.
    Again(Claim, u32, String),
    /// The ledger already has a row for the call's identity.
    Known(Known),
}

/// The record in the ledger for a call's identity.
pub(super) enum Known {
    /// The same call has begun before.
    Before(Before),
    /// The identity belongs to a different call.
    Foreign(ToolError),
}

/// The outcome of an earlier run of a call.
pub(crate) enum Before {
    /// The run ended, and its result is stored.
    Stored {
        result: String,
        /// Whether the ledger records that the run had no effect.
        failed: bool,
    },
    /// The outcome of the run is unknown, or not known yet.
    Unsettled(Box<EffectRow>),
}

/// Returns the error of a call whose earlier run has no known outcome.
pub(super) fn interrupted(row: &EffectRow) -> ToolError {
    let text = match row.state {
        EffectState::Running => "this call is already running, its result comes from that run",
        EffectState::Succeeded | EffectState::Failed | EffectState::Ambiguous => {
            "an earlier run of this call was interrupted and may have taken effect; the call is not repeated, and an operator has to check it"
        }
    };
    ToolError::of(ErrorKind::Interrupted, text)
}

/// Converts the row of an earlier run into its outcome.
fn before(mut row: EffectRow) -> Before {
    let erased = match row.state {
        EffectState::Succeeded => {
            "this call ran before and took effect; it is not repeated, and its stored result was erased"
        }
        EffectState::Failed => "this call ran before and failed; its stored error was erased",
        EffectState::Running | EffectState::Ambiguous => return Before::Unsettled(Box::new(row)),
    };
    let result = row.result.take();
    Before::Stored {
        result: result.unwrap_or_else(|| stored::failed(erased)),
        failed: row.state == EffectState::Failed,
    }
}

/// Returns the outcome of a call whose approval was used already.
pub(super) async fn replayed(gate: &Gate, key: &CallKey) -> Result<Before, ToolError> {
    let used = || {
        ToolError::of(
            ErrorKind::Denied,
            "the approval of this call was used already",
        )
    };
    let ledger = gate.ledger().ok_or_else(used)?;
    let row = ledger.store.get(key).await;
    let row = row.map_err(|error| unavailable(&error))?;
    Ok(before(row.ok_or_else(used)?))
}

/// Returns the outcome of an earlier run of a call that is refused now. The reason for the refusal does not matter, because that run may have had an effect.
pub(super) async fn earlier(
    gate: &Gate,
    gated: &Gated,
    call: &ToolCall,
    cx: &ToolContext,
) -> Result<Option<Before>, ToolError> {
    Ok(own_row(gate, gated, call, cx).await?.map(before))
}

/// Finds the row of a call's earlier run: under its identity, or under the key of the call in earlier versions of this crate, which had no call
/// identities.
async fn own_row(
    gate: &Gate,
    gated: &Gated,
    call: &ToolCall,
    cx: &ToolContext,
) -> Result<Option<EffectRow>, ToolError> {
    let Some(ledger) = gate.ledger().filter(|_| !gated.is_new()) else {
        return Ok(None);
    };
    let earlier = gated.earlier_call();
    let earlier = earlier.map(|earlier| earlier.key(&cx.own_workspace()));
    for key in std::iter::once(gated.identity().key()).chain(earlier) {
        let row = ledger.store.get(&key).await;
        let row = row.map_err(|error| unavailable(&error))?;
        if let Some(row) = row.filter(|row| is_own(row, gated, call, cx)) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// Returns whether a row belongs to this call. In a turn, the row at the same place of the thread belongs to this call for every user and agent,
/// because every caller that continues the conversation reads the result. A call outside a turn matches only rows of its own user and agent.
fn is_own(row: &EffectRow, gated: &Gated, call: &ToolCall, cx: &ToolContext) -> bool {
    let intent = &row.intent;
    if intent.identity.is_earlier() {
        // A key that an earlier version without call identities wrote contains the call's id and not the conversation, and its row has no agent.
        return intent.thread.as_deref() == cx.conversation()
            && (gated.is_of_turn() || intent.principal == cx.principal());
    }
    let is_callers = intent.principal == cx.principal() && intent.agent.as_deref() == cx.agent();
    intent.call == call.id && (is_callers || gated.is_of_turn())
}

/// Returns the outcome of a call's earlier run, if it ran with the call's own arguments or with arguments that an approver's edits link to them.
///
/// Returns `None` if the call has not run, or if its identity belongs to a different call.
pub(crate) async fn begun(gate: &Gate, prepared: &Prepared) -> Result<Option<Before>, ToolError> {
    let scope = prepared.cx.served();
    let Some(gated) = scope.gated.as_deref() else {
        return Ok(None);
    };
    let row = own_row(gate, gated, &scope.call, &prepared.cx).await?;
    let Some(row) = row.filter(|row| prepared.tool().is_named(&row.intent.tool)) else {
        return Ok(None);
    };
    let intent = &row.intent;
    let ran_with = &intent.arguments_hash;
    // The row of a refused call may contain the hash of the arguments as the model wrote them.
    let is_same = *ran_with == arguments_hash(prepared)
        || *ran_with == hash_of(&scope.call.arguments)
        || match gate.approvals() {
            None => false,
            Some(approvals) => ask::edits(approvals, prepared)
                .await?
                .iter()
                .any(|edited| *ran_with == digest::sha256(&[edited])),
        };
    Ok(is_same.then(|| before(row)))
}

fn arguments_hash(prepared: &Prepared) -> String {
    hash_of(prepared.arguments())
}

/// Returns the hash by which the ledger identifies the arguments of a call.
pub(super) fn hash_of(arguments: &str) -> String {
    let canonical = args::canonical(arguments);
    digest::sha256(&[canonical.as_deref().unwrap_or(arguments)])
}

/// The audit row that a claim requires.
pub(super) enum Trail {
    /// No audit row is required.
    Nothing,
    /// The ledger's database writes the row in the transaction of the intent.
    Together(Box<AuditRow>),
    /// The row is already written, in a different database.
    Apart(Audited),
}

/// Writes the intent, with the audit row if both share a database. If the ledger does not answer before the deadline of the call, the claim is abandoned in
/// the background. If the claim contains an audit row, `closed` creates the row that ends it.
pub(super) async fn claim(
    gate: &Gate,
    ledger: &Ledger,
    prepared: &Prepared,
    trail: Trail,
    closed: impl FnOnce(&ToolError) -> Option<AuditRow>,
) -> Result<Begun, ToolError> {
    let intent = intent(ledger, prepared)?;
    let claim = Claim {
        ledger: ledger.clone(),
        key: intent.identity.key(),
        owner: intent.owner.clone(),
    };
    let audit = match trail {
        Trail::Together(row) => Some(*row),
        Trail::Nothing | Trail::Apart(_) => None,
    };
    let store = Arc::clone(&ledger.store);
    let aliases: Vec<String> = prepared.tool().aliases().map(str::to_owned).collect();
    let begun = match prepared.cx.deadline() {
        None => begin(&*store, intent, &aliases, audit).await,
        Some(deadline) => {
            let is_audited = audit.is_some();
            let mut write = Box::pin(async move { begin(&*store, intent, &aliases, audit).await });
            if let Ok(begun) = tokio::time::timeout_at(deadline, &mut write).await {
                begun
            } else {
                let error = record::not_in_time();
                let row = is_audited.then(|| closed(&error)).flatten();
                claim.abandon(gate, write, row);
                return Err(error);
            }
        }
    };
    match begun {
        Ok(store::Begun::New) => Ok(Begun::New(claim)),
        Ok(store::Begun::Again { attempt, operator }) => Ok(Begun::Again(claim, attempt, operator)),
        Ok(store::Begun::Replay(row)) => Ok(Begun::Known(Known::Before(before(row)))),
        Err(StoreError::Conflict(why)) => conflict(gate, prepared, why).await.map(Begun::Known),
        Err(error) => Err(unavailable(&error)),
    }
}

/// Writes the intent. A call that has waited for a nested call continues under the name that its released row contains, which may be an alias of the tool.
async fn begin(
    store: &dyn EffectLedger,
    intent: Intent,
    aliases: &[String],
    audit: Option<AuditRow>,
) -> Result<store::Begun, StoreError> {
    let mut begun = store.begin(intent.clone(), audit.clone()).await;
    for alias in aliases {
        if !matches!(begun, Err(StoreError::Conflict(_))) {
            break;
        }
        let earlier = Intent {
            tool: alias.clone(),
            ..intent.clone()
        };
        // If the call cannot begin under the alias either, the result for the present name is returned.
        if let Ok(under_alias) = store.begin(earlier, audit.clone()).await {
            begun = Ok(under_alias);
        }
    }
    begun
}

/// Returns why the ledger refused the identity of a call: the same call ran before with edited arguments, or the identity belongs to a different
/// call.
async fn conflict(gate: &Gate, prepared: &Prepared, why: String) -> Result<Known, ToolError> {
    if let Some(before) = begun(gate, prepared).await? {
        return Ok(Known::Before(before));
    }
    let text =
        "the call was started before with a different tool, arguments or caller, so it was not run";
    Ok(Known::Foreign(
        ToolError::of(ErrorKind::Denied, text).operator(why),
    ))
}

/// Returns the ledger's record of a call, or `None` if the ledger would let the call begin. Writes nothing to the ledger.
///
/// A required audit in a different database needs this check: the row of a call that does not begin would replace the row of its earlier run.
pub(super) async fn known(
    gate: &Gate,
    ledger: &Ledger,
    prepared: &Prepared,
) -> Result<Option<Known>, ToolError> {
    let intent = intent(ledger, prepared)?;
    let keys = [Some(intent.identity.key()), intent.earlier.clone()];
    for key in keys.into_iter().flatten() {
        let row = ledger.store.get(&key).await;
        let Some(row) = row.map_err(|error| unavailable(&error))? else {
            continue;
        };
        let claim = EffectClaim {
            row,
            released: false,
        };
        return match EffectClaim::begin(Some(claim), intent) {
            Ok((store::Begun::New | store::Begun::Again { .. }, _)) => Ok(None),
            Ok((store::Begun::Replay(row), _)) => Ok(Some(Known::Before(before(row)))),
            Err(StoreError::Conflict(why)) => conflict(gate, prepared, why).await.map(Some),
            Err(error) => Err(unavailable(&error)),
        };
    }
    Ok(None)
}

fn intent(ledger: &Ledger, prepared: &Prepared) -> Result<Intent, ToolError> {
    let (cx, scope) = (&prepared.cx, prepared.cx.served());
    let identity = cx
        .identity()
        .cloned()
        .ok_or_else(|| ToolError::new("the call has no identity"))?;
    let now = Timestamp::now();
    Ok(Intent {
        identity,
        earlier: cx.earlier_key(),
        call: scope.call.id.clone(),
        agent: cx.agent().map(str::to_owned),
        thread: cx.conversation().map(str::to_owned),
        tool: prepared.tool().name().to_owned(),
        contract: prepared.tool().contract().to_string(),
        principal: cx.principal().to_owned(),
        arguments_hash: arguments_hash(prepared),
        owner: ledger.run(),
        at: now,
        lease_until: now.plus(ledger.lease),
    })
}

pub(super) fn unavailable(error: &StoreError) -> ToolError {
    record::unwritten(format!("the effect ledger failed: {error}"))
}

impl Claim {
    /// Runs a future, and renews the lease each time a third of the lease has passed.
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
                                key = self.key.as_str(),
                                "the ledger no longer counts this call as running, its end will be marked as late"
                            );
                        }
                        Either::Right((Err(error), _)) => {
                            tracing::warn!(%error, key = self.key.as_str(), "the lease of a running call could not be renewed");
                        }
                    }
                }
            }
        }
    }

    /// Waits in the background for a ledger that did not answer before the deadline of the call. If the ledger makes the claim afterwards, releases it, so
    /// that the row of a body that never begins does not stay running and become ambiguous later.
    fn abandon(
        self,
        gate: &Gate,
        begin: impl Future<Output = Result<store::Begun, StoreError>> + Send + 'static,
        closed: Option<AuditRow>,
    ) {
        let counted = gate.begin_write();
        let sink = match gate.audit() {
            Audit::Required(sink) => Some(Arc::clone(sink)),
            Audit::Off | Audit::BestEffort(_) => None,
        };
        env::spawn(async move {
            let _counted = counted;
            if !matches!(
                begin.await,
                Ok(store::Begun::New | store::Begun::Again { .. })
            ) {
                return;
            }
            self.give_back().await;
            // The claim may have written the open audit row after the row of the call's end, so the row of the end is written again.
            if let (Some(sink), Some(row)) = (sink, closed)
                && let Err(error) = sink.write(vec![row]).await
            {
                tracing::error!(%error, "the row of a call that did not begin could not be closed in the audit");
            }
        });
    }

    /// Releases the claim of a call that cannot begin, so that its next dispatch can take it.
    pub(super) async fn give_back(self) {
        let end = EffectEnd {
            state: EffectState::Failed,
            result: None,
            at: Timestamp::now(),
            released: true,
        };
        Ending { claim: self, end }.write().await;
    }

    /// Computes the end of the run for the ledger.
    ///
    /// A body that returned an output has taken effect, even if a later step failed. A body that was cut short after it began may have taken effect:
    /// its outcome is ambiguous. If a body waits for the approval of a nested call, or for an operator to settle that call, its claim
    /// is released if the tool is idempotent or acts only through nested calls. When the body runs again, the ledger returns the results of the
    /// nested calls that have run.
    ///
    /// The claim of a call of a conversation is also released if the driver dropped the call before its body began (`was_dropped`), for example because it lost its
    /// lease: the next driver makes the call.
    pub(super) fn ending(self, result: &CallResult, cx: &ToolContext, was_dropped: bool) -> Ending {
        let kind = result.error().map(ToolError::kind);
        let waits = kind == Some(ErrorKind::Pending) || result.unsettled().is_some();
        let is_of_conversation = cx.identity().and_then(CallId::conversation).is_some();
        let is_unbegun = was_dropped && is_of_conversation && !cx.was_cut() && !cx.has_returned();
        let released = waits && cx.may_go_on() || is_unbegun;
        let state = match kind {
            None => EffectState::Succeeded,
            Some(_) if cx.has_returned() => EffectState::Succeeded,
            Some(_) if released => EffectState::Failed,
            Some(_) if cx.was_cut() => EffectState::Ambiguous,
            // The body may have had effects before it made the nested call that waits.
            Some(ErrorKind::Pending) => EffectState::Ambiguous,
            Some(_) if result.unsettled().is_some() => EffectState::Ambiguous,
            Some(_) => EffectState::Failed,
        };
        Ending {
            end: EffectEnd {
                state,
                result: stored::write(result),
                at: Timestamp::now(),
                released,
            },
            claim: self,
        }
    }
}

/// The end of a claim that is not written yet.
pub(super) struct Ending {
    claim: Claim,
    end: EffectEnd,
}

impl Ending {
    /// Returns whether the call is over and has had no effect.
    pub(super) fn has_failed(&self) -> bool {
        self.end.state == EffectState::Failed && !self.end.released
    }

    /// Returns whether the call may begin again.
    pub(super) fn is_released(&self) -> bool {
        self.end.released
    }

    /// Returns the end as one part of a batch.
    pub(super) fn effect(&self) -> EndedEffect {
        let Claim { key, owner, .. } = &self.claim;
        EndedEffect {
            key: key.clone(),
            owner: owner.clone(),
            end: self.end.clone(),
        }
    }

    /// Writes the end. If that fails, the error is logged: the lease expires, and the row becomes ambiguous.
    pub(super) async fn write(self) {
        let Claim { ledger, key, owner } = &self.claim;
        match ledger.store.end(key, owner, self.end.clone()).await {
            Ok(ended) => self.ended(Some(ended)),
            Err(error) => {
                tracing::error!(%error, key = key.as_str(), "the end of a call could not be written to the effect ledger");
            }
        }
    }

    /// Logs a warning if the end was written after the lease had expired.
    pub(super) fn ended(&self, ended: Option<Ended>) {
        if ended == Some(Ended::Late) {
            tracing::warn!(
                key = self.claim.key.as_str(),
                "a call ended after its lease had expired, the ledger marks it as late"
            );
        }
    }
}
