//! From a call to its row.

use std::sync::Arc;
use std::time::Duration;

use super::form;
use crate::call::{CallResult, ToolCall};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::gate::hash::{contract, sha256};
use crate::gate::policy::DecisionId;
use crate::redact::Redactor;
use crate::store::{AuditRow, Timestamp};

/// How a call ended.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) outcome: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) output_bytes: Option<u64>,
    pub(crate) duration_us: u64,
}

/// Most bytes of an error that are kept.
const ERROR: usize = 1_000;

impl End {
    /// The end that a result tells.
    pub(crate) fn of(result: &CallResult, took: Duration) -> Self {
        match &result.outcome {
            Ok(output) => Self {
                outcome: "ok",
                error: None,
                output_bytes: Some(output.payload.get().len() as u64),
                duration_us: micros(took),
            },
            Err(error) => Self::failed(error, took),
        }
    }

    pub(crate) fn failed(error: &ToolError, took: Duration) -> Self {
        let mut text = error.operator_text();
        if text.len() > ERROR {
            let cut = (0..=ERROR)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0);
            text.truncate(cut);
        }
        Self {
            outcome: error.kind().as_str(),
            error: Some(text),
            output_bytes: None,
            duration_us: micros(took),
        }
    }

    /// Ends a row, without the turn's secrets.
    pub(crate) fn close(&self, row: &mut AuditRow, redactor: &Redactor) {
        row.outcome = Some(self.outcome.to_owned());
        row.error = self
            .error
            .as_deref()
            .map(|text| redactor.redact(text).into_owned());
        row.output_bytes = self.output_bytes;
        row.duration_us = Some(self.duration_us);
    }
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

/// What decided about a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdicts {
    pub(crate) decision: Option<DecisionId>,
    pub(crate) policy: Option<Arc<str>>,
    pub(crate) approval: Option<String>,
    pub(crate) approver: Option<String>,
    pub(crate) attempt: u32,
}

/// The row of a call of which nothing is known but who made it, with its arguments as they may be stored.
pub(crate) fn arrived(
    id: String,
    turn: Option<&str>,
    call: &ToolCall,
    cx: &ToolContext,
    started: Timestamp,
    arguments: String,
) -> AuditRow {
    AuditRow {
        id,
        call: call.id.clone(),
        turn: turn.map(str::to_owned),
        thread: cx.conversation().map(str::to_owned),
        tenant: cx.workspace().map(str::to_owned),
        principal: cx.user().map(str::to_owned),
        runtime_user: cx.runtime_user().map(str::to_owned),
        agent: cx.agent().map(str::to_owned),
        session: cx.session().map(str::to_owned),
        tool: call.name.clone(),
        arguments,
        original_hash: sha256(&[&call.arguments]),
        started,
        attempt: 1,
        ..AuditRow::default()
    }
}

/// A call whose row is made when it is written.
pub(crate) struct Late {
    /// The context of the call.
    pub(crate) cx: ToolContext,
    /// What the tool read, where it is not what the model wrote.
    pub(crate) used: Option<String>,
    pub(crate) verdicts: Verdicts,
    pub(crate) started: Timestamp,
    pub(crate) end: Option<End>,
}

impl Late {
    /// The row of the call; made again, it is the same.
    pub(crate) fn row(&self) -> AuditRow {
        let (cx, verdicts) = (&self.cx, &self.verdicts);
        let Some(scope) = cx.scope() else {
            return AuditRow::default();
        };
        let used = self.used.as_deref();
        let used_text = used.unwrap_or(&scope.call.arguments);
        let redactor = cx.redactor();
        let form = form::form(scope.def.input(), used_text);
        let mut row = arrived(
            cx.idempotency_key().unwrap_or_default().to_owned(),
            cx.turn(),
            &scope.call,
            cx,
            self.started,
            redactor.redact_json(&form).into_owned(),
        );
        row.contract = Some(str::to_owned(&contract(&scope.def)));
        row.effect = scope.def.effect().bits();
        row.used_hash = used.map(|text| sha256(&[text]));
        row.decision = verdicts.decision.map(DecisionId::text);
        row.policy = verdicts
            .policy
            .as_deref()
            .filter(|version| !version.is_empty())
            .map(str::to_owned);
        row.approval.clone_from(&verdicts.approval);
        row.approver.clone_from(&verdicts.approver);
        row.attempt = verdicts.attempt.max(1);
        row.notes = cx.notes();
        for note in &mut row.notes {
            note.details = redactor.redact_json(&note.details).into_owned();
        }
        if let Some(end) = &self.end {
            end.close(&mut row, redactor);
        }
        row
    }
}
