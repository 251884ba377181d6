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
//! assert_eq!(result.error().unwrap().kind(), tool_core::ErrorKind::Pending); // nothing was logged: a person has to say yes
//! # }
//! ```

use std::time::Duration;

use tool_core::prelude::*;

/// What `log_hello_world` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Logged {
    /// That the line was written.
    pub logged: bool,
}

/// Writes a greeting to the log of the host. It changes nothing else and always waits for an approval: use it to see one asked for.
#[tool(
    category = "demo",
    approval,
    example("The usual greeting", {}),
    example("A greeting of one's own", { "message": "Hello, moon" }),
)]
pub fn log_hello_world(
    /// What to write.
    #[arg(default = "Hello, world", length = 1..=200)]
    message: String,
) -> Logged {
    tracing::info!(target: "tool_std::demo", greeting = message, "log_hello_world");
    Logged { logged: true }
}

/// A number that `slow_count` came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Counted {
    /// The number.
    pub count: u32,
}

/// Counts up to a number and says each one on the way. It does nothing else: use it to see progress, a deadline or a cancellation.
#[tool(
    category = "demo",
    read_only,
    idempotent,
    example("Three numbers at once", { "to": 3, "pause_ms": 0 }),
    example("Three seconds", { "to": 3 }),
)]
pub fn slow_count(
    /// The last number.
    #[arg(default = 3, range = 1..=1000)]
    to: u32,
    /// How long to wait before each number, in milliseconds.
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
