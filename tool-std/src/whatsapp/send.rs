//! The `send_whatsapp_template` tool.

use ::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use tool_core::prelude::*;
use tool_core::{ExposeSecret as _, Issue};
use url::form_urlencoded;

use super::{Sender, WhatsAppReply};
use crate::Excerpt;
use crate::http::Method;
use crate::vendor::{Fault, Reply, basic};

/// A template that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentTemplate {
    /// Always true: the person has got an answer, so the text of the model is not sent as well.
    pub reply_handled: bool,
    /// The text of the message. If Twilio does not return it, the template and its variables.
    pub reply_text: Excerpt<4_096>,
    /// The id of the message at Twilio, `SM…` or `MM…`.
    pub message_sid: Excerpt<50>,
}

/// Answers the person who wrote on WhatsApp with an approved template. Use it if the person's last message is older than 24 hours. It
/// is the answer of this turn, so do not write another one.
#[tool(
    category = "whatsapp",
    harness,
    example("With variables", { "content_sid": "HXb5b62575e6e4ff6129ad7c8efe1f983e", "variables": ["Ann", "12 March"] }),
    example("Without variables", { "content_sid": "HX0123456789abcdef0123456789abcdef", "variables": [] }),
)]
pub async fn send_whatsapp_template(
    whatsapp: &WhatsAppReply,
    #[secret(
        "twilio_account_sid",
        label = "Account SID of Twilio",
        description = "It begins with AC."
    )]
    account: SecretString,
    #[secret("twilio_auth_token", label = "Auth token of Twilio")] token: SecretString,
    /// The id of the template: `HX` and 32 hexadecimal digits.
    #[arg(pattern = "^HX[0-9a-fA-F]{32}$", audit = value)]
    content_sid: String,
    /// The values of the variables, in order: the first one is `{{1}}`.
    #[arg(max_items = 100)]
    variables: Vec<String>,
) -> Result<SentTemplate, ToolError> {
    judge(&variables)?;
    let path = [
        "2010-04-01",
        "Accounts",
        account.expose_secret(),
        "Messages.json",
    ];
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    let request = whatsapp
        .client
        .request(Method::Post, &path)?
        .secret_header(AUTHORIZATION, &basic(&account, &token))?
        .header(CONTENT_TYPE, kind)
        .body(form(whatsapp, &content_sid, &variables).into_bytes());
    let sent = sent(&whatsapp.client.send(request).await?)?;
    let text = match sent.body {
        Some(body) if !body.is_empty() => body,
        _ => format!("WhatsApp template {content_sid}: {}", variables.join(" | ")),
    };
    Ok(SentTemplate {
        reply_handled: true,
        reply_text: Excerpt::of(text),
        message_sid: Excerpt::of(sent.sid),
    })
}

/// Returns the body of the request.
fn form(whatsapp: &WhatsAppReply, content_sid: &str, variables: &[String]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("To", &format!("whatsapp:{}", whatsapp.to.number));
    match &whatsapp.settings.sender {
        Sender::Number(number) => form.append_pair("From", &format!("whatsapp:{number}")),
        Sender::Service(sid) => form.append_pair("MessagingServiceSid", sid),
    };
    form.append_pair("ContentSid", content_sid);
    if !variables.is_empty() {
        form.append_pair("ContentVariables", &numbered(variables));
    }
    form.finish()
}

/// Refuses values that WhatsApp does not accept, <https://www.twilio.com/docs/api/errors/21656> and
/// <https://developers.facebook.com/docs/whatsapp/business-management-api/message-templates/components>.
fn judge(variables: &[String]) -> Result<(), ToolError> {
    let mut issues = Vec::new();
    for (at, value) in variables.iter().enumerate() {
        let chars = value.chars().count();
        let found = if value.trim().is_empty() {
            "a blank text".to_owned()
        } else if chars > 1_024 {
            format!("{chars} characters")
        } else if value.contains(['\n', '\r', '\t']) {
            "a line break or a tab".to_owned()
        } else {
            continue;
        };
        issues.push(Issue {
            pointer: format!("/variables/{at}"),
            expected: "1 to 1,024 characters in one line".to_owned(),
            found,
        });
    }
    if issues.is_empty() {
        return Ok(());
    }
    Err(ToolError::invalid_arguments(issues))
}

/// Returns `{"1": "…", "2": "…"}`, <https://www.twilio.com/docs/content/using-variables-with-content-api>.
fn numbered(variables: &[String]) -> String {
    let pairs = (1_u32..)
        .zip(variables)
        .map(|(number, value)| (number.to_string(), Value::from(value.as_str())));
    Value::Object(pairs.collect()).to_string()
}

/// A message, as Twilio sends it, <https://www.twilio.com/docs/messaging/api/message-resource>.
#[derive(Debug, Deserialize)]
struct Message {
    sid: String,
    #[serde(default)]
    body: Option<String>,
}

/// The body of an error, <https://www.twilio.com/docs/usage/twilios-response#response-formats-exceptions>.
#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    code: u32,
    #[serde(default)]
    message: String,
}

fn sent(reply: &Reply) -> Result<Message, ToolError> {
    if reply.is_success() {
        return reply.json();
    }
    let refusal: Refusal = reply.response.json().unwrap_or_default();
    let advice = match refusal.code {
        21_655 => Some("there is no such template, use a different `content_sid`"),
        21_656 | 63_028 => Some("give one value for each variable of the template"),
        63_016 | 63_112 => Some("use a template that WhatsApp has approved"),
        21_211 | 63_003 | 63_024 => Some("the person cannot be reached on WhatsApp"),
        _ => None,
    };
    Err(reply.fail(&Fault {
        code: match refusal.code {
            0 => String::new(),
            code => code.to_string(),
        },
        text: refusal.message,
        advice,
    }))
}
