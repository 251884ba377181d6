//! Conversion of a call into its audit row.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::form;
use crate::call::{CallResult, ToolCall};
use crate::context::ToolContext;
use crate::decision::DecisionId;
use crate::digest::sha256;
use crate::error::{ErrorKind, ToolError};
use crate::redact::Redactor;
use crate::schema::dialect::Dialect;
use crate::store::{AuditNote, AuditRow, CallId, Timestamp};
use crate::tool::ToolDef;

/// The end of a call, as the audit row stores it.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) outcome: &'static str,
    /// The complete text, which is truncated after secrets are redacted.
    pub(crate) error: Option<String>,
    pub(crate) output_bytes: Option<u64>,
    pub(crate) duration_us: u64,
}

/// Maximum number of bytes of a stored error text.
const ERROR: usize = 1_000;

impl End {
    /// Returns the end of a call with this result.
    pub(crate) fn of(result: &CallResult) -> Self {
        let took = result.duration;
        match result.outcome.get() {
            Ok(output) => Self {
                outcome: "ok",
                error: None,
                output_bytes: Some(output.payload.get().len() as u64),
                duration_us: micros(took),
            },
            Err(error) => Self::failed(error, took),
        }
    }

    /// Returns this end with an outcome that leaves the row open. It is for a call that may be dispatched again: the row of the next run then
    /// replaces this row.
    pub(crate) fn open(self) -> Self {
        if AuditRow::OPEN.contains(&self.outcome) {
            return self;
        }
        let outcome = ErrorKind::Interrupted.as_str();
        Self { outcome, ..self }
    }

    pub(crate) fn failed(error: &ToolError, took: Duration) -> Self {
        Self {
            outcome: error.kind().as_str(),
            error: Some(error.operator_text()),
            output_bytes: None,
            duration_us: micros(took),
        }
    }
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

/// The decisions about a call, by policy, approval and ledger.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdicts {
    pub(crate) decision: Option<DecisionId>,
    pub(crate) policy: Option<Arc<str>>,
    pub(crate) approval: Option<String>,
    pub(crate) approver: Option<String>,
    pub(crate) attempt: u32,
    /// The attempt in the ledger and the operator who allowed it, if it is not the first attempt.
    pub(crate) rerun: Option<(u32, String)>,
}

/// A row that may contain secrets. Outside of this module, only [`Draft::row`] returns the row, with secrets redacted.
pub(crate) struct Draft(AuditRow);

impl Draft {
    /// Sets the layer that hid the tool.
    pub(crate) fn layer(mut self, layer: Option<&str>) -> Self {
        self.0.layer = layer.map(str::to_owned);
        self
    }

    /// Sets the outcome of the row.
    pub(crate) fn end(mut self, end: &End) -> Self {
        self.0.outcome = Some(end.outcome.to_owned());
        self.0.error.clone_from(&end.error);
        self.0.output_bytes = end.output_bytes;
        self.0.duration_us = Some(end.duration_us);
        self
    }

    /// Returns the row, with secrets redacted in the texts of a model or a tool, and with a truncated error.
    pub(crate) fn row(self, redactor: &Redactor) -> AuditRow {
        let Self(mut row) = self;
        if !redactor.is_empty() {
            mask(&mut row, redactor);
        }
        if let Some(error) = &mut row.error {
            error.truncate(error.floor_char_boundary(ERROR));
        }
        row
    }
}

/// Redacts a row. Each field is named, so that the compiler reports a new field that is not handled.
fn mask(row: &mut AuditRow, redactor: &Redactor) {
    let AuditRow {
        // These fields are names from the host, hashes, times or numbers. If they were redacted, rows could not be found by them.
        identity: _,
        thread: _,
        principal: _,
        runtime_user: _,
        agent: _,
        session: _,
        contract: _,
        effect: _,
        layer: _,
        decision: _,
        policy: _,
        approval: _,
        approver: _,
        outcome: _,
        original_hash: _,
        used_hash: _,
        output_bytes: _,
        attempt: _,
        started: _,
        duration_us: _,
        // The texts in these fields come from a model or a tool.
        call,
        tool,
        error,
        arguments,
        output,
        notes,
    } = row;
    redactor.replace(call);
    redactor.replace(tool);
    for text in [error, output].into_iter().flatten() {
        redactor.replace(text);
    }
    for text in std::iter::once(arguments).chain(notes.iter_mut().map(|note| &mut note.details)) {
        if let Cow::Owned(masked) = redactor.redact_json(text) {
            *text = masked;
        }
    }
    for note in notes {
        redactor.replace(&mut note.action);
    }
}

/// Builds the part of a call's row that does not depend on the tool or the result. `arguments` are already in the form that may be stored.
pub(crate) fn arrived(
    identity: CallId,
    call: &ToolCall,
    cx: &ToolContext,
    started: Timestamp,
    arguments: String,
) -> Draft {
    Draft(AuditRow {
        thread: cx.conversation().map(str::to_owned),
        principal: cx.user().map(str::to_owned),
        runtime_user: cx.runtime_user().map(str::to_owned),
        agent: cx.agent().map(str::to_owned),
        session: cx.session().map(str::to_owned),
        arguments,
        original_hash: sha256(&[&call.arguments]),
        ..AuditRow::new(identity, &*call.id, &*call.name, started)
    })
}

/// Returns a note with the providers to which the tool is offered as not strict; `None` if there are none.
fn non_strict(def: &ToolDef) -> Option<AuditNote> {
    let dialects = Dialect::ALL
        .into_iter()
        .filter(|dialect| def.non_strict().contains(*dialect));
    let providers: Vec<&str> = dialects.map(Dialect::name).collect();
    (!providers.is_empty()).then(|| AuditNote {
        action: "non_strict".to_owned(),
        details: serde_json::json!({ "providers": providers }).to_string(),
    })
}

/// A call, from which its row is built when the row is written.
pub(crate) struct Late {
    pub(crate) cx: ToolContext,
    pub(crate) def: ToolDef,
    pub(crate) identity: CallId,
    pub(crate) verdicts: Verdicts,
    pub(crate) started: Timestamp,
    pub(crate) end: Option<End>,
}

impl Late {
    /// Builds the row of the call. Every call of this function returns the same row.
    pub(crate) fn row(&self) -> AuditRow {
        let (cx, verdicts, scope) = (&self.cx, &self.verdicts, self.cx.served());
        let used = scope.corrected.as_deref();
        let used_text = scope.arguments();
        let redactor = cx.redactor();
        // Arguments are redacted first, because a preview is truncated and the redactor does not find a part of a secret.
        let form = form::form(self.def.input(), &redactor.redact_json(used_text));
        let Draft(mut row) = arrived(self.identity.clone(), &scope.call, cx, self.started, form);
        row.contract = Some(str::to_owned(&self.def.contract()));
        row.effect = self.def.effect().bits();
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
        row.notes.extend(non_strict(&self.def));
        if let Some((attempt, operator)) = &verdicts.rerun {
            row = row.again(*attempt, operator);
        }
        let draft = Draft(row);
        match &self.end {
            Some(end) => draft.end(end),
            None => draft,
        }
        .row(&redactor)
    }
}
