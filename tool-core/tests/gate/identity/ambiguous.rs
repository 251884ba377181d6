//! Ambiguous effects while the ledger fails.

use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{ModelMessage, StoredMessage, Turn, TurnError, Turns};
use tool_core::{ErrorKind, Gate};

use super::{ANN, cx, effects, texts};
use crate::support::{Host, Mailbox, kind, thread};

/// A ledger with a fault.
#[derive(Clone)]
struct Shaky(MemoryStore, Fault);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// `get` fails.
    Get,
    /// `begin` and `get` fail.
    Begin,
    /// An operator allows the rerun of an ambiguous call right after its row was returned.
    Rerun,
}

impl Shaky {
    fn away<T>(&self) -> Result<T, StoreError> {
        Err(StoreError::Unavailable(
            format!("{:?} fails", self.1).into(),
        ))
    }
}

impl EffectLedger for Shaky {
    fn is_durable(&self) -> bool {
        EffectLedger::is_durable(&self.0)
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        Box::pin(async move {
            if self.1 == Fault::Begin {
                return self.away();
            }
            let (key, now) = (intent.identity.key(), intent.at);
            let begun = self.0.begin(intent, audit).await?;
            if let (Fault::Rerun, Begun::Replay(_)) = (self.1, &begun) {
                self.0.resolve(&key, Resolution::Rerun, "otto", now).await?;
            }
            Ok(begun)
        })
    }
    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        Box::pin(async move {
            match self.1 {
                Fault::Get | Fault::Begin => self.away(),
                Fault::Rerun => EffectLedger::get(&self.0, key).await,
            }
        })
    }
    pass_on!(self => self.0; renew end resolve sweep list);
}

/// Sends a parcel; the first one is lost in transit.
#[tool(timeout = "200ms")]
async fn parcel(mailbox: &Mailbox) -> usize {
    mailbox.send();
    if mailbox.sent() == 1 {
        std::future::pending::<()>().await;
    }
    mailbox.sent()
}

/// Records a message with two calls of `parcel`. The first call is ambiguous in the ledger and has no result in the thread.
async fn lost(host: &Host, turns: &Turns) -> StoredMessage {
    let parcels = ["a", "b"].map(|id| ToolCall::new(id, "parcel", "{}"));
    let cx = cx(host, ANN);
    let message = turns
        .record(ModelMessage::calls(parcels), &cx)
        .await
        .unwrap();
    let gate = Gate::builder().ledger(host.store.clone()).build();
    let first = cx.for_call(CallId::in_thread(message.thread(), message.seq(), 0));
    let call = ToolCall::new("a", "parcel", "{}");
    let result = toolset![parcel].through(&gate).call(call, &first).await;
    assert_eq!(kind(&result), Some(ErrorKind::TimedOut));
    assert_eq!(effects(host).await[0].state, EffectState::Ambiguous);
    message
}

// An ambiguous effect stops the turn even if the ledger fails: no result is stored, and the next call does not run
#[tokio::test]
async fn ambiguous_effect_stops_the_turn_although_the_ledger_fails() {
    for fault in [Fault::Get, Fault::Begin] {
        let host = Host::new();
        let turns = Turns::new(host.store.clone());
        let message = lost(&host, &turns).await;
        let gate = Gate::builder()
            .ledger(Shaky(host.store.clone(), fault))
            .build();
        let tools = toolset![parcel].through(&gate);
        for _ in 0..2 {
            let turn = turns.run(&tools, &message, &cx(&host, ANN)).await;
            let stopped = match fault {
                Fault::Get => {
                    matches!(&turn, Ok(Turn::Unsettled(row)) if row.state == EffectState::Ambiguous)
                }
                _ => matches!(&turn, Err(TurnError::Store(_))),
            };
            assert!(stopped, "{fault:?}: {turn:?}");
        }
        assert_eq!(
            host.mailbox.sent(),
            1,
            "{fault:?}: the next call is not run"
        );
        let thread = ThreadStore::read(&host.store, &thread("th-1"), None).await;
        assert_eq!(
            thread.unwrap().len(),
            1,
            "{fault:?}: no result is stored for an ambiguous call"
        );

        // The ledger works again, and the operator settles the effect.
        let gate = Gate::builder().ledger(host.store.clone()).build();
        let key = CallId::in_thread(message.thread(), message.seq(), 0).key();
        let arrived = Resolution::Succeeded("1".to_owned());
        gate.resolve(&key, arrived, "otto").await.unwrap();
        let tools = toolset![parcel].through(&gate);
        let turn = turns.run(&tools, &message, &cx(&host, ANN)).await.unwrap();
        assert_eq!(texts(turn), ["1", "2"], "{fault:?}");
    }
}

// An operator's rerun between `begin` and `get` is not lost
#[tokio::test]
async fn rerun_during_the_lookup_of_a_turn_is_not_lost() {
    let host = Host::new();
    let turns = Turns::new(host.store.clone());
    let message = lost(&host, &turns).await;
    let gate = Gate::builder()
        .ledger(Shaky(host.store.clone(), Fault::Rerun))
        .build();
    let tools = toolset![parcel].through(&gate);
    let turn = turns.run(&tools, &message, &cx(&host, ANN)).await.unwrap();
    assert!(matches!(turn, Turn::Unsettled(_)), "{turn:?}");
    let turn = turns.run(&tools, &message, &cx(&host, ANN)).await.unwrap();
    assert_eq!(texts(turn), ["2", "3"]);
    assert_eq!(host.mailbox.sent(), 3);
}
