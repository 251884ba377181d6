//! The `send_email` tool.

use std::hash::{BuildHasher as _, RandomState};

use lettre::Message;
use lettre::message::{Mailbox, header::ContentType};
use tool_core::prelude::*;
use tool_core::{ErrorKind, Issue};

use super::{EmailWrite, Settings, server};
use crate::Excerpt;

/// An email that the server has accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct SentEmail {
    /// Always true: a message that the server did not accept is an error.
    pub success: bool,
    /// The `Message-ID` of the message.
    pub message_id: String,
    /// The number of recipients.
    pub recipients: u32,
}

/// Sends an email with a plain text. A sent email cannot be taken back.
#[tool(
    category = "messaging",
    example("To one person", { "to": ["Ann <ann@example.com>"], "subject": "Your export", "text": "The export is ready." }),
    example("With a copy", { "to": ["bob@example.com"], "cc": ["ann@example.com"], "subject": "Invoice 17", "text": "Please check the amount." }),
)]
pub async fn send_email(
    email: &EmailWrite,
    #[secret("smtp_username", label = "User name of the SMTP server")] username: Option<
        SecretString,
    >,
    #[secret("smtp_password", label = "Password of the SMTP server")] password: Option<
        SecretString,
    >,
    /// The recipients, as `ann@example.com` or `Ann <ann@example.com>`.
    #[arg(min_items = 1, max_items = 50)]
    to: Vec<String>,
    /// Recipients of a copy. All recipients see these addresses.
    #[arg(default = [], max_items = 50)]
    cc: Vec<String>,
    /// The subject, in one line.
    #[arg(length = 1..=400)]
    subject: String,
    /// The text, without markup.
    #[arg(length = 1..=200000)]
    text: String,
) -> Result<SentEmail, ToolError> {
    let settings = &*email.0.0;
    let (to, cc) = recipients(settings, &to, &cc)?;
    let recipients = u32::try_from(to.len() + cc.len()).unwrap_or(u32::MAX);
    let message_id = new_id(settings);
    let message = message(settings, &message_id, to, cc, &subject, text)?;
    let login = match (username, password) {
        (Some(username), Some(password)) => Some((username, password)),
        (None, None) => None,
        _ => {
            return Err(ToolError::unavailable(
                "one of the secrets `smtp_username` and `smtp_password`",
            ));
        }
    };
    server::deliver(settings, login, &message).await?;
    Ok(SentEmail {
        success: true,
        message_id,
        recipients,
    })
}

/// Parses the recipients, and refuses those that the host does not allow.
fn recipients(
    settings: &Settings,
    to: &[String],
    cc: &[String],
) -> Result<(Vec<Mailbox>, Vec<Mailbox>), ToolError> {
    let mut issues = Vec::new();
    let mut parse = |field: &str, all: &[String]| {
        let mut parsed: Vec<Mailbox> = Vec::new();
        for (at, text) in all.iter().enumerate() {
            match text.parse() {
                Ok(mailbox) if !text.contains(char::is_control) => parsed.push(mailbox),
                _ => issues.push(Issue {
                    pointer: format!("/{field}/{at}"),
                    expected: "an address as `ann@example.com` or `Ann <ann@example.com>`"
                        .to_owned(),
                    found: format!("`{}`", Excerpt::<100>::of(text.as_str())),
                }),
            }
        }
        parsed
    };
    let (to, cc) = (parse("to", to), parse("cc", cc));
    if to.len() + cc.len() > 50 {
        issues.push(Issue {
            pointer: "/cc".to_owned(),
            expected: "at most 50 recipients in `to` and `cc` together".to_owned(),
            found: (to.len() + cc.len()).to_string(),
        });
    }
    if !issues.is_empty() {
        return Err(ToolError::invalid_arguments(issues));
    }
    let refused = to.iter().chain(&cc).find(|one| !settings.allows(one));
    if let Some(refused) = refused {
        let allowed = settings
            .recipients
            .as_deref()
            .unwrap_or_default()
            .join("`, `");
        let text = format!(
            "email to `{}` is not allowed, only to `{}`",
            refused.email,
            Excerpt::<1_000>::of(allowed)
        );
        return Err(ToolError::of(ErrorKind::Denied, text));
    }
    Ok((to, cc))
}

/// Returns a `Message-ID` in the domain of the sender.
fn new_id(settings: &Settings) -> String {
    // Each `RandomState` has new random keys.
    let random = || RandomState::new().hash_one(std::time::SystemTime::now());
    format!(
        "<{:016x}{:016x}@{}>",
        random(),
        random(),
        settings.from.email.domain()
    )
}

fn message(
    settings: &Settings,
    id: &str,
    to: Vec<Mailbox>,
    cc: Vec<Mailbox>,
    subject: &str,
    text: String,
) -> Result<Message, ToolError> {
    if subject.contains(char::is_control) {
        return Err(ToolError::invalid_arguments(vec![Issue {
            pointer: "/subject".to_owned(),
            expected: "one line".to_owned(),
            found: "a line break or a control character".to_owned(),
        }]));
    }
    let mut builder = Message::builder()
        .from(settings.from.clone())
        .subject(subject)
        .message_id(Some(id.to_owned()));
    for one in to {
        builder = builder.to(one);
    }
    for one in cc {
        builder = builder.cc(one);
    }
    Ok(builder.header(ContentType::TEXT_PLAIN).body(text)?)
}
