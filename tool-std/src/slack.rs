//! A tool that posts messages to Slack.
//!
//! ```text
//! post_slack_message {"channel": "#deployments", "message": "Version 2.4 is live."}
//!
//! {"success":true,"channel":"#deployments","message_length":20,"channel_id":"C0123456789","message_id":"1503435956.000247"}
//! ```
//!
//! | secret | meaning |
//! |---|---|
//! | `slack_bot_token` | the bot token of a Slack app, `xoxb-…`, with the scope `chat:write`; without it, the tool is hidden |
//!
//! By default, the tool can post to every channel that the app can post to. A host restricts the channels with a [`Slack`] in the context:
//!
//! ```
//! use tool_core::{SecretString, ToolContext};
//! use tool_std::slack::Slack;
//!
//! let cx = ToolContext::builder()
//!     .with(Slack::default().channels(["#deployments", "C0123456789"]))
//!     .secret("slack_bot_token", SecretString::from("xoxb-1-2-abc"))
//!     .build();
//! # drop(cx);
//! ```
//!
//! # Limits
//!
//! A message has at most 40,000 characters, before and after `&`, `<` and `>` are escaped, because Slack truncates longer messages. Escaped text
//! cannot mention users or channels (`<!channel>`), and Slack does not open the links of a message to show a preview. The audit stores the channel
//! and the length of the message. [`vendor`](crate::vendor) describes rate limits and errors.

mod post;

pub use post::{PostedMessage, post_slack_message};

use std::sync::Arc;

use tool_core::Effect;
use tool_core::prelude::*;

use crate::vendor::{Api, Client};

/// Settings of [`post_slack_message`](fn@post_slack_message). Pass them with [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
///
/// By default, every channel that the app can post to is allowed.
#[derive(Clone, Debug)]
#[must_use]
pub struct Slack {
    api: Api,
    channels: Option<Arc<[String]>>,
}

impl Default for Slack {
    fn default() -> Self {
        Self {
            api: Api::public("https://slack.com/api"),
            channels: None,
        }
    }
}

impl Slack {
    /// Sets the address of Slack's Web API, by default `https://slack.com/api`.
    pub fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }

    /// Allows these channels only. The argument `channel` of a call must be on the list, ignoring case: if the list has the name `#deployments`, the id
    /// of this channel is refused.
    pub fn channels<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.channels = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the allowed channels if this channel is not one of them, and `None` if it is allowed.
    fn refuses(&self, channel: &str) -> Option<&[String]> {
        let channel = channel.to_lowercase();
        let allowed = self.channels.as_deref()?;
        let is_listed = allowed.iter().any(|name| name.to_lowercase() == channel);
        (!is_listed).then_some(allowed)
    }
}

/// Permission to post messages to Slack, as a host value: `slack: &SlackWrite`.
#[derive(Clone, Debug)]
pub struct SlackWrite {
    settings: Slack,
    client: Client,
}

impl FromContext for SlackWrite {
    const EFFECT: Effect = Effect::WRITE.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let settings: Slack = cx.extension().unwrap_or_default();
        let client = Client::new("Slack", &settings.api, cx);
        Ok(Self { settings, client })
    }
}
