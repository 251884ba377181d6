//! What was decided, under an id that says why.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::PolicyVerdict;
use crate::env;
use crate::gate::hex::hex_number;
use crate::tool::ToolDef;

/// A call to judge.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The tool.
    pub tool: &'a ToolDef,
    /// The tenant; empty where there is none.
    pub tenant: &'a str,
    /// The user on whose behalf it is called; empty where there is none.
    pub principal: &'a str,
    /// The agent that calls.
    pub agent: Option<&'a str>,
    /// JSON text, as the tool reads it. It is parsed only where a condition asks.
    pub arguments: &'a str,
}

/// What a policy says about a call.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What holds.
    pub verdict: PolicyVerdict,
    /// Names this decision in audit rows; [`SharedPolicy::explain`](super::SharedPolicy::explain) reads it.
    pub id: DecisionId,
    /// Name of the rule that decided; none where the policy's default or a kill switch did.
    pub rule: Option<Arc<str>>,
    /// Why, in the words of the rule.
    pub reason: Option<Arc<str>>,
    /// The approver must not be the requester: one of the ask rules that apply to the call says so.
    pub four_eyes: bool,
    /// Version of the policy that decided.
    pub policy: Arc<str>,
}

/// Why a decision came out as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// The rule with this number matched.
    Matched(u16),
    /// A condition of the rule with this number failed.
    Failed(u16, u16),
    /// No rule matched.
    Default,
    /// The tool is switched off.
    Killed,
}

/// Unique over processes; as text it also says which policy and which of its rules decided, so that it can be explained later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecisionId {
    pub(super) policy: u64,
    pub(super) cause: Cause,
    process: u64,
    serial: u64,
}

impl DecisionId {
    pub(super) fn new(policy: u64, cause: Cause) -> Self {
        let (process, serial) = env::serial();
        Self {
            policy,
            cause,
            process,
            serial,
        }
    }
}

/// `1f0c….f65535-65535.9a….2f`, with sixteen digits each.
const LONGEST: usize = 16 + 1 + 12 + 1 + 16 + 1 + 16;

impl DecisionId {
    /// The text of the id. Each audit row has one, and formatting piece by piece costs ten times as much.
    pub(crate) fn text(self) -> String {
        let mut text = Vec::with_capacity(LONGEST);
        let mut push = |digits: &[u8]| text.extend_from_slice(digits);
        push(&hex_number(self.policy));
        match self.cause {
            Cause::Matched(rule) => {
                push(b".r");
                push(itoa::Buffer::new().format(rule).as_bytes());
            }
            Cause::Failed(rule, condition) => {
                push(b".f");
                push(itoa::Buffer::new().format(rule).as_bytes());
                push(b"-");
                push(itoa::Buffer::new().format(condition).as_bytes());
            }
            Cause::Default => push(b".d"),
            Cause::Killed => push(b".k"),
        }
        push(b".");
        push(&hex_number(self.process));
        push(b".");
        let serial = hex_number(self.serial);
        let zeros = serial.iter().take(15).take_while(|digit| **digit == b'0');
        push(serial.get(zeros.count()..).unwrap_or_default());
        String::from_utf8(text).unwrap_or_default()
    }
}

/// `policy.cause.process.serial`, for example `1f0c….r3.9a….2f`.
impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// The text is no decision's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no id of a decision, copy it from the audit row")]
pub struct NotAnId;

impl FromStr for DecisionId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let mut parts = text.split('.');
        let mut part = || parts.next().ok_or(NotAnId);
        let hex = |text: &str| u64::from_str_radix(text, 16).map_err(|_| NotAnId);
        let number = |text: &str| text.parse::<u16>().map_err(|_| NotAnId);
        let policy = hex(part()?)?;
        let cause = part()?;
        let cause = match cause.split_at_checked(1).ok_or(NotAnId)? {
            ("d", "") => Cause::Default,
            ("k", "") => Cause::Killed,
            ("r", rule) => Cause::Matched(number(rule)?),
            ("f", both) => {
                let (rule, condition) = both.split_once('-').ok_or(NotAnId)?;
                Cause::Failed(number(rule)?, number(condition)?)
            }
            _ => return Err(NotAnId),
        };
        let id = Self {
            policy,
            cause,
            process: hex(part()?)?,
            serial: hex(part()?)?,
        };
        if parts.next().is_some() {
            Err(NotAnId)
        } else {
            Ok(id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, DecisionId};

    #[test]
    fn an_id_has_the_text_that_it_is_read_from() {
        let id = |cause, serial| DecisionId {
            policy: 0x1f0c,
            cause,
            process: 0x9a << 56,
            serial,
        };
        let cases = [
            (
                id(Cause::Default, 0),
                "0000000000001f0c.d.9a00000000000000.0",
            ),
            (
                id(Cause::Killed, 16),
                "0000000000001f0c.k.9a00000000000000.10",
            ),
            (
                id(Cause::Matched(u16::MAX), 0x2f),
                "0000000000001f0c.r65535.9a00000000000000.2f",
            ),
            (
                id(Cause::Failed(0, 7), u64::MAX),
                "0000000000001f0c.f0-7.9a00000000000000.ffffffffffffffff",
            ),
        ];
        for (id, text) in cases {
            assert_eq!(id.to_string(), text);
            assert_eq!(text.parse(), Ok(id));
        }
    }
}
