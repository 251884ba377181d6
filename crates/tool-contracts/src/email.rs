//! The tools of the pack `email` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `send_email`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SendEmail {
    /// The recipients, as `ann@example.com` or `Ann <ann@example.com>`.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 50))]
    pub to: Vec<String>,
    /// Recipients of a copy. All recipients see these addresses.
    #[cfg_attr(feature = "schema", schema(max_items = 50))]
    pub cc: Option<Vec<String>>,
    /// The subject, in one line.
    #[cfg_attr(feature = "schema", schema(length = 1..=400))]
    pub subject: String,
    /// The text, without markup.
    #[cfg_attr(feature = "schema", schema(length = 1..=200000))]
    pub text: String,
}

impl ToolContract for SendEmail {
    const NAME: &'static str = "send_email";
    type Input = Self;
    type Output = SentEmail;
}

/// An email that the server has accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SentEmail {
    /// Always true: a message that the server did not accept is an error.
    pub success: bool,
    /// The `Message-ID` of the message.
    pub message_id: String,
    /// The number of recipients.
    pub recipients: u32,
}
