//! One HTTP request to a provider and its response.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode, Url};
use tokio::time::{Instant, timeout, timeout_at};
use tool_core::redact::Redactor;
use tool_core::turn::{ModelMessage, StopReason};
use tool_core::{ExposeSecret as _, SecretString, ToolError};
use tool_wire::{Delta, ModelReply, Provider, ReplyStream, WireError};

#[cfg(feature = "bedrock")]
use super::aws::{AwsKeys, Frames};
use super::body::Written;
use super::config::Target;
use super::error::{ModelError, ModelErrorKind, TimeoutPhase};
use super::recording::{Recorded, Recording};
use super::refusal::{self, Refusal};

/// Limit on the bytes of a reply. The longest replies of the models of 2026 are below 4 MiB.
const MAX_BYTES: usize = 64 << 20;

/// Limit on the bytes of an error response that are read.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// The maximum time to read the body of an error response, and the maximum time from the final event of a reply to the end of the connection.
const GRACE: Duration = Duration::from_secs(5);

/// The time in which a source of credentials must answer.
const CREDENTIALS: Duration = Duration::from_secs(30);

/// A failed attempt of a request.
pub(super) struct Failure {
    pub(super) error: Box<ModelError>,
    /// Whether the request may be sent again.
    pub(super) transient: bool,
}

impl From<Box<ModelError>> for Failure {
    fn from(error: Box<ModelError>) -> Self {
        Self {
            transient: error.kind.is_transient(),
            error,
        }
    }
}

/// Sends a request and reads the reply. `partial` contains the reply while it is read, so that the text of a stopped run can be stored. Each piece is
/// passed to `each`.
pub(super) async fn exchange(
    target: &Target,
    recording: Option<&Recording>,
    request: &Written,
    partial: &mut Option<ReplyStream>,
    each: &mut (dyn FnMut(Delta) + Send),
) -> Result<ModelReply, Failure> {
    let mut exchange = Exchange {
        target,
        request,
        recording,
        tokens: Vec::new(),
        deadline: Instant::now(),
        limit: target.timeouts.first_event,
        phase: TimeoutPhase::FirstEvent,
        taped: None,
        #[cfg(feature = "bedrock")]
        frames: None,
    };
    let mut result = exchange.run(partial, each).await;
    if let Err(failure) = &mut result {
        // Count the tokens that the provider reported before the stream failed.
        if let Some(partial) = partial.take() {
            failure.error.usage = failure.error.usage.or(partial.usage());
        }
    }
    exchange.record(result.is_err())?;
    match result {
        Ok(reply) => Ok(reply.with_origin(&*target.origin)),
        Err(failure) => Err(exchange.redacted(failure)),
    }
}

/// A response whose body has not been read.
struct Incoming {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

enum Body {
    Network(Response),
    /// A recorded body, and whether the recorded request failed before the body was read to its end.
    Recorded(Option<Vec<u8>>, bool),
}

/// The response so far, for a recording.
struct Taped {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
    /// Whether the body was read to its end.
    ended: bool,
}

struct Exchange<'a> {
    target: &'a Target,
    request: &'a Written,
    recording: Option<&'a Recording>,
    /// The tokens of the requests, which some servers repeat in their errors. An error may contain the refused token of an earlier request.
    tokens: Vec<SecretString>,
    /// The deadline of the current phase, and the limit from which it was computed.
    deadline: Instant,
    limit: Duration,
    phase: TimeoutPhase,
    taped: Option<Taped>,
    /// The decoder of a stream in frames.
    #[cfg(feature = "bedrock")]
    frames: Option<Frames>,
}

/// The credentials of a request.
enum Identity {
    None,
    Token(SecretString),
    #[cfg(feature = "bedrock")]
    Keys(AwsKeys),
}

impl Exchange<'_> {
    async fn run(
        &mut self,
        partial: &mut Option<ReplyStream>,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ModelReply, Failure> {
        let (mut response, identity) = self.send().await?;
        if response.refuses_credentials() && self.renews(&identity).await {
            (response, _) = self.send().await?;
        }
        if !response.status.is_success() {
            return Err(self.refused(response).await);
        }
        let kind = response.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.trim_start().starts_with("application/json")) {
            return self.whole(response, each).await;
        }
        self.stream(response, partial, each).await
    }

    /// Begins a phase that must end after `limit`.
    fn expect(&mut self, phase: TimeoutPhase, limit: Duration) {
        (self.phase, self.limit) = (phase, limit);
        self.deadline = after(limit);
    }

    /// Returns whether the source has new credentials after a refusal.
    async fn renews(&self, identity: &Identity) -> bool {
        let renewed = match identity {
            Identity::None => return false,
            Identity::Token(token) => match &self.target.credentials {
                Some(credentials) => credentials.refused(token),
                None => return false,
            },
            #[cfg(feature = "bedrock")]
            Identity::Keys(keys) => match &self.target.signing {
                Some(signing) => signing.credentials.refused(keys),
                None => return false,
            },
        };
        timeout(CREDENTIALS, renewed).await == Ok(true)
    }

    /// Sends the request and waits for the head of the response, or takes the recorded response. Also returns the credentials that were sent.
    async fn send(&mut self) -> Result<(Incoming, Identity), Failure> {
        let (target, request) = (self.target, self.request);
        let recorded = self
            .recording
            .and_then(|recording| recording.next(&target.url, &request.body));
        match recorded {
            Some(Ok(recorded)) => return Ok((Incoming::recorded(recorded), Identity::None)),
            Some(Err(why)) => return Err(self.failure(ModelErrorKind::NotRecorded, why)),
            None => {}
        }
        let mut headers = target.headers.clone();
        for beta in &request.betas {
            headers.append("anthropic-beta", HeaderValue::from_static(beta));
        }
        let identity = self.identity().await?;
        match &identity {
            Identity::None => {}
            Identity::Token(token) => {
                self.tokens.push(token.clone());
                let header = authorization(target.key_header.as_ref(), token);
                let (name, value) = header.ok_or_else(|| {
                    let why = "the token contains a character that a header cannot contain: remove line breaks and control characters";
                    self.failure(ModelErrorKind::Authentication, why)
                })?;
                headers.insert(name, value);
            }
            #[cfg(feature = "bedrock")]
            Identity::Keys(keys) => {
                self.tokens.extend(keys.secrets().cloned());
                if let Some(signing) = &target.signing {
                    let signed = signing.sign(&target.url, &mut headers, &request.body, keys);
                    signed.map_err(|why| self.failure(ModelErrorKind::Authentication, why))?;
                }
            }
        }
        self.expect(TimeoutPhase::FirstEvent, target.timeouts.first_event);
        let sent = target
            .client
            .post(target.url.clone())
            .headers(headers)
            .body(request.body.clone())
            .send();
        let response = self.in_time(sent).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        self.taped = self.recording.map(|_| Taped {
            status,
            headers: headers.clone(),
            bytes: Vec::new(),
            ended: false,
        });
        let incoming = Incoming {
            status,
            headers,
            body: Body::Network(response),
        };
        Ok((incoming, identity))
    }

    /// Returns the credentials of the request.
    async fn identity(&self) -> Result<Identity, Failure> {
        let found = async {
            #[cfg(feature = "bedrock")]
            if let Some(signing) = &self.target.signing {
                return signing.credentials.keys().await.map(Identity::Keys);
            }
            match &self.target.credentials {
                Some(credentials) => credentials.token().await.map(Identity::Token),
                None => Ok(Identity::None),
            }
        };
        let why = match timeout(CREDENTIALS, found).await {
            Ok(Ok(identity)) => return Ok(identity),
            Ok(Err(error)) => error.operator_text(),
            Err(_) => format!(
                "the source of credentials did not answer in {}",
                seconds(CREDENTIALS)
            ),
        };
        Err(self.failure(ModelErrorKind::Authentication, why))
    }

    /// Reads the next piece of the body; `None` at its end.
    async fn piece(&mut self, incoming: &mut Incoming) -> Result<Option<Vec<u8>>, Failure> {
        let response = match &mut incoming.body {
            Body::Network(response) => response,
            Body::Recorded(body, cut) => {
                let why = "the recorded response ends here, because the recorded request failed before the response was read to its end";
                return match body.take() {
                    Some(body) => Ok(Some(body)),
                    None if *cut => Err(self.failure(ModelErrorKind::BrokenStream, why)),
                    None => Ok(None),
                };
            }
        };
        let piece = self.in_time(response.chunk()).await?;
        let piece = piece.map(Vec::from);
        #[cfg(feature = "bedrock")]
        let piece = piece.map(|piece| self.decoded(piece)).transpose()?;
        if let Some(taped) = &mut self.taped {
            taped
                .bytes
                .extend_from_slice(piece.as_deref().unwrap_or_default());
            taped.ended = piece.is_none();
        }
        Ok(piece)
    }

    /// Returns a piece of the body, or the events in it if the body is a stream in frames.
    #[cfg(feature = "bedrock")]
    fn decoded(&mut self, piece: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let Some(frames) = &mut self.frames else {
            return Ok(piece);
        };
        let events = frames.feed(&piece).map(String::into_bytes);
        events.map_err(|why| self.failure(ModelErrorKind::BrokenStream, why))
    }

    /// Waits for a part of the response, until the deadline of the phase.
    async fn in_time<T>(
        &self,
        part: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, Failure> {
        match timeout_at(self.deadline, part).await {
            Ok(Ok(part)) => Ok(part),
            Ok(Err(error)) => Err(self.broken(error)),
            Err(_) => {
                let kind = ModelErrorKind::Timeout(self.phase);
                Err(self.failure(kind, format!("the timeout is {}", seconds(self.limit))))
            }
        }
    }

    /// Reads a streamed reply.
    async fn stream(
        &mut self,
        mut response: Incoming,
        partial: &mut Option<ReplyStream>,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ModelReply, Failure> {
        #[cfg(feature = "bedrock")]
        if self.target.provider == Provider::Bedrock {
            self.frames = Some(Frames::default());
        }
        let stream = partial.insert(self.target.provider.stream());
        let timeouts = &self.target.timeouts;
        let begun = after(timeouts.first_event);
        let (mut events, mut bytes, mut shown) = (0, 0, false);
        loop {
            let piece = match self.piece(&mut response).await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                // The reply is complete, so the end of the connection does not matter.
                Err(_) if stream.is_complete() => break,
                Err(failure) => return Err(failure),
            };
            bytes += piece.len();
            if bytes > MAX_BYTES {
                return Err(self.too_long());
            }
            if let Err(error) = feed(stream, self.target.provider, &piece, &mut |delta| {
                shown = true;
                each(delta);
            }) {
                return Err(self.invalid(&error, stream.failed_event(), &response.headers));
            }
            // Only events extend the deadline, because a proxy may send bytes forever.
            if stream.events() > events {
                events = stream.events();
                self.expect(TimeoutPhase::Idle, timeouts.idle);
                if !shown && begun > self.deadline {
                    // Some providers send the first event immediately, and nothing more until the model has finished reasoning.
                    (self.deadline, self.limit) = (begun, timeouts.first_event);
                }
            }
            if stream.is_complete() {
                self.deadline = self.deadline.min(after(GRACE));
            }
        }
        // `finish` accepts replies of compatible servers that do not send the final event.
        let ended = stream.is_complete() || !self.target.ends_with_event;
        let (usage, failed) = (stream.usage(), stream.failed_event().map(str::to_owned));
        let reply = match partial.take() {
            Some(stream) if ended => stream.finish(),
            _ => return Err(self.cut(usage)),
        };
        match reply {
            Ok(reply) if *reply.stop() == StopReason::Cut => Err(self.cut(usage)),
            Ok(reply) => Ok(reply),
            Err(error) => {
                let mut failure = self.invalid(&error, failed.as_deref(), &response.headers);
                failure.error.usage = usage;
                Err(failure)
            }
        }
    }

    /// Returns the failure of a stream that ended before the reply was complete.
    fn cut(&self, usage: Option<tool_core::store::Usage>) -> Failure {
        let why = "the stream ended without the final event";
        let mut failure = self.failure(ModelErrorKind::BrokenStream, why);
        failure.error.usage = usage;
        failure
    }

    /// Reads a reply that is not streamed, from a server that ignores `stream`. Its parts are passed to `each` when the reply is complete.
    async fn whole(
        &mut self,
        mut response: Incoming,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ModelReply, Failure> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(&mut response).await? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_BYTES {
                return Err(self.too_long());
            }
        }
        let body = String::from_utf8(body)
            .map_err(|_| self.failure(ModelErrorKind::InvalidReply, "the body is not UTF-8"))?;
        let reply = self.target.provider.reply(&body);
        let reply = reply.map_err(|error| self.invalid(&error, Some(&body), &response.headers))?;
        deltas(reply.message()).into_iter().for_each(each);
        Ok(reply)
    }

    /// Reads an error response.
    async fn refused(&mut self, mut response: Incoming) -> Failure {
        self.deadline = self.deadline.min(after(GRACE));
        let mut body = Vec::new();
        // Without its body, an error response still has its status.
        while let Ok(Some(piece)) = self.piece(&mut response).await {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ERROR_BYTES {
                break;
            }
        }
        let (status, headers) = (response.status, &response.headers);
        let body = String::from_utf8_lossy(&body);
        // The key is redacted before the text is shortened, because the redactor does not recognise a part of a key.
        let redactor = self.redactor();
        let body = redactor.redact(&body);
        let mut refusal = refusal::response(status, headers, &body, self.target.azure);
        if status.is_redirection() {
            refusal.message = format!(
                "the server redirects to `{}`; redirects are not followed, so set the base URL to the address of the API",
                redirected(&self.target.url, headers)
            );
        }
        self.failed(refusal, Some(status))
    }

    /// Converts an error of a reply: a violation of the provider's format, or an error that the provider reported inside the reply. `event` is the
    /// event or the body that contains the error.
    fn invalid(&self, error: &WireError, event: Option<&str>, headers: &HeaderMap) -> Failure {
        let WireError::Reported {
            kind,
            code,
            message,
            ..
        } = error
        else {
            return self.failure(ModelErrorKind::InvalidReply, error.to_string());
        };
        let names: Vec<&str> = code.as_deref().into_iter().chain([&**kind]).collect();
        let event = event.unwrap_or_default();
        let refusal = refusal::reported(&names, message, event, headers, self.target.azure);
        self.failed(refusal, None)
    }

    fn failed(&self, refusal: Refusal, status: Option<StatusCode>) -> Failure {
        Failure {
            transient: refusal.is_transient(),
            error: refusal.error(&self.target.model, status),
        }
    }

    fn too_long(&self) -> Failure {
        let why = format!("the reply is longer than {} MiB", MAX_BYTES >> 20);
        Failure {
            transient: false,
            ..self.failure(ModelErrorKind::InvalidReply, why)
        }
    }

    /// Converts an error of the connection. The URL is left out, because its query may contain secrets.
    fn broken(&self, error: reqwest::Error) -> Failure {
        let kind = match (self.phase, error.is_connect(), error.is_timeout()) {
            (_, true, true) => ModelErrorKind::Timeout(TimeoutPhase::Connect),
            (TimeoutPhase::Idle, ..) => ModelErrorKind::BrokenStream,
            _ => ModelErrorKind::Connection,
        };
        // Exposing the error adds its causes to the text.
        let text = ToolError::shown(error.without_url()).model_text();
        self.failure(kind, text)
    }

    fn failure(&self, kind: ModelErrorKind, why: impl Into<String>) -> Failure {
        ModelError::new(kind, &self.target.model, why).into()
    }

    /// Returns a redactor of the tokens. It is built only for errors and recordings. A token of fewer than `Redactor::SHORTEST` (6) bytes is not
    /// redacted, because local servers accept any token, such as `x`, and the redactor would find it in other words. The other tokens are redacted.
    fn redactor(&self) -> Redactor {
        let tokens = self.tokens.iter().filter(|token| {
            let token = token.expose_secret().trim();
            token.len() >= Redactor::SHORTEST
        });
        let redactor = Redactor::new(tokens.map(|token| ("key", token.clone())));
        redactor.unwrap_or_default()
    }

    fn redacted(&self, mut failure: Failure) -> Failure {
        let (error, redactor) = (&mut failure.error, self.redactor());
        error.message = redactor.redact(&error.message).into_owned();
        if let Some(code) = &mut error.code {
            *code = redactor.redact(code).into_owned();
        }
        failure
    }

    /// Writes the response to the recording, also if it was not read to its end.
    fn record(&mut self, failed: bool) -> Result<(), Failure> {
        let (Some(recording), Some(taped)) = (self.recording, self.taped.take()) else {
            return Ok(());
        };
        let body = String::from_utf8_lossy(&taped.bytes).into_owned();
        let cut = failed && !taped.ended;
        let recorded = Recorded::new(taped.status, &taped.headers, body, cut);
        let (url, body) = (&self.target.url, &self.request.body);
        recording
            .write(url, body, recorded, &self.redactor())
            .map_err(|why| self.failure(ModelErrorKind::NotRecorded, why))
    }
}

impl Incoming {
    /// Returns whether the provider refuses the credentials: with 401, or with 403 and the name of an error for expired or unknown keys of AWS.
    fn refuses_credentials(&self) -> bool {
        let expired = |name: &str| {
            matches!(
                name,
                "ExpiredTokenException" | "UnrecognizedClientException"
            )
        };
        match self.status {
            StatusCode::UNAUTHORIZED => true,
            StatusCode::FORBIDDEN => refusal::error_type(&self.headers).is_some_and(expired),
            _ => false,
        }
    }

    fn recorded(recorded: Recorded) -> Self {
        Self {
            status: recorded.status(),
            headers: recorded.headers(),
            body: Body::Recorded(Some(recorded.body.into_bytes()), recorded.cut),
        }
    }
}

/// Passes a piece of the body to the reader of the reply, and the pieces of the reply to `each`. A stream of Bedrock has one event in each line.
fn feed(
    stream: &mut ReplyStream,
    provider: Provider,
    piece: &[u8],
    each: &mut dyn FnMut(Delta),
) -> Result<(), WireError> {
    if provider == Provider::Bedrock {
        for event in String::from_utf8_lossy(piece).lines() {
            stream.event(event)?.into_iter().for_each(&mut *each);
        }
        return Ok(());
    }
    stream.feed(piece)?.into_iter().for_each(each);
    Ok(())
}

/// Returns the pieces of a complete message.
pub(super) fn deltas(message: &ModelMessage) -> Vec<Delta> {
    let mut deltas = Vec::new();
    if !message.reasoning.is_empty() {
        deltas.push(Delta::Reasoning(message.reasoning.clone()));
    }
    if !message.text.is_empty() {
        deltas.push(Delta::Text(message.text.clone()));
    }
    for call in &message.calls {
        let (id, name) = (call.id.clone(), call.name.clone());
        let text = call.arguments.clone();
        deltas.push(Delta::Call {
            id: id.clone(),
            name,
        });
        deltas.push(Delta::Arguments { id, text });
    }
    deltas
}

/// Returns the time after a duration, which is limited to ten years so that it does not exceed the range of the clock.
fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    let years = Duration::from_hours(10 * 365 * 24);
    now.checked_add(duration.min(years)).unwrap_or(now)
}

/// Returns the address of a redirect without its query, fragment and credentials, because these may contain secrets.
fn redirected(from: &Url, headers: &HeaderMap) -> String {
    let to = headers.get(LOCATION).and_then(|to| to.to_str().ok());
    let to = to.and_then(|to| from.join(to).ok());
    to.map_or_else(
        || "a different address".to_owned(),
        |mut to| {
            to.set_query(None);
            to.set_fragment(None);
            let _ = to.set_password(None);
            let _ = to.set_username("");
            to.to_string()
        },
    )
}

/// Returns the header with the token; `None` if a header cannot contain the token.
fn authorization(
    header: Option<&HeaderName>,
    token: &SecretString,
) -> Option<(HeaderName, HeaderValue)> {
    let token = token.expose_secret();
    let (name, value) = match header {
        Some(name) => (name.clone(), HeaderValue::from_str(token)),
        None => (
            AUTHORIZATION,
            HeaderValue::from_str(&format!("Bearer {token}")),
        ),
    };
    let mut value = value.ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
