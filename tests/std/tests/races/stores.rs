//! Races of the tools that write to stores: each pair of them at the same time in one conversation, on a SQLite file that two handles have opened.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tool_core::prelude::*;
use tool_core::store::{
    KnowledgeStore as _, LongTermStore as _, MemoryFilter, ScheduleStore as _, Scope, TaskFilter,
    ThreadId, Workspace,
};
use tool_std::attachments::{Uploads, upload_attachment};
use tool_std::knowledge::{Knowledge, write_knowledge};
use tool_std::memory::{Memory, remember};
use tool_std::schedule::{Schedules, schedule_task};
use tool_store::SqliteStore;

use crate::rounds;

/// A tool that writes to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Remember,
    Schedule,
    Upload,
    WriteKnowledge,
}

const WRITERS: [Writer; 4] = [
    Writer::Remember,
    Writer::Schedule,
    Writer::Upload,
    Writer::WriteKnowledge,
];

/// One call of a race.
#[derive(Clone, Copy, Debug)]
struct Turn {
    writer: Writer,
    seat: usize,
    round: usize,
}

impl Turn {
    /// Returns the text that only this call writes.
    fn own(&self) -> String {
        format!("by seat {} in round {}", self.seat, self.round)
    }

    /// Returns the name that both calls of a race use.
    fn shared(&self) -> String {
        format!("round {}", self.round)
    }

    fn call(&self) -> ToolCall {
        let (own, shared) = (self.own(), self.shared());
        let (tool, arguments) = match self.writer {
            // Both calls of a pair remember the same content.
            Writer::Remember => (
                "remember",
                json!({"content": format!("Ada was here in {shared}.")}),
            ),
            Writer::Schedule => (
                "schedule_task",
                json!({"action": "create", "name": own, "prompt": shared, "schedule_type": "one-shot", "run_at": "+1h"}),
            ),
            Writer::Upload => (
                "upload_attachment",
                json!({"data": "aGVsbG8=", "file": format!("{shared}.txt")}),
            ),
            Writer::WriteKnowledge => (
                "write_knowledge",
                json!({"file": format!("{shared}.md"), "content": own, "action": "append"}),
            ),
        };
        ToolCall::new(format!("call-{}", self.seat), tool, arguments.to_string())
    }
}

struct Scene {
    _folder: TempDir,
    store: SqliteStore,
    uploads: Uploads,
    /// The contexts of the two racing callers. Each has a separate handle, like a separate process.
    contexts: [ToolContext; 2],
}

impl Scene {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.db");
        let uploads = Uploads::folder(folder.path().join("files")).unwrap();
        let handles = [
            SqliteStore::open(&file).await.unwrap(),
            SqliteStore::open(&file).await.unwrap(),
        ];
        let cx = |store: &SqliteStore| {
            ToolContext::builder()
                .workspace("acme")
                .user("ann")
                .agent("sales")
                .conversation("main")
                .with(Memory::new(store.clone()))
                .with(Knowledge::new(store.clone()))
                .with(Schedules::new(store.clone()).most_tasks(1_000_000))
                .with(uploads.clone())
                .build()
        };
        Self {
            contexts: [cx(&handles[0]), cx(&handles[1])],
            store: handles[0].clone(),
            uploads: uploads.clone(),
            _folder: folder,
        }
    }

    async fn race(self: &Arc<Self>, pair: [Writer; 2], round: usize) {
        let turns = [0, 1].map(|seat| Turn {
            writer: pair[seat],
            seat,
            round,
        });
        let calls = turns.map(|turn| {
            let scene = Arc::clone(self);
            tokio::spawn(async move {
                let tools = toolset![remember, schedule_task, upload_attachment, write_knowledge];
                let result = tools.call(turn.call(), &scene.contexts[turn.seat]).await;
                assert!(!result.is_error(), "{turn:?}: {}", result.model_text());
                serde_json::from_str(result.output().unwrap().get()).unwrap()
            })
        });
        let [one, other] = calls;
        let results: [Value; 2] = [one.await.unwrap(), other.await.unwrap()];
        for (turn, result) in turns.iter().zip(&results) {
            self.check(turn, result).await;
        }
        if pair[0] == pair[1] {
            self.check_both(&turns, &results).await;
        }
    }

    /// Checks that the effect of a call is stored.
    async fn check(&self, turn: &Turn, result: &Value) {
        let workspace = Workspace::new("acme");
        match turn.writer {
            Writer::Remember => {
                let id = result["id"].as_str().unwrap();
                let row = self.store.memory(&workspace, id).await.unwrap().unwrap();
                assert!(row.content.contains(&turn.shared()), "{turn:?}");
            }
            Writer::Schedule => {
                let all = TaskFilter::default();
                let rows = self.store.list_tasks(Scope::All, &all).await.unwrap();
                let own = rows.iter().filter(|row| row.definition.name == turn.own());
                assert_eq!(own.count(), 1, "{turn:?}");
            }
            Writer::Upload => {
                let thread = ThreadId::new("acme", "main").unwrap();
                let key = result["key"].as_str().unwrap();
                let bytes = self.uploads.read(&thread, key).await.unwrap();
                assert_eq!(bytes, b"hello", "{turn:?}");
            }
            Writer::WriteKnowledge => {
                let text = self.document(turn).await;
                assert_eq!(text.matches(&turn.own()).count(), 1, "{turn:?}: {text}");
            }
        }
    }

    /// Checks the effects of two calls of the same tool.
    async fn check_both(&self, turns: &[Turn; 2], results: &[Value; 2]) {
        let of_both = |key: &str| [&results[0][key], &results[1][key]];
        match turns[0].writer {
            Writer::Remember => {
                let [one, other] = of_both("id");
                assert_eq!(one, other, "{turns:?}");
                let added = of_both("event").into_iter().filter(|event| *event == "add");
                assert_eq!(added.count(), 1, "{turns:?}");
                let all = MemoryFilter::default();
                let rows = self.store.list_memories(Scope::All, &all).await.unwrap();
                let text = format!("Ada was here in {}.", turns[0].shared());
                let own = rows.iter().filter(|row| row.content == text);
                assert_eq!(own.count(), 1, "{turns:?}");
            }
            Writer::Schedule => {
                let [one, other] = [0, 1].map(|at| &results[at]["tasks"][0]["task_id"]);
                assert_ne!(one, other, "{turns:?}");
            }
            Writer::Upload => {
                let [one, other] = of_both("key");
                assert_ne!(one, other, "{turns:?}");
            }
            Writer::WriteKnowledge => {
                let [one, other] = of_both("document_id");
                assert_eq!(one, other, "{turns:?}");
                let created = of_both("created").into_iter().filter(|of| **of == true);
                assert_eq!(created.count(), 1, "{turns:?}");
            }
        }
    }

    async fn document(&self, turn: &Turn) -> String {
        let name = format!("{}.md", turn.shared());
        let name = tool_core::store::DocumentName::new(&Workspace::new("acme"), name).unwrap();
        let read = self.store.document(&name).await.unwrap().unwrap();
        String::from_utf8(read.content).unwrap()
    }
}

// S2-31: two tools that write to stores at the same time lose no effect, and the same content is remembered once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_with_stores_run_concurrently_in_pairs() {
    let scene = Arc::new(Scene::new().await);
    for (at, one) in WRITERS.into_iter().enumerate() {
        for (place, other) in WRITERS.into_iter().enumerate().skip(at) {
            for round in 0..rounds() {
                let round = (at * 10 + place) * 10_000 + round;
                scene.race([one, other], round).await;
            }
            println!("{one:?} and {other:?}: {} rounds", rounds());
        }
    }
}
