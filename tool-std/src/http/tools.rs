//! The `http_get` and `http_request` tools, which send HTTP requests.

use std::time::Duration;

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::value::RawValue;
use tool_core::Issue;
use tool_core::prelude::*;

use crate::Excerpt;

use super::body::{cut_chars, is_text, looks_like_text, media_type};
use super::headers::{told, wanted};
use super::{
    AuthStyle, Credential, Field, Http, HttpRead, HttpWrite, Method, Refusal, Request, Response,
};

/// The response of a server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// The status code, such as 200.
    pub status: u16,
    /// The URL of the response, after the redirects that were followed.
    pub url: String,
    /// Some headers of the response.
    pub headers: Vec<Field>,
    /// The body as JSON, or as text if it is not JSON; null if there is no body or if the body is neither.
    #[schemars(schema_with = "any_json")]
    pub body: Option<Box<RawValue>>,
    /// Whether the body is longer than shown.
    pub truncated: bool,
    /// The duration of the request in milliseconds.
    pub duration_ms: u64,
    /// The time to wait before a retry, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", default)]
    pub retry_after_seconds: Option<u64>,
    /// Headers of the call that were not sent, because the caller may not set them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub headers_not_sent: Vec<String>,
    /// A note about the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", default)]
    pub note: Option<String>,
}

/// Returns the empty schema instead of a list of all types: some MCP clients refuse such lists.
fn any_json(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

/// Reads a URL over HTTP and returns status, some headers and the unconverted body. It does not change anything. Use it for an API or a file; for the
/// text of a web page, use `fetch_webpage`.
#[tool(
    category = "web",
    example("An API, with a parameter", { "url": "https://api.example.com/v1/items", "query": [{ "name": "page", "value": "2" }] }),
    example("With the host's key, and only the beginning", { "url": "https://api.example.com/v1/me", "auth_style": "bearer", "max_body_size": 2000 }),
)]
pub async fn http_get(
    http: &HttpRead,
    #[secret(
        "http_api_key",
        label = "API key for HTTP requests",
        description = "Sent to the hosts that the operator has named, if a call requests it."
    )]
    key: Option<SecretString>,
    /// The whole URL, `https://…` or `http://…`, of a host on the internet.
    #[arg(length = 1..=4096)]
    url: String,
    /// The headers to send.
    #[arg(default = [], max_items = 50)]
    headers: Vec<Field>,
    /// Parameters to add to the URL's query; they are encoded for you.
    #[arg(default = [], max_items = 100)]
    query: Vec<Field>,
    /// The header for the host's key. You do not need to know the key.
    auth_style: Option<AuthStyle>,
    /// The maximum number of characters of the body to return. The host's limit applies too.
    #[arg(range = 0..=10_000_000)]
    max_body_size: Option<u32>,
    /// The timeout in milliseconds. The host's limit applies too.
    #[arg(range = 1..=600_000)]
    timeout_ms: Option<u32>,
) -> Result<Answered, ToolError> {
    let asked = Asked {
        method: Method::Get,
        url,
        headers,
        query,
        body: None,
        auth_style,
        max_body_size,
        timeout_ms,
    };
    asked.send(&http.0, key.as_ref()).await
}

/// Sends an HTTP request that may change data of the server, and returns status, some headers and the body of the response. To read only, use
/// `http_get`.
#[tool(
    category = "web",
    example("Creates something", {
        "url": "https://api.example.com/v1/items", "method": "POST", "body": "{\"name\": \"Lamp\"}", "auth_style": "bearer"
    }),
    example("Removes something", { "url": "https://api.example.com/v1/items/17", "method": "DELETE" }),
)]
pub async fn http_request(
    http: &HttpWrite,
    #[secret(
        "http_api_key",
        label = "API key for HTTP requests",
        description = "Sent to the hosts that the operator has named, if a call requests it."
    )]
    key: Option<SecretString>,
    /// The whole URL, `https://…` or `http://…`, of a host on the internet.
    #[arg(length = 1..=4096)]
    url: String,
    /// The method of the request.
    method: Method,
    /// The body to send, for POST, PUT, PATCH and DELETE: JSON text, or text of the type in the header `content-type`.
    #[arg(length = 0..=1_000_000)]
    body: Option<String>,
    /// The headers to send.
    #[arg(default = [], max_items = 50)]
    headers: Vec<Field>,
    /// Parameters to add to the URL's query; they are encoded for you.
    #[arg(default = [], max_items = 100)]
    query: Vec<Field>,
    /// The header for the host's key. You do not need to know the key.
    auth_style: Option<AuthStyle>,
    /// The maximum number of characters of the body to return. The host's limit applies too.
    #[arg(range = 0..=10_000_000)]
    max_body_size: Option<u32>,
    /// The timeout in milliseconds. The host's limit applies too.
    #[arg(range = 1..=600_000)]
    timeout_ms: Option<u32>,
) -> Result<Answered, ToolError> {
    let asked = Asked {
        method,
        url,
        headers,
        query,
        body,
        auth_style,
        max_body_size,
        timeout_ms,
    };
    asked.send(&http.0, key.as_ref()).await
}

/// The arguments of both tools.
struct Asked {
    method: Method,
    url: String,
    headers: Vec<Field>,
    query: Vec<Field>,
    body: Option<String>,
    auth_style: Option<AuthStyle>,
    max_body_size: Option<u32>,
    timeout_ms: Option<u32>,
}

impl Asked {
    async fn send(self, http: &Http, key: Option<&SecretString>) -> Result<Answered, ToolError> {
        let settings = &*http.settings;
        let url = http
            .guard
            .url(&self.url)
            .map_err(Refusal::into_tool_error)?;
        let secret =
            Credential::injected(settings.credential.as_ref(), self.auth_style, &url, key)?;
        let (mut headers, headers_not_sent) =
            wanted(&self.headers, secret.as_ref().map(|(name, _)| name))?;
        if let Some(body) = &self.body {
            judge_body(self.method, body, headers.get(CONTENT_TYPE))?;
            headers
                .entry(CONTENT_TYPE)
                .or_insert(HeaderValue::from_static("application/json"));
        }
        let most_chars = self
            .max_body_size
            .unwrap_or(u32::MAX)
            .min(settings.max_chars);
        let most_chars = usize::try_from(most_chars).unwrap_or(usize::MAX);
        let asked_ms = self.timeout_ms.unwrap_or(u32::MAX);
        let mut request = Request::new(self.method, self.url)
            // A UTF-8 character has at most four bytes; one more byte shows whether there is more text.
            .most_bytes(most_chars.saturating_mul(4).saturating_add(1))
            .timeout(settings.timeout.min(Duration::from_millis(asked_ms.into())));
        request.query = self
            .query
            .into_iter()
            .map(|field| (field.name, field.value))
            .collect();
        request.headers = headers;
        request.body = self.body.map(String::into_bytes);
        request.secret = secret.map(|(name, value)| super::follow::Secret::Header(name, value));
        let response = http.send(request).await?;
        shown(&response, most_chars, headers_not_sent)
    }
}

/// Refuses a body that the method does not allow, and a body that is sent as JSON but is not valid JSON.
fn judge_body(method: Method, body: &str, kind: Option<&HeaderValue>) -> Result<(), ToolError> {
    let issue = |expected: &str, found: String| {
        Err(ToolError::invalid_arguments(vec![Issue {
            pointer: "/body".to_owned(),
            expected: expected.to_owned(),
            found,
        }]))
    };
    if matches!(method, Method::Get | Method::Head) {
        return issue(
            "no body with this method",
            format!("{} characters", body.chars().count()),
        );
    }
    let json = kind.is_none_or(|kind| {
        kind.to_str()
            .is_ok_and(|kind| kind.to_ascii_lowercase().contains("json"))
    });
    match serde_json::from_str::<serde::de::IgnoredAny>(body) {
        Err(error) if json => issue(
            "JSON text, or another `content-type` among the headers",
            error.to_string(),
        ),
        _ => Ok(()),
    }
}

fn shown(
    response: &Response,
    most_chars: usize,
    headers_not_sent: Vec<String>,
) -> Result<Answered, ToolError> {
    let (essence, _) = media_type(&response.headers);
    let is_text = is_text(&essence).unwrap_or_else(|| looks_like_text(&response.body));
    let mut truncated = response.cut;
    let mut note = response.note.clone();
    let mut body = None;
    if !response.body.is_empty() && is_text {
        let mut text = response.text();
        truncated |= cut_chars(&mut text, most_chars);
        body = Some(as_json(text, &essence, truncated)?);
    } else if !response.body.is_empty() {
        let kind = if essence.is_empty() {
            "of unknown type"
        } else {
            &*Excerpt::<100>::of(&essence)
        };
        note.get_or_insert(format!("the body is not text ({kind}) and is left out"));
    }
    Ok(Answered {
        status: response.status,
        url: response.url.to_string(),
        headers: told(&response.headers),
        body,
        truncated,
        duration_ms: u64::try_from(response.took.as_millis()).unwrap_or(u64::MAX),
        retry_after_seconds: response.retry_after().map(|wait| wait.as_secs()),
        headers_not_sent,
        note,
    })
}

/// Returns the body as JSON if it is complete and valid and its media type is JSON, else as a string. JSON that is nested deeper than serde allows is
/// returned as a string, because clients could not parse it.
fn as_json(text: String, essence: &str, truncated: bool) -> Result<Box<RawValue>, ToolError> {
    let says_json = essence == "application/json" || essence.ends_with("+json");
    if says_json && !truncated && serde_json::from_str::<serde_json::Value>(&text).is_ok() {
        return Ok(RawValue::from_string(text)?);
    }
    Ok(serde_json::value::to_raw_value(&text)?)
}
