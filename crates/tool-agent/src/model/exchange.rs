//! One request and its response.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout_at};
use tool_core::redact::Redactor;
use tool_core::store::Usage;
use tool_core::turn::StopReason;
use tool_core::{ExposeSecret as _, SecretString};
use tool_wire::{Delta, ModelReply, ReplyStream, WireError};

use super::body::Written;
use super::cassette::{Recorded, Tape};
use super::config::Target;
use super::error::{ModelError, ModelErrorKind, TimeoutPhase};
use super::refusal;

/// Limit on the bytes of a reply. The longest replies of today's models are below 4 MiB.
const MOST_BYTES: usize = 64 << 20;

/// Limit on the bytes of an error response that are read.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// A failed attempt.
pub(super) struct Failure {
    pub(super) error: Box<ModelError>,
    /// Whether the same request may succeed later.
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

/// Sends a request and reads the reply. `partial` contains the reply while it is read, so that it survives a dropped future. `each` receives the pieces.
pub(super) async fn exchange(
    target: &Target,
    tape: Option<&Tape>,
    request: &Written,
    partial: &mut Option<ReplyStream>,
    each: &mut (dyn FnMut(Delta) + Send),
) -> Result<ModelReply, Failure> {
    let mut exchange = Exchange {
        target,
        request,
        tape,
        redactor: Redactor::default(),
        deadline: Instant::now() + target.timeouts.first_event,
        phase: TimeoutPhase::FirstEvent,
    };
    let failed = match exchange.run(partial, each).await {
        Ok(reply) if *reply.stop() == StopReason::Cut => {
            let why = "the connection was closed without the final event";
            let mut failure = exchange.failure(ModelErrorKind::BrokenStream, why);
            failure.error.usage = reply.message().usage;
            failure
        }
        Ok(reply) => return Ok(reply.with_origin(&*target.origin)),
        Err(mut failure) => {
            failure.error.usage = usage(partial.take());
            failure
        }
    };
    Err(exchange.redacted(failed))
}

/// Returns the tokens that a partial reply reports.
fn usage(partial: Option<ReplyStream>) -> Option<Usage> {
    partial?.finish().ok()?.message().usage
}

/// A response whose body has not been read.
struct Incoming {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

enum Body {
    Network {
        response: Response,
        /// The bytes so far, for a recording.
        taped: Option<Vec<u8>>,
    },
    /// A recorded body, and whether the connection broke at its end.
    Recorded(Option<Vec<u8>>, bool),
}

impl Incoming {
    fn of(response: Response, taped: bool) -> Self {
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            body: Body::Network {
                response,
                taped: taped.then(Vec::new),
            },
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

struct Exchange<'a> {
    target: &'a Target,
    request: &'a Written,
    tape: Option<&'a Tape>,
    /// Redacts the key, which some servers repeat in their errors.
    redactor: Redactor,
    /// When the present phase must have ended.
    deadline: Instant,
    phase: TimeoutPhase,
}

impl Exchange<'_> {
    async fn run(
        &mut self,
        partial: &mut Option<ReplyStream>,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ModelReply, Failure> {
        let mut response = self.send().await?;
        if response.status == StatusCode::UNAUTHORIZED
            && let Some(credentials) = &self.target.credentials
            && credentials.refused().await
        {
            response = self.send().await?;
        }
        if !response.status.is_success() {
            return Err(self.refused(response).await);
        }
        let kind = response.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.trim_start().starts_with("application/json")) {
            return self.whole(response).await;
        }
        self.stream(response, partial, each).await
    }

    /// Sends the request and waits for the head of the response, or finds the recorded response.
    async fn send(&mut self) -> Result<Incoming, Failure> {
        let (target, request) = (self.target, self.request);
        let recorded = self
            .tape
            .and_then(|tape| tape.next(&target.url, &request.body));
        match recorded {
            Some(Ok(recorded)) => return Ok(Incoming::recorded(recorded)),
            Some(Err(why)) => return Err(self.failure(ModelErrorKind::NotRecorded, why)),
            None => {}
        }
        let mut headers = target.headers.clone();
        for beta in &request.betas {
            headers.append("anthropic-beta", HeaderValue::from_static(beta));
        }
        if let Some(credentials) = &target.credentials {
            let token = credentials.token().await.map_err(|error| {
                self.failure(ModelErrorKind::Authentication, error.operator_text())
            })?;
            // A token that is too short to be redacted is not found in errors.
            self.redactor = Redactor::new([("key", token.clone())]).unwrap_or_default();
            let (name, value) =
                authorization(target.key_header.as_ref(), &token).ok_or_else(|| {
                    self.failure(
                        ModelErrorKind::Authentication,
                        "the token contains a control character",
                    )
                })?;
            headers.insert(name, value);
        }
        let sent = target
            .client
            .post(target.url.clone())
            .headers(headers)
            .body(request.body.clone())
            .send();
        let response = self.in_time(sent).await?;
        Ok(Incoming::of(response, self.tape.is_some()))
    }

    /// Reads the next piece of the body; `None` at its end. A recording is written at the end, also if the connection broke.
    async fn piece(&self, incoming: &mut Incoming) -> Result<Option<Vec<u8>>, Failure> {
        let (response, taped) = match &mut incoming.body {
            Body::Network { response, taped } => (response, taped),
            Body::Recorded(body, cut) => {
                return match body.take() {
                    Some(body) => Ok(Some(body)),
                    None if *cut => Err(self.failure(
                        ModelErrorKind::BrokenStream,
                        "the recorded connection broke here",
                    )),
                    None => Ok(None),
                };
            }
        };
        let piece = self.in_time(response.chunk()).await;
        if let (Ok(Some(piece)), Some(taped)) = (&piece, taped.as_mut()) {
            taped.extend_from_slice(piece);
        }
        if !matches!(piece, Ok(Some(_)))
            && let (Some(tape), Some(taped)) = (self.tape, taped.take())
        {
            let body = String::from_utf8_lossy(&taped).into_owned();
            let recorded = Recorded::new(incoming.status, &incoming.headers, body, piece.is_err());
            tape.write(
                &self.target.url,
                &self.request.body,
                recorded,
                &self.redactor,
            )
            .map_err(|why| self.failure(ModelErrorKind::NotRecorded, why))?;
        }
        Ok(piece?.map(|piece| piece.to_vec()))
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
                let timeouts = &self.target.timeouts;
                let limit = match self.phase {
                    TimeoutPhase::Idle => timeouts.idle,
                    _ => timeouts.first_event,
                };
                let kind = ModelErrorKind::Timeout(self.phase);
                Err(self.failure(kind, format!("the limit is {}", seconds(limit))))
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
        let stream = partial.insert(self.target.provider.stream());
        let (mut events, mut bytes) = (0, 0);
        while let Some(piece) = self.piece(&mut response).await? {
            bytes += piece.len();
            if bytes > MOST_BYTES {
                return Err(self.too_long());
            }
            let deltas = stream.feed(&piece).map_err(|error| self.invalid(&error))?;
            deltas.into_iter().for_each(&mut *each);
            // Only events are signs of life: a proxy may send bytes for ever.
            if stream.events() > events {
                events = stream.events();
                self.phase = TimeoutPhase::Idle;
                self.deadline = Instant::now() + self.target.timeouts.idle;
            }
        }
        let Some(stream) = partial.take() else {
            return Err(self.failure(ModelErrorKind::BrokenStream, ""));
        };
        stream.finish().map_err(|error| self.invalid(&error))
    }

    /// Reads a reply that is not streamed, from a server that ignores `stream`.
    async fn whole(&mut self, mut response: Incoming) -> Result<ModelReply, Failure> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(&mut response).await? {
            body.extend_from_slice(&piece);
            if body.len() > MOST_BYTES {
                return Err(self.too_long());
            }
        }
        let body = String::from_utf8(body)
            .map_err(|_| self.failure(ModelErrorKind::InvalidReply, "the body is not UTF-8"))?;
        self.target
            .provider
            .reply(&body)
            .map_err(|error| self.invalid(&error))
    }

    /// Reads an error response.
    async fn refused(&self, mut response: Incoming) -> Failure {
        let (status, headers) = (response.status, response.headers.clone());
        let mut body = Vec::new();
        // Without its body, an error response still has its status.
        while let Ok(Some(piece)) = self.piece(&mut response).await {
            body.extend_from_slice(&piece);
            if body.len() > MOST_ERROR_BYTES {
                break;
            }
        }
        let body = String::from_utf8_lossy(&body);
        let mut refusal = refusal::response(status, &headers, &body, self.target.azure);
        if status.is_redirection() {
            let to = headers.get(LOCATION).and_then(|to| to.to_str().ok());
            refusal.message = format!(
                "the server redirects to `{}`; redirects are not followed, so set the base URL to the address of the API",
                to.unwrap_or("another address")
            );
        }
        Failure {
            transient: refusal.is_transient(),
            error: refusal.error(&self.target.model, Some(status)),
        }
    }

    /// Converts an error of the provider's format.
    fn invalid(&self, error: &WireError) -> Failure {
        match error {
            WireError::Reported {
                kind,
                code,
                message,
                ..
            } => {
                let names: Vec<&str> = code.as_deref().into_iter().chain([&**kind]).collect();
                let refusal = refusal::reported(&names, message);
                Failure {
                    transient: refusal.is_transient(),
                    error: refusal.error(&self.target.model, None),
                }
            }
            error => self.failure(ModelErrorKind::InvalidReply, error.to_string()),
        }
    }

    fn too_long(&self) -> Failure {
        let why = format!("the reply is longer than {} MiB", MOST_BYTES >> 20);
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
        let error = error.without_url();
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        self.failure(kind, text)
    }

    fn failure(&self, kind: ModelErrorKind, why: impl Into<String>) -> Failure {
        ModelError::new(kind, &self.target.model, why).into()
    }

    fn redacted(&self, mut failure: Failure) -> Failure {
        let error = &mut failure.error;
        error.message = self.redactor.redact(&error.message).into_owned();
        if let Some(code) = &mut error.code {
            *code = self.redactor.redact(code).into_owned();
        }
        failure
    }
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
