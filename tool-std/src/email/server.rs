//! Delivery of a message to the SMTP server.

use lettre::Message;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tool_core::{ErrorKind, ExposeSecret as _, SecretString, ToolError};

use super::{Encryption, Settings};
use crate::Excerpt;

/// Sends a message to the server, within the timeout.
pub(super) async fn deliver(
    settings: &Settings,
    login: Option<(SecretString, SecretString)>,
    message: &Message,
) -> Result<(), ToolError> {
    let end = tokio::time::Instant::now() + settings.timeout;
    let connected = tokio::time::timeout_at(end, connect(settings, login)).await;
    let mut connection = connected.map_err(|_| {
        let text = format!(
            "`{}` did not answer in time, try again later",
            settings.host
        );
        ToolError::of(ErrorKind::TimedOut, text)
    })??;
    let content = message.formatted();
    let sent = connection.send(message.envelope(), &content);
    let sent = tokio::time::timeout_at(end, sent).await;
    match sent {
        Ok(Ok(_)) => {
            // The server has accepted the message, so its response to `QUIT` does not matter.
            let quit = tokio::time::timeout(std::time::Duration::from_secs(1), connection.quit());
            drop(quit.await);
            Ok(())
        }
        Ok(Err(error)) => Err(undelivered(&error)),
        Err(_) => Err(in_doubt("the server did not answer in time")),
    }
}

/// Connects, encrypts and logs in. The message is sent only after this has succeeded.
async fn connect(
    settings: &Settings,
    login: Option<(SecretString, SecretString)>,
) -> Result<AsyncSmtpConnection, ToolError> {
    let tls = || tls(settings);
    let hello = ClientId::Domain(settings.from.email.domain().to_owned());
    let at_once = match settings.encryption {
        Encryption::Implicit => Some(tls()?),
        Encryption::StartTls | Encryption::None => None,
    };
    let server = (settings.host.as_str(), settings.port);
    let connected =
        AsyncSmtpConnection::connect_tokio1(server, Some(settings.timeout), &hello, at_once, None);
    let mut connection = connected
        .await
        .map_err(|error| unreachable_server(settings, &error))?;
    if settings.encryption == Encryption::StartTls {
        if !connection.can_starttls() {
            return Err(ToolError::unavailable(format_args!(
                "the encryption (`STARTTLS`) of `{}`",
                settings.host
            )));
        }
        let begun = connection.starttls(tls()?, &hello).await;
        begun.map_err(|error| unreachable_server(settings, &error))?;
    }
    if let Some((username, password)) = login {
        if !connection.is_encrypted() {
            return Err(ToolError::unavailable(
                "an encrypted connection, over which the login may be sent,",
            ));
        }
        let credentials = Credentials::new(
            username.expose_secret().to_owned(),
            password.expose_secret().to_owned(),
        );
        let accepted = connection.auth(DEFAULT_MECHANISMS, &credentials).await;
        accepted.map_err(|error| {
            let text = "the login at the email server failed, email cannot be sent now";
            ToolError::of(ErrorKind::Unavailable, text).operator(error.to_string())
        })?;
    }
    Ok(connection)
}

fn tls(settings: &Settings) -> Result<TlsParameters, ToolError> {
    let mut builder = TlsParameters::builder(settings.host.clone());
    for root in &settings.roots {
        builder = builder.add_root_certificate(Certificate::from_der(root.clone())?);
    }
    Ok(builder.build_rustls()?)
}

fn unreachable_server(settings: &Settings, error: &Error) -> ToolError {
    let text = format!(
        "the email server `{}` cannot be used now, try again later",
        settings.host
    );
    ToolError::new(text).operator(error.to_string())
}

/// Converts the error of a message. If the error is a response of the server, the server did not accept the message.
fn undelivered(error: &Error) -> ToolError {
    let said = Excerpt::<300>::of(error.to_string());
    if error.is_permanent() {
        let text = format!(
            "the email server refuses the message, change the recipients or the text: {said}"
        );
        return ToolError::new(text);
    }
    if error.is_transient() {
        return ToolError::new(format!(
            "the email server cannot accept the message now, try again later: {said}"
        ));
    }
    if error.is_client() {
        return ToolError::new(format!("the message cannot be sent to this server: {said}"));
    }
    in_doubt("the connection to the server broke").operator(error.to_string())
}

fn in_doubt(why: &str) -> ToolError {
    let text = format!(
        "it is not known whether the email was sent: {why}; do not send it again before a person has checked"
    );
    ToolError::of(ErrorKind::Interrupted, text)
}
