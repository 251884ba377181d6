//! The tools, rules and values of the turn that sub-agents and prompts inherit from the calling agent.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use object_store::memory::InMemory;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tool_agent::agent::AgentBuilder;
use tool_agent::files::ThreadFiles;
use tool_agent::runtime::{
    AgentArguments, AgentRuntimeBuilder, Handoff, Immediate, ParentThread, PromptTool, Resumable,
    RuntimeError, SpawnGate, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::{Role, ThreadId};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome};
use tool_core::{
    Answer, Asker, Attachment, AttachmentBody, AttachmentKind, Attachments, DynamicTool, Effect,
    History, HistoryMessage, HistoryRole, Question, Registry, Reply, ToolContext,
};

use crate::support::{
    Host, Log, Request, agent, calls, context, entry, in_conversation, only_child, results, text,
    thinking, worker,
};

/// Returns a tool without arguments that returns what `run` returns.
pub(crate) fn tool<R>(
    name: &str,
    effect: Effect,
    run: impl Fn() -> R + Send + Sync + 'static,
) -> Toolset
where
    R: Future<Output = String> + Send + 'static,
{
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = DynamicTool::new(name, "Does something.", schema, move |_: Value, _| {
        let output = run();
        async move { Ok::<_, ToolError>(output.await) }
    });
    let tool = tool.effect(effect);
    Registry::builder().dynamic(tool).build().unwrap().open()
}

/// Returns a tool that changes state and counts its calls.
pub(crate) fn make(made: &Arc<AtomicU32>) -> Toolset {
    let made = made.clone();
    tool("make", Effect::WRITE, move || {
        made.fetch_add(1, Ordering::SeqCst);
        async { "made".to_owned() }
    })
}

/// Returns a tool that an agent must not have.
fn danger() -> Toolset {
    tool("danger", Effect::READ, || async { "done".to_owned() })
}

/// Blocks work until the test releases it.
pub(crate) struct Hold {
    begun: AtomicU32,
    permits: Semaphore,
}

impl Hold {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            begun: AtomicU32::new(0),
            permits: Semaphore::new(0),
        })
    }

    /// Counts the work that has begun, and waits until the test releases it.
    pub(crate) async fn wait(&self) -> u32 {
        let begun = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        self.permits.acquire().await.unwrap().forget();
        begun
    }

    /// Waits until this much work has begun.
    pub(crate) async fn begun(&self, work: u32) {
        while self.begun.load(Ordering::SeqCst) < work {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn release(&self, work: usize) {
        self.permits.add_permits(work);
    }
}

/// Returns a tool that blocks until the test releases it.
pub(crate) fn slow(hold: &Arc<Hold>) -> Toolset {
    let hold = hold.clone();
    tool("slow", Effect::READ, move || {
        let hold = hold.clone();
        async move { format!("waited {}", hold.wait().await) }
    })
}

/// A model that blocks until the test releases it, and then writes a text with the number of its request.
#[derive(Clone)]
pub(crate) struct Held(pub(crate) Arc<Hold>);

impl Model for Held {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move { Ok(text(&format!("held {}", self.0.wait().await))) })
    }
}

/// Sends money.
#[tool(destructive, approval)]
fn pay() -> &'static str {
    "paid"
}

/// Returns a tool whose calls wait for an approval.
pub(crate) fn payment() -> Toolset {
    toolset![pay]
}

/// Approves all calls of a thread that wait, and returns their number.
pub(crate) async fn approve(host: &Host, thread: &ThreadId) -> usize {
    let approvals = host.gate.approvals().unwrap();
    let tools = payment().through(&host.gate);
    let open = approvals.waiting(thread).await.unwrap();
    for row in &open {
        let (workspace, token) = (thread.workspace(), &row.token);
        let answer = approvals.answer(workspace, &tools, token, Reply::Approve, "olga", None);
        answer.await.unwrap();
    }
    open.len()
}

pub(crate) fn create(agent: &str, message: &str) -> ModelMessage {
    calls([(
        "subagent_create",
        json!({"agent": agent, "name": "one", "message": message, "attachments": []}),
    )])
}

/// Returns a call that sends a message to the first sub-agent in the results of a request.
pub(crate) fn send(request: &Request, message: &str) -> (&'static str, Value) {
    let messages = request.messages.iter();
    let results = messages.filter(|message| message.role == Role::Tool);
    let mut references = results.filter_map(|message| {
        let result: Value = serde_json::from_str(&message.content).unwrap();
        Some(result["output"]["subagent_id"].as_str()?.to_owned())
    });
    let reference = references.next().unwrap_or_default();
    (
        "subagent_message",
        json!({"referenceId": reference, "message": message, "attachments": []}),
    )
}

/// Returns a chief that runs the command which the user writes: `create TEXT`, `send TEXT`, `send-two`, or
/// `call TEXT`.
pub(crate) fn commander(log: &Log, target: &'static str) -> AgentBuilder {
    thinking("chief", log, move |request| {
        if request.step() > 0 {
            return Ok(text("Done."));
        }
        let last = request.last(Role::User);
        let (word, rest) = last.split_once(' ').unwrap_or((&last, ""));
        Ok(match word {
            "create" => create(target, rest),
            "send" => calls([send(request, rest)]),
            "send-two" => calls([send(request, "first"), send(request, "second")]),
            "call" => calls([(target, json!({"message": rest}))]),
            _ => text("Noted."),
        })
    })
}

/// Returns all messages of a thread as one text.
pub(crate) async fn stored(host: &Host, cx: &ToolContext) -> String {
    let messages = host.turns().messages(cx, None).await.unwrap();
    let lines = messages
        .iter()
        .map(|message| format!("{}: {}\n", message.role, message.content));
    lines.collect()
}

// The runtime does not add a tool that the rules of an agent deny, so rules can deny `subagent_create` and the agents that it starts.
#[tokio::test]
async fn denied_tool_starts_no_agent() {
    for denied in ["subagent_create", "worker"] {
        let (host, log) = (Host::new(), Log::default());
        let tool = Subagent::new("worker").resumable(Resumable::new());
        let runtime = host
            .runtime()
            .agent(
                entry(commander(&log, "worker"))
                    .deny([denied])
                    .subagent(tool),
            )
            .agent(worker(agent("worker", &log, [text("Answer.")])))
            .build()
            .unwrap();
        let cx = context().build();
        runtime.respond("chief", "create Go.", &cx).await.unwrap();
        assert!(log.of("chief")[0].tools.is_empty(), "{denied}");
        assert!(log.of("worker").is_empty(), "{denied}");
    }
}

// Rules and variables hide the tools for prompts, handoffs and sub-agents, each by its own name.
#[tokio::test]
async fn rules_and_variables_hide_tools_that_run_agents() {
    let all = ["helper", "transfer_to_clerk", "worker"];
    for (denied, off) in [
        ("", ""),
        ("helper", ""),
        ("transfer_to_clerk", ""),
        ("worker", ""),
        ("", "helper"),
        ("", "transfer_to_clerk"),
        ("", "worker"),
    ] {
        let (host, log) = (Host::new(), Log::default());
        let replies = |name: &str| agent(name, &log, [text("Done.")]);
        let runtime = host
            .runtime()
            .agent(
                entry(replies("chief"))
                    .deny([denied])
                    .prompt(PromptTool::new("helper").optional("HELPER"))
                    .handoff(Handoff::to("clerk").optional("TRANSFER_TO_CLERK"))
                    .subagent(Subagent::new("worker").optional("WORKER")),
            )
            .agent(entry(replies("helper")).expose("Helps."))
            .agent(entry(replies("clerk")))
            .agent(worker(replies("worker")))
            .build()
            .unwrap();
        let mut cx = context();
        for name in all {
            let value = if name == off { "false" } else { "true" };
            cx = cx.variable(name.to_uppercase(), value);
        }
        runtime.respond("chief", "Go.", &cx.build()).await.unwrap();
        let expected = all.into_iter().filter(|name| ![denied, off].contains(name));
        let expected: Vec<&str> = expected.collect();
        assert_eq!(log.of("chief")[0].tools, expected, "{denied} {off}");
    }
}

// If an agent denies a tool, a sub-agent of its prompt does not have the tool either.
#[tokio::test]
async fn sub_agent_of_a_prompt_has_no_denied_tool() {
    let (host, log) = (Host::new(), Log::default());
    let helper = agent(
        "helper",
        &log,
        [
            calls([("worker", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let worker_of = agent("worker", &log, [text("Answer.")]).tools(|_| danger());
    let runtime = host
        .runtime()
        .agent(
            entry(commander(&log, "helper"))
                .deny(["danger"])
                .prompt(PromptTool::new("helper")),
        )
        .agent(
            entry(helper.tools(|_| danger()))
                .expose("Helps.")
                .subagent(Subagent::new("worker")),
        )
        .agent(worker(worker_of))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    assert_eq!(log.of("helper")[0].tools, ["worker"]);
    assert!(log.of("worker")[0].tools.is_empty());
}

// The rules of the agent that started a sub-agent apply until its session ends, also after a handoff.
#[tokio::test]
async fn handoff_keeps_the_rules_of_a_running_sub_agent() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("worker", json!({"message": "Go."}))]),
            calls([("transfer_to_clerk", json!({}))]),
        ],
    );
    let payer = agent("worker", &log, [calls([("pay", json!({}))]), text("Paid.")]);
    let runtime = host
        .runtime()
        .agent(
            entry(chief)
                .deny(["danger"])
                .handoff(Handoff::to("clerk"))
                .subagent(Subagent::new("worker").blocking(false)),
        )
        .agent(entry(agent("clerk", &log, [text("Here.")])).subagent(Subagent::new("other")))
        .agent(worker(agent("other", &log, [text("Other.")])))
        .agent(worker(
            payer.tools(|_| payment().combine(&danger()).unwrap()),
        ))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(approve(&host, &row.thread).await, 1);
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    let requests = log.of("worker");
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(request.tools, ["pay"]);
    }
}

// A handoff is not offered within a prompt, because the prompt belongs to its call.
#[tokio::test]
async fn handoff_is_not_offered_within_a_prompt() {
    let (host, log) = (Host::new(), Log::default());
    let support = agent(
        "support",
        &log,
        [calls([("transfer_to_billing", json!({}))]), text("Solved.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "support")).prompt(PromptTool::new("support")))
        .agent(
            entry(support)
                .expose("Supports.")
                .handoff(Handoff::to("billing")),
        )
        .agent(entry(agent("billing", &log, [text("Billed.")])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let requests = log.of("support");
    assert_eq!(requests.len(), 2);
    for request in &requests {
        let offered = "transfer_to_billing".to_owned();
        assert!(!request.tools.contains(&offered), "{:?}", request.tools);
    }
    assert!(log.of("billing").is_empty());
}

// After a handoff, the context of a call contains the agent that took over, in the same turn and in the next one.
#[tokio::test]
async fn context_names_the_agent_after_a_handoff() {
    /// Returns the name of the agent.
    #[tool(read_only)]
    fn who(cx: &ToolContext) -> String {
        cx.agent().unwrap_or("nobody").to_owned()
    }

    let (host, log) = (Host::new(), Log::default());
    let support = agent(
        "support",
        &log,
        [calls([("transfer_to_billing", json!({}))])],
    );
    let billing = thinking("billing", &log, |request| {
        let last = request.messages.last().unwrap();
        let has_called = last.role == Role::Tool && last.content.contains("who");
        Ok(if has_called {
            text("Done.")
        } else {
            calls([("who", json!({}))])
        })
    });
    let runtime = host
        .runtime()
        .agent(entry(support).handoff(Handoff::to("billing")))
        .agent(entry(billing.tools(|_| toolset![who])))
        .build()
        .unwrap();
    let cx = context().build();
    for message in ["one", "two"] {
        runtime.respond("support", message, &cx).await.unwrap();
    }
    let results = results(&host, &cx).await;
    let named = results.iter().filter(|result| result.name == "who");
    let named: Vec<&str> = named.map(|result| &*result.text).collect();
    assert_eq!(named, ["billing", "billing"]);
}

// The thread of a sub-agent cannot be driven as a conversation: only its parent drives it.
#[tokio::test]
async fn thread_of_a_sub_agent_is_not_a_conversation() {
    let (host, log) = (Host::new(), Log::default());
    let tool = Subagent::new("worker").resumable(Resumable::new());
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(tool))
        .agent(worker(agent("worker", &log, [text("Answer.")])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    let refused = runtime.respond("worker", "Hello.", &child).await;
    assert!(
        matches!(&refused, Err(RuntimeError::ChildThread(id)) if id == row.thread.conversation()),
        "{refused:?}"
    );
    assert_eq!(log.of("worker").len(), 1);
}

// The arguments of a prompt are a host value of the prompt only, and not of the sub-agents that it starts.
#[tokio::test]
async fn sub_agent_does_not_read_the_arguments_of_a_prompt() {
    let (host, log) = (Host::new(), Log::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reader = |seen: &Arc<Mutex<Vec<_>>>| {
        let seen = seen.clone();
        move |cx: &ToolContext| {
            let arguments = cx.get::<AgentArguments>().ok();
            seen.lock().unwrap().push(arguments.is_some());
            Ok("Help.".into())
        }
    };
    let helper = agent(
        "helper",
        &log,
        [
            calls([("worker", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let worker_of = agent("worker", &log, [text("Answer.")]).instructions_of(reader(&seen));
    let in_prompt = Arc::new(Mutex::new(Vec::new()));
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "helper")).prompt(PromptTool::new("helper")))
        .agent(
            entry(helper.instructions_of(reader(&in_prompt)))
                .expose("Helps.")
                .subagent(Subagent::new("worker")),
        )
        .agent(worker(worker_of))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    assert!(in_prompt.lock().unwrap()[0]);
    assert!(!seen.lock().unwrap()[0]);
}

// S1-58: a sub-agent has no harness tools, which act on the conversation with the person.
#[tokio::test]
async fn sub_agent_has_no_harness_tools() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let send = DynamicTool::new("send", "Sends a message.", schema, |_: Value, _| async {
        Ok::<_, ToolError>("sent")
    });
    let send = Registry::builder().dynamic(send.harness()).build();
    let tools = send.unwrap().open().combine(&danger()).unwrap();
    let (host, log) = (Host::new(), Log::default());
    let (own, below) = (tools.clone(), tools);
    let below = agent("worker", &log, [text("Done.")]).tools(move |_| below.clone());
    let runtime = host
        .runtime()
        .agent(
            entry(commander(&log, "worker").tools(move |_| own.clone()))
                .subagent(Subagent::new("worker")),
        )
        .agent(worker(below))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let own = &log.of("chief")[0].tools;
    assert!(own.iter().any(|tool| tool == "send"), "{own:?}");
    assert_eq!(log.of("worker")[0].tools, ["danger"]);
}

// S1-58: a prompt of a sub-agent has no harness tools either, and its tools cannot send messages to the parent of the sub-agent.
#[tokio::test]
async fn prompt_of_a_sub_agent_does_not_reach_its_parent() {
    /// Sends a message to the parent.
    #[tool]
    async fn notify(#[context] parent: ParentThread) -> Result<&'static str, ToolError> {
        parent.notify("a word of the prompt").await?;
        Ok("sent")
    }

    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let send = DynamicTool::new("send", "Sends a message.", schema, |_: Value, _| async {
        Ok::<_, ToolError>("sent")
    });
    let send = Registry::builder().dynamic(send.harness()).build();
    let tools = send.unwrap().open().combine(&toolset![notify]).unwrap();
    let (host, log) = (Host::new(), Log::default());
    let go = json!({"message": "Go."});
    let middle = agent("middle", &log, [calls([("helper", go)]), text("Done.")]);
    let helper = agent(
        "helper",
        &log,
        [calls([("notify", json!({}))]), text("Done.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "middle")).subagent(Subagent::new("middle")))
        .agent(worker(middle).prompt(PromptTool::new("helper")))
        .agent(entry(helper.tools(move |_| tools.clone())).expose("Helps."))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    runtime.idle().await;
    let request = &log.of("helper")[0];
    assert_eq!(request.tools, ["notify"]);
    let messages = stored(&host, &cx).await;
    assert!(!messages.contains("a word of the prompt"), "{messages}");
}

// A sub-agent whose call waits can ask the user of the turn, and a sub-agent in the background cannot, because its turn may have ended.
#[tokio::test]
async fn background_sub_agent_cannot_ask_the_user() {
    /// Returns whether the user can be asked.
    #[tool(read_only)]
    fn can_ask(cx: &ToolContext) -> bool {
        cx.can_ask()
    }

    struct Declines;

    impl Asker for Declines {
        fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer<Box<RawValue>>, ToolError>> {
            Box::pin(async { Ok(Answer::Declined) })
        }
    }

    for blocking in [true, false] {
        let (host, log) = (Host::new(), Log::default());
        let asking = agent(
            "worker",
            &log,
            [calls([("can_ask", json!({}))]), text("Done.")],
        );
        let tool = Subagent::new("worker").blocking(blocking);
        let runtime = host
            .runtime()
            .agent(entry(commander(&log, "worker")).subagent(tool))
            .agent(worker(asking.tools(|_| toolset![can_ask])))
            .build()
            .unwrap();
        let cx = context().build().with_asker(Arc::new(Declines));
        runtime.respond("chief", "call Go.", &cx).await.unwrap();
        runtime.idle().await;
        let row = only_child(&runtime, &cx).await;
        let child = in_conversation(row.thread.conversation());
        assert_eq!(results(&host, &child).await[0].text, blocking.to_string());
    }
}

// The history of the parent's turn is not a host value of the tools of a sub-agent.
#[tokio::test]
async fn history_of_the_parent_is_not_passed_on() {
    /// Reads the history.
    #[tool(read_only)]
    fn recall(history: &History) -> String {
        format!("{history:?}")
    }

    let (host, log) = (Host::new(), Log::default());
    let reader = agent(
        "worker",
        &log,
        [calls([("recall", json!({}))]), text("Done.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(reader.tools(|_| toolset![recall])))
        .build()
        .unwrap();
    let said = HistoryMessage {
        speaker: HistoryRole::User,
        text: "private words".into(),
    };
    let cx = context().history(vec![said]).build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    assert!(results(&host, &child).await[0].is_error());
    let child = stored(&host, &child).await;
    assert!(!child.contains("private words"), "{child}");
}

// The attachments of the user's message, and files that the host gave to the parent's turn, are not host values of the tools of a sub-agent.
#[tokio::test]
async fn files_of_the_parents_turn_are_not_passed_on() {
    /// Reads the first attachment.
    #[tool(read_only)]
    fn attachment(attachments: &Attachments) -> Result<String, ToolError> {
        Ok(format!("{:?}", attachments.at(0)?.filename))
    }

    /// Lists the files.
    #[tool]
    async fn list(files: &ThreadFiles) -> Result<String, ToolError> {
        Ok(files.list().await?.join(" "))
    }

    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let tools = || toolset![attachment, list];
    let both = || calls([("attachment", json!({})), ("list", json!({}))]);
    let chief = agent(
        "chief",
        &log,
        [
            both(),
            calls([("worker", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let reader = agent("worker", &log, [both(), text("Done.")]);
    let runtime = host
        .runtime()
        .agent(entry(chief.tools(move |_| tools())).subagent(Subagent::new("worker")))
        .agent(worker(reader.tools(move |_| tools())))
        .build()
        .unwrap();
    let files = ThreadFiles::new(store, ThreadId::new("acme", "main").unwrap());
    files.write("private.pdf", b"1".to_vec()).await.unwrap();
    let attached = Attachment {
        kind: AttachmentKind::File,
        mime: "application/pdf".to_owned(),
        filename: Some("private.pdf".to_owned()),
        body: AttachmentBody::Data(b"1".as_slice().into()),
    };
    let cx = context().attachments(vec![attached]).with(files).build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    for result in &results(&host, &cx).await[..2] {
        assert!(result.text.contains("private"), "{}", result.text);
    }
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    for result in &results(&host, &child).await {
        assert!(result.is_error(), "{}", result.text);
    }
    let child = stored(&host, &child).await;
    assert!(!child.contains("private"), "{child}");
}

// `build` refuses agents that start others in the background if no run would read the answers, and immediate sub-agents that the spawn gate refuses.
#[test]
fn starts_without_a_reader_are_refused() {
    let background = || Subagent::new("worker").blocking(false);
    let of = |name: &str| agent(name, &Log::default(), [text("Done.")]);
    let build = |builder: AgentRuntimeBuilder| {
        let builder = builder.agent(worker(of("worker")));
        builder.build().map(drop).unwrap_err().to_string()
    };
    let nested = |tool: Subagent| {
        let gate = SpawnGate::default().most_depth(2);
        let builder = Host::new().runtime();
        build(
            builder
                .agent(entry(of("chief")).subagent(Subagent::new("middle")))
                .agent(worker(of("middle")).subagent(tool).spawn(gate)),
        )
    };
    let prompt = build(
        Host::new()
            .runtime()
            .agent(entry(of("chief")).prompt(PromptTool::new("helper")))
            .agent(entry(of("helper")).expose("Helps.").subagent(background())),
    );
    assert!(
        prompt.contains(
            "runs an agent as a prompt, and that agent starts sub-agents in the background"
        ),
        "{prompt}"
    );
    for tool in [
        background(),
        background().immediate(Immediate::once("Watch.")),
    ] {
        let middle = nested(tool);
        assert!(
            middle.contains("is not resumable, and that sub-agent starts others in the background"),
            "{middle}"
        );
    }
    for gate in [
        SpawnGate::disabled(),
        SpawnGate::default().targets(["other"]),
    ] {
        let tool = background().immediate(Immediate::once("Watch."));
        let refused = build(
            Host::new()
                .runtime()
                .agent(
                    entry(of("chief"))
                        .spawn(gate)
                        .subagent(tool)
                        .subagent(Subagent::new("other")),
                )
                .agent(worker(of("other"))),
        );
        assert!(refused.contains("that its spawn gate refuses"), "{refused}");
    }
}

// Eight prompts run within each other on the stack of a worker thread of Tokio, and the next one is refused.
#[test]
fn nested_prompts_need_no_large_stack() {
    let run = || {
        let mut tokio = tokio::runtime::Builder::new_current_thread();
        tokio.enable_all().build().unwrap().block_on(async {
            let (host, log) = (Host::new(), Log::default());
            let nested = agent(
                "nested",
                &log,
                [
                    calls([("nested", json!({"message": "Go."}))]),
                    text("Done."),
                ],
            );
            let runtime = host
                .runtime()
                .agent(entry(commander(&log, "nested")).prompt(PromptTool::new("nested")))
                .agent(
                    entry(nested)
                        .expose("Nests.")
                        .prompt(PromptTool::new("nested")),
                )
                .build()
                .unwrap();
            let cx = context().build();
            let outcome = runtime.respond("chief", "call Go.", &cx).await;
            assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
            // Each of the eight prompts had a request before and after its call.
            assert_eq!(log.of("nested").len(), 16);
            assert_eq!(runtime.threads_below(&cx).await.unwrap().len(), 8);
        });
    };
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    thread.spawn(run).unwrap().join().unwrap();
}
