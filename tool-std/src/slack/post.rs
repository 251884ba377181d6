//! The `post_slack_message` tool, which posts a message to a channel or a user.

use ::http::header::AUTHORIZATION;
use serde_json::json;
use tool_core::prelude::*;
use tool_core::{ErrorKind, Issue};

use super::SlackWrite;
use crate::Excerpt;
use crate::http::{Method, bearer};
use crate::vendor::{Fault, Reply};

/// Maximum number of characters of a message. Slack truncates longer messages, <https://docs.slack.dev/reference/methods/chat.postMessage>.
const MOST_CHARS: usize = 40_000;

/// A posted message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PostedMessage {
    /// Always true: a message that was not posted is an error.
    pub success: bool,
    /// The channel of the call.
    pub channel: String,
    /// The length of the message in characters.
    pub message_length: u32,
    /// The id of the channel.
    pub channel_id: Excerpt<50>,
    /// The id of the message in the channel, which Slack calls `ts`.
    pub message_id: Excerpt<50>,
}

/// Posts a message to a Slack channel, or to a person as a direct message. The message cannot be changed afterwards.
#[tool(
    category = "messaging",
    example("A channel by its name", { "channel": "#deployments", "message": "Version 2.4 is live." }),
    example("A person by their id", { "channel": "U024BE7LH", "message": "The export that you asked for is ready." }),
)]
pub async fn post_slack_message(
    slack: &SlackWrite,
    #[secret(
        "slack_bot_token",
        label = "Bot token of the Slack app",
        description = "It begins with xoxb-. The app needs the scope chat:write, and has to be a member of the channels it posts to."
    )]
    token: SecretString,
    /// The channel: its name, `#general`, or the id of a channel or a person, such as `C0123456789` or `U024BE7LH`.
    #[arg(pattern = "^(#[^#\\s]{1,80}|[CDGUW][A-Za-z0-9]{2,30})$", audit = value)]
    channel: String,
    /// The message, in Slack's `mrkdwn`: `*bold*`, `_italic_`, `` `code` ``. Mentions and links of the form `<…>` are shown as text.
    #[arg(length = 1..=40000, audit = length)]
    message: String,
) -> Result<PostedMessage, ToolError> {
    if let Some(allowed) = slack.settings.refuses(&channel) {
        let allowed = Excerpt::<1_000>::of(allowed.join("`, `"));
        return Err(ToolError::of(
            ErrorKind::Denied,
            format!("messages to `{channel}` are not allowed, use one of `{allowed}`"),
        ));
    }
    let text = escaped(&message)?;
    let request = slack
        .client
        .request(Method::Post, &["chat.postMessage"])?
        .secret_header(AUTHORIZATION, &bearer(&token))?
        .json(&json!({
            "channel": channel,
            "text": text,
            "unfurl_links": false,
            "unfurl_media": false,
        }));
    let posted = posted(&slack.client.send(request).await?)?;
    Ok(PostedMessage {
        success: true,
        message_length: u32::try_from(message.chars().count()).unwrap_or(u32::MAX),
        channel,
        channel_id: Excerpt::of(posted.channel),
        message_id: Excerpt::of(posted.ts),
    })
}

/// Escapes the characters that begin Slack's own syntax; fails if the escaped text is too long,
/// <https://docs.slack.dev/messaging/formatting-message-text#escaping>.
fn escaped(message: &str) -> Result<String, ToolError> {
    let text = message
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let chars = text.chars().count();
    if chars <= MOST_CHARS {
        return Ok(text);
    }
    Err(ToolError::invalid_arguments(vec![Issue {
        pointer: "/message".to_owned(),
        expected: format!(
            "at most {MOST_CHARS} characters, where `&` counts as 5 and `<` and `>` count as 4 characters"
        ),
        found: format!("{chars} characters"),
    }]))
}

/// Slack's response, <https://docs.slack.dev/apis/web-api/#responses>: errors have the status 200 and `ok: false`.
#[derive(Debug, Deserialize)]
struct Response {
    ok: bool,
    #[serde(default)]
    error: String,
    #[serde(default)]
    channel: String,
    #[serde(default)]
    ts: String,
    #[serde(default)]
    needed: String,
}

fn posted(reply: &Reply) -> Result<Response, ToolError> {
    if !reply.is_success() {
        let code = reply.response.json().map(|body: Response| body.error);
        return Err(reply.fail(&Fault {
            code: code.unwrap_or_default(),
            ..Fault::default()
        }));
    }
    let response: Response = reply.json()?;
    if response.ok {
        return Ok(response);
    }
    Err(refused(reply, response))
}

fn refused(reply: &Reply, response: Response) -> ToolError {
    let (kind, advice) = match response.error.as_str() {
        "channel_not_found" => (
            ErrorKind::Failed,
            "use the name or the id of a channel that the app can see",
        ),
        "not_in_channel" => (
            ErrorKind::Failed,
            "the app is not a member of the channel, use a different channel, or ask a person to invite the app to this one",
        ),
        "is_archived" => (
            ErrorKind::Failed,
            "the channel is archived, use another channel",
        ),
        "msg_too_long" | "no_text" => (ErrorKind::Failed, "shorten or complete the message"),
        "restricted_action" | "cannot_dm_bot" => {
            (ErrorKind::Failed, "the workspace does not allow this")
        }
        "missing_scope" | "invalid_auth" | "not_authed" | "account_inactive" | "token_revoked"
        | "token_expired" | "no_permission" | "access_denied" => (
            ErrorKind::Unavailable,
            "the host's token cannot be used for this",
        ),
        "internal_error" | "fatal_error" | "service_unavailable" | "request_timeout" => (
            ErrorKind::Interrupted,
            "the message may have been posted, check before you repeat it",
        ),
        "rate_limited" | "ratelimited" => (ErrorKind::RateLimited, "try again later"),
        _ => (ErrorKind::Failed, "change the call or use another channel"),
    };
    let fault = Fault {
        text: match response.needed.as_str() {
            "" => String::new(),
            scope => format!("the scope `{scope}` is missing"),
        },
        code: response.error,
        advice: Some(advice),
    };
    reply.refuse(kind, &fault)
}
