//! Closing the keys of calls that must not begin: the ledger records them as failed without an effect.

use futures::channel::oneshot;

use super::{claim, record};
use crate::call::{CallResult, ToolCall, stored};
use crate::context::{Gated, ToolContext};
use crate::digest;
use crate::env;
use crate::error::ToolError;
use crate::gate::Gate;
use crate::gate::approval::{Approval, Spent};
use crate::gate::host::Ledger;
use crate::store::{Begun, CallKey, EffectState, Intent, StoreError, Timestamp};
use crate::tool::ToolDef;

/// Closes the key of a call that could still begin on its used approval: the process that used the approval has not begun the call, or the call has released
/// its claim. The row records that there was no effect, and that a repeated dispatch of the call returns `result`.
///
/// If the outer call is refused, `unbegun` contains the keys of the nested calls whose rows the refusal has found. Fails if the ledger
/// fails, and with `Conflict` if the call begins at the same time, or has begun since the rows were looked up.
pub(crate) async fn close_approved(
    gate: &Gate,
    spent: &Approval<Spent>,
    result: Option<String>,
    unbegun: Option<&[CallKey]>,
) -> Result<(), StoreError> {
    let Some(ledger) = gate.ledger() else {
        return Ok(());
    };
    let request = spent.request();
    let key = request.identity.key();
    let has_begun = match unbegun {
        Some(made) => made.contains(&key),
        None => ledger.store.get(&key).await?.is_some(),
    };
    if has_begun {
        return Ok(());
    }
    let now = Timestamp::now();
    let intent = Intent {
        identity: request.identity.clone(),
        earlier: None,
        call: request.call.clone(),
        agent: request.agent.clone(),
        thread: request.thread.clone(),
        tool: request.tool.clone(),
        contract: request.contract.clone(),
        principal: request.principal.clone(),
        arguments_hash: digest::sha256(&[spent.arguments()]),
        owner: ledger.run(),
        at: now,
        lease_until: now.plus(ledger.lease),
    };
    close(gate, ledger, intent, Vec::new(), result).await
}

/// Closes the key of a call that is refused with `result`. The ledger may still get a request to begin the call: from a different run of the message,
/// which no longer drives the thread, or from a client with an approval token. The ledger must not begin the call after the model has read that the
/// call was not run.
///
/// `cx` is the context of the call. Fails, and leaves the call open, if the call begins at the same time, or if the ledger fails or does not answer
/// before the deadline.
pub(crate) async fn close_refused(
    gate: &Gate,
    gated: &Gated,
    tool: Option<&ToolDef>,
    call: &ToolCall,
    cx: &ToolContext,
    result: &CallResult,
) -> Result<(), ToolError> {
    // Without an approval, a call that may run any number of times has no row. With an approval, withdrawing the approval closes the key.
    let has_no_row = tool.is_some_and(ToolDef::may_always_run_again);
    let Some(ledger) = gate.ledger().filter(|_| !has_no_row) else {
        return Ok(());
    };
    let earlier = gated.earlier_call();
    let now = Timestamp::now();
    let intent = Intent {
        identity: gated.identity().clone(),
        earlier: earlier.map(|earlier| earlier.key(&cx.own_workspace())),
        call: call.id.clone(),
        agent: cx.agent().map(str::to_owned),
        thread: cx.conversation().map(str::to_owned),
        tool: tool.map_or_else(|| call.name.clone(), |tool| tool.name().to_owned()),
        contract: tool.map_or_else(String::new, |tool| tool.contract().to_string()),
        principal: cx.principal().to_owned(),
        arguments_hash: claim::hash_of(&call.arguments),
        owner: ledger.run(),
        at: now,
        lease_until: now.plus(ledger.lease),
    };
    let aliases = tool.into_iter().flat_map(ToolDef::aliases);
    let aliases = aliases.map(str::to_owned).collect();
    let closed = Box::pin(close(gate, ledger, intent, aliases, stored::write(result)));
    let closed = async { closed.await.map_err(|error| claim::unavailable(&error)) };
    record::soon(cx.deadline(), closed).await
}

/// Closes a key in its own task, which no caller can drop: the next drive of the conversation would begin a call that stays open. `aliases` are other
/// names under which the call may have begun.
async fn close(
    gate: &Gate,
    ledger: &Ledger,
    intent: Intent,
    aliases: Vec<String>,
    result: Option<String>,
) -> Result<(), StoreError> {
    let (sender, closed) = oneshot::channel();
    let counted = gate.begin_write();
    let ledger = ledger.clone();
    let task = Box::pin(async move {
        let _counted = counted;
        // This fails if the caller has dropped the call.
        let _ = sender.send(write(&ledger, intent, &aliases, result).await);
    });
    if let Err(task) = env::spawn_or_return(task) {
        task.await;
    }
    closed.await.unwrap_or_else(|_| {
        let why = "the host was shut down while the ledger closed a call".to_owned();
        Err(StoreError::Unavailable(why.into()))
    })
}

async fn write(
    ledger: &Ledger,
    intent: Intent,
    aliases: &[String],
    result: Option<String>,
) -> Result<(), StoreError> {
    let key = intent.identity.key();
    let mut closed = close_key(ledger, intent.clone(), result.clone()).await;
    for alias in aliases {
        if !matches!(closed, Err(StoreError::Conflict(_))) {
            break;
        }
        // A released row contains the name that the tool had when the call began.
        let earlier = Intent {
            tool: alias.clone(),
            ..intent.clone()
        };
        match close_key(ledger, earlier, result.clone()).await {
            Err(StoreError::Conflict(_)) => {}
            other => closed = other,
        }
    }
    let row = match closed {
        Ok(Begun::New | Begun::Again { .. }) => return Ok(()),
        Ok(Begun::Replay(row)) => Some(row),
        Err(StoreError::Conflict(why)) => {
            let row = ledger.store.get(&key).await?;
            if row.is_none() {
                // A released key has no visible row. A call with different arguments cannot begin under the same identity.
                tracing::debug!(key = key.as_str(), why, "the key of a call was not closed");
            }
            row
        }
        Err(error) => return Err(error),
    };
    match row {
        // The key is closed, or the call has failed without an effect.
        None => Ok(()),
        Some(row) if row.state == EffectState::Failed => Ok(()),
        Some(_) => Err(StoreError::Conflict(
            "the call is being started in another run".to_owned(),
        )),
    }
}

async fn close_key(
    ledger: &Ledger,
    intent: Intent,
    result: Option<String>,
) -> Result<Begun, StoreError> {
    let closed = ledger
        .store
        .close_call(intent.clone(), result.clone())
        .await;
    if !matches!(closed, Err(StoreError::Unavailable(_))) {
        return closed;
    }
    // The write may have succeeded although its response was lost. Then the row exists, and the second write returns it.
    match ledger.store.close_call(intent, result).await {
        Err(StoreError::Unavailable(_)) => closed,
        again => again,
    }
}
