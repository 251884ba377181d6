//! Variables: how threads inherit them, and the error for a missing required variable.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::variables::{Declarations, Level, PromptError, Thread, Variables};
use tool_core::{
    Approvals, Audit, Effect, ErrorKind, ExposeSecret, Gate, VariableKind, VariableNeed,
};

const SECRET: &str = "correct horse battery";

fn need(name: &'static str) -> VariableNeed {
    VariableNeed::new(name)
}

fn optional(name: &'static str) -> VariableNeed {
    VariableNeed {
        required: false,
        ..need(name)
    }
}

fn scoped(name: &'static str) -> VariableNeed {
    VariableNeed {
        scoped: true,
        ..need(name)
    }
}

fn secret(name: &'static str) -> VariableNeed {
    VariableNeed {
        kind: VariableKind::Secret,
        ..need(name)
    }
}

fn declared(needs: &[VariableNeed]) -> Declarations {
    let mut all = Declarations::new();
    all.add("the test", needs).unwrap();
    all
}

/// Returns the value of `X` in a thread that declares `need`.
fn seen(thread: &Thread, need: VariableNeed) -> Option<String> {
    let turn = thread.resolve(&declared(&[need]));
    turn.get("X").map(|value| value.expose().to_owned())
}

/// Lists the orders of the region.
#[tool(variable("LIMIT", optional, description = "The maximum number of orders."))]
async fn list_orders(
    cx: &ToolContext,
    #[variable("REGION", description = "The region.")] region: String,
    #[variable("TOKEN", secret)] token: SecretString,
    /// The status of the orders.
    status: String,
) -> String {
    let limit = cx.variable("LIMIT").unwrap_or("all");
    format!(
        "{limit} {status} in {region}, token of {}",
        token.expose_secret().len()
    )
}

// S4-07: a definition has a description, the schema of its arguments, a body and its variables. The variables are not part of the schema.
#[tokio::test]
async fn definition_declares_its_variables() {
    let tools = toolset![list_orders];
    let tool = tools.get("list_orders").unwrap();
    assert_eq!(tool.description(), "Lists the orders of the region.");
    let schema = tool.schema(Dialect::JsonSchema);
    assert!(schema.contains("status") && !schema.contains("REGION") && !schema.contains("LIMIT"));
    let declared: Vec<_> = tool
        .variables()
        .iter()
        .map(|need| (&*need.name, need.kind, need.required))
        .collect();
    assert_eq!(
        declared,
        [
            ("LIMIT", VariableKind::Text, false),
            ("REGION", VariableKind::Text, true),
            ("TOKEN", VariableKind::Secret, true),
        ]
    );
    let cx = ToolContext::builder()
        .variable("REGION", "eu")
        .variable("LIMIT", "5")
        .secret_variable("TOKEN", SECRET)
        .build();
    let call = ToolCall::new("c-1", "list_orders", r#"{"status":"open"}"#);
    let result = tools.call(call, &cx).await;
    assert_eq!(result.model_text(), "5 open in eu, token of 21");
}

// S4-20: of the levels that set a variable, the first of thread, agent, prompt, user and instance decides.
#[test]
fn variable_levels_have_a_fixed_precedence() {
    assert_eq!(
        Level::ORDER,
        [
            Level::Thread,
            Level::Agent,
            Level::Prompt,
            Level::User,
            Level::Instance
        ]
    );
    for set in 1_usize..32 {
        let [agent, prompt, user, instance] = std::array::from_fn(|_| Variables::new());
        let thread = Thread::new()
            .agent(&agent)
            .prompt(&prompt)
            .user(&user)
            .instance(&instance);
        for (at, values) in [thread.own(), &agent, &prompt, &user, &instance]
            .into_iter()
            .enumerate()
        {
            if set & (1 << at) != 0 {
                values.set("X", format!("{:?}", Level::ORDER[at]));
            }
        }
        let first = Level::ORDER[set.trailing_zeros() as usize];
        let (level, value) = thread.find("X").unwrap();
        assert_eq!(
            (level, value.expose()),
            (first, &*format!("{first:?}")),
            "{set:05b}"
        );
    }
    assert!(Thread::new().find("X").is_none());
}

// S4-15: if the parent sets X = 1 and the child declares a scoped X, X is unresolved in the child.
#[test]
fn a_scoped_name_is_not_inherited() {
    let parent = Thread::new();
    parent.own().set("X", "1");
    let child = parent.child(&declared(&[scoped("X")]));
    assert_eq!(seen(&child, scoped("X")), None);
    let turn = child.resolve(&declared(&[scoped("X")]));
    assert_eq!(turn.missing(), [scoped("X")]);
    // A child that does not scope the name inherits the value.
    assert_eq!(
        seen(&parent.child(&declared(&[need("X")])), need("X")).as_deref(),
        Some("1")
    );
    // A value of the parent's agent is not inherited either; a value of the user is visible, because it does not belong to the parent.
    let (agent, user) = (Variables::new(), Variables::new());
    agent.set("X", "of the agent");
    let parent = Thread::new().agent(&agent).user(&user);
    let child = parent.child(&declared(&[scoped("X")]));
    assert_eq!(seen(&child, scoped("X")), None);
    user.set("X", "of the user");
    assert_eq!(seen(&child, scoped("X")).as_deref(), Some("of the user"));
}

// S4-16: if the child sets X = 2, a grandchild that does not scope X inherits 2.
#[test]
fn scoped_value_is_inherited_by_children() {
    let parent = Thread::new();
    parent.own().set("X", "1");
    let child = parent.child(&declared(&[scoped("X")]));
    let plain = child.child(&declared(&[need("X")]));
    let strict = child.child(&declared(&[scoped("X")]));
    assert_eq!(
        seen(&plain, need("X")),
        None,
        "the parent's value is not inherited past the child"
    );
    child.own().set("X", "2");
    assert_eq!(seen(&plain, need("X")).as_deref(), Some("2"));
    assert_eq!(seen(&strict, scoped("X")), None);
}

/// Declares a scoped variable.
#[tool(variable("OF_TOOL", scoped, optional))]
async fn scoping() {}

// S4-17: agents, prompts, tools and sub-agents contribute scoped names; a child's own value wins; the filter also applies to
// later edits of the parent.
#[test]
fn edits_reach_running_children_with_the_same_filter() {
    let mut nested = Declarations::new();
    nested
        .add("sub-agent `clerk`", &[scoped("OF_NESTED")])
        .unwrap();
    let mut all = Declarations::new();
    all.add("agent `desk`", &[scoped("OF_AGENT")]).unwrap();
    all.add("prompt `human`", &[scoped("OF_PROMPT")]).unwrap();
    all.add("prompt `dual`", &[scoped("OF_DUAL"), optional("FREE")])
        .unwrap();
    all.tools(toolset![scoping].tools()).unwrap();
    all.join(&nested).unwrap();

    let parent = Thread::new();
    let child = parent.child(&all);
    let below = child.child(&Declarations::new());
    let names = [
        "OF_AGENT",
        "OF_PROMPT",
        "OF_DUAL",
        "OF_TOOL",
        "OF_NESTED",
        "FREE",
    ];
    for round in ["1", "2"] {
        for name in names {
            parent.own().set(name, round);
        }
        for thread in [&child, &below] {
            let found = names.map(|name| thread.find(name).map(|(_, v)| v.expose().to_owned()));
            assert_eq!(
                found,
                [None, None, None, None, None, Some(round.to_owned())]
            );
        }
    }
    child.own().set("FREE", "own");
    parent.own().set("FREE", "3");
    assert_eq!(below.find("FREE").unwrap().1.expose(), "own");
    assert!(child.own().remove("FREE"));
    assert_eq!(below.find("FREE").unwrap().1.expose(), "3");
    parent.own().remove("FREE");
    assert!(below.find("FREE").is_none());
}

// S4-11, S4-19: the union contains each name once; a name with two types is refused, and the error names both places.
#[test]
fn variable_with_two_types_is_refused() {
    let mut all = Declarations::new();
    let described = VariableNeed {
        description: Some("Where it runs.".into()),
        ..optional("X")
    };
    all.add("prompt `a`", &[described, optional("Y")]).unwrap();
    all.tools(toolset![deploy].tools()).unwrap();
    all.add("agent `b`", &[scoped("X")]).unwrap();
    let names: Vec<_> = all.iter().map(|need| &*need.name).collect();
    assert_eq!(names, ["REGION", "TOKEN", "X", "Y"]);
    let x = all.get("X").unwrap();
    assert_eq!(
        (x.required, x.scoped, x.description.as_deref()),
        (true, true, Some("Where it runs."))
    );
    assert!(!all.get("Y").unwrap().required);

    let clash = all
        .add("prompt `c`", &[need("Z"), need("TOKEN")])
        .unwrap_err();
    assert_eq!(
        clash.to_string(),
        "the variable `TOKEN` is secret in tool `deploy` and text in prompt `c`, declare it with one type or name one of them \
         differently"
    );
    assert!(all.get("Z").is_none(), "nothing was added");
    let mut one = Declarations::new();
    assert!(one.add("prompt `d`", &[need("X"), secret("X")]).is_err());
}

// S4-12: text is inserted into a prompt part; S4-13: secrets and undeclared names are not.
#[test]
fn prompts_render_only_declared_text_variables() {
    let thread = Thread::new();
    thread.own().set("X", "{{TOKEN}}");
    thread.own().set("TOKEN", SecretString::from(SECRET));
    thread.own().set("PLAIN", SECRET);
    thread.own().set("STRAY", "not declared");
    let turn = thread.resolve(&declared(&[
        need("X"),
        need("TOKEN"),
        secret("PLAIN"),
        optional("EMPTY"),
        need("GONE"),
        secret("GONE_TOO"),
    ]));
    assert_eq!(
        turn.prompt("a {{X}} b {{ X }}{{EMPTY}} {{").unwrap(),
        "a {{TOKEN}} b {{TOKEN}} {{"
    );
    for name in ["TOKEN", "PLAIN", "GONE_TOO"] {
        assert_eq!(
            turn.prompt(&format!("{{{{{name}}}}}")),
            Err(PromptError::Secret(name.to_owned()))
        );
    }
    assert_eq!(
        turn.prompt("{{STRAY}}"),
        Err(PromptError::Undeclared("STRAY".to_owned()))
    );
    assert_eq!(
        turn.prompt("{{GONE}}"),
        Err(PromptError::Missing(Box::new(need("GONE"))))
    );
    let printed = format!("{turn:?} {thread:?}");
    assert!(!printed.contains(SECRET) && !printed.contains("not declared"));
}

// S4-18: the list of missing variables contains the description that the user reads.
#[test]
fn missing_variables_have_descriptions() {
    let mut all = Declarations::new();
    all.tools(toolset![deploy].tools()).unwrap();
    let thread = Thread::new();
    thread.own().set("TOKEN", SecretString::from(""));
    let turn = thread.resolve(&all);
    let missing: Vec<_> = turn
        .missing()
        .iter()
        .map(|need| (&*need.name, need.description.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(
        missing,
        [
            ("REGION", "Where it runs."),
            ("TOKEN", "A deploy token. The console shows it.")
        ]
    );
}

#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);
tool_core::host_value!(Runs, Effect::WRITE);

/// Deploys a program.
#[tool(approval)]
async fn deploy(
    runs: &Runs,
    #[variable("REGION", description = "Where it runs.")] region: String,
    #[variable("TOKEN", secret, description = "A deploy token. The console shows it.")]
    token: SecretString,
) -> String {
    runs.0.fetch_add(1, Ordering::SeqCst);
    format!("to {region} with {}", token.expose_secret())
}

/// Returns the variables that it reads.
#[tool(
    read_only,
    variable("TOKEN", secret, optional),
    variable("REGION", optional)
)]
async fn tell(cx: &ToolContext) -> Result<Vec<String>, ToolError> {
    let foreign = cx.env("FOREIGN").unwrap_err();
    assert_eq!(foreign.kind(), ErrorKind::Denied);
    let region = cx.env("REGION")?;
    let token = cx.env("TOKEN")?;
    Ok(vec![
        region.expose().to_owned(),
        token.expose().to_owned(),
        format!("{token:?}"),
    ])
}

fn call(name: &str) -> ToolCall {
    ToolCall::new("c-1", name, "{}")
}

// S4-14: with a required variable missing the body does not run, no approval is requested, and the error names the variable.
#[tokio::test]
async fn missing_variable_is_requested_from_the_user() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let open = toolset![deploy];
    for tools in [open.clone(), open.through(&gate)] {
        let runs = Runs::default();
        let cx = ToolContext::builder().with(runs.clone()).build();
        let result = tools.call(call("deploy"), &cx).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Pending);
        assert_eq!(error.missing_variables(), deploy::DEF.variables());
        assert_eq!(
            result.model_text(),
            "variables_required: `REGION` (Where it runs), `TOKEN` (A deploy token. The console shows it) have no value, the call can be \
             made when the user has supplied them"
        );
        let envelope: serde_json::Value = serde_json::from_str(&result.envelope()).unwrap();
        assert_eq!(
            envelope["variables_required"],
            serde_json::json!([
                {"name": "REGION", "type": "text", "description": "Where it runs.", "scoped": false},
                {"name": "TOKEN", "type": "secret", "description": "A deploy token. The console shows it.", "scoped": false},
            ])
        );
        assert_eq!(
            tools.invoke(deploy {}, &cx).await.unwrap_err().kind(),
            ErrorKind::Pending
        );
        assert_eq!(runs.0.load(Ordering::SeqCst), 0);
    }
    let filter = tool_core::store::ApprovalFilter::default();
    let asked =
        tool_core::store::ApprovalStore::list(&store, tool_core::store::Scope::All, &filter).await;
    assert_eq!(asked.unwrap(), [], "no approval was requested");
}

/// Records every field of every span and event, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl tracing::field::Visit for Log {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        use std::fmt::Write as _;
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        span.record(&mut self.clone());
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// Returns the port.
#[tool(read_only)]
async fn port(#[variable("PORT")] port: u16) -> u16 {
    port
}

// S4-09: a tool reads a variable by its name, or the call reports that it is missing; values are never logged, whether
// they are texts or secrets, valid or invalid.
#[tokio::test]
async fn value_of_a_variable_is_never_logged() {
    const TEXT: &str = "eu-north-4711";
    const NO_PORT: &str = "no-port-4712";
    let log = Log::default();
    // With a single subscriber, tracing decides whether a callsite is enabled on the thread that reaches the callsite first, which may be the thread
    // of a different test.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let _guard = tracing::subscriber::set_default(log.clone());
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let open = toolset![tell, deploy, port];
    let complete = || {
        ToolContext::builder()
            .conversation("th-1")
            .with(Runs::default())
            .variable("REGION", TEXT)
            .variable("PORT", NO_PORT)
            .secret_variable("TOKEN", SECRET)
            .build()
    };
    let without = |name: &str| {
        let all = [("REGION", TEXT), ("TOKEN", SECRET)];
        let mut cx = ToolContext::builder().with(Runs::default());
        for (present, value) in all.into_iter().filter(|(present, _)| *present != name) {
            cx = if present == "TOKEN" {
                cx.secret_variable(present, value)
            } else {
                cx.variable(present, value)
            };
        }
        cx.build()
    };
    for tools in [open.clone(), open.through(&gate)] {
        let read = tools.call(call("tell"), &complete()).await;
        let read: Vec<String> = serde_json::from_str(read.output().unwrap().get()).unwrap();
        assert_eq!(read[0], TEXT);
        for name in ["REGION", "TOKEN"] {
            for tool in ["tell", "deploy"] {
                let result = tools.call(call(tool), &without(name)).await;
                let missing = result.error().unwrap().missing_variables();
                let names: Vec<_> = missing.iter().map(|need| &*need.name).collect();
                assert_eq!(names, [name], "{tool}");
            }
        }
        // The tool `deploy` waits for approval, and a variable of the tool `port` cannot be parsed.
        tools.call(call("deploy"), &complete()).await;
        let unusable = tools.call(call("port"), &complete()).await;
        let error = unusable.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.operator_text().contains("`PORT`"), "{error:?}");
        // The host logs its context, an error and a result.
        let cx = complete();
        tracing::info!(?cx, ?error, ?unusable, "what a host prints");
    }
    let log = log.0.lock().unwrap();
    assert!(log.contains("call started") && log.contains("what a host prints"));
    for value in [TEXT, SECRET, NO_PORT] {
        assert!(!log.contains(value), "{value}: {log}");
    }
}

// S4-13, S4-09: a tool reads a secret variable that it declares, and no output of the call contains the value.
#[tokio::test]
async fn secret_variable_is_never_exposed() {
    let thread = Thread::new();
    thread.own().set("REGION", "eu");
    // The value is stored as text, and the declaration makes it a secret.
    thread.own().set("TOKEN", SECRET);
    let mut all = Declarations::new();
    all.tools(toolset![tell].tools()).unwrap();
    let cx = ToolContext::builder()
        .variables(thread.resolve(&all))
        .build();
    let result = toolset![tell].call(call("tell"), &cx).await;
    assert_eq!(
        result.output().unwrap().get(),
        r#"["eu","[secret:TOKEN]","Secret(…)"]"#
    );
    let cx = ToolContext::builder().variable("REGION", "eu").build();
    let result = toolset![tell].call(call("tell"), &cx).await;
    assert_eq!(result.error().unwrap().missing_variables()[0].name, "TOKEN");
}

// S4-13, S4-14: an empty secret variable counts as not set, so a required variable is missing (F4)
#[tokio::test]
async fn an_empty_secret_variable_is_missing() {
    let region = ToolContext::builder().variable("REGION", "eu");
    let cx = region.secret_variable("TOKEN", "").build();
    let result = toolset![tell].call(call("tell"), &cx).await;
    let missing = result.error().unwrap().missing_variables();
    let names: Vec<_> = missing.iter().map(|need| &*need.name).collect();
    assert_eq!(names, ["TOKEN"]);
}

// S4-13: a secret variable that is too short to redact is refused, and so is a text value of a declared secret.
#[tokio::test]
async fn secret_variable_too_short_to_redact_is_refused() {
    let plain = ToolContext::builder().variable("TOKEN", SECRET).build();
    let short = ToolContext::builder()
        .secret_variable("TOKEN", "short")
        .build();
    for (cx, why) in [(plain, "secret_variable"), (short, "fewer than 6 bytes")] {
        let result = toolset![tell].call(call("tell"), &cx).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.operator_text().contains(why), "{error:?}");
        let error = toolset![tell].invoke(tell {}, &cx).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }
}
