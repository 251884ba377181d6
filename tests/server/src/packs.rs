//! Records of the packs of tools: memories, documents, plans, scheduled tasks and rooms.

use std::time::Duration;

use serde_json::json;
use tool_core::store::{
    DocumentName, DocumentWrite, DocumentWriteMode, Durability, Importance, KnowledgeStore,
    LongTermStore, MemoryScope, MemorySource, MemoryType, NewMemory, NewPlanRun, NewRoomEvent,
    NewRoomMessage, NewTask, PlanCreated, PlanRow, PlanRules, PlanSpec, PlanStore, RoomStore,
    ScheduleStore, TaskDefinition, TaskId, TaskTiming, ThreadId, Timestamp, Workspace,
};

/// Stores a memory of the user `principal`, and returns its id. It belongs to an agent, or to all agents of the workspace.
pub async fn remember(
    store: &(impl LongTermStore + ?Sized),
    workspace: &str,
    (agent, principal): (Option<&str>, &str),
    content: &str,
) -> String {
    let workspace = Workspace::new(workspace);
    let scope = match agent {
        Some(agent) => MemoryScope::agent(&workspace, agent).unwrap(),
        None => MemoryScope::shared(&workspace),
    };
    let new = NewMemory {
        scope,
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Standard,
        importance: Importance::new(0.5).unwrap(),
        source: MemorySource::Tool,
        principal: Some(principal.to_owned()),
        conversation: Some(format!("chat-of-{workspace}")),
        vector: None,
        at: Timestamp::now(),
    };
    store.remember(new).await.unwrap().memory.id
}

/// Writes a document that is not indexed yet.
pub async fn write_document(
    store: &(impl KnowledgeStore + ?Sized),
    workspace: &str,
    file: &str,
    content: &[u8],
) {
    let write = DocumentWrite {
        name: DocumentName::new(&workspace.into(), file).unwrap(),
        mode: DocumentWriteMode::Replace,
        content: content.to_vec(),
        mime: None,
        source: format!("upload-of-{workspace}"),
        principal: Some(format!("ann-of-{workspace}")),
        at: Timestamp::now(),
    };
    store.write_document(write).await.unwrap();
}

/// Creates the active run of a plan with two nodes, `draft` and `check`.
pub async fn create_plan(
    store: &(impl PlanStore + ?Sized),
    thread: &ThreadId,
    principal: &str,
) -> PlanRow {
    let node = |id: &str| {
        json!({
            "id": id, "label": id, "owner": { "executor": "agent" }, "objective": format!("{id} of {principal}"),
            "success_criteria": ["it is complete"],
        })
    };
    let draft = json!({
        "title": format!("Report of {principal}"), "objective": "Write the report", "nodes": [node("draft"), node("check")],
        "edges": [{ "from": "draft", "to": "check" }], "entry_nodes": ["draft"],
    });
    let draft = serde_json::from_value(draft).unwrap();
    let spec = PlanSpec::compile(draft, &PlanRules::default(), |_| Ok(())).unwrap();
    let new = NewPlanRun {
        thread: thread.clone(),
        principal: Some(principal.to_owned()),
        spec,
        at: Timestamp::now(),
    };
    match store.create_plan(new).await.unwrap() {
        PlanCreated::Created(row) | PlanCreated::Active(row) => *row,
    }
}

/// Creates a task of the user `principal`, which is due in an hour.
pub async fn create_task(
    store: &(impl ScheduleStore + ?Sized),
    workspace: &str,
    id: &str,
    principal: &str,
) -> TaskId {
    let now = Timestamp::now();
    let id = TaskId::new(&workspace.into(), id).unwrap();
    let new = NewTask {
        id: id.clone(),
        principal: Some(principal.to_owned()),
        definition: TaskDefinition {
            name: "News".to_owned(),
            prompt: format!("Summarize the news for {principal}."),
            timing: TaskTiming::Cron {
                expression: "0 9 * * *".to_owned(),
                timezone: "Europe/Berlin".to_owned(),
            },
            delete_after_run: false,
            keep_history: false,
            outbound_channel: None,
            outbound_target: None,
        },
        enabled: true,
        due: Some(now.plus(Duration::from_hours(1))),
        at: now,
    };
    store.create_task(new).await.unwrap();
    id
}

/// Adds an event and a message of the same person to a room.
pub async fn write_to_room(store: &(impl RoomStore + ?Sized), room: &ThreadId, id: &str) {
    let author = Some(format!("ann-of-{}", room.workspace()));
    let text = format!("{id} in {room}");
    let at = Timestamp::now();
    let event = NewRoomEvent {
        room: room.clone(),
        id: id.to_owned(),
        author: author.clone(),
        text: text.clone(),
        at,
    };
    assert!(store.add_room_event(event).await.unwrap());
    let message = NewRoomMessage {
        room: room.clone(),
        key: id.to_owned(),
        author,
        text,
        at,
    };
    store.add_room_message(message).await.unwrap();
}
