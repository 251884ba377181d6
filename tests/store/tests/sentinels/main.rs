//! Tests that secrets, scoped variables and files of other threads do not appear in the requests, messages, logs, events, rows and database files of
//! agents.
//!
//! This is a separate program, because it sets the log subscriber of the process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod agents;
mod captured;
mod spelling;

use std::sync::Arc;

use futures::StreamExt as _;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use tool_agent::files::ThreadFiles;
use tool_agent::runtime::AgentRuntime;
use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault};
use tool_core::store::{
    AuditFilter, AuditSink as _, ChildFilter, ChildStore as _, Scope, ThreadId, ThreadStore,
    VariableScope, VariableType,
};
use tool_core::turn::Turns;
use tool_core::{Audit, Gate, SecretString, ToolContext};
use tool_store::SqliteStore;

use agents::Root;
use captured::{Captured, Entry, Logs};
use spelling::{Sentinel, random};

/// The conversations: two tenants with two conversations each.
const CONVERSATIONS: [(&str, &str); 4] = [
    ("acme", "north"),
    ("acme", "south"),
    ("globex", "north"),
    ("globex", "south"),
];

/// The sentinels of one conversation.
struct Tenant {
    thread: ThreadId,
    /// A secret of the context, which a tool of a sub-agent returns in many spellings.
    token: Sentinel,
    /// A stored secret that an instance gets.
    key: Sentinel,
    /// A stored text that an instance gets and no model reads.
    scoped: Sentinel,
    /// A secret that the user supplies for a sub-agent.
    answer: Sentinel,
    /// A text that only the entries of this conversation may contain.
    said: Sentinel,
    /// The content of a file that no tool reads.
    file: Sentinel,
    /// The content of a file that is passed to a sub-agent. The sub-agent reads it.
    passed: Sentinel,
}

impl Tenant {
    fn new(workspace: &str, conversation: &str) -> Self {
        let sentinel = |kind: &str| {
            // These characters are written differently in JSON, in URLs and in base64.
            Sentinel::new(kind, format!("{kind}-{}\"/\\+ é?{}", random(), random()))
        };
        Self {
            thread: ThreadId::new(workspace, conversation).unwrap(),
            token: sentinel("token"),
            key: sentinel("key"),
            scoped: sentinel("scoped"),
            answer: sentinel("answer"),
            said: sentinel("said"),
            file: sentinel("file"),
            passed: sentinel("passed"),
        }
    }

    fn context(&self) -> ToolContext {
        ToolContext::builder()
            .workspace(self.thread.workspace().as_str())
            .user("ann")
            .conversation(self.thread.conversation())
            .secret_variable("TOKEN", SecretString::from(self.token.text()))
            .with(Root(self.thread.clone()))
            .build()
    }

    /// Stores the variables and the files of the conversation, and returns the path of the file that is passed on.
    async fn prepare(&self, vault: &Vault, files: &Arc<dyn ObjectStore>) -> String {
        let scope = VariableScope::thread(&self.thread);
        let value =
            |name: &str, kind, text: &str| NewValue::declared(name, kind, SecretString::from(text));
        let values = vec![
            value("TITLE", VariableType::Text, "The shop"),
            value("KEY", VariableType::Secret, self.key.text()),
            value("CITY", VariableType::Text, self.scoped.text()),
        ];
        vault.set_variables(&scope, values, "ann").await.unwrap();
        let files = ThreadFiles::new(files.clone(), self.thread.clone());
        let content = |sentinel: &Sentinel| sentinel.text().as_bytes().to_vec();
        files
            .write("private.txt", content(&self.file))
            .await
            .unwrap();
        files
            .write("passed.txt", content(&self.passed))
            .await
            .unwrap()
    }

    /// Sends a message, captures the events of the run, and waits until the runtime is idle.
    async fn say(&self, runtime: &AgentRuntime, captured: &Captured, message: String) {
        let mut events = runtime.stream("chief", message, &self.context());
        while let Some(event) = events.next().await {
            captured.add(Entry::event(Some(&self.thread), &event));
        }
        events.outcome().unwrap().unwrap();
        runtime.idle().await;
    }

    /// Sends the two messages of the user, and answers the requests for variables in between.
    async fn talk(&self, runtime: &AgentRuntime, vault: &Vault, captured: &Captured, path: &str) {
        let message = format!("{} Please read {path}.", self.said.text());
        self.say(runtime, captured, message).await;
        // A sub-agent waits for a variable.
        let cx = self.context();
        for row in runtime.children(&cx).await.unwrap() {
            if let Some(request) = &row.request {
                let values = [("LICENCE".to_owned(), SecretString::from(self.answer.text()))];
                let answered = vault.answer_variables(&self.thread, request, values, "ann");
                assert!(answered.await.unwrap().is_empty());
            }
        }
        runtime.start_deferred("chief", &cx).await.unwrap();
        runtime.idle().await;
        self.say(runtime, captured, "And now?".to_owned()).await;
    }

    /// Returns the sentinels that no entry may contain in any spelling.
    fn hidden(&self) -> [&Sentinel; 5] {
        [
            &self.token,
            &self.key,
            &self.scoped,
            &self.answer,
            &self.file,
        ]
    }
}

/// Returns the threads of all conversations, each with its conversation with the user.
async fn threads(store: &SqliteStore) -> Vec<(ThreadId, ThreadId, String)> {
    let mut all = Vec::new();
    for (workspace, conversation) in CONVERSATIONS {
        let root = ThreadId::new(workspace, conversation).unwrap();
        let mut open = vec![(root.clone(), String::new())];
        while let Some((thread, row)) = open.pop() {
            let filter = ChildFilter {
                parent: Some(thread.clone()),
                ..ChildFilter::default()
            };
            let scope = Scope::Workspace(thread.workspace());
            for row in store.children(scope, &filter).await.unwrap() {
                open.push((row.thread.clone(), format!("child {row:?}")));
            }
            all.push((thread, root.clone(), row));
        }
    }
    all
}

/// Adds the rows of children, the messages and the audit rows of a store to the entries.
async fn read(store: &SqliteStore, captured: &Captured) {
    let threads = threads(store).await;
    for (thread, root, row) in &threads {
        let entry = |text: String| Entry {
            text,
            root: Some(root.clone()),
            thread: Some(thread.clone()),
        };
        captured.add(entry(row.clone()));
        for message in ThreadStore::read(store, thread, None).await.unwrap() {
            captured.add(entry(format!("message {}", message.content)));
        }
    }
    for row in store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap()
    {
        let is_of = |thread: &ThreadId| {
            thread.workspace().as_str() == row.identity.workspace().as_str()
                && row.thread.as_deref() == Some(thread.conversation())
        };
        let root = threads.iter().find(|(thread, ..)| is_of(thread));
        captured.add(Entry {
            text: format!("audit {row:?}"),
            root: root.map(|(_, root, _)| root.clone()),
            thread: None,
        });
    }
}

/// Asserts that no entry of a thread, except of a prompt, contains the path of a file of a different thread.
async fn no_foreign_paths(store: &SqliteStore, files: &Arc<dyn ObjectStore>, all: &[Entry]) {
    let mut compared = 0;
    for (thread, ..) in threads(store).await {
        let own = ThreadFiles::new(files.clone(), thread.clone());
        for path in own.list().await.unwrap() {
            for entry in all.iter().filter(|entry| entry.thread.is_some()) {
                // A prompt uses the files of its calling thread.
                let of = entry.thread.as_ref().unwrap();
                if *of != thread && !of.conversation().starts_with("prompt_") {
                    assert!(
                        !entry.text.contains(&path),
                        "{path} of {thread}: {}",
                        entry.text
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

// S4-13, S4-39, S4-60: with two concurrent conversations of each of two tenants, no request, message, event, log or row contains a secret, a scoped
// variable or an unread file in any spelling, or a text of a different conversation. The database files contain no secret and no unread file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinels_reach_no_request_message_log_or_event() {
    let logs = Logs::install();
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    let vault = Vault::open(store.clone(), keys).await.unwrap();
    let files: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let captured = Captured::default();
    let gate = Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let observer = captured.clone();
    let runtime = agents::add(
        AgentRuntime::builder(Turns::new(store.clone()), &gate),
        &captured,
    )
    .children(store.clone())
    .vault(&vault)
    .files(files.clone())
    .observe(move |event| observer.add(Entry::event(None, event)))
    .build()
    .unwrap();

    let tenants =
        CONVERSATIONS.map(|(workspace, conversation)| Tenant::new(workspace, conversation));
    let talks = tenants.iter().map(async |tenant| {
        let path = tenant.prepare(&vault, &files).await;
        tenant.talk(&runtime, &vault, &captured, &path).await;
    });
    futures::future::join_all(talks).await;

    read(&store, &captured).await;
    let all = captured.all();
    agents::check(
        &all,
        &tenants.each_ref().map(|tenant| tenant.thread.clone()),
    );
    no_foreign_paths(&store, &files, &all).await;
    tracing::trace!("the subscriber reads every level");
    let logs = logs.lines();
    let is_trace = |line: &String| line.starts_with("TRACE") && line.contains("every level");
    assert!(
        logs.len() > 100 && logs.iter().any(is_trace),
        "{} lines",
        logs.len()
    );
    for tenant in &tenants {
        for text in all.iter().map(|entry| &entry.text).chain(&logs) {
            for sentinel in tenant.hidden() {
                sentinel.is_absent(text);
            }
        }
        for entry in &all {
            if entry
                .root
                .as_ref()
                .is_some_and(|root| *root != tenant.thread)
            {
                tenant.said.is_absent(&entry.text);
                tenant.passed.is_absent(&entry.text);
            }
        }
        for line in &logs {
            tenant.said.is_absent(line);
            tenant.passed.is_absent(line);
        }
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for secret in [&tenant.token, &tenant.key, &tenant.answer, &tenant.file] {
                secret.is_absent(&text);
            }
        }
    }
    // An event of the observer contains the texts of at most one conversation.
    for entry in all.iter().filter(|entry| entry.root.is_none()) {
        let of = tenants
            .iter()
            .filter(|tenant| entry.text.contains(tenant.said.random()));
        assert!(of.count() <= 1, "{}", entry.text);
    }
}
