//! The tools of the pack `slack` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `post_slack_message`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PostSlackMessage {
    /// The channel: its name, `#general`, or the id of a channel or a person, such as `C0123456789` or `U024BE7LH`.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^(#[^#\\s]{1,80}|[CDGUW][A-Za-z0-9]{2,30})$")
    )]
    pub channel: String,
    /// The message, in Slack's `mrkdwn`: `*bold*`, `_italic_`, `` `code` ``. Mentions and links of the form `<…>` are shown as text.
    #[cfg_attr(feature = "schema", schema(length = 1..=40000))]
    pub message: String,
}

impl ToolContract for PostSlackMessage {
    const NAME: &'static str = "post_slack_message";
    type Input = Self;
    type Output = PostedMessage;
}

/// A posted message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PostedMessage {
    /// Always true: a message that was not posted is an error.
    pub success: bool,
    /// The channel of the call.
    pub channel: String,
    /// The length of the message in characters.
    pub message_length: u32,
    /// The id of the channel.
    pub channel_id: String,
    /// The id of the message in the channel, which Slack calls `ts`.
    pub message_id: String,
}
