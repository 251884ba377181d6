//! A server, a process of the deployment, and a database, in one folder.

use std::process::Child;
use std::time::Duration;

use tempfile::TempDir;
use test_support::Missing;
use tool_core::store::{
    ApprovalFilter, ApprovalStatus, EffectFilter, EffectLedger as _, EffectState, Resolution, Role,
    Scope, ThreadId, ThreadStore as _, WorkRow, WorkState, WorkStore as _, Workspace,
};
use tool_core::turn::{ModelMessage, ToolMessage};
use tool_core::{Gate, Reply, ToolContext};
use tool_restate::ThreadClient;
use tool_store::SqliteStore;

use crate::host::{Job, gate, lines, open, queue, tools};
use crate::server::{Http, Server, free_port};

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) client: ThreadClient<Http>,
    pub(crate) store: SqliteStore,
    pub(crate) job: Job,
    gate: Gate,
    host: Option<Child>,
    folder: TempDir,
}

impl World {
    /// Starts the server, the process and the database, and registers the deployment.
    pub(crate) async fn start(longest_step: Duration) -> Result<Self, Missing> {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path())?;
        let store = open(folder.path()).await;
        let job = Job {
            name: "one".to_owned(),
            folder: folder.path().to_owned(),
            port: free_port(),
            longest_step,
        };
        let world = Self {
            host: Some(job.start()),
            client: ThreadClient::new(&queue(&store), server.client()),
            gate: gate(&store),
            server,
            store,
            job,
            folder,
        };
        world.server.register(world.job.port).await;
        Ok(world)
    }

    /// Replaces the process of the deployment with a process at a different port.
    pub(crate) async fn redeploy(&mut self, name: &str) {
        name.clone_into(&mut self.job.name);
        self.job.port = free_port();
        let next = self.job.start();
        self.server.register(self.job.port).await;
        self.kill_host();
        self.host = Some(next);
    }

    pub(crate) fn kill_host(&mut self) {
        if let Some(mut host) = self.host.take() {
            host.kill().unwrap();
            host.wait().unwrap();
        }
    }

    pub(crate) fn restart_host(&mut self) {
        self.host = Some(self.job.start());
    }

    pub(crate) async fn submit(&self, conversation: &str, wish: &str) {
        self.client
            .submit("chief", wish, &cx(conversation))
            .await
            .unwrap();
    }

    pub(crate) async fn row(&self, conversation: &str) -> WorkRow {
        self.store
            .work(&thread(conversation))
            .await
            .unwrap()
            .unwrap()
    }

    /// Waits until the row of a conversation has a state.
    pub(crate) async fn until(&self, conversation: &str, state: WorkState) -> WorkRow {
        for _ in 0..1200 {
            let row = self.row(conversation).await;
            if row.state == state {
                return row;
            }
            assert_ne!(row.state, WorkState::Ended, "{row:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let row = self.row(conversation).await;
        let logs = ["server.log", "host.log"].map(|file| lines(self.folder.path(), file));
        panic!(
            "the row did not change: {row:?}\n{}",
            logs.map(|log| log.join("\n")).join("\n---\n")
        )
    }

    /// Returns the last text of the model in a conversation, and the texts of the results.
    pub(crate) async fn said(&self, conversation: &str) -> (Option<String>, Vec<String>) {
        let messages = self.store.read(&thread(conversation), None).await.unwrap();
        let (mut last, mut results) = (None, Vec::new());
        for message in messages {
            match message.role {
                Role::Assistant => {
                    let said: ModelMessage = serde_json::from_str(&message.content).unwrap();
                    last = Some(said.text);
                }
                Role::Tool => {
                    let result: ToolMessage = serde_json::from_str(&message.content).unwrap();
                    results.push(result.text);
                }
                _ => {}
            }
        }
        (last, results)
    }

    /// Returns the ids of the open approvals of a conversation.
    pub(crate) async fn open(&self, conversation: &str) -> Vec<String> {
        let filter = ApprovalFilter {
            thread: Some(conversation.to_owned()),
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let approvals = self.gate.approvals().unwrap();
        let workspace = Workspace::new("acme");
        let open = approvals.list(Scope::Workspace(&workspace), &filter).await;
        open.unwrap()
            .into_iter()
            .map(|row| row.request.id)
            .collect()
    }

    /// Approves the open call of a conversation, and continues the conversation.
    pub(crate) async fn approve(&self, conversation: &str) {
        let (approvals, workspace) = (self.gate.approvals().unwrap(), Workspace::new("acme"));
        let tools = tools();
        for id in self.open(conversation).await {
            let answered =
                approvals.answer_id(&workspace, &tools, &id, Reply::Approve, "boss", None);
            answered.await.unwrap();
        }
        self.client.answered(&thread(conversation)).await.unwrap();
    }

    /// Settles the ambiguous effects of a conversation from the recorded effects, as an operator does. Returns their number.
    pub(crate) async fn settle(&self, conversation: &str) -> usize {
        let filter = EffectFilter {
            thread: Some(conversation.to_owned()),
            state: Some(EffectState::Ambiguous),
            ..EffectFilter::default()
        };
        let workspace = Workspace::new("acme");
        let rows = self
            .store
            .page(Scope::Workspace(&workspace), &filter)
            .await
            .unwrap();
        for row in &rows {
            let key = row.intent.identity.key();
            let happened = self
                .lines("effects")
                .iter()
                .any(|line| *line == key.as_str());
            let resolution = if happened {
                Resolution::Succeeded("\"sent\"".to_owned())
            } else {
                Resolution::Rerun
            };
            self.gate.resolve(&key, resolution, "olga").await.unwrap();
        }
        rows.len()
    }

    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        lines(self.folder.path(), file)
    }

    /// Waits until a file has a number of lines.
    pub(crate) async fn until_lines(&self, file: &str, number: usize) {
        for _ in 0..1200 {
            if self.lines(file).len() >= number {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{file} has {} lines", self.lines(file).len())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill_host();
    }
}

pub(crate) fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

pub(crate) fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation(conversation)
        .build()
}
