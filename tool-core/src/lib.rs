//! Strictly typed tools that language models call.
//!
//! Start with [`#[tool]`](macro@tool): put it on a fn, and models can call the fn. A mistake that a provider's strict mode would refuse later
//! is a compile error at the token to change.
//!
//! ```standalone_crate
//! use tool_core::prelude::*;
//!
//! /// Language of a repository.
//! #[derive(Debug, StrictSchema)]
//! #[serde(rename_all = "snake_case")]
//! pub enum Lang {
//!     /// The language Rust.
//!     Rust,
//!     /// Any other language.
//!     Other,
//! }
//!
//! /// Counts the crates of a language. Use it before naming one.
//! #[tool(read_only, example("A plain count", { "lang": "rust" }))]
//! async fn count_crates(
//!     /// The language of the crates.
//!     lang: Lang,
//!     /// The maximum number to return.
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
//! # Index by task
//!
//! | you want to | use | guide |
//! |---|---|---|
//! | write a tool | [`#[tool]`](macro@tool), with an example of each of its options; [`prelude`] contains the items that a crate of tools needs | [authors](guides::authors) |
//! | use your own type as a parameter | [`#[derive(StrictSchema)]`](derive@StrictSchema) | [rules](guides::rules) |
//! | return errors, text, images, citations | [`ToolError`](struct@ToolError), [`IntoOutput`], [`Image`], [`ModelOutput`], [`Citation`], [`ToolContext::cite`] | [authors](guides::authors) |
//! | show progress | [`tool_stream!`], [`ToolContext::progress`] | [authors](guides::authors) |
//! | give tools a database, a client, state | [`host_value!`], [`Reads`], [`Writes`], [`FromContext`] | [authors](guides::authors) |
//! | test tools | [`assert_tools!`], [`testing`] | [authors](guides::authors) |
//! | call tools for a model | [`Registry`], [`Toolset`], [`ToolCall`], [`CallResult`], [`ToolContext`] | [hosts](guides::hosts), [arguments](guides::arguments) |
//! | write requests to a provider and read its responses | the crate `tool-wire`, [`Dialect`] | [hosts](guides::hosts) |
//! | run the loop around a model | [`turn::Turns`] | [hosts](guides::hosts) |
//! | approve, limit, audit, never repeat an effect | [`Gate`], [`Approvals`], [`limits`], [`Audit`], [`store`] | [hosts](guides::hosts) |
//! | restrict the tools of a tenant, user or agent | [`Rules`], [`policy`], [`Switches`], [`InstanceRules`] | [operators](guides::operators) |
//! | give an assistant skills from Markdown files | the module `skill` (feature `yaml`) | [operators](guides::operators) |
//! | offer thousands of tools | [`search`] | [hosts](guides::hosts) |
//! | make tools at run time from JSON Schema | [`DynamicTool`], [`schema::dynamic`] | |
//! | let operators create tools in a store | [`stored`] | |
//! | redact secrets in texts and logs | [`redact`] | [threat model](guides::threat_model) |
//!
//! Other crates: `tool-wire` writes requests to model providers and reads responses, `tool-mcp` serves tools over the Model Context Protocol and uses
//! tools of other servers ([its guide](guides::mcp)), `tool-cli` is the command `cargo tool` ([its guide](guides::command_line)), `tool-std` has
//! ready-made tools, for example for files, programs, git and the web, `tool-contracts` has their arguments and results as plain types, `tool-store`
//! stores state in SQLite (feature `sqlite`) or PostgreSQL (feature `postgres`), `tool-isolate` runs programs in a sandbox, `tool-code` runs a
//! model's code, `tool-agent` has agents and models over HTTP, `tool-server` has the admin API of a host, `tool-import` generates tools from JSON,
//! and `tool-schema` contains only schemas, rules and dialects. A program must have only one version of this crate: [versions](guides::versions).
//!
//! # A call
//!
//! The name, the visibility and the arguments of a call are checked; then the call passes the gate and runs. A call does not panic and returns
//! no `Err`: every failure is in its [`CallResult`].

#![cfg_attr(docsrs, feature(doc_cfg))]

// `tool-schema` hides these modules in its documentation.
use tool_schema::__private0::{args, json};

// The macros expand to paths in `::tool_core`, also in this crate.
#[allow(
    unused_extern_crates,
    reason = "only the expansion of the macros uses it"
)]
extern crate self as tool_core;

#[cfg(all(doc, not(doctest)))]
pub mod guides;

#[cfg(feature = "host")]
mod audit;
pub mod bounded;
mod call;
mod context;
mod decision;
mod effect;
mod error;
#[cfg(feature = "host")]
mod gate;
pub mod hidden;
#[cfg(feature = "host")]
pub mod limits;
mod need;
mod output;
pub mod policy;
pub mod prelude;
#[doc(hidden)]
mod private;
pub mod redact;
mod registry;
mod run;
pub mod search;
#[cfg(all(feature = "host", feature = "yaml"))]
pub mod skill;
pub mod store;
#[cfg(feature = "host")]
pub mod stored;
mod stream;
mod sync;
pub mod testing;
mod tool;
mod toolset;
#[cfg(feature = "host")]
pub mod turn;
mod visibility;

#[doc(hidden)]
pub use tool_store::env;
use tool_store::{digest, panics};

/// Items that generated code uses. The name of the module contains the patch version, so that code from the macros of one version does not compile
/// with another version of this crate. The items have no stability guarantee.
#[doc(hidden)]
pub mod __private0 {
    pub use crate::private::*;
}

#[cfg(feature = "host")]
pub use audit::{Audit, AuditBuffer};
#[cfg(feature = "host")]
pub use call::Ticket;
pub use call::{CallResult, ToolCall, ToolEvent};
pub use context::variables;
pub use context::{
    Answer, ApiKeys, Asker, Attachment, AttachmentBody, AttachmentKind, Attachments,
    ConversationState, Deadline, FromContext, FromSecret, FromVariable, History, HistoryMessage,
    HistoryRole, InstanceSlug, Instances, OAuth, OAuthToken, Question, Reads, ResolveInstance,
    SlugError, StatePlace, StateStore, TokenSource, ToolContext, ToolContextBuilder, Writes,
};
pub use context::{TraceContext, TraceContextError};
pub use effect::{Declared, Effect};
pub use error::{ErrorKind, ToolError};
#[cfg(feature = "host")]
pub use gate::approval::{
    ApprovalError, Approvals, ApprovalsBuilder, KeyError, KeyRing, Reply, Route,
};
#[cfg(feature = "host")]
pub use gate::{Gate, GateBuilder, Retry, Sweeper};
pub use output::{
    Audio, Citation, File, Image, IntoOutput, ModelOutput, Part, Source, ToModelOutput,
};
// `tool-cli` needs these two items to describe files in the same way as this crate describes them in results.
#[doc(hidden)]
pub use output::{HOLDS_SECRET, decoded_size};
pub use policy::lists::{Access, Step, ToolLists};
#[cfg(feature = "host")]
pub use registry::{BootError, Plugin};
pub use registry::{Registry, RegistryBuilder, RegistryError};
#[cfg(feature = "host")]
pub use run::BlockingPool;
pub use run::{At, Permit, UsedTools, Uses, UsesTool};
#[cfg(feature = "host")]
pub use run::{Permitted, Ran, hooks::Hooks};
pub use secrecy::{ExposeSecret, SecretString};
pub use stream::{StreamItem, ToolStream};
pub use tokio_util::sync::CancellationToken;
#[cfg(feature = "host")]
pub use tool::ClientCheck;
pub use tool::{
    Approval, DefinitionParts, DynamicTool, Origin, SchemaCheck, SecretKind, SecretNeed, Tool,
    ToolDef, VariableKind, VariableNeed,
};
#[cfg(feature = "seal")]
pub use tool::{SecretSetBy, SecretStatus};
#[doc(inline)]
#[doc(alias(
    "function calling",
    "function_call",
    "function_tool",
    "tool_call",
    "tool calling",
    "tool use",
    "FastMCP",
    "mcp.tool",
    "structured output"
))]
pub use tool_macros::tool;
pub use tool_macros::{StrictSchema, ToolError};
pub use tool_schema as schema;
#[doc(inline)]
pub use tool_schema::dialect::{Dialect, Dialects, Hints};
#[doc(inline)]
pub use tool_schema::{Issue, Repair, RepairNote, StrictSchema};
pub use toolset::{Available, ListedTool, Overridden, Toolset, ToolsetDelta, ToolsetError};
pub use visibility::{AgentTool, Disables, Enablement, Explanation, Layer, Rules, Runtime};
#[cfg(feature = "host")]
pub use visibility::{InstanceRules, Switches};
