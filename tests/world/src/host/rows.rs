//! What the store holds, in the simulator's own terms.

use std::collections::BTreeSet;

use tool_core::store::{
    ApprovalFilter, ApprovalRow, ApprovalStatus, ApprovalStore, AuditFilter, AuditRow,
    EffectLedger, EffectRow, Message, Role, Store, StoreError, ThreadStore, Verdict,
};
use tool_core::turn::ToolMessage;

use crate::facts::Place;
use crate::plan::Who;
use crate::store::Shared;
use crate::tools::place;

/// Where the call of an effect stands.
pub(super) fn place_of(row: &EffectRow) -> Place {
    let intent = &row.intent;
    place(
        &intent.tenant,
        intent.thread.as_deref().unwrap_or_default(),
        &intent.turn,
        &intent.tool,
    )
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
        let effects = shared.run(|store| Box::pin(async move { all_effects(&*store).await }));
        let approvals = shared.run(|store| {
            Box::pin(async move { ApprovalStore::list(&*store, &ApprovalFilter::default()).await })
        });
        let audit = shared
            .run(|store| Box::pin(async move { store.export(&AuditFilter::default()).await }));
        let mut threads = Vec::new();
        for who in whose {
            let conversation = who.conversation.clone();
            let messages = shared.run(|store| {
                Box::pin(async move { ThreadStore::read(&*store, &conversation, None).await })
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

async fn all_effects(store: &dyn Store) -> Result<Vec<EffectSeen>, StoreError> {
    let rows = EffectLedger::list(store, None, None).await?;
    let seen = rows.iter().map(|row| EffectSeen {
        place: place_of(row),
        state: row.state.as_str(),
        text: row.result.clone().unwrap_or_default(),
    });
    Ok(seen.collect())
}

fn seen_audit(row: &AuditRow) -> AuditSeen {
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

fn seen_approval(row: &ApprovalRow) -> ApprovalSeen {
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

fn seen_message(who: &Who, message: &Message) -> MessageSeen {
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
