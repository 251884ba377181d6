//! Ids of policy decisions, from which a decision can be explained.

use std::fmt;
use std::str::FromStr;

use crate::digest::hex_number;
use crate::env;

/// The cause of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// The rule with this number matched.
    Matched(u16),
    /// A condition could not be evaluated: the numbers of the rule and of its condition.
    Failed(u16, u16),
    /// No rule matched, so the default of the policy applied.
    Default,
    /// The tool's kill switch is on.
    Killed,
}

/// Id of a decision, unique across processes. It contains the policy and the cause of the decision, so that the decision can be explained later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecisionId {
    pub(crate) policy: u64,
    pub(crate) cause: Cause,
    process: u64,
    serial: u64,
}

impl DecisionId {
    pub(crate) fn new(policy: u64, cause: Cause) -> Self {
        let (process, serial) = env::serial();
        Self {
            policy,
            cause,
            process,
            serial,
        }
    }
}

/// Length of the longest id, `1f0c….f65535-65535.9a….2f`, with sixteen digits for each hexadecimal number.
const LONGEST: usize = 16 + 1 + 12 + 1 + 16 + 1 + 16;

impl DecisionId {
    /// Returns the text of the id. The audit row of a decision needs this text, and `write!` takes ten times as long to format it.
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

/// Prints `policy.cause.process.serial`, for example `1f0c….r3.9a….2f`.
impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// Error of parsing a text that is not a decision id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the id of a decision, copy it from the audit row")]
pub struct DecisionIdError;

impl FromStr for DecisionId {
    type Err = DecisionIdError;

    fn from_str(text: &str) -> Result<Self, DecisionIdError> {
        let mut parts = text.split('.');
        let mut part = || parts.next().ok_or(DecisionIdError);
        let hex = |text: &str| u64::from_str_radix(text, 16).map_err(|_| DecisionIdError);
        let number = |text: &str| text.parse::<u16>().map_err(|_| DecisionIdError);
        let policy = hex(part()?)?;
        let cause = part()?;
        let cause = match cause.split_at_checked(1).ok_or(DecisionIdError)? {
            ("d", "") => Cause::Default,
            ("k", "") => Cause::Killed,
            ("r", rule) => Cause::Matched(number(rule)?),
            ("f", both) => {
                let (rule, condition) = both.split_once('-').ok_or(DecisionIdError)?;
                Cause::Failed(number(rule)?, number(condition)?)
            }
            _ => return Err(DecisionIdError),
        };
        let id = Self {
            policy,
            cause,
            process: hex(part()?)?,
            serial: hex(part()?)?,
        };
        if parts.next().is_some() {
            Err(DecisionIdError)
        } else {
            Ok(id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, DecisionId};

    #[test]
    fn decision_id_round_trips_through_its_text() {
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
