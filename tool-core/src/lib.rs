//! Strictly typed tools for language models.
//!
//! An async fn becomes a tool; whatever a provider's strict mode, an operator or an auditor would object to later is a compile
//! error at the right token now.
//!
//! ```standalone_crate
//! use tool_core::prelude::*;
//!
//! /// Language of a repository.
//! #[derive(Debug, Deserialize, StrictSchema)]
//! #[serde(rename_all = "snake_case")]
//! pub enum Lang {
//!     /// Rust.
//!     Rust,
//!     /// Anything else.
//!     Other,
//! }
//!
//! /// Counts the crates of a language. Use it before naming one.
//! #[tool(read_only, example("A plain count", { "lang": "rust" }))]
//! async fn count_crates(
//!     /// Which language.
//!     lang: Lang,
//!     /// Count no further than this.
//!     #[arg(default = 100, range = 1..=1000)]
//!     limit: u32,
//! ) -> Result<u32, ToolError> {
//!     match lang {
//!         Lang::Rust => Ok(limit),
//!         Lang::Other => Err(ToolError::new("only crates of Rust are counted")),
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tool_core::RegistryError> {
//! let tools = Registry::linked()?.open();
//! let request = tools.definitions(Dialect::OpenAi);
//! assert!(request.contains(r#""strict":true"#));
//!
//! let call = ToolCall::new("call_1", "count_crates", r#"{"lang":"rust","limit":7}"#);
//! let result = tools.call(call, &ToolContext::anonymous()).await;
//! assert_eq!(result.model_text(), "7");
//! # Ok(())
//! # }
//! ```
//!
//! One call goes name → visibility → arguments → gate → run, and whatever goes wrong on the way is in its [`CallResult`]: nothing
//! throws. [`testing`] holds every linked tool to what it promises.

// The expansion of the macros names `::tool_core`, also in this crate.
#[allow(unused_extern_crates, reason = "only expansions of our macros name it")]
extern crate self as tool_core;

pub mod schema;

mod args;
#[cfg(feature = "host")]
mod audit;
pub mod bounded;
mod call;
mod context;
mod effect;
#[doc(hidden)]
pub mod env;
mod error;
mod gate;
#[cfg(feature = "host")]
pub mod limits;
mod output;
pub mod prelude;
#[doc(hidden)]
pub mod private;
pub mod redact;
mod registry;
mod run;
pub mod search;
pub mod store;
mod stream;
mod sync;
pub mod testing;
mod tool;
mod toolset;
#[cfg(feature = "host")]
pub mod turn;
#[cfg(feature = "wire")]
pub mod wire;

pub use args::{Issue, Repair, RepairNote};
#[cfg(feature = "host")]
pub use audit::{Audit, AuditBuffer};
pub use call::{CallResult, ToolCall, ToolEvent};
pub use context::variables;
pub use context::{
    Answer, ApiKeys, Asker, At, Attachment, AttachmentBody, AttachmentKind, Attachments,
    ConversationState, Deadline, FromContext, FromSecret, FromVariable, History, InstanceSlug,
    Instances, OAuth, OAuthToken, Question, Reads, ResolveInstance, Said, SlugError, Speaker,
    StatePlace, StateStore, TokenSource, ToolContext, ToolContextBuilder, UsedTools, Uses,
    UsesTool, Writes,
};
pub use context::{TraceContext, TraceContextError};
pub use effect::{Declared, Effect};
pub use error::{ErrorKind, ToolError};
#[cfg(feature = "host")]
pub use gate::approval::{
    ApprovalError, Approvals, ApprovalsBuilder, KeyError, KeyRing, Reply, Route, Ticket,
};
pub use gate::{
    Access, AgentTool, Disables, Enablement, Explanation, Layer, Lists, Rules, Runtime, Step,
    policy,
};
#[cfg(feature = "host")]
pub use gate::{Gate, GateBuilder, Retry, Sweeper, Switches};
pub use output::{Citation, IntoOutput, ModelOutput, Part, Source, ToModelOutput};
#[cfg(feature = "host")]
pub use registry::{BootError, Plugin};
pub use registry::{Registry, RegistryBuilder, RegistryError};
#[cfg(feature = "host")]
pub use run::BlockingPool;
pub use run::Permit;
#[cfg(feature = "host")]
pub use run::{Permitted, Ran, hooks::Hooks};
pub use schema::StrictSchema;
pub use schema::dialect::{Dialect, Dialects, Hints};
pub use secrecy::{ExposeSecret, SecretString};
pub use stream::{StreamItem, ToolStream};
pub use tokio_util::sync::CancellationToken;
pub use tool::{
    Approval, DefinitionParts, DynamicTool, Origin, SecretKind, SecretNeed, Tool, ToolDef,
    VariableKind, VariableNeed,
};
pub use tool_macros::{StrictSchema, ToolError, tool};
pub use toolset::{Available, Overridden, Shown, Toolset, ToolsetDelta, ToolsetError};
