//! Tests of plans whose specifications and states are sealed, for each store that can seal them.

use serde_json::json;
use tool_store::suite::records::{at, thread};
use tool_store::*;

use super::{Sealing, key, refusal, sealing, vault};

const COLUMNS: [SealedColumn; 2] = [SealedColumn::PlanSpec, SealedColumn::PlanState];

fn new(conversation: &str) -> NewPlanRun {
    let draft = json!({
        "title": "t", "objective": "sentinel-objective", "entry_nodes": ["a"],
        "nodes": [{"id": "a", "objective": "o", "owner": {"executor": "agent"}, "success_criteria": ["c"]}],
    });
    let draft = serde_json::from_value(draft).unwrap();
    NewPlanRun {
        thread: thread(conversation),
        principal: None,
        spec: PlanSpec::compile(draft, &PlanRules::default(), |_| Ok(())).unwrap(),
        at: at(100),
    }
}

fn blocked(notes: &str) -> PlanChange {
    PlanChange::Submit(PlanSubmission {
        node: "a".to_owned(),
        attempt: None,
        by: PlanOwner::any(PlanExecutor::Agent),
        outcome: PlanOutcome::Blocked,
        output: None,
        schema_issues: Vec::new(),
        artifacts: Vec::new(),
        notes: Some(notes.to_owned()),
    })
}

/// Returns the number of values that a key seals, for each column.
async fn uses(store: &impl Sealing, id: &str) -> [u64; 2] {
    let uses = store.key_uses().await.unwrap();
    COLUMNS.map(|column| {
        let mut of = uses.iter();
        let of = of.find(|using| using.column == column && using.key == key(id));
        of.map_or(0, |using| using.values)
    })
}

/// The specifications and states of runs are read back unchanged by a handle with the keys, and cannot be read by a handle without them. A run that
/// was written before sealing is sealed by its next change, a rotation covers both columns, a value at the place of a different run does not open,
/// and an erasure removes the values.
pub(crate) async fn plans_are_sealed(plain: impl Sealing + PlanStore) {
    let PlanCreated::Created(early) = plain.create_plan(new("early")).await.unwrap() else {
        panic!("there is a run");
    };
    let store = sealing(&plain, &["k1"]).await;
    assert_eq!(store.plan(&early.id).await.unwrap().as_ref(), Some(&*early));
    store
        .change_plan(&early.id, blocked("n\0ote"), at(200))
        .await
        .unwrap();
    assert_eq!(uses(&plain, "k1").await, [0, 1]);
    for conversation in ["one", "two"] {
        let PlanCreated::Created(row) = store.create_plan(new(conversation)).await.unwrap() else {
            panic!("there is a run");
        };
        let changed = store
            .change_plan(&row.id, blocked("sentinel-note"), at(200))
            .await
            .unwrap();
        let PlanChanged::Changed(row) = changed else {
            panic!("{changed:?}");
        };
        assert_eq!(
            store.active_plan(row.id.thread()).await.unwrap(),
            Some(*row)
        );
    }
    assert_eq!(uses(&plain, "k1").await, [2, 3]);
    let main = thread("one");
    for text in [
        refusal(plain.active_plan(&main).await),
        refusal(plain.list_plans(&main, None, 9).await),
        refusal(plain.replace_plan(new("one"), "r".to_owned()).await),
    ] {
        assert!(
            text.contains("row `one`") && text.contains("sealed with the key `k1`"),
            "{text}"
        );
        assert!(!text.contains("sentinel"), "{text}");
    }

    for column in COLUMNS {
        let rows = plain.sealed(column, &key("k1"), None, 99).await.unwrap();
        let (from, old) = (&rows[rows.len() - 1], rows[rows.len() - 2].clone());
        let new = Sealed::from_bytes(from.bytes.clone()).unwrap();
        let good = Sealed::from_bytes(old.bytes.clone()).unwrap();
        let mut change = Reseal { old, new };
        assert_eq!(plain.reseal(vec![change.clone()]).await.unwrap(), 1);
        let error = refusal(store.active_plan(&main).await);
        assert!(
            error.contains("was altered and cannot be opened"),
            "{column}: {error}"
        );
        change.old.bytes = change.new.as_bytes().into();
        change.new = good;
        assert_eq!(plain.reseal(vec![change]).await.unwrap(), 1);
    }

    let rotating = vault(&plain, &["k2", "k1"]).await;
    rotating.rotate(2).await.unwrap();
    assert_eq!(
        (uses(&plain, "k1").await, uses(&plain, "k2").await),
        ([0, 0], [2, 3])
    );
    let late = sealing(&plain, &["k2", "k1"]).await;
    let row = late.active_plan(&main).await.unwrap().unwrap();
    assert_eq!(
        row.nodes[0].attempts[0].notes.as_deref(),
        Some("sentinel-note")
    );
    assert_eq!(row.spec.draft().objective, "sentinel-objective");
    plain.erase_contents(Erasure::Thread(&main)).await.unwrap();
    assert_eq!(uses(&plain, "k2").await, [1, 2]);
}
