//! A tool that answers on WhatsApp with an approved template, through Twilio.
//!
//! WhatsApp delivers free text only within 24 hours after the person's last message. After that, a message must use a template that WhatsApp has
//! approved.
//!
//! ```text
//! send_whatsapp_template {"content_sid": "HXb5b62575e6e4ff6129ad7c8efe1f983e", "variables": ["Ann", "12 March"]}
//!
//! {"replyHandled":true,"replyText":"Hello Ann, your appointment is on 12 March.","messageSid":"SM0123456789abcdef0123456789abcdef"}
//! ```
//!
//! | secret | meaning |
//! |---|---|
//! | `twilio_account_sid` | the SID of the Twilio account, `AC…` |
//! | `twilio_auth_token` | the auth token of the account |
//!
//! Without them, the tool is hidden. It is a *harness* tool of the category `whatsapp`: only turns of the kind
//! [`Runtime::Webhook`](tool_core::Runtime::Webhook) with the channel `whatsapp` have it. The recipient is not an argument. The host puts the sender
//! and the person who wrote into the context of such a turn:
//!
//! ```
//! use tool_core::{SecretString, ToolContext};
//! use tool_std::whatsapp::{Sender, WhatsApp, WhatsAppTrigger};
//!
//! let cx = ToolContext::builder()
//!     .with(WhatsApp::from(Sender::Number("+14155238886".to_owned())))
//!     .with(WhatsAppTrigger::from("+15005550006"))
//!     .secret("twilio_account_sid", SecretString::from("AC0123456789abcdef0123456789abcdef"))
//!     .secret("twilio_auth_token", SecretString::from("0123456789abcdef"))
//!     .build();
//! # drop(cx);
//! ```
//!
//! # Limits
//!
//! A template has at most 100 variables of 1 to 1,024 characters each, not blank and without line breaks and tabs. The audit stores the length of
//! each variable instead of its value. [`vendor`](crate::vendor) describes rate limits and errors.

mod send;

pub use send::{SentTemplate, send_whatsapp_template};

use tool_core::prelude::*;
use tool_core::{Effect, ErrorKind};

use crate::vendor::{Api, Client};

/// The sender of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A WhatsApp number in E.164 form, such as `+14155238886`.
    Number(String),
    /// A messaging service of Twilio, `MG…`.
    Service(String),
}

/// Settings of [`send_whatsapp_template`](fn@send_whatsapp_template). Pass them with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone, Debug)]
#[must_use]
pub struct WhatsApp {
    api: Api,
    sender: Sender,
}

impl WhatsApp {
    /// Creates settings with a sender.
    pub fn from(sender: Sender) -> Self {
        Self {
            api: Api::public("https://api.twilio.com"),
            sender,
        }
    }

    /// Sets the address of Twilio's API, by default `https://api.twilio.com`.
    pub fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }
}

/// The person whose message on WhatsApp started the turn: a value of the context.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct WhatsAppTrigger {
    number: String,
}

impl WhatsAppTrigger {
    /// Creates the value from the number of the person, as `+15005550006` or as Twilio sends it, `whatsapp:+15005550006`.
    pub fn from(number: impl AsRef<str>) -> Self {
        let number = number.as_ref();
        Self {
            number: number
                .strip_prefix("whatsapp:")
                .unwrap_or(number)
                .to_owned(),
        }
    }
}

/// Permission to answer the person who started the turn, as a host value: `whatsapp: &WhatsAppReply`.
#[derive(Clone, Debug)]
pub struct WhatsAppReply {
    settings: WhatsApp,
    to: WhatsAppTrigger,
    client: Client,
}

impl FromContext for WhatsAppReply {
    const EFFECT: Effect = Effect::WRITE.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let to = cx.extension().ok_or_else(|| {
            ToolError::of(
                ErrorKind::Unavailable,
                "this tool only answers messages of WhatsApp, and no such message started this turn",
            )
            .operator("the context has no `WhatsAppTrigger`")
        })?;
        let settings: WhatsApp = cx
            .extension()
            .ok_or_else(|| ToolError::unavailable("the sender of messages (`WhatsApp`)"))?;
        Ok(Self {
            client: Client::new("Twilio", &settings.api, cx),
            settings,
            to,
        })
    }
}
