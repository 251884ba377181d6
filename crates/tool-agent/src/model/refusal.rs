//! Classification of a provider's errors: the class, whether the error is final, and the wait that the provider asks for.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;
use tool_core::env;

use super::error::{ModelError, ModelErrorKind};

/// The classes of the known names of errors. A known name takes precedence over the status of the response, except over 402.
///
/// Sources, read on 2026-11-22: the error references of OpenAI, Anthropic, Google AI and Amazon Bedrock, and reports of users about names that are
/// not documented.
const NAMES: &[(&str, ModelErrorKind)] = {
    use ModelErrorKind::{
        Authentication, ContextWindow, Filtered, InvalidRequest, NotFound, Overloaded, Permission,
        QuotaExhausted, RateLimited, Server,
    };
    &[
        ("insufficient_quota", QuotaExhausted),
        ("quota_exceeded", QuotaExhausted),
        ("billing_error", QuotaExhausted),
        ("billing_hard_limit_reached", QuotaExhausted),
        ("billing_not_active", QuotaExhausted),
        ("account_deactivated", QuotaExhausted),
        ("credit_balance_exhausted", QuotaExhausted),
        ("usage_limit_reached", QuotaExhausted),
        ("serviceQuotaExceededException", QuotaExhausted),
        ("context_length_exceeded", ContextWindow),
        ("model_context_window_exceeded", ContextWindow),
        ("content_filter", Filtered),
        ("content_policy_violation", Filtered),
        ("SAFETY", Filtered),
        ("BLOCKLIST", Filtered),
        ("PROHIBITED_CONTENT", Filtered),
        ("IMAGE_SAFETY", Filtered),
        ("rate_limit_error", RateLimited),
        ("rate_limit_exceeded", RateLimited),
        ("RESOURCE_EXHAUSTED", RateLimited),
        ("throttlingException", RateLimited),
        ("overloaded_error", Overloaded),
        ("UNAVAILABLE", Overloaded),
        ("serviceUnavailableException", Overloaded),
        ("modelNotReadyException", Overloaded),
        ("api_error", Server),
        ("timeout_error", Server),
        ("server_error", Server),
        ("INTERNAL", Server),
        ("internalServerException", Server),
        ("modelStreamErrorException", Server),
        ("modelTimeoutException", Server),
        ("modelErrorException", Server),
        ("authentication_error", Authentication),
        ("invalid_api_key", Authentication),
        ("UNAUTHENTICATED", Authentication),
        ("expiredTokenException", Authentication),
        ("unrecognizedClientException", Authentication),
        ("invalidSignatureException", Authentication),
        ("permission_error", Permission),
        ("PERMISSION_DENIED", Permission),
        ("accessDeniedException", Permission),
        ("not_found_error", NotFound),
        ("model_not_found", NotFound),
        ("NOT_FOUND", NotFound),
        ("resourceNotFoundException", NotFound),
        ("request_too_large", InvalidRequest),
        ("INVALID_ARGUMENT", InvalidRequest),
        ("FAILED_PRECONDITION", InvalidRequest),
        ("validationException", InvalidRequest),
    ]
};

/// A name that OpenAI and Anthropic use for errors of many classes, so the status of the response decides.
const GENERAL: &str = "invalid_request_error";

/// Names of exhausted quotas that Azure uses for limits per minute, so a retry can succeed.
const PER_MINUTE_ON_AZURE: &[&str] = &["insufficient_quota", "quota_exceeded"];

/// Parts of messages about a conversation that is too long, from providers without a name for it.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "maximum context length",
    "exceeds the maximum number of tokens",
    "exceed context limit",
    "Input is too long for requested model",
];

/// A parsed error of a provider: an error response, or an error event inside a reply.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    pub(super) kind: Option<ModelErrorKind>,
    pub(super) code: Option<String>,
    pub(super) message: String,
    pub(super) retry_after: Option<Duration>,
    /// The value of the header `x-should-retry`.
    pub(super) should_retry: Option<bool>,
}

/// Reads an error response.
pub(super) fn response(
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
    azure: bool,
) -> Refusal {
    let mut refusal = Refusal::of(headers);
    refusal.read(body);
    if refusal.message.is_empty() {
        refusal.message = excerpt(body);
    }
    if refusal.kind.is_none()
        && let Some(name) = error_type(headers)
    {
        refusal.name(&[name]);
    }
    refusal.allow_azure(azure);
    // 402 means that a payment is missing, whatever the name of the error.
    if refusal.kind.is_none() || status == StatusCode::PAYMENT_REQUIRED {
        refusal.kind = Some(of_status(status));
    }
    refusal.recognise_length();
    refusal
}

/// Reads an error that the provider reported inside a reply: its names, its message, and the event that contains it.
pub(super) fn reported(
    names: &[&str],
    message: &str,
    event: &str,
    headers: &HeaderMap,
    azure: bool,
) -> Refusal {
    let mut refusal = Refusal::of(headers);
    // The details of the event, such as the wait that Gemini asks for.
    refusal.read(event);
    let of_details = refusal
        .kind
        .filter(|kind| *kind == ModelErrorKind::QuotaExhausted);
    message.clone_into(&mut refusal.message);
    refusal.name(names);
    refusal.kind = of_details.or(refusal.kind);
    refusal.allow_azure(azure);
    if refusal.kind.is_none() {
        // Some servers send the status as the name.
        let status = names
            .iter()
            .find_map(|name| name.parse::<StatusCode>().ok());
        let general = names
            .contains(&GENERAL)
            .then_some(ModelErrorKind::InvalidRequest);
        refusal.kind = status.map(of_status).or(general);
    }
    refusal.recognise_length();
    refusal
}

impl Refusal {
    /// Reads `x-should-retry`, `retry-after` and `retry-after-ms`.
    fn of(headers: &HeaderMap) -> Self {
        let should_retry = headers.get("x-should-retry");
        Self {
            should_retry: should_retry.and_then(|value| value.to_str().ok()?.parse().ok()),
            retry_after: asked(headers),
            ..Self::default()
        }
    }

    /// Changes the class to `RateLimited` for names of `PER_MINUTE_ON_AZURE` from an Azure host.
    fn allow_azure(&mut self, azure: bool) {
        let code = self.code.as_deref();
        if azure && code.is_some_and(|code| PER_MINUTE_ON_AZURE.contains(&code)) {
            self.kind = Some(ModelErrorKind::RateLimited);
        }
    }

    /// Changes the class from `InvalidRequest` to `ContextWindow` if the message contains a text of `TOO_LONG`, because some providers have no name
    /// for this error.
    fn recognise_length(&mut self) {
        let long = |part: &&str| self.message.contains(*part);
        if self.kind == Some(ModelErrorKind::InvalidRequest) && TOO_LONG.iter().any(long) {
            self.kind = Some(ModelErrorKind::ContextWindow);
        }
    }

    /// Reads the body, in any provider's format.
    fn read(&mut self, body: &str) {
        let Ok(body) = serde_json::from_str::<Value>(body) else {
            return;
        };
        // Gemini writes the error of a streamed request as an array.
        let body = match &body {
            Value::Array(items) => items.first().unwrap_or(&Value::Null),
            body => body,
        };
        // Bedrock has no key around the error, and some servers write only a text.
        let error = body.get("error").unwrap_or(body);
        let text = |key: &str| error.get(key)?.as_str();
        self.message = match error {
            Value::String(message) => message.clone(),
            _ => ["message", "detail"]
                .into_iter()
                .find_map(text)
                .unwrap_or_default()
                .to_owned(),
        };
        let names = ["code", "status", "type"].into_iter();
        let names: Vec<&str> = names.filter_map(text).collect();
        self.name(&names);
        for detail in error
            .get("details")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let kind = detail
                .get("@type")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if kind.ends_with("RetryInfo") {
                let delay = detail.get("retryDelay").and_then(Value::as_str);
                let delay = delay.and_then(|delay| seconds(delay.strip_suffix('s')?));
                self.retry_after = self.retry_after.max(delay);
            }
            if kind.ends_with("QuotaFailure") && names_a_day(detail) {
                self.kind = Some(ModelErrorKind::QuotaExhausted);
            }
        }
    }

    /// Finds the class of an error by its names. The first known name takes precedence.
    fn name(&mut self, names: &[&str]) {
        let known = |name: &&str| Some(((*name).to_owned(), class(name)?));
        let found = names.iter().find_map(known);
        self.code = match &found {
            Some((name, _)) => Some(name.clone()),
            None => names.first().map(|name| (*name).to_owned()),
        };
        self.kind = found.map(|(_, kind)| kind);
    }

    /// Returns whether the request may be sent again.
    pub(super) fn is_transient(&self) -> bool {
        let kind = self.kind.unwrap_or(ModelErrorKind::Server);
        match (kind, self.should_retry) {
            // An exhausted quota is final, even if `x-should-retry` is `true`.
            (ModelErrorKind::QuotaExhausted, _) => false,
            (_, Some(should)) => should,
            (kind, None) => kind.is_transient(),
        }
    }

    /// Converts the refusal to an error of a model.
    pub(super) fn error(self, model: &str, status: Option<StatusCode>) -> Box<ModelError> {
        let kind = self.kind.unwrap_or(ModelErrorKind::Server);
        let mut error = ModelError::new(kind, model, self.message);
        error.status = status.map(|status| status.as_u16());
        error.code = self.code;
        error.retry_after = self.retry_after;
        error
    }
}

/// Returns the name of an AWS error from the header `x-amzn-errortype`, without the address after the name.
pub(super) fn error_type(headers: &HeaderMap) -> Option<&str> {
    let name = headers.get("x-amzn-errortype")?.to_str().ok()?;
    name.split(':').next()
}

/// Returns the class of a named error. AWS writes the names of exceptions in a response with an upper-case letter, and in a stream with a lower-case
/// one.
fn class(name: &str) -> Option<ModelErrorKind> {
    let is = |known: &str| {
        known == name || known.ends_with("Exception") && known.eq_ignore_ascii_case(name)
    };
    let known = NAMES.iter().find(|(known, _)| is(known));
    known.map(|(_, kind)| *kind)
}

/// Returns the class of a status without a named error.
fn of_status(status: StatusCode) -> ModelErrorKind {
    match status.as_u16() {
        401 => ModelErrorKind::Authentication,
        402 => ModelErrorKind::QuotaExhausted,
        403 => ModelErrorKind::Permission,
        404 => ModelErrorKind::NotFound,
        429 => ModelErrorKind::RateLimited,
        503 | 529 => ModelErrorKind::Overloaded,
        408 | 409 | 500.. => ModelErrorKind::Server,
        _ => ModelErrorKind::InvalidRequest,
    }
}

/// Returns whether a Google `QuotaFailure` names a quota for a day.
fn names_a_day(detail: &Value) -> bool {
    let violations = detail.get("violations").and_then(Value::as_array);
    violations.into_iter().flatten().any(|violation| {
        let id = violation.get("quotaId").and_then(Value::as_str);
        id.is_some_and(|id| id.to_ascii_lowercase().contains("perday"))
    })
}

/// Returns the longest wait that the headers request.
fn asked(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let millis = text("retry-after-ms").and_then(seconds);
    let after = text(RETRY_AFTER.as_str()).and_then(|value| {
        seconds(value).or_else(|| {
            let at = httpdate::parse_http_date(value.trim()).ok()?;
            // A date in the past requests no wait.
            Some(at.duration_since(env::system_time()).unwrap_or_default())
        })
    });
    millis.map(|millis| millis / 1000).max(after)
}

/// Reads a number of seconds, which may have a fraction.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

/// Returns the first 300 characters of a body without an error message, such as the page of a proxy.
fn excerpt(body: &str) -> String {
    let text: Vec<&str> = body.split_whitespace().collect();
    let text = text.join(" ");
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
