//! The tools of the pack `http` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::{Json, ToolContract};

/// The arguments of `http_get`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct HttpGet {
    /// The whole URL, `https://…` or `http://…`, of a host on the internet.
    #[cfg_attr(feature = "schema", schema(length = 1..=4096))]
    pub url: String,
    /// The headers to send.
    #[cfg_attr(feature = "schema", schema(max_items = 50))]
    pub headers: Option<Vec<Field>>,
    /// Parameters to add to the URL's query; they are encoded for you.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub query: Option<Vec<Field>>,
    /// The header for the host's key. You do not need to know the key.
    pub auth_style: Option<AuthStyle>,
    /// The maximum number of characters of the body to return. The host's limit applies too.
    #[cfg_attr(feature = "schema", schema(range = 0..=10_000_000))]
    pub max_body_size: Option<u32>,
    /// The timeout in milliseconds. The host's limit applies too.
    #[cfg_attr(feature = "schema", schema(range = 1..=600_000))]
    pub timeout_ms: Option<u32>,
}

impl ToolContract for HttpGet {
    const NAME: &'static str = "http_get";
    type Input = Self;
    type Output = Answered;
}

/// The arguments of `http_request`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct HttpRequest {
    /// The whole URL, `https://…` or `http://…`, of a host on the internet.
    #[cfg_attr(feature = "schema", schema(length = 1..=4096))]
    pub url: String,
    /// The method of the request.
    pub method: Method,
    /// The body to send, for POST, PUT, PATCH and DELETE: JSON text, or text of the type in the header `content-type`.
    #[cfg_attr(feature = "schema", schema(length = 0..=1_000_000))]
    pub body: Option<String>,
    /// The headers to send.
    #[cfg_attr(feature = "schema", schema(max_items = 50))]
    pub headers: Option<Vec<Field>>,
    /// Parameters to add to the URL's query; they are encoded for you.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub query: Option<Vec<Field>>,
    /// The header for the host's key. You do not need to know the key.
    pub auth_style: Option<AuthStyle>,
    /// The maximum number of characters of the body to return. The host's limit applies too.
    #[cfg_attr(feature = "schema", schema(range = 0..=10_000_000))]
    pub max_body_size: Option<u32>,
    /// The timeout in milliseconds. The host's limit applies too.
    #[cfg_attr(feature = "schema", schema(range = 1..=600_000))]
    pub timeout_ms: Option<u32>,
}

impl ToolContract for HttpRequest {
    const NAME: &'static str = "http_request";
    type Input = Self;
    type Output = Answered;
}

/// The response of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The status code, such as 200.
    pub status: u16,
    /// The URL of the response, after the redirects that were followed.
    pub url: String,
    /// Some headers of the response.
    pub headers: Vec<Field>,
    /// The body as JSON, or as text if it is not JSON; null if there is no body or if the body is neither.
    pub body: Option<Json>,
    /// Whether the body is longer than shown.
    pub truncated: bool,
    /// The duration of the request in milliseconds.
    pub duration_ms: u64,
    /// The time to wait before a retry, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// Headers of the call that were not sent, because the caller may not set them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers_not_sent: Vec<String>,
    /// A note about the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A header or a parameter of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Field {
    /// The name of the field.
    #[cfg_attr(feature = "schema", schema(length = 1..=128))]
    pub name: String,
    /// The value of the field.
    #[cfg_attr(feature = "schema", schema(length = 0..=8192))]
    pub value: String,
}

/// The header in which the host's secret is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AuthStyle {
    /// Sends the secret in the header `Authorization: Bearer …`.
    Bearer,
    /// Sends the secret in a separate header, by default `X-API-Key`.
    ApiKey,
    /// Does not send the secret.
    None,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `GET`: reads the resource.
    Get,
    /// `HEAD`: reads only the headers.
    Head,
    /// `POST`: sends data, for example to create a resource.
    Post,
    /// `PUT`: replaces the resource.
    Put,
    /// `PATCH`: changes a part of the resource.
    Patch,
    /// `DELETE`: deletes the resource.
    Delete,
}
