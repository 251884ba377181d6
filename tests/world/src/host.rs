//! A host of the SDK, as its users write one. With `store.rs` the only file that names the SDK's gate, turns and stores.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::store::{
    ApprovalFilter, ApprovalStatus, AuditFilter, EffectLedger as _, EffectState, NewMessage,
    Resolution, Role, ThreadStore as _, Timestamp, Verdict,
};
use tool_core::turn::{Model, ModelMessage, Outcome, Request, ToolMessage, TurnError, Turns};
use tool_core::wire::Provider;
use tool_core::{
    Approvals, Audit, CancellationToken, Disables, Gate, Hooks, KeyRing, Permitted, Ran, Registry,
    Reply, Retry, Rules, SecretString, ToolCall, ToolContext, ToolError, Toolset,
};

use crate::facts::{Place, World, sentinel, spellings};
use crate::plan::{AuditMode, HookFault, Run, Say, Settings, Who};
use crate::process::Process;
use crate::store::{HostStore, Shared};
use crate::tools::{self, Library, Phone, place};

/// The gate and what belongs to it, in one process.
pub(crate) struct Host {
    pub(crate) process: Arc<Process>,
    store: HostStore,
    gate: Gate,
    registry: Registry,
    policy: SharedPolicy,
    disables: Disables,
    phone: Phone,
    parallel: usize,
}

/// How a drive ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The run is over.
    Done,
    /// Approvals are missing.
    Waiting,
    /// An effect has to be settled.
    Unsettled,
    /// The host takes no more calls.
    Draining,
    /// Something failed.
    Failed(String),
}

/// A request to drive a run.
pub(crate) struct Drive {
    pub(crate) index: usize,
    pub(crate) run: Run,
    pub(crate) stop: CancellationToken,
    pub(crate) deadline: Option<u64>,
}

fn policy_without(denied: &BTreeSet<String>) -> Result<Policy, String> {
    let mut policy = Policy::builder();
    for tool in denied {
        policy = policy.rule(Rule::deny(tool.as_str()).tools([tool.as_str()]));
    }
    policy.build().map_err(|error| error.to_string())
}

/// The secrets of a workspace: one for a service, one read from a file with its newline, one of a provider.
pub(crate) fn secrets(tenant: &str) -> [String; 3] {
    [
        format!("sk-{tenant}-4711"),
        format!("fk-{tenant}-0815\n"),
        format!("ak-{tenant}-2342"),
    ]
}

/// Every spelling of the secrets of a workspace that must not leave a host.
pub(crate) fn hidden(tenant: &str) -> Vec<String> {
    let texts = secrets(tenant);
    texts
        .iter()
        .flat_map(|text| spellings(text.trim()))
        .collect()
}

impl Host {
    pub(crate) fn start(
        shared: &Shared,
        process: &Arc<Process>,
        settings: &Settings,
    ) -> Result<Self, String> {
        let store = HostStore::new(shared, process);
        let keys = KeyRing::new("world", b"thirty-two bytes of randomness!!".to_vec());
        let keys = keys.map_err(|error| error.to_string())?;
        let approvals = Approvals::builder(store.clone()).keys(keys).build();
        let audit = match settings.audit {
            AuditMode::Required => Audit::required(store.clone()),
            AuditMode::BestEffort => Audit::best_effort(store.clone()),
        };
        let layer = HookLayer(Arc::clone(process));
        let gate = Gate::builder()
            .approvals(approvals.map_err(|error| error.to_string())?)
            .ledger(store.clone())
            .audit(audit)
            .retry(Retry {
                attempts: settings.attempts,
                wait: Duration::from_millis(50),
            })
            .layer(layer)
            .build();
        let policy = SharedPolicy::new(policy_without(&BTreeSet::new())?);
        let disables = Disables::default();
        let phone = Phone {
            process: Arc::clone(process),
            policy: policy.clone(),
            disables: disables.clone(),
        };
        let registry = tools::all(&phone).build();
        Ok(Self {
            process: Arc::clone(process),
            store,
            gate,
            registry: registry.map_err(|error| error.to_string())?,
            policy,
            disables,
            phone,
            parallel: settings.parallel,
        })
    }

    fn world(&self) -> &World {
        &self.process.world
    }

    fn tools(&self, cx: &ToolContext) -> Toolset {
        let rules = Rules::default()
            .policy(&self.policy)
            .disables(&self.disables);
        self.registry.toolset(cx, &rules).through(&self.gate)
    }

    fn cx(&self, who: &Who, turn: &str, stop: &CancellationToken) -> ToolContext {
        self.cx_until(who, turn, stop, None)
    }

    fn cx_until(
        &self,
        who: &Who,
        turn: &str,
        stop: &CancellationToken,
        deadline: Option<u64>,
    ) -> ToolContext {
        let [service, file, provider] = secrets(&who.tenant);
        let builder = || {
            let mut builder = ToolContext::builder()
                .workspace(&*who.tenant)
                .user(&*who.user)
                .agent(format!("agent of {}", who.conversation))
                .conversation(&*who.conversation)
                .turn(turn)
                .secret("service_key", SecretString::from(service.clone()))
                .secret("file_key", SecretString::from(file.clone()))
                .api_key("openai", SecretString::from(provider.clone()))
                .cancellation(stop.clone())
                .with(self.phone.clone())
                .with(Library);
            if let Some(deadline) = deadline {
                builder = builder.deadline(Duration::from_millis(deadline));
            }
            builder
        };
        let tools = self.tools(&builder().build());
        builder().tools(&tools).build()
    }

    /// Stores what the user says.
    pub(crate) async fn write(&self, who: &Who, turn: &str, text: &str) -> Result<(), String> {
        let message = NewMessage {
            thread: who.conversation.clone(),
            turn: turn.to_owned(),
            role: Role::User,
            call: None,
            content: json!(text).to_string(),
            at: Timestamp::now(),
        };
        let stored = self.store.append(message).await;
        stored.map(drop).map_err(|error| error.to_string())
    }

    /// Drives a run until it ends or has to wait.
    pub(crate) async fn drive(&self, drive: Drive) -> End {
        let Drive {
            index,
            run,
            stop,
            deadline,
        } = drive;
        let cx = self.cx_until(&run.who, &run.turn, &stop, deadline);
        let (world, who) = (self.world().clone(), run.who.clone());
        let (progress_world, progress_who) = (world.clone(), who.clone());
        let turns = Turns::new(self.store.clone())
            .parallel(self.parallel)
            .observe(move |result| {
                let text = serde_json::to_string(result).unwrap_or_default();
                world.seen(&who, "a result", &text);
            })
            .progress(move |_, step| {
                progress_world.seen(&progress_who, "an event", step.get());
            });
        let mut model = Script {
            index,
            run: run.clone(),
            stop: stop.clone(),
            process: Arc::clone(&self.process),
        };
        let ended = turns.drive(&mut model, |cx| self.tools(cx), &cx).await;
        let end = match ended {
            Ok(Outcome::Said(_) | Outcome::Replied(_) | Outcome::StepLimit) => End::Done,
            Ok(Outcome::Waiting(tickets)) => {
                for ticket in &tickets {
                    if format!("{ticket:?}").contains(&ticket.token) {
                        let what = "`Debug` of a ticket prints its token";
                        self.world().violated("token_printed", what);
                    }
                }
                End::Waiting
            }
            Ok(Outcome::Lacking(_)) => End::Failed("variables are missing".to_owned()),
            Ok(Outcome::Unsettled(_)) => End::Unsettled,
            Err(TurnError::Draining) => End::Draining,
            Err(error) => End::Failed(error.to_string()),
        };
        self.process
            .note(&format!("{} {}: {end:?}", run.who, run.turn));
        end
    }

    /// What the client of a run is shown of the questions that wait in it.
    pub(crate) async fn inbox(&self, run: &Run) {
        let Some(approvals) = self.gate.approvals() else {
            return;
        };
        for step in 1..=run.script.len() {
            let turn = format!("{}.{step}", run.turn);
            let Ok(tickets) = approvals.waiting(&run.who.tenant, &turn).await else {
                continue;
            };
            for ticket in tickets {
                self.world().seen(&run.who, "a question", &ticket.arguments);
                let filter = ApprovalFilter {
                    tenant: Some(run.who.tenant.clone()),
                    ..ApprovalFilter::default()
                };
                let rows = approvals.list(&filter).await.unwrap_or_default();
                let row = rows.iter().find(|row| row.request.id == ticket.id);
                let thread = row.and_then(|row| row.request.thread.clone());
                if thread.as_deref() != Some(&run.who.conversation) {
                    let what = format!("{} is shown a question of {thread:?}", run.who);
                    self.world().violated("foreign_question", what);
                }
            }
        }
    }

    /// Answers everything that waits in a workspace.
    pub(crate) async fn answer(&self, tenant: &str, reply: Say, times: u32) -> usize {
        let Some(approvals) = self.gate.approvals() else {
            return 0;
        };
        let filter = ApprovalFilter {
            tenant: Some(tenant.to_owned()),
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let rows = approvals.list(&filter).await.unwrap_or_default();
        let tools = self.registry.open();
        let mut answered = 0;
        for row in rows {
            let Ok(ticket) = approvals.ticket_of(&row.request.id).await else {
                continue;
            };
            let mut counted = 0;
            for _ in 0..times {
                let reply = match reply {
                    Say::Approve => Reply::Approve,
                    Say::Deny => Reply::Deny,
                    Say::Edit => Reply::Edit(edited(&ticket.arguments)),
                };
                let token = &ticket.token;
                let done = approvals.answer(&tools, token, reply, "olga", None).await;
                if done.is_err() {
                    continue;
                }
                (answered, counted) = (answered + 1, counted + 1);
                if counted > 1 {
                    let what = format!("a second answer to a call of {} counts", row.request.tool);
                    self.world().violated("answered_twice", what);
                }
            }
        }
        answered
    }

    /// Presents the token of somebody's approval.
    pub(crate) async fn resume(&self, token_of: &Run, by: &Run) {
        let Some(approvals) = self.gate.approvals() else {
            return;
        };
        let filter = ApprovalFilter {
            tenant: Some(token_of.who.tenant.clone()),
            thread: Some(token_of.who.conversation.clone()),
            ..ApprovalFilter::default()
        };
        let rows = approvals.list(&filter).await.unwrap_or_default();
        for row in rows {
            let Ok(ticket) = approvals.ticket_of(&row.request.id).await else {
                continue;
            };
            let stop = CancellationToken::new();
            let cx = self.cx(&by.who, &format!("{}.1", by.turn), &stop);
            let tools = self.tools(&cx);
            let result = tools.resume(&ticket.token, &cx).await;
            let text = result.envelope();
            self.world().seen(&by.who, "a resumed call", &text);
            self.process.note(&format!("resume: {text}"));
        }
    }

    /// Settles ambiguous effects: by what the receiver knows, or by letting them run again.
    pub(crate) async fn resolve(&self, rerun: bool) -> usize {
        let _ = self.store.sweep(Timestamp::now()).await;
        let rows = self.store.list(None, None).await.unwrap_or_default();
        let succeeded = rows
            .iter()
            .filter(|row| row.state == EffectState::Succeeded);
        let mut known: Vec<Place> = succeeded.map(place_of).collect();
        let mut settled = 0;
        for row in rows {
            if row.state != EffectState::Ambiguous {
                continue;
            }
            let intent = &row.intent;
            let place = place_of(&row);
            let rerun = rerun || tools::is_relay(&place.tool);
            let arrived = {
                let facts = self.world().facts();
                let effects = facts
                    .begins
                    .iter()
                    .filter(|begin| begin.place == place && begin.effect);
                effects.count() > known.iter().filter(|of| **of == place).count()
            };
            let resolution = match (rerun, arrived) {
                (true, _) => Resolution::Rerun,
                (false, true) => Resolution::Succeeded("\"it arrived\"".to_owned()),
                (false, false) => Resolution::Failed("it did not arrive".to_owned()),
            };
            // Before the row changes: a call may begin at once.
            if rerun {
                *self
                    .world()
                    .facts()
                    .reruns
                    .entry(place.clone())
                    .or_default() += 1;
            }
            let done = self.gate.resolve(&intent.key, resolution, "olga").await;
            if done.is_ok() {
                settled += 1;
                if arrived && !rerun {
                    known.push(place);
                }
            }
        }
        settled
    }

    pub(crate) fn kill(&self, tool: &str) {
        self.policy.kill(tool, None);
    }

    pub(crate) fn disable(&self, tool: &str) {
        self.disables.disable(tool);
    }

    pub(crate) fn deny(&self, tool: &str) {
        if let Ok(policy) = policy_without(&BTreeSet::from([tool.to_owned()])) {
            self.policy.replace(policy);
        }
    }

    pub(crate) async fn drain(&self, patience: Duration) -> usize {
        self.gate.drain(patience).await
    }
}

/// Where the call of an effect stands.
fn place_of(row: &tool_core::store::EffectRow) -> Place {
    let intent = &row.intent;
    place(
        &intent.tenant,
        intent.thread.as_deref().unwrap_or_default(),
        &intent.turn,
        &intent.tool,
    )
}

/// Arguments with another note, which an operator has written.
fn edited(arguments: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    value["note"] = json!("edited");
    value.to_string()
}

/// A model that writes what its run says.
struct Script {
    index: usize,
    run: Run,
    stop: CancellationToken,
    process: Arc<Process>,
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let who = &self.run.who;
        let world = &self.process.world;
        if self.stop.is_cancelled() {
            let what = format!("the model of {who} {} was asked after stop", self.run.turn);
            world.violated("asked_after_stop", what);
        }
        // Each run talks to another provider.
        let provider = Provider::ALL[self.index % Provider::ALL.len()];
        let history = provider.history(request.messages);
        let answer = match history {
            Err(error) => Err(ToolError::new(error.to_string())),
            Ok(history) => {
                for message in &history.messages {
                    world.seen(who, "a request to the model", message.get());
                }
                let at = usize::try_from(request.step).unwrap_or(usize::MAX) - 1;
                Ok(self.run.script.get(at).map_or_else(
                    || ModelMessage::text("done"),
                    |message| ModelMessage::calls(message.calls.iter().map(|call| self.call(call))),
                ))
            }
        };
        self.process.note(&format!(
            "{who} {} asks step {}",
            self.run.turn, request.step
        ));
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(3)).await;
            answer
        })
    }
}

impl Script {
    fn call(&self, call: &crate::plan::Call) -> ToolCall {
        let who = &self.run.who;
        let own = sentinel(&who.tenant, &who.conversation);
        let arguments = call.arguments.replace("{sentinel}", &own);
        ToolCall::new(&*call.id, &*call.tool, arguments)
    }
}

/// A layer around every body, which fails where the plan says so.
struct HookLayer(Arc<Process>);

impl tower::Layer<Hooks> for HookLayer {
    type Service = Hook;

    fn layer(&self, inner: Hooks) -> Hook {
        Hook {
            inner,
            process: Arc::clone(&self.0),
        }
    }
}

#[derive(Clone)]
struct Hook {
    inner: Hooks,
    process: Arc<Process>,
}

impl tower::Service<Permitted> for Hook {
    type Response = Ran;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Ran, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    #[expect(clippy::panic, reason = "the fault that was asked for")]
    fn call(&mut self, permitted: Permitted) -> Self::Future {
        let fault = self.process.hook();
        if let Some(fault) = fault {
            self.process.note(&format!("hook {fault:?}"));
        }
        let run = match fault {
            Some(HookFault::FailsBefore) => {
                return Box::pin(std::future::ready(Err("the hook fails".into())));
            }
            Some(HookFault::PanicsBefore) => {
                return Box::pin(async { panic!("the simulated hook panicked") });
            }
            _ => self.inner.call(permitted),
        };
        Box::pin(async move {
            let ran = run.await?;
            match fault {
                Some(HookFault::FailsAfter) => Err("the hook fails".into()),
                Some(HookFault::PanicsAfter) => panic!("the simulated hook panicked"),
                _ => Ok(ran),
            }
        })
    }
}

/// An effect in the ledger.
pub(crate) struct EffectSeen {
    pub(crate) place: Place,
    pub(crate) state: &'static str,
    pub(crate) text: String,
}

/// A row of the audit.
pub(crate) struct AuditSeen {
    pub(crate) place: Place,
    pub(crate) user: String,
    pub(crate) outcome: Option<String>,
    pub(crate) text: String,
}

/// An approval.
pub(crate) struct ApprovalSeen {
    pub(crate) place: Place,
    pub(crate) user: String,
    /// What was granted; none where nothing was.
    pub(crate) granted: Option<String>,
}

/// A message of a thread.
pub(crate) struct MessageSeen {
    pub(crate) place: Place,
    pub(crate) role: &'static str,
    /// The word of the error of a tool's result.
    pub(crate) error: Option<String>,
    /// What the model reads.
    pub(crate) text: String,
    pub(crate) content: String,
}

/// Everything in the store, without faults.
pub(crate) struct Rows {
    pub(crate) effects: Vec<EffectSeen>,
    pub(crate) audit: Vec<AuditSeen>,
    pub(crate) approvals: Vec<ApprovalSeen>,
    /// By conversation of a workspace.
    pub(crate) threads: Vec<(Who, Vec<MessageSeen>)>,
}

impl Rows {
    pub(crate) async fn read(shared: &Shared, whose: &BTreeSet<Who>) -> Self {
        let effects = shared.run(|store| Box::pin(async move { EffectList::all(&*store).await }));
        let approvals = shared.run(|store| {
            Box::pin(async move {
                tool_core::store::ApprovalStore::list(&*store, &ApprovalFilter::default()).await
            })
        });
        let audit = shared
            .run(|store| Box::pin(async move { store.export(&AuditFilter::default()).await }));
        let mut threads = Vec::new();
        for who in whose {
            let conversation = who.conversation.clone();
            let messages = shared.run(|store| {
                Box::pin(async move {
                    tool_core::store::ThreadStore::read(&*store, &conversation, None).await
                })
            });
            let messages = messages.await.unwrap_or_default();
            let seen = messages.iter().map(|message| seen_message(who, message));
            threads.push((who.clone(), seen.collect()));
        }
        Self {
            effects: effects.await.unwrap_or_default(),
            audit: audit
                .await
                .unwrap_or_default()
                .iter()
                .map(seen_audit)
                .collect(),
            approvals: approvals
                .await
                .unwrap_or_default()
                .iter()
                .map(seen_approval)
                .collect(),
            threads,
        }
    }
}

struct EffectList;

impl EffectList {
    async fn all(
        store: &dyn tool_core::store::Store,
    ) -> Result<Vec<EffectSeen>, tool_core::store::StoreError> {
        let rows = tool_core::store::EffectLedger::list(store, None, None).await?;
        let seen = rows.iter().map(|row| EffectSeen {
            place: place_of(row),
            state: row.state.as_str(),
            text: row.result.clone().unwrap_or_default(),
        });
        Ok(seen.collect())
    }
}

fn seen_audit(row: &tool_core::store::AuditRow) -> AuditSeen {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    AuditSeen {
        place: place(
            &text(&row.tenant),
            &text(&row.thread),
            &text(&row.turn),
            &row.tool,
        ),
        user: text(&row.principal),
        outcome: row.outcome.clone(),
        text: serde_json::to_string(row).unwrap_or_default(),
    }
}

fn seen_approval(row: &tool_core::store::ApprovalRow) -> ApprovalSeen {
    let request = &row.request;
    let used = matches!(row.status, ApprovalStatus::Approved | ApprovalStatus::Spent);
    let granted = row.answer.as_ref().filter(|_| used);
    ApprovalSeen {
        place: place(
            &request.tenant,
            request.thread.as_deref().unwrap_or_default(),
            &request.turn,
            &request.tool,
        ),
        user: request.principal.clone(),
        granted: granted.map(|answer| match &answer.verdict {
            Verdict::Edit(arguments) => arguments.clone(),
            Verdict::Approve | Verdict::Deny => request.arguments.clone(),
        }),
    }
}

fn seen_message(who: &Who, message: &tool_core::store::Message) -> MessageSeen {
    let told: Option<ToolMessage> = match message.role {
        Role::Tool => serde_json::from_str(&message.content).ok(),
        Role::User | Role::Assistant => None,
    };
    let tool = told.as_ref().map_or("", |told| told.name.as_str());
    MessageSeen {
        place: place(&who.tenant, &who.conversation, &message.turn, tool),
        role: message.role.as_str(),
        error: told.as_ref().and_then(|told| told.error.clone()),
        text: told.map_or_else(String::new, |told| told.text),
        content: message.content.clone(),
    }
}
