//! Tests of the pack `email` with the SMTP server aiosmtpd.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Missing, Ran, python};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::email::{Email, send_email};

use crate::support::output;

/// A running server, which is stopped at the end of its test.
struct Smtp {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
    certificate: Vec<u8>,
    _folder: TempDir,
}

impl Drop for Smtp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Smtp {
    fn start(mode: &str, login: bool) -> Result<Self, Missing> {
        let python = python("venv")?;
        let folder = tempfile::tempdir().unwrap();
        let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let (certificate, key) = (
            folder.path().join("cert.pem"),
            folder.path().join("key.pem"),
        );
        std::fs::write(&certificate, pem("CERTIFICATE", own.cert.der())).unwrap();
        std::fs::write(&key, pem("PRIVATE KEY", &own.signing_key.serialize_der())).unwrap();
        let mut child = Command::new(python)
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/vendor_servers/smtp.py"
            ))
            .arg(mode)
            .args([certificate, key])
            .arg(if login { "login" } else { "open" })
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().parse().unwrap();
        Ok(Self {
            child,
            lines,
            port,
            certificate: own.cert.der().to_vec(),
            _folder: folder,
        })
    }

    /// Returns settings for this server, with TLS from the beginning of the connection. The client trusts the certificate of the server.
    fn settings(&self) -> Email {
        let email = Email::relay("localhost", "Support <support@example.com>").unwrap();
        email
            .root_certificate(self.certificate.clone())
            .port(self.port)
    }

    /// Returns the next message that the server accepted.
    fn message(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }
}

/// Encodes a certificate or a key as PEM.
fn pem(label: &str, der: &[u8]) -> String {
    let coded = base64::engine::general_purpose::STANDARD.encode(der);
    let lines = coded.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let lines: Vec<_> = lines.collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}

async fn send(email: &Email, password: Option<&str>, arguments: Value) -> CallResult {
    let mut cx = ToolContext::builder().with(email.clone());
    if let Some(password) = password {
        cx = cx
            .secret("smtp_username", SecretString::from("mail-user"))
            .secret("smtp_password", SecretString::from(password.to_owned()));
    }
    let call = ToolCall::new("c-1", "send_email", arguments.to_string());
    toolset![send_email].call(call, &cx.build()).await
}

fn to(address: &str) -> Value {
    json!({"to": [address], "subject": "Your export", "text": "The export is ready."})
}

fn kind(result: &CallResult) -> ErrorKind {
    result.error().unwrap().kind()
}

// A message arrives with its recipients, subject and text. A line `Bcc:` in the text adds no recipient.
pub(crate) async fn message_arrives_unchanged_case() -> Ran {
    let mut smtp = Smtp::start("plain", false)?;
    let email = smtp.settings().unencrypted().port(smtp.port);
    let arguments = json!({
        "to": ["Ann Ämble <ann@example.com>", "bob@example.com"], "cc": ["carol@example.org"],
        "subject": "Ihr Export für März", "text": "Grüße\n.\nBcc: eve@example.com\nEnde"
    });
    let sent = output(&send(&email, None, arguments).await);
    assert_eq!(
        (&sent["success"], &sent["recipients"]),
        (&json!(true), &json!(3))
    );
    let message = smtp.message();
    assert_eq!(message["from"], "support@example.com");
    assert_eq!(
        message["to"],
        json!(["ann@example.com", "bob@example.com", "carol@example.org"])
    );
    // Python's parser of messages is independent of the library that wrote the message.
    let parsed = parse(message["content"].as_str().unwrap())?;
    assert_eq!(parsed["subject"], "Ihr Export für März");
    assert_eq!(parsed["from"], "Support <support@example.com>");
    assert_eq!(parsed["to"], "Ann Ämble <ann@example.com>, bob@example.com");
    assert_eq!(parsed["cc"], "carol@example.org");
    assert_eq!(parsed["text"], "Grüße\n.\nBcc: eve@example.com\nEnde");
    assert_eq!(parsed["id"], sent["message_id"]);
    assert_eq!(parsed["bcc"], Value::Null);
    let again = output(&send(&email, None, to("ann@example.com")).await);
    assert_ne!(again["message_id"], sent["message_id"]);
    Ok(())
}

/// Parses a message with Python.
fn parse(content: &str) -> Result<Value, Missing> {
    let script = "import email, json, sys\n\
        from email import policy\n\
        m = email.message_from_bytes(open(sys.argv[1], 'rb').read(), policy=policy.default)\n\
        h = lambda n: None if m[n] is None else str(m[n])\n\
        print(json.dumps({'subject': h('subject'), 'from': h('from'), 'to': h('to'), 'cc': h('cc'), 'bcc': h('bcc'), 'id': h('message-id'), 'text': m.get_content().replace('\\r\\n', '\\n').rstrip('\\n')}))";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    let done = Command::new(python("venv")?)
        .args(["-c", script])
        .arg(file.path())
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    Ok(serde_json::from_slice(&done.stdout).unwrap())
}

// The connection is encrypted, and the login is sent over an encrypted connection only.
pub(crate) async fn login_is_sent_over_tls_only_case() -> Ran {
    for mode in ["tls", "starttls"] {
        // With TLS from the start, aiosmtpd does not know that the connection is encrypted, so only STARTTLS is combined with a login.
        let mut smtp = Smtp::start(mode, mode == "starttls")?;
        let email = smtp.settings();
        let email = if mode == "starttls" {
            email.start_tls().port(smtp.port)
        } else {
            email
        };
        let password = (mode == "starttls").then_some("secret-password");
        output(&send(&email, password, to("ann@example.com")).await);
        let message = smtp.message();
        assert_eq!(message["login"], mode == "starttls");
        // The certificate must be trusted, and must match the server's name.
        let plain = Email::relay("localhost", "support@example.com").unwrap();
        let stranger = if mode == "starttls" {
            plain.start_tls()
        } else {
            plain
        };
        let result = send(&stranger.port(smtp.port), password, to("ann@example.com")).await;
        assert_eq!(kind(&result), ErrorKind::Failed, "{mode}");
        if mode == "starttls" {
            let result = send(&email, Some("wrong-password"), to("ann@example.com")).await;
            assert_eq!(kind(&result), ErrorKind::Unavailable);
            assert!(!result.model_text().contains("wrong-password"));
            assert!(
                !result
                    .error()
                    .unwrap()
                    .operator_text()
                    .contains("wrong-password")
            );
        }
    }
    // A login is not sent without encryption, so the call fails.
    let smtp = Smtp::start("plain", true)?;
    let email = smtp.settings().unencrypted().port(smtp.port);
    let result = send(&email, Some("secret-password"), to("ann@example.com")).await;
    assert_eq!(kind(&result), ErrorKind::Unavailable);
    // If the server does not offer STARTTLS, the call fails even without a login.
    let result = send(
        &smtp.settings().start_tls().port(smtp.port),
        None,
        to("ann@example.com"),
    )
    .await;
    assert_eq!(kind(&result), ErrorKind::Unavailable);
    Ok(())
}

// Concurrent calls use their own logins: the calls with the wrong password fail.
pub(crate) async fn each_call_uses_its_own_login_case() -> Ran {
    let smtp = Smtp::start("starttls", true)?;
    let email = smtp.settings().start_tls().port(smtp.port);
    let calls = (0..6).map(|turn| {
        let email = &email;
        async move {
            let password = if turn % 2 == 0 {
                "secret-password"
            } else {
                "password-of-another"
            };
            send(email, Some(password), to("ann@example.com"))
                .await
                .is_error()
        }
    });
    let failed = futures::future::join_all(calls).await;
    assert_eq!(failed, [false, true, false, true, false, true]);
    Ok(())
}

// Faults of the server are reported at each step.
pub(crate) async fn faults_of_the_server_are_reported_case() -> Ran {
    let smtp = Smtp::start("plain", false)?;
    let email = smtp.settings().unencrypted().port(smtp.port);
    let result = send(&email, None, to("unknown@example.com")).await;
    assert_eq!(kind(&result), ErrorKind::Failed);
    assert!(
        result.model_text().contains("There is no such mailbox"),
        "{}",
        result.model_text()
    );
    let result = send(&email, None, to("later@example.com")).await;
    assert_eq!(kind(&result), ErrorKind::Failed);
    assert!(
        result.model_text().contains("try again later"),
        "{}",
        result.model_text()
    );
    // The connection breaks after the message was sent: it may have been delivered.
    let result = send(&email, None, to("broken@example.com")).await;
    assert_eq!(kind(&result), ErrorKind::Interrupted);
    // If the server refuses one recipient, the call fails.
    let both =
        json!({"to": ["ann@example.com", "unknown@example.com"], "subject": "x", "text": "y"});
    assert_eq!(kind(&send(&email, None, both).await), ErrorKind::Failed);
    drop(smtp);
    // The server has stopped.
    let result = send(&email, None, to("ann@example.com")).await;
    assert_eq!(kind(&result), ErrorKind::Failed);
    // This server accepts the connection and does not answer.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let slow = Email::relay("localhost", "support@example.com")
        .unwrap()
        .unencrypted();
    let slow = slow.port(port).timeout(Duration::from_millis(300));
    let result = send(&slow, None, to("ann@example.com")).await;
    assert!(matches!(
        kind(&result),
        ErrorKind::TimedOut | ErrorKind::Failed
    ));
    Ok(())
}
