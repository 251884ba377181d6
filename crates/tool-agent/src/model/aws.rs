//! Amazon Bedrock: signed requests, and the frames of its streams.

use std::env;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use aws_credential_types::Credentials as Identity;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use aws_smithy_eventstream::frame::read_message_from;
use futures::future::{BoxFuture, FutureExt as _, ready};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use tool_core::{ExposeSecret as _, SecretString, ToolError};

use super::credentials::{MissingKey, from_env};

/// The name of the service in signatures.
const SERVICE: &str = "bedrock";

/// Limit on the length of a frame. AWS writes frames of at most 24 MiB.
const MAX_FRAME: usize = 24 << 20;

/// Length of the shortest frame, in bytes: two lengths, their checksum, and the checksum of the frame.
const MIN_FRAME: usize = 16;

/// Access keys of AWS, with which requests are signed.
#[derive(Clone)]
pub struct AwsKeys {
    access_key_id: String,
    secret_access_key: SecretString,
    session_token: Option<SecretString>,
}

impl AwsKeys {
    /// Creates keys of a user, which do not expire.
    pub fn new(
        access_key_id: impl Into<String>,
        secret_access_key: impl Into<SecretString>,
    ) -> Self {
        Self {
            access_key_id: access_key_id.into(),
            secret_access_key: secret_access_key.into(),
            session_token: None,
        }
    }

    /// Adds the session token of temporary keys, such as those of a role.
    #[must_use]
    pub fn session_token(mut self, token: impl Into<SecretString>) -> Self {
        self.session_token = Some(token.into());
        self
    }

    /// Reads the keys from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if it is set and not empty, `AWS_SESSION_TOKEN`.
    ///
    /// # Errors
    ///
    /// Fails if one of the first two variables is empty or not set, if a variable consists of white space, and if a variable is not UTF-8.
    pub fn from_env() -> Result<Self, MissingKey> {
        let keys = Self::new(
            from_env("AWS_ACCESS_KEY_ID")?,
            from_env("AWS_SECRET_ACCESS_KEY")?,
        );
        match env::var_os("AWS_SESSION_TOKEN") {
            Some(token) if !token.is_empty() => {
                Ok(keys.session_token(from_env("AWS_SESSION_TOKEN")?))
            }
            _ => Ok(keys),
        }
    }

    /// Returns the values that are redacted in errors. AWS repeats the session token in the errors of signatures.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        [&self.secret_access_key]
            .into_iter()
            .chain(&self.session_token)
    }
}

/// Prints the id of the key without the secrets.
impl fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsKeys")
            .field("access_key_id", &self.access_key_id)
            .finish_non_exhaustive()
    }
}

/// A source of access keys for [`Endpoint::bedrock`](super::Endpoint::bedrock).
///
/// The keys are read before each attempt, so a source of temporary keys should cache them and fetch new ones shortly before the old ones expire. A
/// host that uses the AWS SDK implements this trait with its provider of credentials.
///
/// ```
/// use futures::FutureExt as _;
/// use futures::future::BoxFuture;
/// use tool_agent::model::{AwsCredentials, AwsKeys, Endpoint};
/// use tool_core::ToolError;
///
/// /// The role of the machine; a host fetches its keys from the metadata service.
/// struct InstanceRole;
///
/// impl AwsCredentials for InstanceRole {
///     fn keys(&self) -> BoxFuture<'_, Result<AwsKeys, ToolError>> {
///         async { Ok(AwsKeys::new("ASIA…", "…").session_token("…")) }.boxed()
///     }
/// }
///
/// let endpoint = Endpoint::bedrock("eu-central-1", InstanceRole);
/// ```
#[doc(alias("authentication", "IAM", "SigV4"))]
pub trait AwsCredentials: Send + Sync + 'static {
    /// Returns the keys of the next request, within 30 s. An error has the same effect as an error of
    /// [`Credentials::token`](super::Credentials::token).
    fn keys(&self) -> BoxFuture<'_, Result<AwsKeys, ToolError>>;

    /// Called when AWS answers 401, or 403 because these keys have expired or are unknown. Returns, within 30 s, whether [`keys`](Self::keys) now
    /// returns different keys. If so, the request is sent again once. The default returns `false`.
    fn refused<'a>(&'a self, keys: &'a AwsKeys) -> BoxFuture<'a, bool> {
        let _ = keys;
        ready(false).boxed()
    }
}

impl AwsCredentials for AwsKeys {
    fn keys(&self) -> BoxFuture<'_, Result<AwsKeys, ToolError>> {
        ready(Ok(self.clone())).boxed()
    }
}

/// The region and the keys with which the requests to an endpoint are signed.
#[derive(Clone)]
pub(super) struct Signing {
    pub(super) region: String,
    pub(super) credentials: Arc<dyn AwsCredentials>,
}

impl Signing {
    /// Adds the signature of a request (Signature Version 4) to its headers. The error describes why the request cannot be signed.
    pub(super) fn sign(
        &self,
        url: &Url,
        headers: &mut HeaderMap,
        body: &str,
        keys: &AwsKeys,
    ) -> Result<(), String> {
        let token = keys.session_token.as_ref();
        let identity = Identity::new(
            &keys.access_key_id,
            keys.secret_access_key.expose_secret(),
            token.map(|token| token.expose_secret().to_owned()),
            None,
            "tool-agent",
        )
        .into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(SERVICE)
            .time(tool_core::env::system_time())
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| error.to_string())?
            .into();
        let kind = headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| Some(("content-type", kind.to_str().ok()?)));
        let body = SignableBody::Bytes(body.as_bytes());
        let request = SignableRequest::new("POST", url.as_str(), kind.into_iter(), body);
        let request = request.map_err(|error| error.to_string())?;
        let (instructions, _) = sign(request, &params)
            .map_err(|error| error.to_string())?
            .into_parts();
        for (name, value) in instructions.headers() {
            let name = HeaderName::from_bytes(name.as_bytes());
            let value = HeaderValue::from_str(value);
            let (Ok(name), Ok(mut value)) = (name, value) else {
                return Err("a key contains a character that a header cannot contain: remove line breaks and control characters".to_owned());
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(())
    }
}

/// Decodes the frames of a stream (`application/vnd.amazon.eventstream`).
#[derive(Debug, Default)]
pub(super) struct Frames {
    buffer: Vec<u8>,
}

impl Frames {
    /// Accepts bytes in pieces of any size. Returns the events that these bytes complete, in the format that `tool-wire` reads, one event per line.
    /// Events that `tool-wire` does not read are left out. Fails if a frame is corrupt, for example because of an invalid length or a wrong checksum,
    /// if a payload is not UTF-8, and if the payload of a returned event is not JSON.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<String, String> {
        self.buffer.extend_from_slice(bytes);
        let mut events = String::new();
        loop {
            let Some(length) = self.buffer.first_chunk::<4>() else {
                return Ok(events);
            };
            let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
            if !(MIN_FRAME..=MAX_FRAME).contains(&length) {
                return Err(format!("a frame has an invalid length of {length} bytes"));
            }
            if self.buffer.len() < length {
                return Ok(events);
            }
            let frame: Vec<u8> = self.buffer.drain(..length).collect();
            let message = read_message_from(&*frame)
                .map_err(|error| format!("a frame of the stream is corrupt: {error}"))?;
            let header = |wanted: &str| {
                let mut headers = message.headers().iter();
                let found = headers.find(|header| header.name().as_str() == wanted)?;
                let value = found.value().as_string().ok()?;
                Some(value.as_str().to_owned())
            };
            let payload = str::from_utf8(message.payload())
                .map_err(|_| "the payload of a frame is not UTF-8".to_owned())?;
            let event = match header(":message-type").as_deref() {
                Some("event") => header(":event-type").map(|name| (name, payload.to_owned())),
                Some("exception") => {
                    header(":exception-type").map(|name| (name, payload.to_owned()))
                }
                // An error without an exception type: its code and its message are in headers.
                Some("error") => {
                    let code = header(":error-code").unwrap_or_default();
                    let message = header(":error-message").unwrap_or_default();
                    let payload = serde_json::json!({"message": message}).to_string();
                    Some((exception(&code), payload))
                }
                _ => None,
            };
            if let Some((name, payload)) = event.filter(|(name, _)| is_known(name)) {
                // Line breaks between the tokens of JSON are white space.
                let payload = payload.replace(['\n', '\r'], " ");
                let payload: &RawValue = serde_json::from_str(&payload)
                    .map_err(|_| format!("the payload of the event `{name}` is not JSON"))?;
                let name = serde_json::Value::from(name);
                // Writing into a string does not fail.
                let _ = writeln!(events, "{{{name}:{payload}}}");
            }
        }
    }
}

/// Returns the code of an error as the name of an exception.
fn exception(code: &str) -> String {
    let name = code.strip_suffix("Exception").unwrap_or(code);
    format!("{name}Exception")
}

/// Returns whether `tool-wire` reads an event. A later version of the API may add events.
fn is_known(name: &str) -> bool {
    const EVENTS: [&str; 6] = [
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    ];
    EVENTS.contains(&name) || name.ends_with("Exception")
}
