//! Extractors whose rejections are problem details.

use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query as AxumQuery, Request};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use secrecy::SecretString;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_path_to_error::Segment;

use crate::auth::Caller;
use crate::entry::{self, Entry};
use crate::problem::{Kind, Problem, pointer_step};
use crate::state::Shared;

/// The header with the idempotency key of a request.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Maximum length of an idempotency key.
const LONGEST_KEY: usize = 200;

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    /// Returns the caller that the middleware of the server has authenticated.
    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        entry::caller(&parts.extensions).cloned()
    }
}

/// Extractor for the parameters of the query string.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Problem> {
        match AxumQuery::<T>::from_request_parts(parts, state).await {
            Ok(AxumQuery(query)) => Ok(Self(query)),
            Err(rejection) => Err(Problem::new(Kind::BadRequest, rejection.body_text())),
        }
    }
}

/// Extractor for the variables of the path. For a text that cannot be an id, the status is 404, as for an unknown id.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Problem> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(Problem::new(
                Kind::NotFound,
                "the path contains a value that is not a valid id, check the values in the path",
            )),
        }
    }
}

/// Extractor for a JSON body that deserializes to `T`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Shared) -> Result<Self, Problem> {
        let body = read_json(request, &state.entry).await?;
        parse(&body).map(Self)
    }
}

/// Extractor for a JSON body that deserializes to `T`, with its text for the fingerprint of an idempotency key.
pub(crate) struct BodyText<T>(pub(crate) T, pub(crate) String);

impl<T: DeserializeOwned> FromRequest<Shared> for BodyText<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Shared) -> Result<Self, Problem> {
        let body = read_json(request, &state.entry).await?;
        let value = parse(&body)?;
        Ok(Self(value, String::from_utf8_lossy(&body).into_owned()))
    }
}

/// Reads a body whose media type is JSON, within the limits of the server.
pub(crate) async fn read_json(request: Request, entry: &Entry) -> Result<Bytes, Problem> {
    if !is_json(request.headers()) {
        return Err(Problem::new(
            Kind::UnsupportedMediaType,
            "send the body as JSON with the header `Content-Type: application/json`",
        ));
    }
    let reading = to_bytes(request.into_body(), entry.max_body);
    let Ok(read) = tokio::time::timeout(entry.timeout, reading).await else {
        return Err(Problem::new(
            Kind::Timeout,
            "the body did not arrive in time, send it again",
        ));
    };
    read.map_err(|error| {
        tracing::debug!(%error, "the body of a request could not be read");
        if is_too_long(&error) {
            let detail = format!("the body is longer than {} bytes", entry.max_body);
            return Problem::new(Kind::TooLarge, detail);
        }
        Problem::new(
            Kind::BadRequest,
            "the body could not be read to its end, send it again",
        )
    })
}

/// Returns whether a body could not be read because it is longer than the limit. Otherwise, for example, the connection was lost, or the framing of
/// the body is invalid.
fn is_too_long(error: &axum::Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let pointer = pointer(error.path());
        let error = error.into_inner();
        if error.is_data() {
            Problem::input(pointer, without_place(&error))
        } else {
            Problem::new(Kind::BadRequest, format!("the body is not JSON: {error}"))
        }
    })?;
    reader.end().map_err(|error| {
        Problem::new(Kind::BadRequest, format!("the body is not JSON: {error}"))
    })?;
    Ok(value)
}

/// Returns the text of an error without the line and column, which the pointer replaces.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// Returns the JSON pointer of a path.
fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        let part = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => pointer_step(key),
            Segment::Enum { .. } | Segment::Unknown => continue,
        };
        pointer.push('/');
        pointer.push_str(&part);
    }
    pointer
}

/// A text of a body that may be secret. Unlike serde's error, the error for a value of a different type does not contain the value.
pub(crate) struct SecretText(pub(crate) SecretString);

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Sent {
            Text(String),
            Other(IgnoredAny),
        }
        match Sent::deserialize(from)? {
            Sent::Text(text) => Ok(Self(text.into())),
            Sent::Other(_) => Err(D::Error::custom(
                "the value is not a string, send a JSON string",
            )),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        let essence = kind.split_once(';').map_or(kind, |(essence, _)| essence);
        essence.trim().eq_ignore_ascii_case("application/json")
    })
}

/// Extractor for the entity tags of the header `If-Match`.
pub(crate) struct IfMatch(Option<String>);

impl FromRequestParts<Shared> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        let mut tags = Vec::new();
        for value in parts.headers.get_all(IF_MATCH) {
            let value = value.to_str().map_err(|_| {
                Problem::new(
                    Kind::BadRequest,
                    "the header `If-Match` is malformed, send the `ETag` of the resource",
                )
            })?;
            tags.push(value.to_owned());
        }
        Ok(Self((!tags.is_empty()).then(|| tags.join(","))))
    }
}

impl IfMatch {
    /// Returns whether the header was sent and is not `*`. The resource must then be unchanged since the client read it.
    pub(crate) fn is_given(&self) -> bool {
        self.0.as_deref().is_some_and(|tags| tags.trim() != "*")
    }

    /// Returns whether the header was sent. The request then fails if the resource is missing, even if it would otherwise create the resource.
    pub(crate) fn is_sent(&self) -> bool {
        self.0.is_some()
    }

    /// Fails if the header was sent and the resource is missing, and in the same cases as [`check`](Self::check).
    pub(crate) fn check_existing(&self, current: Option<&str>) -> Result<(), Problem> {
        match current {
            Some(current) => self.check(current),
            None if self.0.is_none() => Ok(()),
            None => Err(Problem::new(
                Kind::PreconditionFailed,
                "the resource does not exist, so it has no `ETag`; repeat the request without `If-Match` to create it",
            )),
        }
    }

    /// Fails if the header is missing.
    pub(crate) fn required(&self) -> Result<(), Problem> {
        if self.0.is_some() {
            return Ok(());
        }
        Err(Problem::new(
            Kind::PreconditionRequired,
            "send the header `If-Match` with the `ETag` that the resource had when you read it",
        ))
    }

    /// Fails if the header was sent and contains neither this tag nor `*`.
    pub(crate) fn check(&self, current: &str) -> Result<(), Problem> {
        let Some(tags) = &self.0 else { return Ok(()) };
        if tags
            .split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag == current)
        {
            return Ok(());
        }
        Err(Problem::new(
            Kind::PreconditionFailed,
            "the resource has changed since it was read, read it again and repeat the change",
        ))
    }
}

/// Extractor for the header `Idempotency-Key`.
pub(crate) struct Idempotency(pub(crate) Option<String>);

impl FromRequestParts<Shared> for Idempotency {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        let mut values = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let key = match (values.next(), values.next()) {
            (None, _) => return Ok(Self(None)),
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        };
        // The draft specification of the header requires a quoted string; most clients send the key without quotes.
        let key = key.map(|key| key.trim().trim_matches('"'));
        match key.filter(|key| !key.is_empty() && key.len() <= LONGEST_KEY) {
            Some(key) => Ok(Self(Some(key.to_owned()))),
            None => Err(Problem::new(
                Kind::BadRequest,
                format!(
                    "the header `Idempotency-Key` is malformed, send one key of 1 to {LONGEST_KEY} visible ASCII characters"
                ),
            )),
        }
    }
}

/// Extractor for operations that store no response under an idempotency key. It rejects the header `Idempotency-Key` instead of ignoring it.
pub(crate) struct NotRepeatable;

impl FromRequestParts<Shared> for NotRepeatable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        if parts.headers.contains_key(IDEMPOTENCY_KEY) {
            return Err(Problem::new(
                Kind::BadRequest,
                "this request does not support the header `Idempotency-Key`, leave it out and list the resource before you repeat the request",
            ));
        }
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "a/b")]
        #[allow(dead_code, reason = "only its errors are read")]
        inner: Vec<u8>,
    }

    #[test]
    fn error_names_the_value_by_a_json_pointer() {
        let problem = parse::<Outer>(br#"{"a/b": [1, "x"]}"#).unwrap_err();
        let text = serde_json::to_string(&problem).unwrap();
        assert!(text.contains(r#""pointer":"/a~1b/1""#), "{text}");
        assert!(!text.contains("line 1"), "{text}");
        let problem = parse::<Outer>(b"{").unwrap_err();
        assert!(serde_json::to_string(&problem).unwrap().contains("400"));
        let problem = parse::<Outer>(br#"{"a/b": []} x"#).unwrap_err();
        assert!(serde_json::to_string(&problem).unwrap().contains("400"));
    }

    #[test]
    fn tags_are_compared_one_by_one() {
        let tags = IfMatch(Some("\"a\", \"b\"".to_owned()));
        assert!(tags.check("\"b\"").is_ok() && tags.check("\"c\"").is_err());
        assert!(IfMatch(Some("*".to_owned())).check("\"c\"").is_ok());
        assert!(IfMatch(None).check("\"c\"").is_ok() && IfMatch(None).required().is_err());
    }
}
