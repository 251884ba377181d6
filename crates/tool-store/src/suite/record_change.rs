//! Tests of the changes that operators make to memories, documents, plans, scheduled tasks and rooms, with their audit rows; and of the lists for operators.

use serde_json::json;

use crate::*;

use super::records::{acme, at, thread};
use super::{conflict, missing, tests};

/// The traits of a store whose rows these tests change.
pub trait RecordStore:
    ChangeStore + KnowledgeStore + LongTermStore + PlanStore + RoomStore + ScheduleStore
{
}

impl<T: ChangeStore + KnowledgeStore + LongTermStore + PlanStore + RoomStore + ScheduleStore>
    RecordStore for T
{
}

fn umbrella() -> Workspace {
    Workspace::new("umbrella")
}

/// Returns a change in a workspace, with an audit row of the operator `olga`.
fn of(workspace: &Workspace, change: RecordChange) -> ChangeRequest {
    let audit = AuditRow::of_operator(workspace, "olga", "test", "{}", at(300)).unwrap();
    ChangeRequest {
        change: Change::Record(change),
        audit,
        key: None,
    }
}

/// Makes a change in the workspace `acme`.
async fn make(store: &impl ChangeStore, change: RecordChange) -> Changed {
    match store.apply(of(&acme(), change)).await.unwrap() {
        Applied::Changed(changed) => changed,
        Applied::Repeated(response) => panic!("{response}"),
    }
}

async fn rows_of_audit(store: &impl AuditSink) -> usize {
    let all = AuditFilter::default();
    store.export(Scope::All, &all).await.unwrap().len()
}

async fn remember(store: &impl LongTermStore, workspace: &Workspace, content: &str) -> MemoryRow {
    let new = NewMemory {
        scope: MemoryScope::shared(workspace),
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Standard,
        importance: Importance::new(0.5).unwrap(),
        source: MemorySource::Model,
        principal: Some("ann".to_owned()),
        conversation: Some("main".to_owned()),
        vector: None,
        at: at(100),
    };
    store.remember(new).await.unwrap().memory
}

async fn write(store: &impl KnowledgeStore, workspace: &Workspace) -> DocumentRow {
    let write = DocumentWrite {
        name: DocumentName::new(workspace, "a.md").unwrap(),
        mode: DocumentWriteMode::Replace,
        content: b"text".to_vec(),
        mime: None,
        source: "upload".to_owned(),
        principal: None,
        at: at(100),
    };
    match store.write_document(write).await.unwrap() {
        DocumentWritten::Stored { row, .. } => *row,
        DocumentWritten::TooLarge { size } => panic!("{size}"),
    }
}

async fn plan(store: &impl PlanStore, thread: &ThreadId, principal: &str) -> PlanRow {
    let draft = json!({
        "title": "Report", "objective": "Write it", "entry_nodes": ["write"],
        "nodes": [{"id": "write", "owner": {"executor": "agent"}, "objective": "Write it", "success_criteria": ["it is complete"]}],
    });
    let draft = serde_json::from_value(draft).unwrap();
    let spec = PlanSpec::compile(draft, &PlanRules::default(), |_| Ok(())).unwrap();
    let new = NewPlanRun {
        thread: thread.clone(),
        principal: Some(principal.to_owned()),
        spec,
        at: at(100),
    };
    match store.create_plan(new).await.unwrap() {
        PlanCreated::Created(row) => *row,
        PlanCreated::Active(row) => panic!("{row:?}"),
    }
}

async fn task(store: &impl ScheduleStore, workspace: &Workspace) -> TaskRow {
    let new = NewTask {
        id: TaskId::new(workspace, "t").unwrap(),
        principal: Some("ann".to_owned()),
        definition: TaskDefinition {
            name: "news".to_owned(),
            prompt: "Summarize the news.".to_owned(),
            timing: TaskTiming::Once { at: at(200) },
            delete_after_run: false,
            keep_history: false,
            outbound_channel: None,
            outbound_target: None,
        },
        enabled: true,
        due: Some(at(200)),
        at: at(100),
    };
    store.create_task(new).await.unwrap()
}

async fn add_event(store: &impl RoomStore, room: &ThreadId, id: &str) {
    let event = NewRoomEvent {
        room: room.clone(),
        id: id.to_owned(),
        author: None,
        text: "Hello".to_owned(),
        at: at(100),
    };
    assert!(store.add_room_event(event).await.unwrap());
}

async fn add_message(store: &impl RoomStore, room: &ThreadId, key: &str, millis: i64) {
    let message = NewRoomMessage {
        room: room.clone(),
        key: key.to_owned(),
        author: None,
        text: "Hello".to_owned(),
        at: at(millis),
    };
    store.add_room_message(message).await.unwrap();
}

/// Returns changes of every kind of record in a workspace. Only the update of the task requires the version of the row that was read before.
fn changes(
    memory: &MemoryRow,
    document: &DocumentRow,
    plan: &PlanRow,
    task: &TaskRow,
) -> Vec<RecordChange> {
    let (workspace, id) = (memory.scope.workspace().clone(), memory.id.clone());
    let correction = MemoryCorrection {
        content: Some("Ann drinks coffee.".to_owned()),
        at: at(300),
        ..MemoryCorrection::default()
    };
    let update = TaskUpdate {
        definition: task.definition.clone(),
        enabled: false,
        due: None,
        error: None,
        at: at(300),
    };
    vec![
        RecordChange::CorrectMemory {
            workspace: workspace.clone(),
            id: id.clone(),
            correction: Box::new(correction),
            expected: Expected::Any,
        },
        RecordChange::RemoveMemory {
            workspace,
            id,
            expected: Expected::Any,
        },
        RecordChange::RemoveDocument {
            name: document.name.clone(),
            expected: Expected::Any,
        },
        RecordChange::EndPlan {
            id: plan.id.clone(),
            at: at(300),
        },
        RecordChange::UpdateTask {
            id: task.id.clone(),
            update: Box::new(update),
            expected: task.version,
        },
        RecordChange::RemoveTask {
            id: task.id.clone(),
            expected: None,
            at: at(300),
        },
        RecordChange::RemoveRoom {
            room: plan.id.thread().clone(),
        },
    ]
}

tests! {
    ($) __suite_record_change in record_change for RecordStore;

    // Each change is stored with one audit row. If the changes are repeated after the removals, each is refused and writes no audit row.
    #[test]
    async fn records_are_changed_with_their_audit_row(store: impl Store + RecordStore) {
        let (store, main) = (&store, thread("main"));
        let memory = remember(store, &acme(), "Ann drinks tea.").await;
        let document = write(store, &acme()).await;
        let run = plan(store, &main, "ann").await;
        let task = task(store, &acme()).await;
        add_event(store, &main, "m-1").await;
        let all = changes(&memory, &document, &run, &task);
        for (number, change) in all.iter().enumerate() {
            match make(store, change.clone()).await {
                Changed::Memory(row) => {
                    assert_eq!((&*row.content, row.source), ("Ann drinks coffee.", MemorySource::User));
                    assert_eq!((row.principal.as_deref(), row.conversation.as_deref()), (Some("ann"), Some("main")));
                    assert_eq!(store.memory(&acme(), &row.id).await.unwrap().as_ref(), Some(&*row));
                }
                Changed::Plan(row) => {
                    assert_eq!(row.status, PlanStatus::Aborted);
                    assert_eq!(store.plan(&row.id).await.unwrap().as_ref(), Some(&*row));
                }
                Changed::Task(row) => {
                    assert!(!row.enabled);
                    assert_eq!(store.task(&row.id).await.unwrap().as_ref(), Some(&*row));
                }
                other => assert_eq!(other, Changed::Row { changed: true }),
            }
            assert_eq!(rows_of_audit(store).await, number + 1);
        }
        for change in &all {
            match store.apply(of(&acme(), change.clone())).await {
                Err(StoreError::Conflict(text)) => assert!(text.contains("aborted"), "{text}"),
                refused => missing(refused),
            }
        }
        assert_eq!(rows_of_audit(store).await, all.len());
        assert_eq!(store.memory(&acme(), &memory.id).await.unwrap(), None);
        assert_eq!(store.document(&document.name).await.unwrap(), None);
        assert_eq!(store.room_events(&main, &RoomEventFilter::default()).await.unwrap(), []);
    }

    // A change that expects the row as the operator has read it is refused if the row has changed since. A refused change writes nothing.
    #[test]
    async fn stale_changes_of_records_are_refused(store: impl Store + RecordStore) {
        let store = &store;
        let memory = remember(store, &acme(), "Ann drinks tea.").await;
        let document = write(store, &acme()).await;
        let task = task(store, &acme()).await;
        remember(store, &acme(), "Bob drinks milk.").await;
        let correct = |content: &str, expected| RecordChange::CorrectMemory {
            workspace: acme(),
            id: memory.id.clone(),
            correction: Box::new(MemoryCorrection { content: Some(content.to_owned()), at: at(300), ..MemoryCorrection::default() }),
            expected,
        };
        let read = || Expected::Same(Some(Box::new(memory.clone())));
        conflict(store.apply(of(&acme(), correct(" ", read()))).await, "blank");
        conflict(store.apply(of(&acme(), correct("Bob drinks milk.", read()))).await, "has a memory with this content");
        make(store, correct("Ann drinks coffee.", read())).await;
        store.request_task_run(&task.id, at(200)).await.unwrap();
        write(store, &acme()).await;
        let again = DocumentRow { size: 1, ..document.clone() };
        for change in [
            correct("Ann drinks water.", read()),
            RecordChange::RemoveMemory { workspace: acme(), id: memory.id.clone(), expected: read() },
            RecordChange::RemoveDocument { name: document.name.clone(), expected: Expected::Same(Some(Box::new(again))) },
            RecordChange::RemoveTask { id: task.id.clone(), expected: Some(task.version), at: at(300) },
        ] {
            let answer = store.apply(of(&acme(), change)).await;
            assert!(matches!(answer, Err(StoreError::Stale(_))), "{answer:?}");
        }
        assert_eq!(rows_of_audit(store).await, 1);
        let row = store.memory(&acme(), &memory.id).await.unwrap().unwrap();
        assert_eq!(&*row.content, "Ann drinks coffee.");
        assert!(store.task(&task.id).await.unwrap().is_some());
    }

    // An operator cannot change a record of a different workspace, even if the request names the operator's own workspace.
    #[test]
    async fn changes_of_records_stay_in_their_workspace(store: impl Store + RecordStore) {
        let (store, main) = (&store, thread("main"));
        let foreign = ThreadId::new(umbrella(), "main").unwrap();
        let memory = remember(store, &umbrella(), "Ann drinks tea.").await;
        let document = write(store, &umbrella()).await;
        let run = plan(store, &foreign, "ann").await;
        let task = task(store, &umbrella()).await;
        add_event(store, &foreign, "m-1").await;
        for change in changes(&memory, &document, &run, &task) {
            missing(store.apply(of(&acme(), change)).await);
        }
        for change in [
            RecordChange::RemoveMemory { workspace: acme(), id: memory.id.clone(), expected: Expected::Any },
            RecordChange::RemoveRoom { room: main },
        ] {
            missing(store.apply(of(&acme(), change)).await);
        }
        let erase = RecordChange::EraseMemories { workspace: acme(), principal: "ann".to_owned() };
        assert_eq!(make(store, erase).await, Changed::Erased(Erased::default()));
        assert_eq!(rows_of_audit(store).await, 1);
        assert_eq!(store.memory(&umbrella(), &memory.id).await.unwrap(), Some(memory));
        assert_eq!(store.plan(&run.id).await.unwrap(), Some(run));
        assert_eq!(store.task(&task.id).await.unwrap(), Some(task));
        assert!(store.document(&document.name).await.unwrap().is_some());
        let erase = RecordChange::EraseMemories { workspace: umbrella(), principal: "ann".to_owned() };
        let erased = store.apply(of(&umbrella(), erase)).await.unwrap();
        assert_eq!(erased, Applied::Changed(Changed::Erased(Erased { memories: 1, ..Erased::default() })));
    }

    // Runs of plans are found by conversation, principal and status, and memories by a part of their content. Rooms are listed with the numbers of
    // their events and messages. Each list has pages, and contains only rows of one workspace.
    #[test]
    async fn records_are_listed_for_operators(store: impl Store + RecordStore) {
        let store = &store;
        let ids = async |filter: PlanFilter| {
            let rows = store.find_plans(&acme(), &filter).await.unwrap();
            let ids = rows.iter().map(|row| (row.id.thread().conversation().to_owned(), row.id.number()));
            ids.collect::<Vec<_>>()
        };
        let (a, b) = (("a".to_owned(), 1), ("b".to_owned(), 1));
        let first = plan(store, &thread("b"), "ann").await;
        make(store, RecordChange::EndPlan { id: first.id, at: at(200) }).await;
        plan(store, &thread("b"), "bob").await;
        plan(store, &thread("a"), "ann").await;
        plan(store, &ThreadId::new(umbrella(), "a").unwrap(), "ann").await;
        let all = PlanFilter::default();
        let second = ("b".to_owned(), 2);
        assert_eq!(ids(all.clone()).await, [a.clone(), b.clone(), second.clone()]);
        assert_eq!(ids(PlanFilter { principal: Some("ann".into()), ..all.clone() }).await, [a.clone(), b.clone()]);
        assert_eq!(ids(PlanFilter { conversation: Some("b".into()), ..all.clone() }).await, [b.clone(), second.clone()]);
        assert_eq!(ids(PlanFilter { status: Some(PlanStatus::Aborted), ..all.clone() }).await, std::slice::from_ref(&b));
        assert_eq!(ids(PlanFilter { after: Some(a), limit: Some(1), ..all.clone() }).await, std::slice::from_ref(&b));
        assert_eq!(ids(PlanFilter { after: Some(b), ..all }).await, [second]);

        for content in ["50 % \u{fc}ber\0 all", "50 over all"] {
            remember(store, &acme(), content).await;
        }
        remember(store, &umbrella(), "50 % \u{fc}ber all").await;
        let found = async |text: &str| {
            let filter = MemoryFilter { text: Some(text.to_owned()), ..MemoryFilter::default() };
            let rows = store.list_memories(Scope::Workspace(&acme()), &filter).await.unwrap();
            rows.len()
        };
        for (text, number) in [("50", 2), ("% \u{fc}ber\0", 1), ("%", 1), ("5_ over", 0), ("", 2)] {
            assert_eq!(found(text).await, number, "{text}");
        }

        let rooms = async |after: Option<&str>, limit| {
            let rooms = store.rooms(&acme(), after, limit).await.unwrap();
            rooms.iter().map(|room| room.room.conversation().to_owned()).collect::<Vec<_>>()
        };
        for id in ["m-1", "m-2"] {
            add_event(store, &thread("b"), id).await;
        }
        store.take_room_events(&thread("b"), 1, at(400)).await.unwrap();
        for (room, key) in [("a", "k-1"), ("b", "k-1"), ("c", "k-1"), ("c", "k-2")] {
            add_message(store, &thread(room), key, 200).await;
        }
        add_message(store, &ThreadId::new(umbrella(), "d").unwrap(), "k-1", 200).await;
        assert_eq!(rooms(None, 9).await, ["a", "b", "c"]);
        assert_eq!((rooms(None, 1).await, rooms(Some("a"), 1).await, rooms(Some("c"), 9).await), (vec!["a".to_owned()], vec!["b".to_owned()], vec![]));
        let [_, b, c] = store.rooms(&acme(), None, 9).await.unwrap().try_into().unwrap();
        assert_eq!((b.pending, b.processing, b.completed, b.messages, b.updated), (1, 1, 0, 1, at(400)));
        assert_eq!((c.pending, c.messages, c.updated), (0, 2, at(200)));
        let page = store.room_message_page(&thread("c"), 1, 1).await.unwrap();
        assert_eq!(page.iter().map(|message| message.seq).collect::<Vec<_>>(), [2]);
        assert!(store.remove_room(&thread("c")).await.unwrap());
        assert!(!store.remove_room(&thread("c")).await.unwrap());
        assert_eq!(rooms(None, 9).await, ["a", "b"]);
    }
}
