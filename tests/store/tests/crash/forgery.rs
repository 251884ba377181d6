//! Several processes that submit one approval token, at the same time and one after the other.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tool_core::prelude::*;
use tool_core::store::{
    ApprovalStatus, ApprovalStore, CallId, CallPlace, Message, Role, ThreadStore,
};
use tool_core::turn::Outcome;
use tool_core::{ErrorKind, Gate, Reply, Ticket};

use crate::host::{self, KEY, World};
use crate::kill::say;
use crate::store::Deadly;

const JOB: &str = "TOOL_STORE_TEST_TOKENS";

/// The number of rounds in which two processes submit the same token at the same time.
const ROUNDS: u32 = 60;

fn wire(id: &str, amount: u32) -> ToolCall {
    ToolCall::new(id, "wire", format!(r#"{{"amount":{amount}}}"#))
}

/// A process that has just started.
struct Start {
    store: Deadly,
    gate: Gate,
    tools: Toolset,
}

impl Start {
    async fn with(folder: &Path, key: &[u8; 32]) -> Self {
        let store = host::open(folder).await;
        let gate = host::gate(&store, key);
        let tools = host::tools(&gate);
        Self { store, gate, tools }
    }

    async fn on(folder: &Path) -> Self {
        Self::with(folder, &KEY).await
    }

    /// Returns a context for the first call of the message with this sequence number.
    fn context(&self, folder: &Path, message: u64) -> ToolContext {
        let call = CallId::in_thread(&host::thread(), message, 0);
        host::context(folder, &self.store).for_call(call)
    }

    async fn ask(&self, folder: &Path, message: u64, amount: u32) -> Ticket {
        let cx = self.context(folder, message);
        let result = self.tools.call(wire("c-1", amount), &cx).await;
        result.tickets()[0].clone()
    }

    async fn approve(&self, ticket: &Ticket) {
        let approvals = self.gate.approvals().unwrap();
        let acme = host::acme();
        let answer = approvals.answer(
            &acme,
            &self.tools,
            &ticket.token,
            Reply::Approve,
            "boss",
            None,
        );
        answer.await.unwrap();
    }

    async fn resume(&self, folder: &Path, token: &str) -> CallResult {
        let cx = host::context(folder, &self.store);
        self.tools.resume(token, &cx).await
    }
}

/// Runs in the child process: for each line, submits the token, or dispatches the call of the message and the amount, and prints the result.
#[tokio::test]
#[ignore = "other tests start it as a child process"]
async fn submits() {
    let Ok(folder) = std::env::var(JOB) else {
        return;
    };
    let folder = Path::new(&folder);
    let start = Start::on(folder).await;
    say("ready");
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let result = match line.split_once(' ') {
            Some((message, amount)) => {
                let cx = start.context(folder, message.parse().unwrap());
                let call = wire("c-1", amount.parse().unwrap());
                start.tools.call(call, &cx).await
            }
            None => start.resume(folder, &line).await,
        };
        let kind = result.error().map_or("ok", |error| error.kind().as_str());
        let replayed = result.is_replayed();
        say(&format!("{kind} {replayed} {}", result.model_text()));
    }
}

/// The parent's handle on a child that submits tokens.
struct Submitter {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Submitter {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "forgery::submits", "--nocapture", "--ignored"])
            .env(JOB, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut new = Self {
            child,
            input,
            output,
        };
        assert_eq!(new.hear(), "ready");
        new
    }

    fn tell(&mut self, line: &str) {
        self.input
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    fn hear(&mut self) -> String {
        loop {
            let line = self.output.next().unwrap().unwrap();
            if let Some(said) = line.strip_prefix("child: ") {
                return said.to_owned();
            }
        }
    }

    fn end(self) {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

// M5: if two processes submit an approved call at the same time, by its token or by its identity, exactly one process runs the call.
#[tokio::test]
async fn one_approval_submitted_by_two_processes_runs_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let start = Start::on(folder).await;
    let mut processes = [Submitter::start(folder), Submitter::start(folder)];
    let (mut ran, mut met) = (0, 0);
    for round in 1..=ROUNDS {
        let ticket = start.ask(folder, round.into(), round).await;
        start.approve(&ticket).await;
        for (at, process) in processes.iter_mut().enumerate() {
            // In every third round, one process dispatches the call again instead of submitting the token.
            if at == 1 && round % 3 == 0 {
                process.tell(&format!("{round} {round}"));
            } else {
                process.tell(&ticket.token);
            }
        }
        let said = processes.each_mut().map(Submitter::hear);
        assert_eq!(
            World::of(folder).effects().len(),
            round as usize,
            "{said:?}"
        );
        let own = format!("ok false sent {round}");
        let stored = format!("ok true sent {round}");
        assert_eq!(said.iter().filter(|said| **said == own).count(), 1);
        for other in said.iter().filter(|said| **said != own) {
            let running = other.starts_with("interrupted false");
            assert!(running || *other == stored, "{other}");
            met += u32::from(running);
        }
        ran += 1;
    }
    processes.into_iter().for_each(Submitter::end);
    println!(
        "{ran} rounds, in {met} of them one process found the call still running in the other"
    );
}

// M5: a process that starts later returns the stored result.
#[tokio::test]
async fn used_token_returns_the_stored_result_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let start = Start::on(folder).await;
    let ticket = start.ask(folder, 1, 5).await;
    start.approve(&ticket).await;
    let first = start.resume(folder, &ticket.token).await;
    assert!(!first.is_error() && !first.is_replayed());
    start.store.0.close().await;
    for _ in 0..2 {
        let mut process = Submitter::start(folder);
        process.tell(&ticket.token);
        process.tell("1 5");
        for _ in 0..2 {
            assert_eq!(process.hear(), "ok true sent 5");
        }
        process.end();
    }
    assert_eq!(World::of(folder).effects().len(), 1);
}

// M5: one process requests an approval, a second process answers it and a third process runs the call, if all have the same key.
#[tokio::test]
async fn token_is_valid_in_every_process_with_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let asks = Start::on(folder).await;
    let ticket = asks.ask(folder, 1, 5).await;
    asks.store.0.close().await;

    let stranger = Start::with(folder, &[8; 32]).await;
    let approvals = stranger.gate.approvals().unwrap();
    let acme = host::acme();
    let answer = approvals.answer(
        &acme,
        &stranger.tools,
        &ticket.token,
        Reply::Approve,
        "boss",
        None,
    );
    assert!(answer.await.is_err());
    let answers = Start::on(folder).await;
    answers.approve(&ticket).await;

    let result = stranger.resume(folder, &ticket.token).await;
    assert_eq!(result.error().map(ToolError::kind), Some(ErrorKind::Denied));
    assert!(World::of(folder).effects().is_empty());
    let row = ApprovalStore::get(&answers.store.0, &host::acme(), &ticket.id)
        .await
        .unwrap();
    assert_eq!(
        row.unwrap().status,
        ApprovalStatus::Approved,
        "a process with a different key used up the approval"
    );

    let mut process = Submitter::start(folder);
    process.tell(&ticket.token);
    assert_eq!(process.hear(), "ok false sent 5");
    process.end();
    assert_eq!(World::of(folder).effects().len(), 1);
}

// S2-15: a second process finds the approvals of a turn by its thread and answers them, and a third process continues the turn. Each of these calls
// has one result.
#[tokio::test]
async fn turn_continues_in_a_different_process() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = 1;
    let first = Start::on(folder).await;
    let outcome = host::drive(script, folder, &first.store, &first.tools).await;
    let Outcome::Waiting(asked) = outcome else {
        panic!("{outcome:?}")
    };
    first.store.0.close().await;

    // The console of an operator has only the id of the thread.
    let console = Start::on(folder).await;
    let approvals = console.gate.approvals().unwrap();
    let waiting = approvals.waiting(&host::thread()).await.unwrap();
    assert_eq!(waiting.len(), asked.len());
    for ticket in &waiting {
        assert!(asked.contains(ticket));
        host::answer(&console.gate, &console.tools, ticket).await;
    }
    console.store.0.close().await;

    host::work(script, folder).await;
    let store = host::open(folder).await.0;
    let messages = ThreadStore::read(&store, &host::thread(), None)
        .await
        .unwrap();
    for ticket in asked {
        let mut results = messages.iter().filter(|message| {
            let place = asked_at(&messages, &ticket.call);
            message.role == Role::Tool && message.answers == Some(place)
        });
        assert!(results.next().is_some());
        assert!(results.next().is_none());
    }
}

/// Returns the place of a call of the first message that has this id of the model.
fn asked_at(messages: &[Message], call: &str) -> CallPlace {
    let mut said = messages.iter().filter(|m| m.role == Role::Assistant);
    let said = said.next().unwrap();
    let content: serde_json::Value = serde_json::from_str(&said.content).unwrap();
    let calls = content["calls"].as_array().unwrap();
    let position = calls.iter().position(|own| own["id"] == call).unwrap();
    CallPlace {
        message: said.seq,
        position: u32::try_from(position).unwrap(),
    }
}
