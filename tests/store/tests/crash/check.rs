//! Checks that the stored records agree with the real effects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tool_core::Reply;
use tool_core::store::*;

use crate::host::{self, Planned, World};

/// The contents of a host's files, read while no process uses them.
pub(crate) struct Snapshot {
    effects: Vec<(String, u32)>,
    reads: Vec<String>,
    rows: BTreeMap<String, EffectRow>,
    audit: BTreeMap<String, AuditRow>,
    approvals: Vec<ApprovalRow>,
    messages: Vec<Message>,
}

impl Snapshot {
    pub(crate) async fn take(folder: &Path) -> Self {
        let store = host::open(folder).await.0;
        let rows = EffectLedger::list(&store, Scope::All, None).await.unwrap();
        let audit = store
            .export(Scope::All, &AuditFilter::default())
            .await
            .unwrap();
        let all = ApprovalFilter::default();
        let snapshot = Self {
            effects: World::of(folder).effects(),
            reads: host::reads(folder),
            rows: rows
                .into_iter()
                .map(|row| (key_of(&row.intent.identity), row))
                .collect(),
            audit: audit
                .into_iter()
                .map(|row| (key_of(&row.identity), row))
                .collect(),
            approvals: ApprovalStore::list(&store, Scope::All, &all).await.unwrap(),
            messages: ThreadStore::read(&store, &host::thread(), None)
                .await
                .unwrap(),
        };
        store.close().await;
        snapshot
    }

    fn happened(&self, key: &str) -> usize {
        self.effects.iter().filter(|(own, _)| own == key).count()
    }

    fn row(&self, place: CallPlace) -> Option<&EffectRow> {
        let mut rows = self.rows.values();
        rows.find(|row| row.intent.identity.place() == Some(place))
    }

    /// Returns the place of the call, the tool and the kind of error of each stored result.
    fn results(&self) -> impl Iterator<Item = (CallPlace, String, Option<String>)> {
        let results = self.messages.iter().filter(|m| m.role == Role::Tool);
        results.map(|message| {
            let content: Value = serde_json::from_str(&message.content).unwrap();
            let name = content["name"].as_str().unwrap().to_owned();
            let error = content["error"].as_str().map(str::to_owned);
            (message.answers.unwrap(), name, error)
        })
    }

    /// Returns the place of a planned call in the thread.
    fn place(&self, planned: &Planned) -> CallPlace {
        let mut said = self.messages.iter().filter(|m| m.role == Role::Assistant);
        CallPlace {
            message: said.nth(planned.step).unwrap().seq,
            position: planned.position,
        }
    }

    fn is(&self, key: &str, states: &[EffectState]) -> bool {
        let row = self.rows.get(key);
        row.is_some_and(|row| states.contains(&row.state))
    }

    /// Asserts the invariants that hold at every point.
    pub(crate) fn holds(&self) {
        use EffectState::{Ambiguous, Running, Succeeded};
        for (key, amount) in &self.effects {
            assert_eq!(self.happened(key), 1, "the effect `{key}` happened twice");
            assert!(
                self.is(key, &[Running, Ambiguous, Succeeded]),
                "the effect `{key}` happened, but its ledger row is {:?}",
                self.rows.get(key)
            );
            assert!(
                self.audit.contains_key(key),
                "the effect `{key}` happened without an audit row"
            );
            let row = &self.rows[key];
            if row.intent.tool == "wire" {
                self.was_allowed(row, *amount);
            }
        }
        // The ledger records no effect that did not happen.
        for (key, row) in &self.rows {
            if row.state == Succeeded {
                assert_eq!(self.happened(key), 1, "{row:?}");
            }
        }
        for row in self.audit.values() {
            let is_word = row.notes.iter().any(|note| note.action == "effect.resolve");
            if row.outcome.as_deref() == Some("ok") && row.tool != "look" && !is_word {
                // A later attempt has its own row, but its effect is recorded under the key of the first attempt.
                let key = key_of(&row.identity.attempt(1));
                assert_eq!(self.happened(&key), 1, "{row:?}");
            }
        }
        let mut answered = BTreeSet::new();
        for (place, tool, error) in self.results() {
            assert!(answered.insert(place), "{place:?} has two results");
            assert_ne!(
                error.as_deref(),
                Some("interrupted"),
                "the result of an unresolved effect was stored"
            );
            if error.is_none() && tool != "look" {
                let row = self.row(place).unwrap();
                assert_eq!(row.state, Succeeded, "{row:?}");
            }
        }
    }

    /// Asserts that an approval of this call was given and used, and that the call ran with the approved arguments.
    fn was_allowed(&self, row: &EffectRow, amount: u32) {
        let intent = &row.intent;
        let mut own = self.approvals.iter().filter(|approval| {
            approval.request.identity == intent.identity && approval.request.call == intent.call
        });
        let approval = own.next().unwrap();
        assert!(
            own.next().is_none(),
            "approval was requested twice for one call"
        );
        assert_eq!(approval.status, ApprovalStatus::Spent);
        let granted = match &approval.answer.as_ref().unwrap().verdict {
            Verdict::Edit(arguments) => arguments,
            Verdict::Approve => &approval.request.arguments,
            Verdict::Deny => panic!("`{}` was denied", intent.call),
        };
        assert_eq!(*granted, format!(r#"{{"amount":{amount}}}"#));
    }

    /// Asserts that exactly the running effects become ambiguous when their leases expire.
    pub(crate) async fn lapses(&mut self, folder: &Path) {
        let running = |row: &&EffectRow| row.state == EffectState::Running;
        let doubtful: Vec<_> = self.rows.values().filter(running).cloned().collect();
        if let Some(until) = doubtful.iter().map(|row| row.intent.lease_until).max() {
            let left = until.as_millis() - Timestamp::now().as_millis();
            tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
        }
        let store = host::open(folder).await.0;
        let swept = store.sweep(Scope::All, Timestamp::now()).await.unwrap();
        store.close().await;
        let keys = |rows: &[EffectRow]| -> BTreeSet<String> {
            rows.iter()
                .map(|row| key_of(&row.intent.identity))
                .collect()
        };
        assert_eq!(keys(&swept), keys(&doubtful));
        *self = Self::take(folder).await;
        for row in doubtful {
            assert!(self.is(&key_of(&row.intent.identity), &[EffectState::Ambiguous]));
        }
        for (key, _) in &self.effects {
            assert!(self.is(key, &[EffectState::Ambiguous, EffectState::Succeeded]));
        }
    }

    /// Asserts that the effects and the messages of `before` are unchanged, and that no stored read was repeated.
    pub(crate) fn follows(&self, before: &Self) {
        assert!(self.effects.starts_with(&before.effects));
        assert!(self.messages.starts_with(&before.messages));
        for (place, tool, _) in before.results() {
            if tool == "look" {
                let key = self.audit_key(place);
                let times = |reads: &[String]| reads.iter().filter(|own| **own == key).count();
                assert_eq!(
                    times(&self.reads),
                    times(&before.reads),
                    "{place:?} was read again"
                );
            }
        }
    }

    fn audit_key(&self, place: CallPlace) -> String {
        let mut rows = self.audit.values();
        let row = rows.find(|row| {
            let identity = &row.identity;
            identity.place() == Some(place) && *identity == identity.attempt(1)
        });
        key_of(&row.unwrap().identity)
    }

    /// Asserts that every call of the script has its result. Returns the outcome of each call.
    pub(crate) fn is_whole(&self, script: u64) -> Vec<String> {
        let results: BTreeMap<_, _> = self
            .results()
            .map(|(place, _, error)| (place, error))
            .collect();
        let calls: Vec<_> = host::plan(script).into_iter().flatten().collect();
        assert_eq!(results.len(), calls.len());
        let open = [EffectState::Running, EffectState::Ambiguous];
        assert!(!self.rows.values().any(|row| open.contains(&row.state)));
        let ended = |planned: &Planned| {
            let place = self.place(planned);
            let error = &results[&place];
            let key = self.audit_key(place);
            assert_eq!(self.audit[&key].call, planned.call);
            let amounts: Vec<u32> = self
                .effects
                .iter()
                .filter(|(own, _)| *own == key)
                .map(|(_, amount)| *amount)
                .collect();
            let expected = match (planned.tool, host::reply(planned.amount)) {
                ("wire", Reply::Edit(_)) => planned.amount + 100,
                _ => planned.amount,
            };
            let row = self.rows.get(&key);
            let operator = row.and_then(|row| row.resolved_by.as_deref());
            let rerun = row.is_some_and(|row| row.attempt > 1);
            match (planned.tool, error.as_deref(), operator) {
                ("look", None, None) => "read",
                ("fail", Some("failed"), None) => "failed",
                ("wire", Some("denied"), None) => {
                    assert_eq!(host::reply(planned.amount), Reply::Deny);
                    assert!(amounts.is_empty());
                    "denied"
                }
                ("post" | "wire", None, operator) => {
                    assert_eq!(amounts, [expected], "`{}`", planned.call);
                    match operator {
                        None => "succeeded",
                        Some(_) if rerun => "rerun by the operator: succeeded",
                        Some(_) => "settled by the operator: succeeded",
                    }
                }
                (_, Some("failed"), Some("otto")) => {
                    assert!(amounts.is_empty());
                    "settled by the operator: failed"
                }
                other => panic!("`{}`: {other:?} {amounts:?} {row:?}", planned.call),
            }
            .to_owned()
        };
        calls.iter().map(ended).collect()
    }
}

/// Returns the key of an identity as text.
fn key_of(identity: &CallId) -> String {
    identity.key().as_str().to_owned()
}
