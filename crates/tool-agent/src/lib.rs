//! Agents and models for the agent loop of [`tool_core::turn`]: OpenAI, Anthropic, Gemini, Vertex AI, Amazon
//! Bedrock, and every server that implements Chat Completions.
//!
//! [`HttpModel`](model::HttpModel) implements [`Model`](tool_core::turn::Model), so [`Turns::drive`](tool_core::turn::Turns::drive) can run a
//! conversation with an `HttpModel`. The model sends requests, streams replies, retries failed requests, and falls back to the next model of a chain.
//! [`ScriptedModel`](model::ScriptedModel) returns messages that are written in advance, for tests and demonstrations. An [`Agent`](agent::Agent) is
//! a model with instructions, tools and limits, and returns texts or typed outputs. The module [`runtime`] runs agents that call each other, and the
//! module [`team`] has the tools with which one agent asks others. The module [`window`] shortens requests to the context window of a model. The
//! module [`worker`] drives conversations from a queue, in any number of processes.
//!
//! ```no_run
//! use tool_agent::model::{ApiKey, Endpoint, HttpModel};
//! use tool_core::prelude::*;
//! use tool_core::store::MemoryStore;
//! use tool_core::turn::{Outcome, Turns};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(
//!     /// The first number.
//!     a: i32,
//!     /// The second number.
//!     b: i32,
//! ) -> i64 {
//!     i64::from(a) + i64::from(b)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint = Endpoint::anthropic(ApiKey::from_env("ANTHROPIC_API_KEY")?);
//! let mut model = HttpModel::builder(endpoint, "claude-sonnet-4-5").build()?;
//!
//! let turns = Turns::new(MemoryStore::default());
//! let cx = ToolContext::builder().workspace("acme").conversation("main").build();
//! turns.say("What is 1 + 2?", &cx).await?;
//! if let Outcome::Answered(text) = turns.drive(&mut model, |_| toolset![add], &cx).await? {
//!     println!("{text}");
//! }
//! # Ok(())
//! # }
//! ```

//! # Features
//!
//! | feature | contents |
//! |---|---|
//! | `agent-files` | the module `agent_file`: agents from files in YAML and TOML |
//! | `bedrock` | requests to Amazon Bedrock: `Endpoint::bedrock`, which signs them with the keys of an `AwsCredentials`, and `Endpoint::bedrock_with_key` |

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
#[cfg(feature = "agent-files")]
#[cfg_attr(docsrs, doc(cfg(feature = "agent-files")))]
pub mod agent_file;
pub mod files;
pub mod model;
pub mod runtime;
pub mod team;
pub mod window;
pub mod worker;
