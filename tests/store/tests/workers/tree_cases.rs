//! Processes that die at every point of a turn with a handoff, a prompt, sub-agents and an approval, on PostgreSQL and on SQLite.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use test_support::Ran;
use tool_core::store::{
    ChildFilter, ChildRow, EffectLedger, EffectState, Resolution, Role, Scope, ThreadId,
    ThreadStore, WorkCause, WorkRow, WorkState,
};
use tool_core::turn::{ModelMessage, ToolMessage};
use tool_core::{Reply, ToolContext};

use crate::cases::{Stage, on_postgres, on_sqlite};
use crate::process::{Worker, lines};
use crate::tree::{EFFECTS, Job, NOTED, conversation, effects, gate, points, queue, tools};
use crate::work::State;

/// The time limit of a turn on a busy machine, including the leases of dead processes.
const PATIENCE: Duration = Duration::from_mins(2);

/// The number of processes that run at the same time, in addition to the test itself.
const AT_ONCE: usize = 3;

fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

impl<S: State> Stage<S> {
    fn job(&self, versions: Vec<u32>, death: u32) -> Job {
        Job {
            versions,
            death,
            store: self.place.clone(),
            folder: self.folder.path().to_owned(),
        }
    }

    async fn begin(&self, version: u32) {
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation(conversation(version))
            .build();
        let queue = queue(&self.store, &[version]);
        queue.submit("desk", "Go.", &cx).await.unwrap();
    }

    async fn tree_row(&self, version: u32) -> WorkRow {
        let row = self.store.work(&thread(&conversation(version))).await;
        row.unwrap().unwrap()
    }

    /// Returns all threads below a thread, parents before children.
    async fn below(&self, root: &ThreadId) -> Vec<ChildRow> {
        let mut rows: Vec<ChildRow> = Vec::new();
        let mut open = vec![root.clone()];
        while let Some(parent) = open.pop() {
            let filter = ChildFilter {
                parent: Some(parent.clone()),
                ..ChildFilter::default()
            };
            let scope = Scope::Workspace(parent.workspace());
            let children = self.store.children(scope, &filter).await.unwrap();
            open.extend(children.iter().map(|row| row.thread.clone()));
            rows.extend(children);
        }
        rows
    }

    /// Acts as a person and as an operator: approves the open calls of a conversation, and settles effects whose processes died.
    async fn attend(&self, version: u32) {
        let root = thread(&conversation(version));
        let gate = gate(&self.store);
        let approvals = gate.approvals().unwrap();
        let all = tools().through(&gate);
        let rows = self.below(&root).await;
        for row in &rows {
            for open in approvals.waiting(&row.thread).await.unwrap() {
                let workspace = row.thread.workspace();
                let answer =
                    approvals.answer(workspace, &all, &open.token, Reply::Approve, "olga", None);
                answer.await.unwrap();
            }
        }
        let threads: Vec<&str> = [&root]
            .into_iter()
            .chain(rows.iter().map(|row| &row.thread))
            .map(ThreadId::conversation)
            .collect();
        let made = lines(&effects(self.folder.path(), root.conversation()));
        let ledger = EffectLedger::list(&self.store, Scope::All, None).await;
        for row in ledger.unwrap() {
            let is_unknown = matches!(row.state, EffectState::Running | EffectState::Ambiguous);
            let is_own = row.intent.thread.as_deref();
            let is_own = is_own.is_some_and(|thread| threads.contains(&thread));
            let output = match &*row.intent.tool {
                "post" => r#""sent""#,
                "publish" => r#""published""#,
                _ => continue,
            };
            if !is_unknown || !is_own {
                continue;
            }
            let key = row.intent.identity.key();
            let is_made = made.iter().any(|line| line.ends_with(key.as_str()));
            let resolution = if is_made {
                Resolution::Succeeded(output.to_owned())
            } else {
                Resolution::Rerun
            };
            // An effect whose lease has not expired cannot be settled yet.
            let _ = gate.resolve(&key, resolution, "olga").await;
        }
        queue(&self.store, &[version]).wake(&root).await.unwrap();
    }

    /// Waits until a turn has ended, or until its process has died. Returns whether the turn has ended.
    async fn finished(&self, version: u32, worker: &mut Worker) -> bool {
        let began = Instant::now();
        loop {
            let row = self.tree_row(version).await;
            match row.state {
                WorkState::Ended => return true,
                WorkState::Waiting => self.attend(version).await,
                _ if worker.has_ended() => return false,
                _ => {}
            }
            assert!(began.elapsed() < PATIENCE, "{row:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Runs a turn in a process that dies at a point. Returns whether the process died before the turn ended.
    async fn dies(&self, version: u32, death: u32) -> bool {
        let job = self.job(vec![version], death);
        let mut worker = Worker::start_with(job.variable());
        self.begin(version).await;
        !self.finished(version, &mut worker).await
    }

    /// Returns the messages and the child threads of a turn, without ids. The outcome of the sub-agent in the background and the answer to it are
    /// left out, because they are stored at different times.
    async fn transcript(&self, version: u32) -> String {
        let root = thread(&conversation(version));
        let mut rows = self.below(&root).await;
        rows.sort_by(|a, b| a.agent.cmp(&b.agent));
        let mut text = self.messages(&root).await;
        for row in rows {
            let _ = writeln!(
                text,
                "{} {} by {}, depth {}, {}, session {}, delivered {}",
                row.kind, row.agent, row.caller, row.depth, row.state, row.session, row.delivered
            );
            text.push_str(&self.messages(&row.thread).await);
        }
        text
    }

    async fn messages(&self, thread: &ThreadId) -> String {
        let mut text = String::new();
        for message in ThreadStore::read(&self.store, thread, None).await.unwrap() {
            let content = &message.content;
            let line = match message.role {
                Role::Assistant => {
                    let said: ModelMessage = serde_json::from_str(content).unwrap();
                    let calls = said.calls.iter().map(|call| &*call.name);
                    format!("{} {:?}", said.text, calls.collect::<Vec<_>>())
                }
                Role::Tool => {
                    let result: ToolMessage = serde_json::from_str(content).unwrap();
                    let text = result.text.lines().next().unwrap_or_default().to_owned();
                    format!("{}: {text} {:?}", result.name, result.error)
                }
                _ => content.clone(),
            };
            if !line.contains("subagent_result") && !line.starts_with(NOTED) {
                let _ = writeln!(text, "  {} {line}", message.role);
            }
        }
        text
    }

    /// Asserts that a turn has ended with this transcript, that each of its effects happened once, and that the outcome of the background sub-agent
    /// was delivered once.
    async fn check(&self, version: u32, death: u32, transcript: &str) {
        let row = self.tree_row(version).await;
        let passed = lines(&points(self.folder.path(), version)).pop();
        let at = format!("{death}, {passed:?}, {row:?}");
        assert_eq!(row.cause, Some(WorkCause::Done), "{at}");
        assert_eq!(self.transcript(version).await, transcript, "{at}");
        let root = thread(&conversation(version));
        let made = lines(&effects(self.folder.path(), root.conversation()));
        let mut names: Vec<&str> = made.iter().map(|line| &line[..1]).collect();
        names.sort_unstable();
        assert_eq!(names, EFFECTS, "{at}: {made:?}");
        let messages = ThreadStore::read(&self.store, &root, None).await.unwrap();
        let reports = messages
            .iter()
            .filter(|message| message.content.contains("subagent_result"));
        assert_eq!(reports.count(), 1, "{at}: {messages:?}");
    }
}

/// Kills a process at each point of a turn: at each request and reply of a model, at each event of the runtime except the starts of runs and steps,
/// and before and after each effect. Another process finishes the turns.
async fn killed_at_every_point(stage: &Stage<impl State>) {
    let mut whole = Worker::start_with(stage.job(vec![0], 0).variable());
    stage.begin(0).await;
    assert!(stage.finished(0, &mut whole).await);
    drop(whole);
    let passed = lines(&points(stage.folder.path(), 0));
    let transcript = stage.transcript(0).await;
    stage.check(0, 0, &transcript).await;
    for part in [
        "handoff",
        "waiting",
        "child_ended",
        "before an effect",
        "after an effect",
    ] {
        assert!(
            passed.iter().any(|point| point.ends_with(part)),
            "{passed:?}"
        );
    }

    let deaths = 1..=u32::try_from(passed.len()).unwrap();
    let dying = deaths.clone().map(|death| stage.dies(death, death));
    let died = futures::stream::iter(dying)
        .buffer_unordered(AT_ONCE)
        .filter(|died| std::future::ready(*died))
        .count()
        .await;
    // The order of the tasks differs between runs. The number of points therefore differs too, and a process may end its turn before its point.
    let most = passed.len();
    assert!(died * 3 >= most * 2, "{died} of {most} processes died");
    let mut survivor = Worker::start_with(stage.job(deaths.clone().collect(), 0).variable());
    for death in deaths {
        assert!(stage.finished(death, &mut survivor).await, "{death}");
        stage.check(death, death, &transcript).await;
    }
}

pub(crate) async fn process_is_killed_at_every_point_of_a_tree_on_postgres_case() -> Ran {
    killed_at_every_point(&on_postgres().await?).await;
    Ok(())
}

pub(crate) async fn process_is_killed_at_every_point_of_a_tree_on_sqlite_case() -> Ran {
    killed_at_every_point(&on_sqlite().await).await;
    Ok(())
}
