//! A tool that sends email through an SMTP server.
//!
//! ```text
//! send_email {"to": ["Ann <ann@example.com>"], "subject": "Your export", "text": "The export is ready."}
//!
//! {"success":true,"message_id":"<5f1c0a7be2d94c318d0f2f2f6f0f9a11@example.com>","recipients":1}
//! ```
//!
//! | secret | meaning |
//! |---|---|
//! | `smtp_username`, `smtp_password` | the login of the server. If both are missing, the tool does not log in; if one is missing, the call fails |
//!
//! The host names the server, the sender and, optionally, the allowed recipients:
//!
//! ```
//! use tool_core::{SecretString, ToolContext};
//! use tool_std::email::Email;
//!
//! let email = Email::relay("smtp.example.com", "Support <support@example.com>")?.recipients(["example.com", "ann@example.org"]);
//! let cx = ToolContext::builder()
//!     .with(email)
//!     .secret("smtp_username", SecretString::from("support@example.com"))
//!     .secret("smtp_password", SecretString::from("correct horse"))
//!     .build();
//! # drop(cx);
//! # Ok::<(), tool_std::email::SenderError>(())
//! ```
//!
//! # Limits and errors
//!
//! A message has at most 50 recipients, a subject of one line and a plain text of at most 200,000 characters. The audit stores only the lengths of
//! the addresses, the subject and the text.
//! The connection is encrypted unless the host calls [`Email::unencrypted`]: TLS from the start, or a required `STARTTLS`. The login is only sent
//! over an encrypted connection.
//! The server may be at any address, because the host names it; the guard of [`http`](crate::http) does not apply.
//!
//! If the server refuses one recipient, the message is sent to none. If the connection breaks or the time is over after the delivery has begun, the
//! call fails with [`Interrupted`](tool_core::ErrorKind::Interrupted), because the server may have accepted the message.

mod send;
mod server;

pub use send::{SentEmail, send_email};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::Mailbox;
use tool_core::Effect;
use tool_core::prelude::*;

/// Settings of [`send_email`](fn@send_email). Pass them with [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone, Debug)]
#[must_use]
pub struct Email(Arc<Settings>);

#[derive(Clone, Debug)]
struct Settings {
    host: String,
    port: u16,
    encryption: Encryption,
    from: Mailbox,
    recipients: Option<Vec<String>>,
    timeout: Duration,
    roots: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encryption {
    /// TLS from the first byte.
    Implicit,
    /// TLS after the command `STARTTLS`.
    StartTls,
    None,
}

/// The error for a sender whose text is not an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderError(String);

impl fmt::Display for SenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not an address, write `ann@example.com` or `Ann <ann@example.com>`",
            self.0
        )
    }
}

impl std::error::Error for SenderError {}

impl Email {
    /// Creates the settings of a server that speaks TLS at port 465, and of a sender such as `Support <support@example.com>`.
    ///
    /// # Errors
    ///
    /// Returns a [`SenderError`] if the sender is not an address.
    pub fn relay(host: impl Into<String>, from: &str) -> Result<Self, SenderError> {
        Ok(Self(Arc::new(Settings {
            host: host.into(),
            port: 465,
            encryption: Encryption::Implicit,
            from: from.parse().map_err(|_| SenderError(from.to_owned()))?,
            recipients: None,
            timeout: Duration::from_secs(30),
            roots: Vec::new(),
        })))
    }

    /// Connects without encryption to port 587, and then requires `STARTTLS`.
    pub fn start_tls(self) -> Self {
        self.change(|settings| (settings.encryption, settings.port) = (Encryption::StartTls, 587))
    }

    /// Never encrypts, for a server on the same machine at port 25. A call with a login fails, because the login is sent only over an
    /// encrypted connection.
    pub fn unencrypted(self) -> Self {
        self.change(|settings| (settings.encryption, settings.port) = (Encryption::None, 25))
    }

    /// Sets the port of the server. Call this after [`start_tls`](Self::start_tls) and [`unencrypted`](Self::unencrypted), which also set the port.
    pub fn port(self, port: u16) -> Self {
        self.change(|settings| settings.port = port)
    }

    /// Allows these recipients only: addresses, or domains without their subdomains, ignoring case.
    pub fn recipients<N: Into<String>>(self, allowed: impl IntoIterator<Item = N>) -> Self {
        let allowed = allowed.into_iter().map(|one| one.into().to_lowercase());
        let allowed = allowed.collect();
        self.change(|settings| settings.recipients = Some(allowed))
    }

    /// Sets the time limit of a message. The default is 30 seconds.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.change(|settings| settings.timeout = timeout)
    }

    /// Trusts a certificate (DER) in addition to the certificates of the system.
    pub fn root_certificate(self, der: Vec<u8>) -> Self {
        self.change(|settings| settings.roots.push(der))
    }

    fn change(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl Settings {
    fn allows(&self, recipient: &Mailbox) -> bool {
        let Some(allowed) = &self.recipients else {
            return true;
        };
        let address = recipient.email.to_string().to_lowercase();
        let domain = recipient.email.domain().to_lowercase();
        allowed.iter().any(|one| *one == address || *one == domain)
    }
}

/// Permission to send email, as a host value: `email: &EmailWrite`.
#[derive(Clone, Debug)]
pub struct EmailWrite(Email);

impl FromContext for EmailWrite {
    const EFFECT: Effect = Effect::WRITE.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let email = cx.extension();
        email
            .map(Self)
            .ok_or_else(|| ToolError::unavailable("the server and the sender of email (`Email`)"))
    }
}
