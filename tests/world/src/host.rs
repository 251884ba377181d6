//! A host that is written like a user's host. This file and its submodules call the SDK's gate and turns, `store.rs` wraps the SDK's stores, and
//! `tools.rs` uses the macros. The simulations of agents and of packs have hosts of their own.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use tool_core::limits::{Limit, LimitScope, Limits};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::store::{
    ApprovalFilter, ApprovalStatus, EffectLedger as _, EffectState, Resolution, Scope, ThreadId,
    Timestamp, Workspace,
};
use tool_core::turn::{Outcome, Turns};
use tool_core::{
    Approvals, Audit, CancellationToken, Disables, Gate, KeyRing, Registry, Reply, Retry, Rules,
    SecretString, Switches, ToolContext, Toolset,
};

use crate::facts::{Place, World, spellings};
use crate::plan::{AuditMode, PlannedReply, Run, Settings, User};
use crate::process::Process;
use crate::store::{HostStore, Shared};
use crate::tools::{self, Library, Phone, Switchboard};

mod rows;
mod script;

use rows::place_of;
pub(crate) use rows::{ApprovalSeen, MessageSeen, Rows};
use script::{HookLayer, Script};

/// A host in one process: its gate, store, policy and switches.
pub(crate) struct Host {
    pub(crate) process: Arc<Process>,
    store: HostStore,
    gate: Gate,
    registry: Registry,
    policy: SharedPolicy,
    disables: Disables,
    /// The stored switches, empty until they are read. `None` if the plan does not use stored switches.
    switches: Option<Arc<OnceLock<Switches>>>,
    phone: Phone,
    parallel: usize,
    agent: String,
}

/// The result of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The run is over.
    Done,
    /// The run waits for approvals.
    Waiting,
    /// An operator must settle an ambiguous effect first.
    Unsettled,
    /// The host is being drained and accepts no calls.
    Draining,
    /// The run was cancelled or interrupted, or it reached its deadline, its token budget or its limit on time.
    Stopped,
    /// Another request is driving the conversation.
    Busy,
    /// The drive failed, with this error.
    Failed(String),
}

/// A request to drive a run.
pub(crate) struct Drive {
    /// The index of the run.
    pub(crate) index: usize,
    /// All runs of the plan.
    pub(crate) runs: Arc<[Run]>,
    pub(crate) stop: CancellationToken,
    pub(crate) deadline: Option<u64>,
    /// The user's message that the drive stores first, if it stores one.
    pub(crate) message: Option<String>,
}

impl Drive {
    pub(crate) fn who(&self) -> &User {
        &self.runs[self.index].who
    }
}

fn policy_without(denied: &BTreeSet<String>) -> Result<Policy, String> {
    let mut policy = Policy::builder();
    for tool in denied {
        policy = policy.rule(Rule::deny(tool.as_str()).tools([tool.as_str()]));
    }
    policy.build().map_err(|error| error.to_string())
}

/// Returns the secrets of a workspace: the key of a service, a key from a file that ends with a newline, and the key of a provider.
pub(crate) fn secrets(tenant: &str) -> [String; 3] {
    [
        format!("sk-{tenant}-4711"),
        format!("fk-{tenant}-0815\n"),
        format!("ak-{tenant}-2342"),
    ]
}

/// Returns every spelling of a workspace's secrets that must not leave a host.
pub(crate) fn hidden(tenant: &str) -> Vec<String> {
    let texts = secrets(tenant);
    texts
        .iter()
        .flat_map(|text| spellings(text.trim()))
        .collect()
}

/// The delay before a request retries a busy thread or a failed read of the switches, and the number of retries for a busy thread.
const BUSY: (Duration, u32) = (Duration::from_millis(100), 50);

impl Host {
    pub(crate) fn start(
        shared: &Shared,
        process: &Arc<Process>,
        settings: &Settings,
    ) -> Result<Self, String> {
        let store = HostStore::new(shared, process, settings.one_database);
        let keys = KeyRing::new("world", b"thirty-two bytes of randomness!!".to_vec());
        let keys = keys.map_err(|error| error.to_string())?;
        let approvals = Approvals::builder(store.clone()).keys(keys).build();
        let audit = match settings.audit {
            AuditMode::Required => Audit::required(store.clone()),
            AuditMode::BestEffort => Audit::best_effort(store.clone()),
        };
        let layer = HookLayer(Arc::clone(process));
        let mut gate = Gate::builder();
        if let Some(calls) = settings.limit {
            let quota = Limit::quota(calls, Duration::from_mins(1));
            let limit = quota.per(LimitScope::Principal).each_tool();
            let limits = Limits::builder().limit(limit).build();
            gate = gate.limits(limits.map_err(|error| error.to_string())?);
        }
        let gate = gate
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
            switches: settings.switches.then(Arc::default),
            phone,
            parallel: settings.parallel,
            agent: if settings.agents {
                format!("assistant-{}", process.host)
            } else {
                "assistant".to_owned()
            },
        })
    }

    fn world(&self) -> &World {
        &self.process.world
    }

    /// Reads the stored switches at the first request, and retries until the read succeeds, because a host accepts no calls without them.
    async fn read_switches(&self) {
        let Some(cell) = &self.switches else { return };
        while cell.get().is_none() {
            match Switches::open(self.store.clone()).await {
                Ok(switches) => {
                    let _ = cell.set(switches);
                }
                Err(error) => {
                    self.process.note(&format!("switches: {error}"));
                    tokio::time::sleep(BUSY.0).await;
                }
            }
        }
    }

    fn tools(&self, cx: &ToolContext) -> Toolset {
        let mut rules = Rules::default()
            .policy(&self.policy)
            .disables(&self.disables);
        if let Some(switches) = self.switches.as_ref().and_then(|cell| cell.get()) {
            rules = rules.switches(switches);
        }
        self.registry.toolset(cx, &rules).through(&self.gate)
    }

    fn cx(&self, who: &User, stop: &CancellationToken) -> ToolContext {
        self.cx_until(who, stop, None)
    }

    fn cx_until(&self, who: &User, stop: &CancellationToken, deadline: Option<u64>) -> ToolContext {
        let [service, file, provider] = secrets(&who.tenant);
        let builder = || {
            let mut builder = ToolContext::builder()
                .workspace(&*who.tenant)
                .user(&*who.user)
                .agent(&*self.agent)
                .conversation(&*who.conversation)
                .secret("service_key", SecretString::from(service.clone()))
                .secret("file_key", SecretString::from(file.clone()))
                .api_key("openai", SecretString::from(provider.clone()))
                .cancellation(stop.clone())
                .with(self.phone.clone())
                .with(Switchboard(self.phone.clone()))
                .with(Library);
            if let Some(deadline) = deadline {
                builder = builder.deadline(Duration::from_millis(deadline));
            }
            builder
        };
        let tools = self.tools(&builder().build());
        builder().tools(&tools).build()
    }

    /// Stores a message of the user.
    pub(crate) async fn write(&self, who: &User, text: &str) -> Result<(), String> {
        let cx = self.cx(who, &CancellationToken::new());
        let stored = Turns::new(self.store.clone()).say(text, &cx).await;
        stored.map(drop).map_err(|error| error.to_string())
    }

    /// Drives a run until it ends or must wait.
    pub(crate) async fn drive(&self, drive: Drive) -> End {
        self.read_switches().await;
        let who = drive.who().clone();
        let Drive {
            index,
            runs,
            stop,
            deadline,
            mut message,
        } = drive;
        let cx = self.cx_until(&who, &stop, deadline);
        let world = self.world().clone();
        let (progress_world, progress_who) = (world.clone(), who.clone());
        let line = format!("{who} run {index}");
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
            runs,
            stop: stop.clone(),
            process: Arc::clone(&self.process),
        };
        // A request that finds the thread busy retries for some time, as a real host would.
        let mut tries = BUSY.1;
        let ended = loop {
            let tools = |cx: &ToolContext| self.tools(cx);
            let ended = match message.take() {
                Some(text) => turns.respond(text, &mut model, tools, &cx).await,
                None => turns.drive(&mut model, tools, &cx).await,
            };
            match ended {
                Ok(Outcome::Busy(_)) if tries > 0 => {
                    tries -= 1;
                    tokio::time::sleep(BUSY.0).await;
                }
                ended => break ended,
            }
        };
        let end = match ended {
            Ok(
                Outcome::Answered(_)
                | Outcome::Replied(_)
                | Outcome::Length(_)
                | Outcome::Filtered(_)
                | Outcome::Guardrail(_)
                | Outcome::Cut(_)
                | Outcome::StepLimit,
            ) => End::Done,
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
            Ok(Outcome::Client(_)) => End::Failed("a call is for the client".to_owned()),
            Ok(Outcome::Unsettled(_)) => End::Unsettled,
            Ok(Outcome::Draining) => End::Draining,
            Ok(
                Outcome::Cancelled
                | Outcome::Interrupted
                | Outcome::Deadline
                | Outcome::Budget
                | Outcome::SharedBudget(_)
                | Outcome::TimeLimit,
            ) => End::Stopped,
            Ok(Outcome::Busy(_)) => End::Busy,
            Err(error) => End::Failed(error.to_string()),
        };
        self.process.note(&format!("{line}: {end:?}"));
        end
    }

    /// Shows the pending approvals of a run's conversation to its client, and checks that they belong to the conversation and that their arguments
    /// contain no secret and no text of a different conversation.
    pub(crate) async fn inbox(&self, run: &Run) {
        let Some(approvals) = self.gate.approvals() else {
            return;
        };
        let Ok(thread) = ThreadId::new(&*run.who.tenant, &*run.who.conversation) else {
            return;
        };
        let tickets = approvals.waiting(&thread).await.unwrap_or_default();
        if tickets.is_empty() {
            return;
        }
        let rows = approvals.list(Scope::All, &ApprovalFilter::default()).await;
        let rows = rows.unwrap_or_default();
        for ticket in tickets {
            self.world().seen(&run.who, "a question", &ticket.arguments);
            let Some(row) = rows.iter().find(|row| row.request.id == ticket.id) else {
                continue;
            };
            let request = &row.request;
            let of = (request.identity.workspace().as_str(), &request.thread);
            let own = (&*run.who.tenant, &Some(run.who.conversation.clone()));
            if of != own {
                let what = format!("{} is shown a question of {of:?}", run.who);
                self.world().violated("foreign_question", what);
            }
        }
    }

    /// Answers every pending approval of a workspace `times` times. Returns the number of accepted answers.
    pub(crate) async fn answer(&self, tenant: &str, reply: PlannedReply, times: u32) -> usize {
        let Some(approvals) = self.gate.approvals() else {
            return 0;
        };
        let workspace = Workspace::new(tenant);
        let filter = ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let rows = approvals.list(Scope::Workspace(&workspace), &filter).await;
        let rows = rows.unwrap_or_default();
        let tools = self.registry.open();
        let mut answered = 0;
        for row in rows {
            let Ok(ticket) = approvals.ticket_of(&workspace, &row.request.id).await else {
                continue;
            };
            let mut counted = 0;
            for _ in 0..times {
                let reply = match reply {
                    PlannedReply::Approve => Reply::Approve,
                    PlannedReply::Deny => Reply::Deny,
                    PlannedReply::Edit => Reply::Edit(edited(&ticket.arguments)),
                };
                let token = &ticket.token;
                let done = approvals.answer(&workspace, &tools, token, reply, "olga", None);
                let done = done.await;
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

    /// Revokes the approvals of a workspace that are granted and not used yet.
    pub(crate) async fn revoke(&self, tenant: &str) {
        let Some(approvals) = self.gate.approvals() else {
            return;
        };
        let workspace = Workspace::new(tenant);
        let filter = ApprovalFilter {
            status: Some(ApprovalStatus::Approved),
            ..ApprovalFilter::default()
        };
        let rows = approvals.list(Scope::Workspace(&workspace), &filter).await;
        for row in rows.unwrap_or_default() {
            let revoked = approvals.revoke(&workspace, &row.request.id).await;
            self.process.note(&format!("revoke: {revoked:?}"));
        }
    }

    /// Presents each approval token of the conversation in which `token_of` runs, as the user of `by`.
    pub(crate) async fn resume(&self, token_of: &Run, by: &Run) {
        self.read_switches().await;
        let Some(approvals) = self.gate.approvals() else {
            return;
        };
        let workspace = Workspace::new(&*token_of.who.tenant);
        let filter = ApprovalFilter {
            thread: Some(token_of.who.conversation.clone()),
            ..ApprovalFilter::default()
        };
        let rows = approvals.list(Scope::Workspace(&workspace), &filter).await;
        let rows = rows.unwrap_or_default();
        for row in rows {
            let Ok(ticket) = approvals.ticket_of(&workspace, &row.request.id).await else {
                continue;
            };
            let stop = CancellationToken::new();
            let cx = self.cx(&by.who, &stop);
            let tools = self.tools(&cx);
            let result = tools.resume(&ticket.token, &cx).await;
            let text = result.envelope();
            self.world().seen(&by.who, "a resumed call", &text);
            self.process.note(&format!("resume: {text}"));
        }
    }

    /// Settles ambiguous effects, either with the state of the receiver or by running them again. Calls of relay tools are always run again. Returns
    /// the number of settled effects.
    pub(crate) async fn resolve(&self, rerun: bool) -> usize {
        let _ = self.store.sweep(Scope::All, Timestamp::now()).await;
        let rows = self.store.list(Scope::All, None).await.unwrap_or_default();
        let succeeded = rows
            .iter()
            .filter(|row| row.state == EffectState::Succeeded);
        let mut known: Vec<Place> = succeeded.map(|row| place_of(self.world(), row)).collect();
        let mut settled = 0;
        for row in rows {
            if row.state != EffectState::Ambiguous {
                continue;
            }
            let key = row.intent.identity.key();
            let place = place_of(self.world(), &row);
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
            // Record the rerun before the row changes, because the call may begin immediately after the change.
            if rerun {
                *self
                    .world()
                    .facts()
                    .reruns
                    .entry(place.clone())
                    .or_default() += 1;
            }
            let done = self.gate.resolve(&key, resolution, "olga").await;
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

    /// Stores a kill switch for all hosts.
    pub(crate) async fn store_kill(&self, tool: &str) {
        self.read_switches().await;
        if let Some(switches) = self.switches.as_ref().and_then(|cell| cell.get()) {
            let _ = switches.kill(tool, None, "olga", Some("spam")).await;
        }
    }

    pub(crate) fn disable(&self, tool: &str) {
        self.disables.disable(tool);
    }

    pub(crate) fn deny(&self, tool: &str) {
        if let Ok(policy) = policy_without(&BTreeSet::from([tool.to_owned()])) {
            self.policy.replace(policy);
        }
    }

    /// Removes the kill switches and the disable of a tool, and the deny rules of all tools on this host.
    pub(crate) async fn enable(&self, tool: &str) {
        self.policy.revive(tool, None);
        self.disables.enable(tool);
        if let Ok(policy) = policy_without(&BTreeSet::new()) {
            self.policy.replace(policy);
        }
        if self.switches.is_some() {
            self.read_switches().await;
        }
        if let Some(switches) = self.switches.as_ref().and_then(|cell| cell.get()) {
            let _ = switches.revive(tool, None, "olga", None).await;
        }
    }

    /// Returns the number of audit rows that were dropped or are not written yet.
    pub(crate) fn unwritten(&self) -> u64 {
        let buffer = self.gate.audit().buffer();
        buffer.map_or(0, |buffer| buffer.dropped() + buffer.waiting() as u64)
    }

    pub(crate) async fn drain(&self, patience: Duration) -> usize {
        self.gate.drain(patience).await
    }
}

/// Returns the arguments with a note that the operator changed.
fn edited(arguments: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    value["note"] = json!("edited");
    value.to_string()
}
