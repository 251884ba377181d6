//! Filters for the headers of requests, of redirects to a different origin, and of responses.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use tool_core::prelude::*;

use crate::Excerpt;

/// A header or a parameter of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, StrictSchema)]
#[schema(json_schema)]
pub struct Field {
    /// The name of the field.
    #[schema(length = 1..=128)]
    pub name: String,
    /// The value of the field.
    #[schema(length = 0..=8192)]
    pub value: String,
}

/// Headers that are never sent for a model, for example headers of the connection (RFC 9110, 7.6.1), headers that state the user or the origin of a
/// request, headers that override the method or the path, and headers that the metadata services of clouds require.
const NEVER: [&str; 27] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "content-length",
    "accept-encoding",
    "expect",
    "max-forwards",
    "forwarded",
    "via",
    "x-real-ip",
    "true-client-ip",
    "x-original-url",
    "x-rewrite-url",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "metadata",
    "metadata-flavor",
    "x-metadata-token",
];

/// Prefixes of headers that are never sent for a model.
const NEVER_BEGIN: [&str; 3] = ["x-forwarded-", "x-aws-ec2-metadata-", "x-google-metadata-"];

/// Headers that are kept for a different origin: they describe the body, the accepted response or the client, and do not identify the user.
const HARMLESS: [HeaderName; 5] = [
    header::ACCEPT,
    header::ACCEPT_LANGUAGE,
    header::CONTENT_TYPE,
    header::USER_AGENT,
    header::RANGE,
];

/// Response headers that a model gets, in addition to headers with a prefix for rate limits.
const TOLD: [&str; 16] = [
    "content-type",
    "content-length",
    "content-disposition",
    "content-language",
    "content-range",
    "allow",
    "cache-control",
    "date",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "www-authenticate",
    "x-request-id",
    "x-total-count",
];

/// Maximum number of headers in a result.
const MOST_TOLD: usize = 50;

/// Returns the headers to send for a model, and the names of the headers that are left out. `injected` is the header with the secret; if there is
/// one, other headers with credentials are left out as well. Fails if a header is invalid.
pub(super) fn wanted(
    fields: &[Field],
    injected: Option<&HeaderName>,
) -> Result<(HeaderMap, Vec<String>), ToolError> {
    let mut headers = HeaderMap::new();
    let mut left_out = Vec::new();
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| {
            ToolError::new(format!(
                "`{}` is not a header name, write letters, digits and `-`",
                field.name
            ))
        })?;
        let value = HeaderValue::from_str(&field.value).map_err(|_| {
            ToolError::new(format!(
                "the value of the header `{name}` contains a line break or another control character, remove it"
            ))
        })?;
        if is_never_sent(&name) || injected.is_some_and(|own| is_credential(&name) || *own == name)
        {
            left_out.push(name.to_string());
        } else {
            headers.append(name, value);
        }
    }
    Ok((headers, left_out))
}

pub(super) fn is_never_sent(name: &HeaderName) -> bool {
    let name = name.as_str();
    NEVER.contains(&name) || NEVER_BEGIN.iter().any(|begin| name.starts_with(begin))
}

fn is_credential(name: &HeaderName) -> bool {
    [header::AUTHORIZATION, header::COOKIE].contains(name)
}

/// Returns the headers that are kept for a different origin.
pub(super) fn for_another_origin(headers: &HeaderMap) -> HeaderMap {
    let harmless = headers.iter().filter(|(name, _)| HARMLESS.contains(name));
    harmless
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns the headers of a response that a model gets, at most [`MOST_TOLD`]. Long values are truncated.
pub(super) fn told(headers: &HeaderMap) -> Vec<Field> {
    let is_told = |name: &HeaderName| {
        let name = name.as_str();
        TOLD.contains(&name) || name.starts_with("ratelimit") || name.starts_with("x-ratelimit-")
    };
    headers
        .iter()
        .filter(|(name, _)| is_told(name))
        .take(MOST_TOLD)
        .map(|(name, value)| Field {
            name: Excerpt::<128>::of(name.as_str()).into(),
            value: Excerpt::<1024>::of(String::from_utf8_lossy(value.as_bytes())).into(),
        })
        .collect()
}
