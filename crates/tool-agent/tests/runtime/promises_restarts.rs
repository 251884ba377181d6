//! Sub-agents whose process died between two writes, or whose store replied late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::{Either, pending, select};
use object_store::memory::InMemory;
use serde_json::json;
use tokio::sync::Semaphore;
use tool_agent::files::ThreadFiles;
use tool_agent::runtime::{
    AgentResult, AgentRuntime, AgentRuntimeBuilder, ParentCommunication, ResultAttachment,
    ResultStatus, Resumable, Session, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::{
    ChildChange, ChildFilter, ChildMessage, ChildOpened, ChildRow, ChildSender, ChildStore,
    EndedSession, MemoryStore, NewMessage, Role, Scope, SessionEnd, StoreFuture, ThreadId,
};
use tool_core::turn::Outcome;
use tool_core::{CancellationToken, Effect};

use crate::promises::{commander, tool};
use crate::support::{
    Host, Log, agent, calls, context, entry, only_child, payload, results, text, thinking, worker,
};

fn new_runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// Runs a process until it dies. After that, its tasks are neither polled nor dropped.
fn die<F: Future>(died: &CancellationToken, run: F) {
    let process = new_runtime();
    process.block_on(async {
        let ended = select(Box::pin(run), Box::pin(died.cancelled())).await;
        match ended {
            Either::Left(_) => panic!("the run has ended before the process died"),
            Either::Right(((), run)) => std::mem::forget(run),
        }
    });
    std::mem::forget(process);
}

/// Drives the conversation in a second process. The leases of the dead process expire shortly after.
async fn continued(runtime: &AgentRuntime) -> Outcome {
    let cx = context().build();
    loop {
        match runtime.drive("chief", &cx).await.unwrap() {
            Outcome::Busy(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            outcome => break outcome,
        }
    }
}

// If a process dies during an effect of a sub-agent, the turn of the parent is unsettled, because it is unknown whether the effect took place.
#[test]
fn death_within_an_effect_of_a_sub_agent_is_unsettled() {
    let (store, log) = (MemoryStore::default(), Log::default());
    let hangs = Arc::new(AtomicBool::new(true));
    let died = CancellationToken::new();
    let build = |host: &Host| {
        let (hangs, died) = (hangs.clone(), died.clone());
        let tools = tool("make", Effect::WRITE, move || {
            let (hangs, died) = (hangs.clone(), died.clone());
            async move {
                if hangs.load(Ordering::SeqCst) {
                    died.cancel();
                    pending::<()>().await;
                }
                "made".to_owned()
            }
        });
        let maker = agent(
            "worker",
            &log,
            [calls([("make", json!({}))]), text("Made.")],
        );
        host.runtime()
            .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
            .agent(worker(maker.tools(move |_| tools.clone())))
            .build()
            .unwrap()
    };
    let cx = context().build();
    let first = Host::with(store.clone());
    die(&died, async {
        build(&first).respond("chief", "call Go.", &cx).await
    });
    hangs.store(false, Ordering::SeqCst);
    new_runtime().block_on(async {
        let second = Host::with(store);
        let outcome = continued(&build(&second)).await;
        assert!(matches!(outcome, Outcome::Unsettled(_)), "{outcome:?}");
        assert!(results(&second, &cx).await.is_empty());
        assert_eq!(log.of("worker").len(), 1);
    });
}

/// A store of child threads that commits the end of a session and delays its reply.
#[derive(Clone)]
struct Late {
    inner: MemoryStore,
    holds: Arc<AtomicBool>,
    permits: Arc<Semaphore>,
    held: CancellationToken,
}

impl Late {
    fn new(host: &Host) -> Self {
        Self {
            inner: host.store.clone(),
            holds: Arc::new(AtomicBool::new(false)),
            permits: Arc::new(Semaphore::new(0)),
            held: CancellationToken::new(),
        }
    }

    fn hold(&self) {
        self.holds.store(true, Ordering::SeqCst);
    }

    fn release(&self) {
        self.holds.store(false, Ordering::SeqCst);
        self.permits.add_permits(Semaphore::MAX_PERMITS);
    }
}

impl ChildStore for Late {
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened> {
        self.inner.open_child(row, most, messages)
    }

    fn child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>> {
        self.inner.child(thread)
    }

    fn children<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ChildFilter,
    ) -> StoreFuture<'a, Vec<ChildRow>> {
        self.inner.children(scope, filter)
    }

    fn message_child(
        &self,
        message: NewMessage,
        sender: ChildSender,
    ) -> StoreFuture<'_, ChildMessage> {
        self.inner.message_child(message, sender)
    }

    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>> {
        self.inner.change_child(thread, change)
    }

    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd> {
        Box::pin(async move {
            let ended = self.inner.end_session(thread, end).await;
            if self.holds.load(Ordering::SeqCst) {
                self.held.cancel();
                self.permits.acquire().await.unwrap().forget();
            }
            ended
        })
    }

    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        self.inner.remove_child(thread)
    }
}

// A message may arrive after the end of a session was committed and before the process has received the confirmation. The message then begins the
// next session, and that session starts.
#[tokio::test]
async fn session_starts_while_the_end_of_the_previous_one_is_confirmed() {
    for communication in [ParentCommunication::Implicit, ParentCommunication::Explicit] {
        let (host, log) = (Host::new(), Log::default());
        let late = Late::new(&host);
        let resumable = Resumable::new().parent_communication(communication);
        let tool = Subagent::new("worker").blocking(false).resumable(resumable);
        let runtime = AgentRuntime::builder(host.turns(), &host.gate)
            .children(late.clone())
            .agent(entry(commander(&log, "worker")).subagent(tool))
            .agent(worker(agent("worker", &log, [text("Answer.")])))
            .build()
            .unwrap();
        let cx = context().build();
        late.hold();
        runtime.respond("chief", "create Go.", &cx).await.unwrap();
        late.held.cancelled().await;
        runtime.respond("chief", "send Again.", &cx).await.unwrap();
        late.release();
        runtime.idle().await;
        let row = only_child(&runtime, &cx).await;
        assert_eq!((row.session, row.delivered), (2, 2));
        assert_eq!(log.of("worker").len(), 2);
    }
}

/// Stops a process after the end of a session was committed and before the process has received the confirmation. Returns the result of the call in a
/// second process.
fn result_after_a_death(
    messages: &[&str],
    configure: impl Fn(AgentRuntimeBuilder) -> AgentRuntimeBuilder,
) -> AgentResult {
    let first = Host::new();
    let late = Late::new(&first);
    let cx = context().build();
    let (last, before) = messages.split_last().unwrap();
    die(&late.held, async {
        let builder = AgentRuntime::builder(first.turns(), &first.gate);
        let runtime = configure(builder.children(late.clone())).build().unwrap();
        for message in before {
            runtime.respond("chief", *message, &cx).await.unwrap();
        }
        late.hold();
        runtime.respond("chief", *last, &cx).await
    });
    new_runtime().block_on(async {
        let second = Host::with(first.store.clone());
        let runtime = configure(second.runtime()).build().unwrap();
        let outcome = continued(&runtime).await;
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
        runtime.idle().await;
        let row = only_child(&runtime, &cx).await;
        assert_eq!(usize::try_from(row.session).unwrap(), messages.len());
        payload(&results(&second, &cx).await.pop().unwrap())
    })
}

/// Writes the report.
#[tool]
async fn report(files: &ThreadFiles) -> Result<AgentResult, ToolError> {
    let path = files.write("result.csv", b"1,308".to_vec()).await?;
    let mut result = AgentResult::success("Done.");
    result.attachments.push(ResultAttachment::Path(path));
    Ok(result)
}

// If a session ended before its process died, its result has the files of the session, for both kinds of sub-agents.
#[test]
fn result_after_a_death_has_its_files() {
    for (tool, message) in [
        (Subagent::new("worker"), "call Go."),
        (
            Subagent::new("worker").resumable(Resumable::new()),
            "create Go.",
        ),
    ] {
        let (log, store) = (Log::default(), Arc::new(InMemory::new()));
        let result = result_after_a_death(&[message], |builder| {
            let reporter = agent("worker", &log, [calls([("report", json!({}))])]);
            builder
                .files(store.clone())
                .agent(entry(commander(&log, "worker")).subagent(tool.clone()))
                .agent(
                    worker(reporter.tools(|_| toolset![report]))
                        .session(Session::new().stop_tool("report")),
                )
        });
        assert_eq!(result.status, ResultStatus::Success);
        assert_eq!(result.attachments.len(), 1);
    }
}

// If a session failed before its process died, its result is an error, and not the answer of an earlier
// session.
#[test]
fn failure_before_a_death_is_not_replaced_by_an_earlier_answer() {
    let log = Log::default();
    let result = result_after_a_death(&["create Go.", "send Again."], |builder| {
        let failing = thinking("worker", &log, |request| {
            if request.texts(Role::User).len() == 1 {
                Ok(text("First answer."))
            } else if request.step() == 0 {
                Ok(calls([("look", json!({}))]))
            } else {
                Err(ToolError::new("no network"))
            }
        });
        let looking = tool("look", Effect::READ, || async { "seen".to_owned() });
        let resumable = Subagent::new("worker").resumable(Resumable::new());
        builder
            .agent(entry(commander(&log, "worker")).subagent(resumable))
            .agent(worker(failing.tools(move |_| looking.clone())))
    });
    assert_eq!(result.status, ResultStatus::Error);
}

// If the partner of a session failed before the process died, the result is an error, and not the last text
// of the agent.
#[test]
fn failure_of_a_partner_before_a_death_is_an_error() {
    let log = Log::default();
    let result = result_after_a_death(&["call Go."], |builder| {
        let partner = thinking("partner", &log, |_| Err(ToolError::new("no network")));
        let partner = partner.build().unwrap();
        let session = Session::new().partner(partner).most_turns(3);
        builder
            .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
            .agent(worker(agent("worker", &log, [text("Which fjord?")])).session(session))
    });
    assert_eq!(result.status, ResultStatus::Error);
}
