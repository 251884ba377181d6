//! Two demo tools: one that waits for an approval and one that reports progress.
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_std::demo::log_hello_world;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let tools = Registry::builder().tool::<log_hello_world>().build().unwrap().open();
//! let call = ToolCall::new("1", "log_hello_world", r#"{"message": "Hello, moon"}"#);
//! let result = tools.call(call, &ToolContext::anonymous()).await;
//! assert_eq!(result.error().unwrap().kind(), tool_core::ErrorKind::Pending); // nothing was logged, because a person has to approve the call first
//! # }
//! ```

use std::time::Duration;

use tool_core::prelude::*;

/// The result of `log_hello_world`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Logged {
    /// Whether the line was written.
    pub logged: bool,
}

/// Writes a greeting to the log of the host. It changes nothing else and always needs an approval. Use it to test approvals.
#[tool(
    category = "demo",
    approval,
    example("The usual greeting", {}),
    example("A custom greeting", { "message": "Hello, moon" }),
)]
pub fn log_hello_world(
    /// The text to write.
    #[arg(default = "Hello, world", length = 1..=200)]
    message: String,
) -> Logged {
    tracing::info!(target: "tool_std::demo", greeting = message, "log_hello_world");
    Logged { logged: true }
}

/// A number that `slow_count` has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Counted {
    /// The number that was reached.
    pub count: u32,
}

/// Counts up to a number and reports each number as progress. It does nothing else. Use it to test progress, deadlines and cancellation.
#[tool(
    category = "demo",
    read_only,
    idempotent,
    example("Three numbers at once", { "to": 3, "pause_ms": 0 }),
    example("Three seconds", { "to": 3 }),
)]
pub fn slow_count(
    /// The number to count to.
    #[arg(default = 3, range = 1..=1000)]
    to: u32,
    /// The pause before each number, in milliseconds.
    #[arg(default = 1000, range = 0..=60000)]
    pause_ms: u32,
) -> ToolStream<Counted, Counted> {
    tool_stream! {
        for count in 1..=to {
            tokio::time::sleep(Duration::from_millis(pause_ms.into())).await;
            yield Counted { count };
        }
        Counted { count: to }
    }
}
