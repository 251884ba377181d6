//! A host with a scripted model, tools with visible effects, and an operator who checks the effects.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::bounded::{Bounded, Spills};
use tool_core::prelude::*;
use tool_core::store::{
    ApprovalStore, EffectLedger, EffectRow, EffectState, Resolution, Scope, ThreadId, Timestamp,
    Workspace,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{Approvals, Audit, Effect, Gate, KeyRing, Reply, Sweeper, Ticket};
use tool_store::SqliteStore;

use crate::kill::point;
use crate::store::Deadly;

/// The lease of a run. After it has expired, the run of a dead process can be taken over.
const LEASE: Duration = Duration::from_millis(150);

/// The file that records real effects. The stores do not use it.
#[derive(Clone)]
pub(crate) struct World(PathBuf);
tool_core::host_value!(World, Effect::WRITE);

/// The file that records reads, for the tests only.
#[derive(Clone)]
struct Window(PathBuf);
tool_core::host_value!(Window, Effect::READ);

/// Appends a line and writes it to disk.
fn write(file: &Path, line: &str) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
    file.sync_all().unwrap();
}

impl World {
    pub(crate) fn of(folder: &Path) -> Self {
        Self(folder.join("effects"))
    }

    async fn act(&self, cx: &ToolContext, amount: u32) -> String {
        point("before", "body");
        tokio::task::yield_now().await;
        point("before", "body.effect");
        let key = cx.idempotency_key().unwrap();
        write(&self.0, &format!("{key} {amount}"));
        point("after", "body.effect");
        tokio::task::yield_now().await;
        point("after", "body");
        said(amount)
    }

    /// Returns the keys and amounts of all effects, in order.
    pub(crate) fn effects(&self) -> Vec<(String, u32)> {
        lines(&self.0)
            .map(|line| {
                let (key, amount) = line.split_once(' ').unwrap();
                (key.to_owned(), amount.parse().unwrap())
            })
            .collect()
    }
}

pub(crate) fn reads(folder: &Path) -> Vec<String> {
    lines(&folder.join("reads")).collect()
}

fn lines(file: &Path) -> impl Iterator<Item = String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.into_iter()
}

fn said(amount: u32) -> String {
    format!("sent {amount}")
}

/// Sends an amount.
#[tool]
async fn post(
    world: &World,
    cx: &ToolContext,
    /// The amount to send.
    amount: u32,
) -> String {
    world.act(cx, amount).await
}

/// Sends an amount, after approval.
#[tool(approval)]
async fn wire(
    world: &World,
    cx: &ToolContext,
    /// The amount to send.
    amount: u32,
) -> String {
    world.act(cx, amount).await
}

/// Fails before it does anything.
#[tool]
async fn fail(
    world: &World,
    /// The amount to send.
    amount: u32,
) -> Result<String, ToolError> {
    point("before", "failure");
    tokio::task::yield_now().await;
    point("after", "failure");
    drop(world.clone());
    Err(ToolError::new(format!(
        "no recipient for {amount} was found"
    )))
}

/// Looks out of the window, and returns a long text.
#[tool(read_only)]
async fn look(
    window: &Window,
    cx: &ToolContext,
    /// The time to look.
    amount: u32,
) -> Bounded<String, 64> {
    point("before", "reading");
    write(&window.0, cx.idempotency_key().unwrap().as_str());
    tokio::task::yield_now().await;
    point("after", "reading");
    Bounded::from("rain ".repeat(amount as usize + 50))
}

/// Returns the approver's reply, which depends on the amount.
pub(crate) fn reply(amount: u32) -> Reply {
    match amount % 3 {
        0 => Reply::Deny,
        1 => Reply::Edit(format!(r#"{{"amount":{}}}"#, amount + 100)),
        _ => Reply::Approve,
    }
}

/// A call of a script.
#[derive(Clone)]
pub(crate) struct Planned {
    /// The number of the message, counted from 0.
    pub(crate) step: usize,
    /// The position in the message.
    pub(crate) position: u32,
    pub(crate) call: String,
    pub(crate) tool: &'static str,
    pub(crate) amount: u32,
}

/// Returns the calls of each message of a script.
pub(crate) fn plan(script: u64) -> Vec<Vec<Planned>> {
    let tools = [
        [("post", 1), ("wire", 2), ("look", 3), ("wire", 4)],
        [("fail", 5), ("wire", 6), ("post", 7), ("look", 8)],
    ];
    let message = |(step, mut tools): (usize, [(&'static str, u32); 4])| {
        tools.rotate_left(usize::try_from(script).unwrap() % 4);
        let call = |((tool, amount), position): (_, u32)| Planned {
            step,
            position,
            // The ids repeat in every message, as the ids of real models do.
            call: format!("call_{position}"),
            tool,
            amount,
        };
        tools.into_iter().zip(0..).map(call).collect()
    };
    tools.into_iter().enumerate().map(message).collect()
}

struct Script(Vec<Vec<Planned>>);

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let step = usize::try_from(request.step).unwrap() - 1;
        let call = |planned: &Planned| {
            let arguments = format!(r#"{{"amount":{}}}"#, planned.amount);
            ToolCall::new(&planned.call, planned.tool, arguments)
        };
        let message = match self.0.get(step) {
            Some(calls) => ModelMessage::calls(calls.iter().map(call)),
            None => ModelMessage::text("done"),
        };
        Box::pin(async move {
            point("before", "model");
            tokio::task::yield_now().await;
            point("after", "model");
            Ok(message)
        })
    }
}

/// Creates the gate of a newly started host. `key` signs the tokens of its approvals.
pub(crate) fn gate(store: &Deadly, key: &[u8; 32]) -> Gate {
    let keys = KeyRing::new("k-1", key.to_vec()).unwrap();
    let approvals = Approvals::builder(store.clone()).keys(keys);
    Gate::builder()
        .approvals(approvals.build().unwrap())
        .ledger(store.clone())
        .lease(LEASE)
        .audit(Audit::required(store.clone()))
        // A background sweep would pass points at random times.
        .sweeper(Sweeper::off())
        .build()
}

/// Returns the workspace of the script.
pub(crate) fn acme() -> Workspace {
    Workspace::new("acme")
}

/// Returns the thread of the script.
pub(crate) fn thread() -> ThreadId {
    ThreadId::new("acme", "th-1").unwrap()
}

pub(crate) fn context(folder: &Path, store: &Deadly) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .with(World::of(folder))
        .with(Window(folder.join("reads")))
        .with(Spills::new(store.clone()))
        .build()
}

pub(crate) async fn open(folder: &Path) -> Deadly {
    Deadly(
        SqliteStore::open(folder.join("state.db")).await.unwrap(),
        None,
    )
}

/// The approval key of the host.
pub(crate) const KEY: [u8; 32] = [7; 32];

/// Drives a script to its end, from the point at which an earlier process stopped. In scripts with an odd number, the stores share a journal.
pub(crate) async fn work(script: u64, folder: &Path) {
    let mut store = open(folder).await;
    if script % 2 == 1 {
        store.1 = Some(Arc::default());
    }
    let gate = gate(&store, &KEY);
    let tools = tools(&gate);
    store.sweep(Scope::All, Timestamp::now()).await.unwrap();
    ApprovalStore::expire(&store, Scope::All, Timestamp::now())
        .await
        .unwrap();
    loop {
        match drive(script, folder, &store, &tools).await {
            Outcome::Answered(text) => {
                assert_eq!(text, "done");
                break;
            }
            Outcome::Waiting(tickets) => {
                for ticket in tickets {
                    answer(&gate, &tools, &ticket).await;
                }
            }
            Outcome::Unsettled(row) => settle(&gate, &World::of(folder), &row).await,
            // The lease of the killed process's run has not expired yet.
            Outcome::Busy(_) => tokio::time::sleep(LEASE / 3).await,
            outcome => panic!("{outcome:?}"),
        }
    }
    store.0.close().await;
}

pub(crate) fn tools(gate: &Gate) -> Toolset {
    toolset![post, wire, fail, look].through(gate)
}

/// Drives a script until it ends or waits.
pub(crate) async fn drive(script: u64, folder: &Path, store: &Deadly, tools: &Toolset) -> Outcome {
    let turns = Turns::new(store.clone()).lease(LEASE);
    let cx = context(folder, store);
    let mut model = Script(plan(script));
    let driven = turns.drive(&mut model, |_| tools.clone(), &cx);
    driven.await.unwrap()
}

pub(crate) async fn answer(gate: &Gate, tools: &Toolset, ticket: &Ticket) {
    let approvals = gate.approvals().unwrap();
    let amount = ticket.arguments.strip_prefix(r#"{"amount":"#).unwrap();
    let amount = amount.strip_suffix('}').unwrap().parse().unwrap();
    approvals
        .answer(&acme(), tools, &ticket.token, reply(amount), "boss", None)
        .await
        .unwrap();
}

/// Settles a call without a recorded end, in place of an operator. If the effect of the call is still running, waits for the end of its lease and
/// marks it as ambiguous instead.
async fn settle(gate: &Gate, world: &World, row: &EffectRow) {
    let key = &row.intent.identity.key();
    if row.state == EffectState::Running {
        // The effect of the dead process can be settled only after its lease has expired.
        let left = row.intent.lease_until.as_millis() - Timestamp::now().as_millis();
        tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
        gate.effects()
            .unwrap()
            .sweep(Scope::All, Timestamp::now())
            .await
            .unwrap();
        return;
    }
    let effects = world.effects();
    let resolution = match effects.iter().find(|(own, _)| own == key.as_str()) {
        Some((_, amount)) => Resolution::Succeeded(format!("\"{}\"", said(*amount))),
        None if row.intent.tool == "fail" || row.attempt > 1 => {
            Resolution::Failed("it did not happen".to_owned())
        }
        None => Resolution::Rerun,
    };
    gate.resolve(key, resolution, "otto").await.unwrap();
}
