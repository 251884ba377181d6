//! The end of a run by a guardrail of the host.

use std::fmt;

/// The subject of a guardrail's check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GuardrailKind {
    /// The messages of the thread, before a request of an agent.
    Input,
    /// The output of a model, before it is stored.
    Output,
    /// The calls of a model, before one of them is stored or run.
    Call,
}

impl GuardrailKind {
    /// Returns the name, as [`StopReason`](super::StopReason) stores it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input_guardrail",
            Self::Output => "output_guardrail",
            Self::Call => "call_guardrail",
        }
    }
}

impl fmt::Display for GuardrailKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A guardrail that ended a run. Its text is stored in the thread as the model's message, in place of the text or the calls of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tripped {
    /// The subject of the check.
    pub kind: GuardrailKind,
    /// The text for the user, which the model reads in later turns.
    pub text: String,
}

impl fmt::Display for Tripped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.text)
    }
}
