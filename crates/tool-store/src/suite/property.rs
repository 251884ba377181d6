//! Property test: a store returns the same results for random operations as [`MemoryStore`](crate::MemoryStore).

use crate::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::records::{at, audit, intent, message, named_in, request, spill};
use super::tests;

/// One call of a store. Names and times come from small sets, so that many steps affect the same records.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "only a few dozen steps exist at a time"
)]
pub(super) enum Step {
    Open(ApprovalRequest),
    Get(Workspace, String),
    Answer(Workspace, String, ApprovalAnswer),
    Spend(Workspace, String, String, Timestamp),
    Withdraw(Workspace, String),
    Assign(Workspace, String, Option<String>),
    List(Within, ApprovalFilter),
    DenyAll(Workspace, ApprovalFilter, ApprovalAnswer),
    ExpireApprovals(Within, Timestamp),
    Begin(Intent, Option<AuditRow>),
    Renew(CallKey, String, Timestamp),
    End(CallKey, String, EffectEnd),
    Effect(CallKey),
    Resolve(CallKey, Resolution, Timestamp),
    Sweep(Within, Timestamp),
    Effects(Within, Option<EffectState>),
    Write(Vec<AuditRow>),
    Export(Within, AuditFilter),
    EraseUser(Workspace, String),
    Retain(Within, Timestamp),
    Append(NewMessage),
    Messages(ThreadId, Option<u64>),
    EraseThread(ThreadId),
    Put(Spill),
    Part(Workspace, String, String, u64, u64, Timestamp),
    ExpireSpills(Within, Timestamp),
}

/// A `Scope` that owns its workspace: `None` is every workspace.
type Within = Option<Workspace>;

fn scope(within: &Within) -> Scope<'_> {
    within.as_ref().map_or(Scope::All, Scope::Workspace)
}

/// Runs a step. Returns the store's result as text, for comparison.
pub(super) async fn said(store: &(impl Store + ?Sized), step: Step) -> String {
    fn text<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
        if let Err(error @ (StoreError::Unavailable(_) | StoreError::Corrupt(_))) = &answer {
            panic!("{error}");
        }
        format!("{answer:?}")
    }
    match step {
        Step::Open(request) => text(store.open(request).await),
        Step::Get(own, id) => text(ApprovalStore::get(store, &own, &id).await),
        Step::Answer(own, id, answer) => text(store.answer(&own, &id, answer).await),
        Step::Spend(own, id, nonce, now) => text(store.spend(&own, &id, &nonce, now).await),
        Step::Withdraw(own, id) => text(store.withdraw(&own, &id).await),
        Step::Assign(own, id, assignee) => text(store.assign(&own, &id, assignee).await),
        Step::List(within, filter) => {
            text(ApprovalStore::list(store, scope(&within), &filter).await)
        }
        Step::DenyAll(own, filter, answer) => text(store.deny_all(&own, &filter, answer).await),
        Step::ExpireApprovals(within, now) => {
            text(ApprovalStore::expire(store, scope(&within), now).await)
        }
        Step::Begin(intent, audit) => text(store.begin(intent, audit).await),
        Step::Renew(key, owner, until) => text(store.renew(&key, &owner, until).await),
        Step::End(key, owner, end) => text(store.end(&key, &owner, end).await),
        Step::Effect(key) => text(EffectLedger::get(store, &key).await),
        Step::Resolve(key, resolution, now) => {
            text(store.resolve(&key, resolution, "olga", now).await)
        }
        Step::Sweep(within, now) => text(store.sweep(scope(&within), now).await),
        Step::Effects(within, state) => {
            text(EffectLedger::list(store, scope(&within), state).await)
        }
        Step::Write(rows) => text(store.write(rows).await),
        Step::Export(within, filter) => text(store.export(scope(&within), &filter).await),
        Step::EraseUser(own, principal) => text(AuditSink::erase(store, &own, &principal).await),
        Step::Retain(within, since) => text(store.retain(scope(&within), since).await),
        Step::Append(message) => text(store.append(message).await),
        Step::Messages(thread, after) => text(ThreadStore::read(store, &thread, after).await),
        Step::EraseThread(thread) => text(ThreadStore::erase(store, &thread).await),
        Step::Put(spill) => text(store.put(spill).await),
        Step::Part(own, handle, principal, from, most, now) => {
            text(SpillStore::read(store, &own, &principal, &handle, from, most, now).await)
        }
        Step::ExpireSpills(within, now) => {
            text(SpillStore::expire(store, scope(&within), now).await)
        }
    }
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    proptest::sample::select(words).prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = String> + Clone {
    one_of(&["a", "b", "ä", "B"])
}

fn user() -> impl Strategy<Value = String> + Clone {
    one_of(&["ann", "eve"])
}

fn own() -> impl Strategy<Value = Workspace> + Clone {
    one_of(&["acme", "acme", "umbrella"]).prop_map(Workspace::new)
}

/// Returns one workspace, or all workspaces.
fn within() -> impl Strategy<Value = Within> + Clone {
    option::of(own())
}

fn identity() -> impl Strategy<Value = CallId> + Clone {
    let named = (own(), id()).prop_map(|(own, name)| named_in(own.as_str(), &name));
    let place = (
        thread(),
        0..2_u64,
        0..2_u32,
        option::weighted(0.3, 0..2_u32),
    );
    let placed = place.prop_map(|(thread, message, position, number)| {
        let call = CallId::in_thread(&thread, message, position);
        number.map_or(call.clone(), |number| call.nested(number))
    });
    prop_oneof![3 => named, 1 => placed]
}

fn key() -> impl Strategy<Value = CallKey> + Clone {
    identity().prop_map(|identity| identity.key())
}

fn thread() -> impl Strategy<Value = ThreadId> + Clone {
    (own(), id()).prop_map(|(own, name)| ThreadId::new(own, name).unwrap())
}

fn tool() -> impl Strategy<Value = String> + Clone {
    one_of(&["send_mail", "wipe"])
}

fn time() -> impl Strategy<Value = Timestamp> + Clone {
    (-2_i64..8).prop_map(at)
}

fn word<T: Copy + std::fmt::Debug + 'static>(
    all: &'static [T],
) -> impl Strategy<Value = T> + Clone {
    proptest::sample::select(all)
}

fn answer() -> impl Strategy<Value = ApprovalAnswer> + Clone {
    let verdict = prop_oneof![
        2 => Just(Verdict::Approve),
        1 => Just(Verdict::Edit("{}".into())),
        2 => Just(Verdict::Deny),
    ];
    let approver = one_of(&["ann", "ann", "eve", "eve", ""]);
    let answer = (
        verdict,
        approver,
        option::of(Just("why".to_owned())),
        time(),
    );
    answer.prop_map(|(verdict, approver, reason, at)| ApprovalAnswer {
        verdict,
        approver,
        reason,
        at,
    })
}

pub(super) fn approvals() -> impl Strategy<Value = Step> {
    let filter = (
        (
            option::weighted(0.2, user()),
            option::weighted(0.1, user()),
            option::weighted(0.2, key()),
        ),
        (
            option::weighted(0.2, tool()),
            option::weighted(0.3, word(ApprovalStatus::ALL)),
            option::weighted(0.2, word(ApprovalKind::ALL)),
        ),
        (
            option::weighted(0.3, 0..3_u32),
            option::weighted(0.3, (time(), id())),
        ),
    );
    let filter = filter.prop_map(
        |((principal, assignee, key), (tool, status, kind), (limit, after))| ApprovalFilter {
            principal,
            assignee,
            key: key.map(|key| key.as_str().to_owned()),
            tool,
            status,
            kind,
            limit,
            after,
            ..ApprovalFilter::default()
        },
    );
    let opened = (
        id(),
        identity(),
        user(),
        tool(),
        word(ApprovalKind::ALL),
        any::<bool>(),
        time(),
        time(),
    );
    let opened = opened.prop_map(
        |(id, identity, principal, tool, kind, four_eyes, created, expires)| ApprovalRequest {
            kind,
            identity,
            tool,
            principal,
            four_eyes,
            created,
            expires,
            ..request(&id)
        },
    );
    prop_oneof![
        4 => opened.prop_map(Step::Open),
        1 => (own(), id()).prop_map(|(own, id)| Step::Get(own, id)),
        4 => (own(), id(), answer()).prop_map(|(own, id, answer)| Step::Answer(own, id, answer)),
        3 => (own(), id(), one_of(&["nonce", "nonce", "other"]), time())
            .prop_map(|(own, id, nonce, now)| Step::Spend(own, id, nonce, now)),
        1 => (own(), id()).prop_map(|(own, id)| Step::Withdraw(own, id)),
        1 => (own(), id(), option::of(user())).prop_map(|(own, id, user)| Step::Assign(own, id, user)),
        2 => (within(), filter.clone()).prop_map(|(within, filter)| Step::List(within, filter)),
        1 => (own(), filter, answer()).prop_map(|(own, filter, answer)| Step::DenyAll(own, filter, answer)),
        1 => (within(), time()).prop_map(|(within, now)| Step::ExpireApprovals(within, now)),
    ]
}

pub(super) fn effects() -> impl Strategy<Value = Step> {
    let owner = || one_of(&["run-1", "run-1", "run-2"]);
    let earlier = option::weighted(0.3, id());
    let begun = (identity(), earlier, tool(), owner(), time(), time());
    let begun = begun.prop_map(|(identity, earlier, tool, owner, at, lease_until)| Intent {
        earlier: earlier.map(|key| CallKey::new(identity.workspace(), key)),
        identity,
        tool,
        owner,
        at,
        lease_until,
        ..intent("call")
    });
    let end = (
        word(EffectState::ALL),
        option::of(Just("7".to_owned())),
        proptest::bool::weighted(0.2),
        time(),
    );
    let end = end.prop_map(|(state, result, released, at)| EffectEnd {
        released: released && state == EffectState::Failed,
        state,
        result,
        at,
    });
    let resolution = prop_oneof![
        Just(Resolution::Succeeded("1".into())),
        Just(Resolution::Failed("2".into())),
        Just(Resolution::Rerun),
    ];
    prop_oneof![
        6 => (begun, option::of(row())).prop_map(|(intent, audit)| Step::Begin(intent, audit)),
        2 => (key(), owner(), time()).prop_map(|(key, owner, until)| Step::Renew(key, owner, until)),
        4 => (key(), owner(), end).prop_map(|(key, owner, end)| Step::End(key, owner, end)),
        1 => key().prop_map(Step::Effect),
        3 => (key(), resolution, time()).prop_map(|(key, resolution, now)| Step::Resolve(key, resolution, now)),
        1 => (within(), time()).prop_map(|(within, now)| Step::Sweep(within, now)),
        2 => (within(), option::of(word(EffectState::ALL))).prop_map(|(within, state)| Step::Effects(within, state)),
    ]
}

fn row() -> impl Strategy<Value = AuditRow> + Clone {
    let row = (
        identity(),
        option::of(user()),
        tool(),
        time(),
        option::of(any::<u64>()),
        option::of(one_of(&["pending", "interrupted", "ok", "failed"])),
    );
    row.prop_map(
        |(identity, principal, tool, started, duration_us, outcome)| AuditRow {
            identity,
            principal,
            tool,
            outcome,
            started,
            duration_us,
            ..audit("call")
        },
    )
}

pub(super) fn audits() -> impl Strategy<Value = Step> {
    let filter = (
        option::of(user()),
        option::of(tool()),
        option::of(time()),
        option::of(time()),
        option::of(0..3_u32),
        proptest::bool::ANY,
    );
    let filter =
        filter.prop_map(
            |(principal, tool, since, until, limit, newest_first)| AuditFilter {
                principal,
                tool,
                since,
                until,
                limit,
                newest_first,
                ..AuditFilter::default()
            },
        );
    prop_oneof![
        3 => vec(row(), 0..3).prop_map(Step::Write),
        3 => (within(), filter).prop_map(|(within, filter)| Step::Export(within, filter)),
        1 => (own(), user()).prop_map(|(own, principal)| Step::EraseUser(own, principal)),
        1 => (within(), time()).prop_map(|(within, since)| Step::Retain(within, since)),
    ]
}

pub(super) fn texts() -> impl Strategy<Value = Step> {
    let said = (thread(), word(Role::ALL), option::of((0..3_u64, 0..2_u32)));
    let said = said.prop_map(|(thread, role, answers)| NewMessage {
        thread,
        answers: answers.map(|(message, position)| CallPlace { message, position }),
        ..message("t", role, None)
    });
    let kept = (id(), own(), "[aä€😀]{0,6}", time());
    let kept = kept.prop_map(|(handle, workspace, text, expires)| Spill {
        workspace,
        expires,
        ..spill(&handle, &text)
    });
    let part = (
        own(),
        id(),
        one_of(&["ann", "ann", "eve"]),
        0..12_u64,
        0..12_u64,
        time(),
    );
    prop_oneof![
        4 => said.prop_map(Step::Append),
        2 => (thread(), option::of(0..5_u64)).prop_map(|(thread, after)| Step::Messages(thread, after)),
        1 => thread().prop_map(Step::EraseThread),
        2 => kept.prop_map(Step::Put),
        4 => part.prop_map(|(own, handle, principal, from, most, now)| Step::Part(own, handle, principal, from, most, now)),
        1 => (within(), time()).prop_map(|(within, now)| Step::ExpireSpills(within, now)),
    ]
}

/// Runs the steps on a store and on a [`MemoryStore`](crate::MemoryStore), then compares all their records.
async fn agree(store: &impl Store, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let everything = [
        Step::List(None, ApprovalFilter::default()),
        Step::Effects(None, None),
        Step::Export(None, AuditFilter::default()),
    ];
    let memory = MemoryStore::default();
    for step in steps.into_iter().chain(everything) {
        let answer = said(&memory, step.clone()).await;
        prop_assert_eq!(said(store, step.clone()).await, answer, "{:?}", step);
    }
    Ok(())
}

tests! {
    ($) __suite_property in property for Store;

    #[test]
    fn stores_agree_on_approvals(opener) {
        opener.hold(&vec(approvals(), 1..60), agree);
    }

    #[test]
    fn stores_agree_on_effects(opener) {
        opener.hold(&vec(effects(), 1..60), agree);
    }

    #[test]
    fn stores_agree_on_audits_and_texts(opener) {
        opener.hold(&vec(prop_oneof![audits(), texts()], 1..60), agree);
    }
}
