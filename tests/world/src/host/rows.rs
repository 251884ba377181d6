//! The rows of the stores, converted to the simulator's types.

use std::collections::BTreeSet;

use tool_core::store::{
    ApprovalFilter, ApprovalRow, ApprovalStatus, ApprovalStore, AuditFilter, AuditRow, CallId,
    EffectLedger, EffectRow, Message, Role, Scope, ThreadId, ThreadStore, Verdict,
};
use tool_core::turn::ToolMessage;

use crate::facts::{Place, World, greeted};
use crate::plan::User;
use crate::store::{Part, Shared};

/// Returns the place of the call that has an effect.
pub(super) fn place_of(world: &World, row: &EffectRow) -> Place {
    let intent = &row.intent;
    place(
        world,
        &intent.identity,
        intent.thread.as_deref(),
        &intent.tool,
    )
}

fn place(world: &World, identity: &CallId, thread: Option<&str>, tool: &str) -> Place {
    world.place(
        identity.workspace().as_str(),
        thread.unwrap_or_default(),
        identity.place().map(|at| at.message),
        tool,
    )
}

/// An effect in the ledger.
pub(crate) struct EffectSeen {
    pub(crate) place: Place,
    pub(crate) state: &'static str,
    /// Whether the row records that an end was late or contradicts an operator.
    pub(crate) late: bool,
    /// Whether an operator has settled the effect.
    pub(crate) settled: bool,
    pub(crate) text: String,
}

/// A row of the audit.
pub(crate) struct AuditSeen {
    pub(crate) place: Place,
    pub(crate) user: String,
    pub(crate) outcome: Option<String>,
    pub(crate) text: String,
}

/// An approval in the store.
pub(crate) struct ApprovalSeen {
    pub(crate) place: Place,
    /// The key of the call. A call has several approvals if the policy has changed.
    pub(crate) call: String,
    pub(crate) user: String,
    /// The arguments for which the approval was granted. `None` if it was not granted.
    pub(crate) granted: Option<String>,
    /// Whether a person has denied the call.
    pub(crate) denied: bool,
}

/// A message of a thread.
pub(crate) struct MessageSeen {
    pub(crate) place: Place,
    pub(crate) role: &'static str,
    /// The run that this user's message begins.
    pub(crate) begins: Option<usize>,
    /// The error kind in a tool's result.
    pub(crate) error: Option<String>,
    /// The text of a tool's result, as the model reads it. Empty for other messages.
    pub(crate) text: String,
    pub(crate) content: String,
}

/// All rows of the stores, read without faults.
pub(crate) struct Rows {
    pub(crate) effects: Vec<EffectSeen>,
    pub(crate) audit: Vec<AuditSeen>,
    pub(crate) approvals: Vec<ApprovalSeen>,
    /// The threads, by workspace and conversation.
    pub(crate) threads: Vec<(User, Vec<MessageSeen>)>,
}

impl Rows {
    pub(crate) async fn read(shared: &Shared, world: &World, whose: &BTreeSet<User>) -> Self {
        let effects = shared.run(Part::Work, |store| {
            Box::pin(async move { EffectLedger::list(&*store, Scope::All, None).await })
        });
        let approvals = shared.run(Part::Approvals, |store| {
            Box::pin(async move {
                ApprovalStore::list(&*store, Scope::All, &ApprovalFilter::default()).await
            })
        });
        let audit = shared.run(Part::Audit, |store| {
            Box::pin(async move { store.export(Scope::All, &AuditFilter::default()).await })
        });
        let mut threads = Vec::new();
        for who in whose {
            let Ok(thread) = ThreadId::new(&*who.tenant, &*who.conversation) else {
                continue;
            };
            let messages = shared.run(Part::Work, |store| {
                Box::pin(async move { ThreadStore::read(&*store, &thread, None).await })
            });
            let messages = messages.await.unwrap_or_default();
            let seen = messages
                .iter()
                .map(|message| seen_message(world, who, message));
            threads.push((who.clone(), seen.collect()));
        }
        let (effects, audit, approvals) = (effects.await, audit.await, approvals.await);
        let effects = effects.unwrap_or_default();
        let (audit, approvals) = (audit.unwrap_or_default(), approvals.unwrap_or_default());
        Self {
            effects: effects.iter().map(|row| seen_effect(world, row)).collect(),
            audit: audit.iter().map(|row| seen_audit(world, row)).collect(),
            approvals: approvals
                .iter()
                .map(|row| seen_approval(world, row))
                .collect(),
            threads,
        }
    }
}

fn seen_effect(world: &World, row: &EffectRow) -> EffectSeen {
    EffectSeen {
        place: place_of(world, row),
        state: row.state.as_str(),
        late: row.late,
        settled: row.resolved_by.is_some(),
        text: row.result.clone().unwrap_or_default(),
    }
}

fn seen_audit(world: &World, row: &AuditRow) -> AuditSeen {
    AuditSeen {
        place: place(world, &row.identity, row.thread.as_deref(), &row.tool),
        user: row.principal.clone().unwrap_or_default(),
        outcome: row.outcome.clone(),
        text: serde_json::to_string(row).unwrap_or_default(),
    }
}

fn seen_approval(world: &World, row: &ApprovalRow) -> ApprovalSeen {
    let request = &row.request;
    let used = matches!(row.status, ApprovalStatus::Approved | ApprovalStatus::Spent);
    let granted = row.answer.as_ref().filter(|_| used);
    ApprovalSeen {
        place: place(
            world,
            &request.identity,
            request.thread.as_deref(),
            &request.tool,
        ),
        call: request.identity.key().as_str().to_owned(),
        user: request.principal.clone(),
        denied: row.status == ApprovalStatus::Denied,
        granted: granted.map(|answer| match &answer.verdict {
            Verdict::Edit(arguments) => arguments.clone(),
            Verdict::Approve | Verdict::Deny => request.arguments.clone(),
        }),
    }
}

fn seen_message(world: &World, who: &User, message: &Message) -> MessageSeen {
    let told: Option<ToolMessage> = match message.role {
        Role::Tool => serde_json::from_str(&message.content).ok(),
        Role::System | Role::User | Role::Assistant => None,
    };
    let tool = told.as_ref().map_or("", |told| told.name.as_str());
    let of_model = match message.role {
        Role::System | Role::User => None,
        Role::Assistant => Some(message.seq),
        Role::Tool => message.answers.map(|at| at.message),
    };
    let greeted = serde_json::from_str::<String>(&message.content);
    MessageSeen {
        place: world.place(&who.tenant, &who.conversation, of_model, tool),
        role: message.role.as_str(),
        begins: greeted
            .ok()
            .and_then(|text| greeted_run(message.role, &text)),
        error: told.as_ref().and_then(|told| told.error.clone()),
        text: told.map_or_else(String::new, |told| told.text),
        content: message.content.clone(),
    }
}

fn greeted_run(role: Role, text: &str) -> Option<usize> {
    (role == Role::User).then(|| greeted(text)).flatten()
}
