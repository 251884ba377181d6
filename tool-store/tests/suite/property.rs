//! Random operations get the same answers from the store in memory and from SQLite.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tool_core::store::*;
use tool_store::SqliteStore;

use crate::records::{at, audit, intent, message, request, spill};

/// One call of a store. Names and times come from small sets, so that calls meet.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a few dozen steps live at once")]
enum Step {
    Open(ApprovalRequest),
    Get(String),
    Answer(String, Answer),
    Spend(String, String, Timestamp),
    Withdraw(String),
    Assign(String, Option<String>),
    List(ApprovalFilter),
    DenyAll(ApprovalFilter, Answer),
    ExpireApprovals(Timestamp),
    Begin(Intent, Option<AuditRow>),
    Renew(String, String, Timestamp),
    End(String, String, EffectEnd),
    Effect(String),
    Resolve(String, Resolution, Timestamp),
    Sweep(Timestamp),
    Effects(Option<String>, Option<EffectState>),
    Write(Vec<AuditRow>),
    Export(AuditFilter),
    EraseUser(String, String),
    Retain(Timestamp),
    Append(NewMessage),
    Messages(String, Option<u64>),
    EraseThread(String),
    Put(Spill),
    Part(String, String, u64, u64, Timestamp),
    ExpireSpills(Timestamp),
}

/// What a store says to a step, comparable.
async fn said(store: &(impl Store + ?Sized), step: Step) -> String {
    fn text<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
        if let Err(error @ (StoreError::Unavailable(_) | StoreError::Corrupt(_))) = &answer {
            panic!("{error}");
        }
        format!("{answer:?}")
    }
    match step {
        Step::Open(request) => text(store.open(request).await),
        Step::Get(id) => text(ApprovalStore::get(store, &id).await),
        Step::Answer(id, answer) => text(store.answer(&id, answer).await),
        Step::Spend(id, nonce, now) => text(store.spend(&id, &nonce, now).await),
        Step::Withdraw(id) => text(store.withdraw(&id).await),
        Step::Assign(id, assignee) => text(store.assign(&id, assignee).await),
        Step::List(filter) => text(ApprovalStore::list(store, &filter).await),
        Step::DenyAll(filter, answer) => text(store.deny_all(&filter, answer).await),
        Step::ExpireApprovals(now) => text(ApprovalStore::expire(store, now).await),
        Step::Begin(intent, audit) => text(store.begin(intent, audit).await),
        Step::Renew(key, owner, until) => text(store.renew(&key, &owner, until).await),
        Step::End(key, owner, end) => text(store.end(&key, &owner, end).await),
        Step::Effect(key) => text(EffectLedger::get(store, &key).await),
        Step::Resolve(key, resolution, now) => {
            text(store.resolve(&key, resolution, "olga", now).await)
        }
        Step::Sweep(now) => text(store.sweep(now).await),
        Step::Effects(tenant, state) => {
            text(EffectLedger::list(store, tenant.as_deref(), state).await)
        }
        Step::Write(rows) => text(store.write(rows).await),
        Step::Export(filter) => text(store.export(&filter).await),
        Step::EraseUser(tenant, principal) => {
            text(AuditSink::erase(store, &tenant, &principal).await)
        }
        Step::Retain(since) => text(store.retain(since).await),
        Step::Append(message) => text(store.append(message).await),
        Step::Messages(thread, after) => text(ThreadStore::read(store, &thread, after).await),
        Step::EraseThread(thread) => text(ThreadStore::erase(store, &thread).await),
        Step::Put(spill) => text(store.put(spill).await),
        Step::Part(handle, principal, from, most, now) => {
            text(SpillStore::read(store, &handle, "acme", &principal, from, most, now).await)
        }
        Step::ExpireSpills(now) => text(SpillStore::expire(store, now).await),
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

fn tenant() -> impl Strategy<Value = String> + Clone {
    one_of(&["acme", "umbrella"])
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

fn answer() -> impl Strategy<Value = Answer> + Clone {
    let verdict = prop_oneof![
        2 => Just(Verdict::Approve),
        1 => Just(Verdict::Edit("{}".into())),
        2 => Just(Verdict::Deny),
    ];
    let answer = (verdict, user(), option::of(Just("why".to_owned())), time());
    answer.prop_map(|(verdict, approver, reason, at)| Answer {
        verdict,
        approver,
        reason,
        at,
    })
}

fn approvals() -> impl Strategy<Value = Step> {
    let filter = (
        (
            option::weighted(0.2, tenant()),
            option::weighted(0.2, user()),
            option::weighted(0.1, user()),
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
        |((tenant, principal, assignee), (tool, status, kind), (limit, after))| ApprovalFilter {
            tenant,
            principal,
            assignee,
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
        tenant(),
        user(),
        tool(),
        word(ApprovalKind::ALL),
        any::<bool>(),
        time(),
        time(),
    );
    let opened = opened.prop_map(
        |(id, tenant, principal, tool, kind, four_eyes, created, expires)| ApprovalRequest {
            tenant,
            principal,
            tool,
            kind,
            four_eyes,
            created,
            expires,
            ..request(&id)
        },
    );
    prop_oneof![
        4 => opened.prop_map(Step::Open),
        1 => id().prop_map(Step::Get),
        4 => (id(), answer()).prop_map(|(id, answer)| Step::Answer(id, answer)),
        3 => (id(), one_of(&["nonce", "nonce", "other"]), time()).prop_map(|(id, nonce, now)| Step::Spend(id, nonce, now)),
        1 => id().prop_map(Step::Withdraw),
        1 => (id(), option::of(user())).prop_map(|(id, user)| Step::Assign(id, user)),
        2 => filter.clone().prop_map(Step::List),
        1 => (filter, answer()).prop_map(|(filter, answer)| Step::DenyAll(filter, answer)),
        1 => time().prop_map(Step::ExpireApprovals),
    ]
}

fn effects() -> impl Strategy<Value = Step> {
    let owner = || one_of(&["run-1", "run-1", "run-2"]);
    let begun = (id(), tool(), tenant(), owner(), time(), time());
    let begun = begun.prop_map(|(key, tool, tenant, owner, at, lease_until)| Intent {
        tool,
        tenant,
        owner,
        at,
        lease_until,
        ..intent(&key)
    });
    let end = (
        word(EffectState::ALL),
        option::of(Just("7".to_owned())),
        time(),
    );
    let end = end.prop_map(|(state, result, at)| EffectEnd { state, result, at });
    let resolution = prop_oneof![
        Just(Resolution::Succeeded("1".into())),
        Just(Resolution::Failed("2".into())),
        Just(Resolution::Rerun),
    ];
    prop_oneof![
        6 => (begun, option::of(row())).prop_map(|(intent, audit)| Step::Begin(intent, audit)),
        2 => (id(), owner(), time()).prop_map(|(key, owner, until)| Step::Renew(key, owner, until)),
        4 => (id(), owner(), end).prop_map(|(key, owner, end)| Step::End(key, owner, end)),
        1 => id().prop_map(Step::Effect),
        3 => (id(), resolution, time()).prop_map(|(key, resolution, now)| Step::Resolve(key, resolution, now)),
        1 => time().prop_map(Step::Sweep),
        2 => (option::of(tenant()), option::of(word(EffectState::ALL))).prop_map(|(tenant, state)| Step::Effects(tenant, state)),
    ]
}

fn row() -> impl Strategy<Value = AuditRow> + Clone {
    let row = (
        id(),
        option::of(tenant()),
        option::of(user()),
        tool(),
        time(),
        option::of(any::<u64>()),
    );
    row.prop_map(
        |(id, tenant, principal, tool, started, duration_us)| AuditRow {
            tenant,
            principal,
            tool,
            started,
            duration_us,
            ..audit(&id)
        },
    )
}

fn audits() -> impl Strategy<Value = Step> {
    let filter = (
        option::of(tenant()),
        option::of(user()),
        option::of(tool()),
        option::of(time()),
        option::of(time()),
        option::of(0..3_u32),
    );
    let filter = filter.prop_map(
        |(tenant, principal, tool, since, until, limit)| AuditFilter {
            tenant,
            principal,
            tool,
            call: None,
            since,
            until,
            limit,
        },
    );
    prop_oneof![
        3 => vec(row(), 0..3).prop_map(Step::Write),
        3 => filter.prop_map(Step::Export),
        1 => (tenant(), user()).prop_map(|(tenant, principal)| Step::EraseUser(tenant, principal)),
        1 => time().prop_map(Step::Retain),
    ]
}

fn texts() -> impl Strategy<Value = Step> {
    let said = (id(), word(Role::ALL), option::of(id()));
    let kept = (id(), "[aä€😀]{0,6}", time());
    let part = (
        id(),
        one_of(&["ann", "ann", "eve"]),
        0..12_u64,
        0..12_u64,
        time(),
    );
    prop_oneof![
        4 => said.prop_map(|(thread, role, call)| Step::Append(message(&thread, role, call.as_deref()))),
        2 => (id(), option::of(0..5_u64)).prop_map(|(thread, after)| Step::Messages(thread, after)),
        1 => id().prop_map(Step::EraseThread),
        2 => kept.prop_map(|(handle, text, expires)| Step::Put(Spill { expires, ..spill(&handle, &text) })),
        4 => part.prop_map(|(handle, principal, from, most, now)| Step::Part(handle, principal, from, most, now)),
        1 => time().prop_map(Step::ExpireSpills),
    ]
}

/// Steps on both stores, then everything that they hold.
fn agree(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let everything = [
        Step::List(ApprovalFilter::default()),
        Step::Effects(None, None),
        Step::Export(AuditFilter::default()),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let memory = MemoryStore::default();
        let sqlite = SqliteStore::in_memory().await.unwrap();
        for step in steps.into_iter().chain(everything) {
            let answer = said(&memory, step.clone()).await;
            prop_assert_eq!(said(&sqlite, step.clone()).await, answer, "{:?}", step);
        }
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn approvals_agree(steps in vec(approvals(), 1..60)) {
        agree(steps)?;
    }

    #[test]
    fn effects_agree(steps in vec(effects(), 1..60)) {
        agree(steps)?;
    }

    #[test]
    fn audits_and_texts_agree(steps in vec(prop_oneof![audits(), texts()], 1..60)) {
        agree(steps)?;
    }
}
