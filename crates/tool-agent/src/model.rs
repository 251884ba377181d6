//! Models for the agent loop: models of providers over HTTP, and models with scripted replies.
//!
//! | type | purpose |
//! |---|---|
//! | [`HttpModel`] | a model of a provider, with retries, timeouts and a chain of fallback models |
//! | [`Endpoint`] | the address of a provider, its headers, and the [`Credentials`] for it, such as an [`ApiKey`] |
//! | [`Retry`], [`Timeouts`] | how often a request is sent, and how long each phase may take |
//! | `AwsCredentials`, `AwsKeys` | the access keys of Amazon Bedrock (feature `bedrock`) |
//! | [`PastReasoning`] | how requests contain the reasoning of earlier messages |
//! | [`ModelError`] | why a request failed, with a class that programs can compare |
//! | [`ModelEvent`] | the events of a request: attempts, pieces of the reply, and failures |
//! | [`ModelPrice`], [`Prices`] | prices of tokens, from which the cost of each request is computed |
//! | [`OutputFormat`] | the schema of the text of a reply, for the structured output of a provider |
//! | [`ScriptedModel`] | a model that returns prepared replies, each of them a [`Script`] |

#[cfg(feature = "bedrock")]
mod aws;
mod body;
mod config;
mod credentials;
mod endpoint;
mod error;
mod event;
mod exchange;
mod format;
mod http;
mod price;
mod reasoning;
mod recording;
mod refusal;
mod retry;
mod scripted;

#[cfg(feature = "bedrock")]
pub use aws::{AwsCredentials, AwsKeys};
pub use config::{CacheTime, ConfigError, HttpModelBuilder};
pub use credentials::{ApiKey, Credentials, MissingKey};
pub use endpoint::Endpoint;
pub use error::{FailedModel, ModelError, ModelErrorKind, TimeoutPhase};
pub(crate) use event::Unchecked;
pub use event::{ModelEvent, ModelObserver};
pub use format::OutputFormat;
pub use http::HttpModel;
pub use price::{ModelPrice, Prices, UnknownPrice};
pub use reasoning::PastReasoning;
pub use recording::RecordingError;
pub use retry::{Restart, Retry, Timeouts};
pub use scripted::{Script, ScriptedModel};
/// A piece of a reply, in [`ModelEvent::Delta`].
pub use tool_wire::Delta;
