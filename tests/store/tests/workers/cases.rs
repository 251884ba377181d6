//! The test cases of workers, each on PostgreSQL and on SQLite.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;
use test_support::Ran;
use test_support::postgres::database;
use tool_core::ToolContext;
use tool_core::store::{
    EffectRow, EffectState, Message, Resolution, Role, RunCause, RunFilter, RunRow, Scope,
    ThreadId, ThreadStore, WorkCause, WorkFilter, WorkRow, WorkState,
};
use tool_core::turn::{ModelMessage, ToolMessage};
use tool_store::{PostgresStore, SqliteStore};

use crate::process::{Hold, Job, Worker, lines};
use crate::work::{HELD, LEASE, MOST_RECOVERIES, POLL, State, gate, queue};

/// The time that a test waits for a change, and the time that a busy machine may need in addition to a lease.
const PATIENCE: Duration = Duration::from_secs(20);
const SLACK: Duration = Duration::from_secs(3);

/// A store and the folder of the worker processes.
pub(crate) struct Stage<S> {
    pub(crate) store: S,
    /// The URL or the path of the store.
    pub(crate) place: String,
    pub(crate) folder: TempDir,
}

/// The messages, the runs and the queue row of a thread, and all effects of the store.
#[derive(Clone, Debug, PartialEq)]
struct Written {
    messages: Vec<Message>,
    runs: Vec<RunRow>,
    effects: Vec<EffectRow>,
    work: WorkRow,
    done: Vec<String>,
}

fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

pub(crate) async fn on_postgres() -> Result<Stage<PostgresStore>, test_support::Missing> {
    let place = database().await?;
    Ok(Stage {
        store: PostgresStore::open(&place).await.unwrap(),
        place,
        folder: tempfile::tempdir().unwrap(),
    })
}

pub(crate) async fn on_sqlite() -> Stage<SqliteStore> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    Stage {
        store: SqliteStore::open(&file).await.unwrap(),
        place: file.to_str().unwrap().to_owned(),
        folder,
    }
}

impl<S: State> Stage<S> {
    /// Starts a worker process, and waits until it works.
    async fn start(&self, name: &str, hold: Hold) -> Worker {
        let job = Job {
            name: name.to_owned(),
            hold,
            store: self.place.clone(),
            folder: self.folder.path().to_owned(),
        };
        let worker = Worker::start(&job);
        self.logged(name, "works").await;
        worker
    }

    fn log(&self) -> Vec<String> {
        lines(&self.folder.path().join("log"))
    }

    fn effects(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    /// Waits until a worker has logged a line.
    async fn logged(&self, name: &str, line: &str) {
        let wanted = format!("{name} {line}");
        self.until(async || self.log().contains(&wanted)).await;
    }

    async fn until(&self, mut holds: impl AsyncFnMut() -> bool) {
        let began = Instant::now();
        while !holds().await {
            if began.elapsed() > PATIENCE {
                let rows = self
                    .store
                    .list_work(Scope::All, &WorkFilter::default())
                    .await;
                panic!("nothing changed: {:?}\n{rows:?}", self.log());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn submit(&self, conversation: &str, wish: &str) {
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation(conversation)
            .build();
        let queue = queue(&self.store);
        queue.submit("chief", wish, &cx).await.unwrap();
    }

    async fn row(&self, conversation: &str) -> WorkRow {
        let row = self.store.work(&thread(conversation)).await;
        row.unwrap().unwrap()
    }

    async fn ended(&self, conversation: &str) -> WorkRow {
        self.until(async || self.row(conversation).await.state == WorkState::Ended)
            .await;
        self.row(conversation).await
    }

    /// Reads the messages, the runs and the queue row of a thread, and all effects.
    async fn written(&self, conversation: &str) -> Written {
        let id = thread(conversation);
        let filter = RunFilter {
            conversation: Some(conversation.to_owned()),
            ..RunFilter::default()
        };
        Written {
            messages: ThreadStore::read(&self.store, &id, None).await.unwrap(),
            runs: self.store.list_runs(Scope::All, &filter).await.unwrap(),
            effects: tool_core::store::EffectLedger::list(&self.store, Scope::All, None)
                .await
                .unwrap(),
            work: self.row(conversation).await,
            done: lines(&self.effects()),
        }
    }
}

impl Written {
    /// Asserts that the thread has one call with one result, and returns the result and the answer.
    #[track_caller]
    fn texts(&self) -> (String, String) {
        let roles: Vec<Role> = self.messages.iter().map(|message| message.role).collect();
        let whole = [Role::User, Role::Assistant, Role::Tool, Role::Assistant];
        assert_eq!(roles, whole, "{:?}", self.messages);
        let result: ToolMessage = serde_json::from_str(&self.messages[2].content).unwrap();
        let answer: ModelMessage = serde_json::from_str(&self.messages[3].content).unwrap();
        (result.text, answer.text)
    }
}

/// If a worker is killed in a request or in a tool, another worker takes over within one lease.
async fn killed(stage: &Stage<impl State>) {
    for (wish, hold) in [("post", Hold::Model), ("look", Hold::Tool)] {
        let (one, two) = (format!("one-{wish}"), format!("two-{wish}"));
        let first = stage.start(&one, hold).await;
        stage.submit(wish, wish).await;
        stage.logged(&one, "holds").await;
        let _second = stage.start(&two, Hold::No).await;
        let killed = Instant::now();
        first.signal(Signal::KILL);
        let row = stage.ended(wish).await;
        let took = killed.elapsed();
        assert!(took < LEASE + POLL + SLACK, "{took:?}");
        assert_eq!(
            (row.cause, row.worker.as_deref()),
            (Some(WorkCause::Done), Some(&*two))
        );
        let written = stage.written(wish).await;
        assert_eq!(written.texts().1, format!("done by {two}"));
        assert_eq!(written.runs[0].cause, Some(RunCause::Replied));
        assert_eq!(written.done.len(), 1, "the effect of `post` happened once");
    }
}

pub(crate) async fn killed_worker_is_replaced_within_a_lease_on_postgres_case() -> Ran {
    killed(&on_postgres().await?).await;
    Ok(())
}

pub(crate) async fn killed_worker_is_replaced_within_a_lease_on_sqlite_case() -> Ran {
    killed(&on_sqlite().await).await;
    Ok(())
}

/// A thread whose worker was killed during an effect waits until an operator has settled the effect, and the effect is not repeated.
async fn settled(stage: &Stage<impl State>) {
    let first = stage.start("one", Hold::Tool).await;
    stage.submit("main", "post").await;
    stage.logged("one", "holds").await;
    first.signal(Signal::KILL);
    let _second = stage.start("two", Hold::No).await;
    stage
        .until(async || stage.row("main").await.state == WorkState::Waiting)
        .await;
    let written = stage.written("main").await;
    assert_eq!(written.done, [""; 0]);
    let effect = &written.effects[0];
    let key = effect.intent.identity.key();
    let store = &stage.store;
    // An effect is ambiguous when the lease of the dead worker has ended, which may be after the second worker has found it running.
    stage
        .until(async || {
            let found = Resolution::Succeeded(r#""sent""#.to_owned());
            let settled = gate(store).resolve(&key, found, "olga").await;
            settled.is_ok_and(|row| row.state == EffectState::Succeeded)
        })
        .await;
    assert!(queue(store).wake(&thread("main")).await.unwrap());
    assert_eq!(stage.ended("main").await.cause, Some(WorkCause::Done));
    let written = stage.written("main").await;
    assert_eq!(
        written.texts(),
        ("sent".to_owned(), "done by two".to_owned())
    );
    assert_eq!(written.done, [""; 0]);
}

pub(crate) async fn effect_of_a_killed_worker_is_settled_and_not_repeated_on_postgres_case() -> Ran
{
    settled(&on_postgres().await?).await;
    Ok(())
}

pub(crate) async fn effect_of_a_killed_worker_is_settled_and_not_repeated_on_sqlite_case() -> Ran {
    settled(&on_sqlite().await).await;
    Ok(())
}

/// A worker that is suspended for longer than its lease writes nothing when it continues, whether the next worker has finished or not.
async fn suspended(stage: &Stage<impl State>) {
    let turns = [
        ("post", Hold::Model, Hold::No),
        ("post", Hold::Model, Hold::Model),
        ("post", Hold::Block, Hold::No),
        ("post", Hold::Block, Hold::Model),
        ("look", Hold::Tool, Hold::No),
        ("look", Hold::Tool, Hold::Tool),
    ];
    for (number, (wish, holds, next)) in turns.into_iter().enumerate() {
        let conversation = format!("t{number}");
        let (one, two) = (format!("one{number}"), format!("two{number}"));
        let first = stage.start(&one, holds).await;
        stage.submit(&conversation, wish).await;
        stage.logged(&one, "holds").await;
        let held = Instant::now();
        first.signal(Signal::STOP);
        let mut second = stage.start(&two, next).await;
        if next == Hold::No {
            stage.ended(&conversation).await;
        } else {
            stage.logged(&two, "holds").await;
        }
        // The request or the tool of the first worker ends before that of the second worker.
        tokio::time::sleep(HELD.saturating_sub(held.elapsed())).await;
        let before = stage.written(&conversation).await;
        first.signal(Signal::CONT);
        tokio::time::sleep(POLL * 4).await;
        if next != Hold::No {
            assert_eq!(stage.written(&conversation).await.messages, before.messages);
        }
        let row = stage.ended(&conversation).await;
        assert_eq!(
            (row.cause, row.worker.as_deref()),
            (Some(WorkCause::Done), Some(&*two))
        );
        assert_eq!(row.recoveries, 0);
        let end = stage.written(&conversation).await;
        let (result, answer) = end.texts();
        assert_eq!(answer, format!("done by {two}"));
        if wish == "look" {
            assert_eq!(result, format!("seen by {two}"));
        }
        // If the first worker were to write, it would do so within this time.
        tokio::time::sleep(LEASE).await;
        assert_eq!(stage.written(&conversation).await, end);
        assert!(!second.has_ended());
        drop(second);

        // The first worker still runs, and claims other threads.
        let after = format!("after{number}");
        stage.submit(&after, "slow").await;
        let row = stage.ended(&after).await;
        assert_eq!(row.worker.as_deref(), Some(&*one));
    }
    // The four turns that call `post` had one effect each.
    assert_eq!(lines(&stage.effects()).len(), 4);
}

pub(crate) async fn suspended_worker_writes_nothing_on_postgres_case() -> Ran {
    suspended(&on_postgres().await?).await;
    Ok(())
}

pub(crate) async fn suspended_worker_writes_nothing_on_sqlite_case() -> Ran {
    suspended(&on_sqlite().await).await;
    Ok(())
}

/// A thread whose run ends each of its processes ends at the crash limit. Other threads of these processes end normally.
async fn crashing(stage: &Stage<impl State>) {
    stage.submit("bad", "die").await;
    for conversation in ["a", "b", "c"] {
        stage.submit(conversation, "slow").await;
    }
    let began = Instant::now();
    let mut number = 0;
    let mut worker = stage.start("w0", Hold::No).await;
    while stage.row("bad").await.state != WorkState::Ended {
        assert!(began.elapsed() < PATIENCE, "{:?}", stage.log());
        if worker.has_ended() {
            number += 1;
            worker = stage.start(&format!("w{number}"), Hold::No).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let row = stage.row("bad").await;
    assert_eq!(row.cause, Some(WorkCause::CrashLimit));
    let deaths = stage
        .log()
        .iter()
        .filter(|line| line.ends_with("dies"))
        .count();
    assert_eq!(deaths, usize::try_from(MOST_RECOVERIES).unwrap() + 1);
    let written = stage.written("bad").await;
    assert_eq!(written.messages.len(), 1);
    assert_eq!(written.runs[0].cause, Some(RunCause::CrashLimit));
    for conversation in ["a", "b", "c"] {
        assert_eq!(stage.ended(conversation).await.cause, Some(WorkCause::Done));
        assert_eq!(stage.written(conversation).await.messages.len(), 2);
    }
    assert!(!worker.has_ended());
}

pub(crate) async fn run_that_kills_its_processes_ends_at_the_crash_limit_on_postgres_case() -> Ran {
    crashing(&on_postgres().await?).await;
    Ok(())
}

pub(crate) async fn run_that_kills_its_processes_ends_at_the_crash_limit_on_sqlite_case() -> Ran {
    crashing(&on_sqlite().await).await;
    Ok(())
}

// A worker whose poll is an hour away drives a conversation that a different process queues, within a second.
pub(crate) async fn notification_wakes_a_worker_before_its_poll_case() -> Ran {
    use tool_agent::agent::Agent;
    use tool_agent::model::{Script, ScriptedModel};
    use tool_agent::runtime::{AgentEntry, AgentRuntime};
    use tool_agent::worker::AgentQueue;

    let stage = on_postgres().await?;
    let queue_of = |store: &PostgresStore| AgentQueue::new(store.clone()).agent("chief", "1");
    let store = PostgresStore::open(&stage.place).await.unwrap();
    let model = ScriptedModel::new([Script::text("Hello.")]);
    let turns = tool_core::turn::Turns::new(store.clone());
    let runtime = AgentRuntime::builder(turns, &tool_core::Gate::builder().build())
        .agent(AgentEntry::new(
            Agent::builder("chief", model).build().unwrap(),
        ))
        .build()
        .unwrap();
    let worker = tool_agent::worker::Worker::builder(&runtime, &queue_of(&store))
        .poll(Duration::from_hours(1))
        .build()
        .unwrap();
    let stop = tool_core::CancellationToken::new();
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    // The worker has polled once, and its store listens.
    tokio::time::sleep(SLACK).await;
    let queue = queue_of(&stage.store);
    for round in 0..5 {
        let conversation = format!("main-{round}");
        let cx = ToolContext::builder()
            .workspace("acme")
            .conversation(&conversation)
            .build();
        let began = Instant::now();
        queue.submit("chief", "Hello?", &cx).await.unwrap();
        let is_done = |row: &WorkRow| row.cause == Some(WorkCause::Done);
        loop {
            use tool_core::store::WorkStore as _;
            let row = stage.store.work(&thread(&conversation)).await.unwrap();
            if row.is_some_and(|row| is_done(&row)) {
                break;
            }
            assert!(began.elapsed() < SLACK, "round {round}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    stop.cancel();
    running.await.unwrap();
    Ok(())
}
