//! Names, arguments and results of the ready-made tools, as plain types for servers and clients.
//!
//! Each tool has a type with its arguments, which implements [`ToolContract`]: the trait has the name of the tool and the type of its result. Each
//! pack is a module. Without features, the crate depends on serde alone, so a client in a browser can use it. With the feature `schema`, the types
//! also implement `StrictSchema` of `tool-core`.
//!
//! ```
//! use tool_contracts::ToolContract;
//! use tool_contracts::fs::{FindFiles, Found};
//!
//! /// Writes the request of a call, for any tool.
//! fn request<T: ToolContract>(input: &T::Input) -> serde_json::Result<String> {
//!     Ok(format!(r#"{{"name":"{}","arguments":{}}}"#, T::NAME, serde_json::to_string(input)?))
//! }
//!
//! let find = FindFiles { pattern: "*.rs".to_owned(), ..FindFiles::default() };
//! assert!(request::<FindFiles>(&find)?.starts_with(r#"{"name":"find_files","arguments":{"pattern":"*.rs""#));
//!
//! let answer = r#"{"paths":["src/lib.rs"],"total":1,"truncated":false,"next_offset":null,"note":null}"#;
//! let found: Found = serde_json::from_str(answer)?;
//! assert_eq!(found.paths, ["src/lib.rs"]);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Arguments and results
//!
//! An argument that has a default is an `Option`: [`None`] is sent as null, and the tool then uses its default. The documentation of the tools in
//! `tool-std` and `tool-agent` states the defaults. The limits of arguments, such as a maximum length, are part of the schemas and are checked by the
//! server.
//!
//! A failed call has no result. [`Envelope`] reads the form in which a host returns both, and [`ErrorKind`] has the kinds of errors.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod contract;
mod envelope;
mod json;
#[cfg(feature = "schema")]
mod schemas;

pub mod attachments;
pub mod demo;
pub mod email;
pub mod fs;
pub mod git;
pub mod github;
pub mod http;
pub mod hubspot;
pub mod human;
pub mod knowledge;
pub mod memory;
pub mod plan;
pub mod process;
pub mod schedule;
pub mod slack;
pub mod team;
pub mod web;
pub mod whatsapp;

pub use contract::ToolContract;
pub use envelope::{Envelope, ErrorKind, Failure, MissingVariable};
pub use json::Json;
#[cfg(feature = "schema")]
pub use schemas::{ContractMismatch, ContractSchema, schemas};

/// Expands to the list of all names and, with the feature `schema`, to the function that lists the schemas. `Tool (any JSON)` marks a
/// result that no strict schema describes.
macro_rules! contracts {
    ($($module:ident { $($tool:ident $(($open:ident JSON))?),+ $(,)? })+) => {
        /// The names of all tools that have a contract, by module.
        pub const NAMES: &[&str] = &[$($(<$module::$tool as ToolContract>::NAME),+),+];

        #[cfg(feature = "schema")]
        pub(crate) fn all() -> Vec<ContractSchema> {
            vec![$($(contracts!(@one [$module $tool] $($open)?)),+),+]
        }
    };
    (@one [$module:ident $tool:ident]) => { ContractSchema::of::<$module::$tool>() };
    (@one [$module:ident $tool:ident] $open:ident) => { ContractSchema::open::<$module::$tool>() };
}

contracts! {
    attachments { UploadAttachment }
    demo { LogHelloWorld, SlowCount }
    email { SendEmail }
    fs { ListDirectory, ReadFile, ReadFileParts, FindFiles, SearchFiles, WriteFile, EditFile }
    git { GitClone, GitStatus, GitDiff, GitLog, GitCommit, GitBranch, GitFetch, GitPush }
    github {
        GetGithubIssue, GetGithubPullRequest, ListGithubIssues, SearchGithubIssues, CreateGithubIssue, CreateGithubPullRequest,
        CommentGithubIssue,
    }
    http { HttpGet (any JSON), HttpRequest (any JSON) }
    hubspot {
        SearchHubspotContacts, CreateHubspotContact, UpdateHubspotContact, SearchHubspotTickets, CreateHubspotTicket,
        UpdateHubspotTicket,
    }
    human { AskUser, SendMessageToHuman, MarkRoomEventCompleted, CompactRoomHistory, SendOutboundMessage }
    memory { SearchMemory, Remember, MemoryBlock, SearchConversation }
    knowledge { SearchKnowledge, GetKnowledge, WriteKnowledge }
    plan {
        CreateExecutionPlan, ReplaceExecutionPlan, SubmitExecutionNodeResult, GetActiveExecutionPlan,
        ResumeExecutionPlanRun,
    }
    process { RunCommand }
    slack { PostSlackMessage }
    schedule { ScheduleTask }
    team { ConsultTeam, ConsultSpecialist, ResearchTopic (any JSON), SpawnTask }
    web { FetchWebpage, SearchWeb }
    whatsapp { SendWhatsappTemplate }
}
