//! A complete host with a model over HTTP: two conversations, policy, approval, effect ledger, audit and redaction, a restart in between, and a run
//! that its user stops.
//!
//! Run it with `cargo run --example host`, or with spans: `cargo run --example host --features otel`. The example needs no network and no key,
//! because a local server takes the place of the provider.

use std::path::Path;
use std::time::Duration;

use tool_core::policy::{Condition, Policy, Rule, SharedPolicy};
use tool_core::redact::{RedactingMakeWriter, SharedRedactor, install_panic_hook};
use tool_core::store::{
    AuditFilter, AuditSink, EffectLedger, RunFilter, RunState, Scope, ThreadId, Timestamp,
    Workspace,
};
use tool_core::turn::{Outcome, Turns};
use tool_core::{Approvals, Audit, Gate, KeyRing, Reply, Rules, prelude::*};
use tool_store::SqliteStore;
use tracing_subscriber::prelude::*;

mod model;
mod provider;
mod tools;

use model::HttpModel;
use tools::Mailer;

/// The instructions for the model in every conversation.
const INSTRUCTIONS: &str = "You keep the books of Acme. Answer in one sentence.";

type Error = Box<dyn std::error::Error>;

/// The objects that a process creates when it starts.
struct Host {
    store: SqliteStore,
    gate: Gate,
    registry: Registry,
    rules: Rules,
    turns: Turns,
    model: HttpModel,
    key: SecretString,
}

impl Host {
    async fn start(file: &Path, model: HttpModel, key: SecretString) -> Result<Self, Error> {
        let store = SqliteStore::open(file).await?;
        // A real host reads this key from its secret store, because a person with the key can forge approval tokens.
        let keys = KeyRing::new("2026-11", *b"thirty-two bytes of randomness!!")?;
        let gate = Gate::builder()
            .approvals(Approvals::builder(store.clone()).keys(keys).build()?)
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        // Running calls of dead processes become `ambiguous` once their lease has expired, and wait for `Gate::resolve`.
        store.sweep(Scope::All, Timestamp::now()).await?;
        let policy = Policy::builder()
            .rule(
                Rule::deny("keep-books")
                    .tools(["remove_*"])
                    .when(Condition::new("/number").less(1000))
                    .reason("the old books are kept"),
            )
            .rule(
                Rule::ask("mail-leaves")
                    .tools(["send_*"])
                    .reason("a customer reads it")
                    .four_eyes(),
            )
            .build()?;
        let rules = Rules::default()
            .policy(&SharedPolicy::new(policy))
            .secrets(["rates_key"])
            .deny(["change_account"]);
        let turns = Turns::new(store.clone())
            .progress(|call, step| println!("  {} … {step}", call.name))
            .observe(|result| println!("  {}: {}", result.name, result.text));
        let registry = Registry::linked()?;
        Ok(Self {
            store,
            gate,
            registry,
            rules,
            turns,
            model,
            key,
        })
    }

    /// Returns the context of a user's conversation. A real host reads the names from an authenticated session.
    fn context(&self, user: &str, conversation: &str) -> ToolContext {
        ToolContext::builder()
            .workspace("acme")
            .user(user)
            .conversation(conversation)
            .secret("rates_key", self.key.clone())
            .with(Mailer)
            .build()
    }

    fn tools(&self, cx: &ToolContext) -> Toolset {
        self.registry.toolset(cx, &self.rules).through(&self.gate)
    }

    /// Begins a conversation with the instructions as its first message.
    async fn begin(&self, user: &str, conversation: &str) -> Result<ToolContext, Error> {
        let cx = self.context(user, conversation);
        self.turns.instruct(INSTRUCTIONS, &cx).await?;
        Ok(cx)
    }

    /// Answers the last message of the conversation, or continues where an earlier run has stopped.
    async fn drive(&self, cx: &ToolContext) -> Result<Outcome, Error> {
        let tools = |cx: &ToolContext| self.tools(cx);
        Ok(self.turns.drive(&mut self.model.clone(), tools, cx).await?)
    }

    /// Stores a user's message and answers it.
    async fn respond(&self, message: &str, cx: &ToolContext) -> Result<Outcome, Error> {
        let tools = |cx: &ToolContext| self.tools(cx);
        let mut model = self.model.clone();
        Ok(self.turns.respond(message, &mut model, tools, cx).await?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // The host's own output is redacted here: logs, panics and (with `otel`) spans.
    let shared = SharedRedactor::default();
    install_panic_hook(&shared);
    let log = RedactingMakeWriter::new(std::io::stderr, shared.clone());
    let log = tracing_subscriber::fmt::layer().with_writer(log);
    let level = tracing_subscriber::filter::LevelFilter::INFO;
    let subscriber = tracing_subscriber::registry().with(level).with(log);
    #[cfg(feature = "otel")]
    let spans = opentelemetry_sdk::trace::InMemorySpanExporter::default(); // a real host exports to its collector
    #[cfg(feature = "otel")]
    let subscriber = {
        use opentelemetry::trace::TracerProvider as _;
        let exporter = tool_core::redact::RedactingExporter::new(spans.clone(), shared.clone());
        let provider = opentelemetry_sdk::trace::SdkTracerProvider::builder();
        let provider = provider.with_simple_exporter(exporter).build();
        subscriber.with(tracing_opentelemetry::layer().with_tracer(provider.tracer("host")))
    };
    subscriber.init();
    let key = SecretString::from("sk-rates-4711");
    let _lease = shared.add([("rates_key", key.clone())])?;

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("state.db");
    let model = HttpModel::new(
        &provider::start().await?,
        SecretString::from("sk-model-0815"),
    );
    let host = Host::start(&file, model.clone(), key.clone()).await?;
    let ann = host.begin("ann", "thread-1").await?;
    println!("{}", host.tools(&ann).explain("change_account"));
    let ask = "Send invoice 7 and import the payments.";
    if let Outcome::Waiting(tickets) = host.respond(ask, &ann).await? {
        for ticket in tickets {
            let why = ticket.reason.unwrap_or_default();
            println!("waiting: {} {} ({why})", ticket.tool, ticket.arguments);
        }
    }
    // Meanwhile, the conversation of a different user continues. The model uses the same ids for its calls.
    let cy = host.begin("cy", "thread-2").await?;
    if let Outcome::Answered(text) = host.respond("How many invoices are unpaid?", &cy).await? {
        println!("model: {text}");
    }
    host.store.close().await;

    println!("the process starts again");
    let host = Host::start(&file, model, key).await?;
    let ann = host.context("ann", "thread-1");
    let tools = host.tools(&ann);
    let approvals = host.gate.approvals().ok_or("the gate has approvals")?;
    let thread = ThreadId::new("acme", "thread-1")?;
    let acme = thread.workspace();
    for ticket in approvals.waiting(&thread).await? {
        // The host authenticates the approver. Ann has made the request, and the policy requires four eyes.
        let own = approvals
            .answer(acme, &tools, &ticket.token, Reply::Approve, "ann", None)
            .await;
        println!(
            "ann approves: {}",
            own.err()
                .map_or_else(String::new, |error| error.to_string())
        );
        approvals
            .answer(
                acme,
                &tools,
                &ticket.token,
                Reply::Approve,
                "bob",
                Some("checked"),
            )
            .await?;
        println!("bob approves");
    }
    if let Outcome::Answered(text) = host.drive(&ann).await? {
        println!("model: {text}");
    }

    stop_a_run(&host, &ann).await?;
    show_rows(&host, acme).await?;
    #[cfg(feature = "otel")]
    for span in spans.get_finished_spans()? {
        println!("span {} {:?}", span.name, span.status);
    }
    Ok(())
}

/// Stops a run that its user no longer wants. The host finds the run by its row, because a different process may be
/// driving the run.
async fn stop_a_run(host: &Host, ann: &ToolContext) -> Result<(), Error> {
    let running = RunFilter {
        conversation: ann.conversation().map(str::to_owned),
        state: Some(RunState::Running),
        ..RunFilter::default()
    };
    let workspace = ann.own_workspace();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        for run in host.turns.runs(&workspace, &running).await? {
            host.turns.cancel(&run.id).await?;
        }
        Ok::<_, Error>(())
    };
    let answered = host.respond("Write a report about every invoice.", ann);
    let (ended, stopped) = futures::future::join(answered, stop).await;
    stopped?;
    println!("stopped: {:?}", ended?);
    // The user continues the conversation after the stop.
    if let Outcome::Answered(text) = host.respond("Never mind.", ann).await? {
        println!("model: {text}");
    }
    Ok(())
}

/// Prints the stored rows: one for each run and one for each call.
async fn show_rows(host: &Host, acme: &Workspace) -> Result<(), Error> {
    println!("runs");
    let mut runs = host.turns.runs(acme, &RunFilter::default()).await?;
    runs.reverse(); // the newest run is first in the list
    for run in runs {
        let (thread, number) = (run.id.thread().conversation(), run.id.number());
        let cause = run.cause.map_or("running", |cause| cause.as_str());
        println!("  {thread} run {number}: {cause}");
    }
    println!("audit");
    for row in host
        .store
        .export(Scope::Workspace(acme), &AuditFilter::default())
        .await?
    {
        let outcome = row.outcome.unwrap_or_default();
        let approver = row
            .approver
            .map_or_else(String::new, |who| format!(", approved by {who}"));
        println!(
            "  {} {} {} {}: {outcome}{approver}",
            row.thread.unwrap_or_default(),
            row.call,
            row.tool,
            row.arguments
        );
    }
    Ok(())
}
