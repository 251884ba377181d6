//! The tools of the pack `demo` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `log_hello_world`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct LogHelloWorld {
    /// The text to write.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub message: Option<String>,
}

impl ToolContract for LogHelloWorld {
    const NAME: &'static str = "log_hello_world";
    type Input = Self;
    type Output = Logged;
}

/// The arguments of `slow_count`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SlowCount {
    /// The number to count to.
    #[cfg_attr(feature = "schema", schema(range = 1..=1000))]
    pub to: Option<u32>,
    /// The pause before each number, in milliseconds.
    #[cfg_attr(feature = "schema", schema(range = 0..=60000))]
    pub pause_ms: Option<u32>,
}

impl ToolContract for SlowCount {
    const NAME: &'static str = "slow_count";
    type Input = Self;
    type Output = Counted;
}

/// The result of `log_hello_world`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Logged {
    /// Whether the line was written.
    pub logged: bool,
}

/// A number that `slow_count` has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Counted {
    /// The number that was reached.
    pub count: u32,
}
