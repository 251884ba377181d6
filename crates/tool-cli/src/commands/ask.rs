//! Questions to the user at the terminal.

use console::Term;
use tool_core::hidden::escape;
use tool_core::{
    Gate, Reply, SecretKind, Ticket, ToolContext, ToolDef, Toolset, VariableKind, VariableNeed,
};

use super::supply::Supplied;
use crate::args::CallOptions;
use crate::json::Json;
use crate::outcome::{Exit, Failure};
use crate::screen::{BOLD, DIM, Screen, WARN, paint};

/// Asks for the missing required secrets; does nothing without a terminal.
pub(super) fn for_secrets(
    supplied: &mut Supplied,
    def: &ToolDef,
    screen: Screen,
) -> Result<(), Failure> {
    if !screen.is_interactive() {
        return Ok(());
    }
    for key in supplied.missing(def) {
        let need = def.secrets().iter().find(|need| need.key == key);
        let label = need.and_then(|need| need.label.as_deref()).unwrap_or(key);
        let shown = match need.map(|need| &need.kind) {
            Some(SecretKind::Select(choices)) => Some(choices.join(", ")),
            _ => None,
        };
        let term = Term::stderr();
        let value = if let Some(choices) = shown {
            // The choices are shown, so the answer is not hidden.
            term.write_str(&format!("{label} ({choices}): "))?;
            term.read_line()?
        } else {
            term.write_str(&format!("{label} (not shown): "))?;
            term.read_secure_line()?
        };
        if !value.is_empty() {
            supplied.secret(key, value.into());
        }
    }
    Ok(())
}

/// Asks for variables, and returns whether the user entered a value for each.
pub(super) fn for_variables(
    supplied: &mut Supplied,
    missing: &[VariableNeed],
    screen: Screen,
) -> Result<bool, Failure> {
    if !screen.is_interactive() {
        return Ok(false);
    }
    for need in missing {
        let term = Term::stderr();
        if let Some(description) = &need.description {
            screen.note(paint(DIM, description));
        }
        let value = match need.kind {
            VariableKind::Text => {
                term.write_str(&format!("{}: ", need.name))?;
                term.read_line()?
            }
            VariableKind::Secret => {
                term.write_str(&format!("{} (not shown): ", need.name))?;
                term.read_secure_line()?
            }
        };
        if value.is_empty() {
            return Ok(false);
        }
        supplied.variable(&need.name, value, need.kind);
    }
    Ok(true)
}

/// Decides by `--approve`, by `--deny` or by a question to the user whether a call may run. Returns
/// `None` without a decision.
pub(super) fn approval(
    ticket: &Ticket,
    how: &CallOptions,
    screen: Screen,
) -> Result<Option<Reply>, Failure> {
    if how.approve {
        return Ok(Some(Reply::Approve));
    }
    if how.deny {
        return Ok(Some(Reply::Deny));
    }
    if !screen.is_interactive() {
        return Ok(None);
    }
    let arguments = Json::read(&ticket.arguments)
        .map_or_else(|_| ticket.arguments.clone(), |json| json.pretty());
    screen.note(format_args!(
        "{} needs an approval for these arguments:",
        paint(BOLD, escape(&ticket.tool))
    ));
    // The model wrote the arguments, and invisible characters could hide what the call does.
    screen.note(escape(&arguments));
    if let Some(reason) = &ticket.reason {
        let reason = escape(reason);
        screen.note(format_args!("{} {reason}", paint(WARN, "reason:")));
    }
    let term = Term::stderr();
    loop {
        term.write_str("Run it? [y]es, [n]o, [e]dit the arguments: ")?;
        let said = term.read_line()?;
        match said.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(Reply::Approve)),
            "n" | "no" => return Ok(Some(Reply::Deny)),
            "e" | "edit" => {
                term.write_str("Arguments as JSON on one line: ")?;
                let text = term.read_line()?;
                match Json::read(&text) {
                    Ok(_) => return Ok(Some(Reply::Edit(text))),
                    Err(error) => screen.note(format_args!("this is not JSON: {error}")),
                }
            }
            // If standard error is not a terminal, `read_line` returns an empty text without reading, so the question would repeat forever.
            "" if !term.is_term() => return Ok(None),
            _ => screen.note("answer `y`, `n` or `e`"),
        }
    }
}

/// Stores the answer to a request for an approval. Returns false if the gate has no approvals.
pub(super) async fn answer(
    gate: &Gate,
    tools: &Toolset,
    ticket: &Ticket,
    reply: Reply,
    cx: &ToolContext,
) -> Result<bool, Failure> {
    let Some(approvals) = gate.approvals() else {
        return Ok(false);
    };
    let (workspace, approver) = (cx.own_workspace(), cx.user().unwrap_or("terminal"));
    let answered = approvals.answer(&workspace, tools, &ticket.token, reply, approver, None);
    answered.await.map_err(|error| {
        let text = format!("the approval was not accepted: {error}");
        Failure::of(Exit::Refused, text)
    })?;
    Ok(true)
}
