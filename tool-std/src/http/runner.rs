//! The runner of stored tools whose functions are HTTP operations.

use std::borrow::Cow;
use std::time::Duration;

use futures::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tool_core::prelude::*;
use tool_core::redact::Redactor;
use tool_core::store::{Function, FunctionKind, FunctionVersion};
use tool_core::stored::{FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner, ToolFault};
use tool_core::{ErrorKind, ExposeSecret as _, Issue, SecretNeed};

use super::body::{is_text, looks_like_text, media_type};
use super::operation::reader::escaped;
use super::operation::{self, Auth, BODY, Operation, Part, Place, judge_input};
use super::{Http, Request, Response};
use crate::Excerpt;

/// Maximum number of characters of an error response's body in the error.
const MOST_ERROR: usize = 1_000;

/// Runs functions of the kind `http`: operations of `OpenAPI` documents (3.0 and 3.1). The document is a file of the function's version.
///
/// # Arguments
///
/// The arguments of the tool are the parameters in path, query and header under their own names, and the JSON body as `body`. A null is treated as an
/// omitted argument, except that a required body is sent as `null`. [`StoredTools::edit`](tool_core::stored::StoredTools::edit) refuses a version if
/// its document cannot be used, or if its input schema does not match the operation. The pointer of a fault continues from the file into its JSON:
/// `/files/api.json/paths/~1items/get/parameters/0/in`.
///
/// Not supported are, for example, cookies, objects in parameters, styles other than the default, bodies other than JSON, and references to other
/// documents.
///
/// # Result
///
/// For a status from 200 to 299, the result is the body: its JSON if its media type is JSON, otherwise its text, or null if there is no body. A body
/// that is neither, or that is longer than the limit of the [`Http`], is an error. Any other status is an error with the status and at most 1,000
/// characters of a text body, in which the secret of the request is redacted.
///
/// # Servers and secrets
///
/// Requests are sent to the first server of the operation, else of its path, else of the document. Every request passes the guard of the [`Http`]: by
/// default, servers at private addresses are refused. An operation with a security scheme (`http` with `bearer`, or `apiKey` in a header) uses a
/// secret, whose key contains the host of the server: `api.example.com/NAME`, where `NAME` is the name of the scheme. Authors of tools therefore
/// cannot send a secret to a different server than the one for which an operator has stored it. Secrets are sent over HTTPS only, unless the host
/// [allows](Self::secrets_over_plain_http) otherwise.
///
/// # Effects
///
/// The method of an operation does not determine its effects, so a function has all effects until an admin states its effects
/// ([`Function::effects`]).
///
/// ```
/// use serde_json::json;
/// use tool_core::store::*;
/// use tool_core::stored::{SaveError, StoredTools};
/// use tool_std::http::{Http, HttpRunner};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = StoredTools::new(MemoryStore::default()).runner(HttpRunner::new(Http::default()));
/// let olga = Editor::member("acme", "olga", MemberRole::Author);
/// let save = async |change| tools.edit(ToolEdit::new(olga.clone(), change, Timestamp::now())).await;
///
/// let kind = FunctionKind::Http { document: "api.json".to_owned(), operation: "getItem".to_owned() };
/// let function = save(ToolChange::CreateFunction(NewFunction::new("item", kind))).await?.edited.into_function().unwrap();
/// let document = |server: &str| json!({
///     "openapi": "3.1.0",
///     "servers": [{"url": server}],
///     "security": [{"shop_key": []}],
///     "components": {"securitySchemes": {"shop_key": {"type": "http", "scheme": "bearer"}}},
///     "paths": {"/items/{id}": {"get": {
///         "operationId": "getItem",
///         "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
///     }}},
/// });
/// let version = |server: &str| {
///     let id = r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}"#;
///     let mut version = NewFunctionVersion::new(ToolSchema::new(id).unwrap(), ToolSchema::new("{}").unwrap());
///     version.files.insert("api.json".to_owned(), document(server).to_string());
///     ToolChange::CreateVersion { function: function.id.clone(), version }
/// };
/// save(version("https://shop.example.com/v1")).await?;
///
/// let Err(SaveError::Rejected(faults)) = save(version("https://127.0.0.1/v1")).await else { panic!() };
/// assert_eq!(faults[0].pointer, "/files/api.json/servers/0/url");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HttpRunner {
    http: Http,
    plain_secrets: bool,
}

impl HttpRunner {
    /// Creates a runner that sends requests with the settings of `http`, and secrets over HTTPS only.
    pub fn new(http: Http) -> Self {
        Self {
            http,
            plain_secrets: false,
        }
    }

    /// Also sends secrets over HTTP without encryption, where everyone on the network path can read them.
    #[must_use]
    pub fn secrets_over_plain_http(mut self) -> Self {
        self.plain_secrets = true;
        self
    }

    /// Reads the operation of a function, or returns the faults that prevent calls of the version. Returns `None` if the function is not an HTTP
    /// operation.
    fn read(
        &self,
        function: &Function,
        version: &FunctionVersion,
    ) -> Option<Result<Operation, Vec<ToolFault>>> {
        let FunctionKind::Http {
            document,
            operation,
        } = &function.kind
        else {
            return None;
        };
        // The store refuses a version without the file.
        let text = version.files.get(document).map_or("", String::as_str);
        let prefix = format!("/files/{}", escaped(document));
        Some(
            operation::read(text, &prefix, operation).and_then(|operation| {
                let mut faults = judge_input(&operation, version.input_schema.text());
                if let Err(refusal) = self.http.guard.judge(&operation.server) {
                    faults.push(ToolFault {
                        pointer: operation.server_pointer.clone(),
                        text: refusal.to_string(),
                    });
                } else if operation.auth.is_some()
                    && operation.server.scheme() != "https"
                    && !self.plain_secrets
                {
                    let text =
                        "the operation needs a secret, which is sent over HTTPS only: use `https`";
                    faults.push(ToolFault {
                        pointer: operation.server_pointer.clone(),
                        text: text.to_owned(),
                    });
                }
                if faults.is_empty() {
                    Ok(operation)
                } else {
                    Err(faults)
                }
            }),
        )
    }

    async fn call(self, call: FunctionCall) -> Result<FunctionOutput, ToolError> {
        let operation = match self.read(&call.function, &call.version) {
            Some(Ok(operation)) => operation,
            Some(Err(faults)) => return Err(unusable(&faults)),
            None => return Err(ToolError::new("the function is not an HTTP operation")),
        };
        let Value::Object(arguments) = call.arguments else {
            return Err(issue("", "an object", &call.arguments));
        };
        let mut request = request(&operation, &arguments)?;
        let mut redactor = Redactor::default();
        if let Some(auth) = &operation.auth {
            let secret = call.cx.secret(&auth.key);
            match secret.filter(|secret| !secret.expose_secret().is_empty()) {
                Some(secret) => {
                    let short = |_| {
                        ToolError::unavailable(format_args!(
                            "a secret `{}` that is long enough to be redacted",
                            auth.key
                        ))
                    };
                    redactor =
                        Redactor::new([(auth.key.clone(), secret.clone())]).map_err(short)?;
                    let sent = if auth.is_bearer {
                        SecretString::from(format!("Bearer {}", secret.expose_secret()))
                    } else {
                        secret.clone()
                    };
                    request = request.secret_header(auth.header.clone(), &sent)?;
                }
                None if auth.optional => {}
                None => {
                    return Err(ToolError::unavailable(format_args!(
                        "the secret `{}`",
                        auth.key
                    )));
                }
            }
        }
        let response = self.http.send(request).await?;
        match response.status() {
            200..=299 => output(&response),
            _ => Err(failed(&response, &redactor)),
        }
    }
}

impl FunctionRunner for HttpRunner {
    fn facts(
        &self,
        function: &Function,
        version: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        let operation = self.read(function, version)?;
        let facts = operation.map(|operation| {
            let mut facts = FunctionFacts::foreign(function);
            facts.secrets.extend(operation.auth.map(need));
            facts
        });
        Some(facts.map_err(|faults| texts(&faults)))
    }

    fn check<'a>(
        &'a self,
        function: &'a Function,
        version: &'a FunctionVersion,
    ) -> BoxFuture<'a, Vec<ToolFault>> {
        let read = self.read(function, version);
        Box::pin(async { read.and_then(Result::err).unwrap_or_default() })
    }

    fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        Box::pin(self.clone().call(call))
    }
}

fn need(auth: Auth) -> SecretNeed {
    let mut need = SecretNeed::new("");
    need.key = Cow::Owned(auth.key);
    need.description = auth.description.map(Cow::Owned);
    need.optional = auth.optional;
    need
}

fn texts(faults: &[ToolFault]) -> String {
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

fn unusable(faults: &[ToolFault]) -> ToolError {
    let text = "the tool is not set up correctly, so the call was not made";
    ToolError::of(ErrorKind::Unavailable, text).operator(texts(faults))
}

fn issue(pointer: &str, expected: &str, found: &Value) -> ToolError {
    let found = Excerpt::<100>::of(found.to_string());
    ToolError::invalid_arguments(vec![Issue {
        pointer: pointer.to_owned(),
        expected: expected.to_owned(),
        found: found.into(),
    }])
}

/// Builds the request from the arguments. The schema of a tool may differ from the schema of the version, so the arguments are checked here as well.
fn request(operation: &Operation, arguments: &Map<String, Value>) -> Result<Request, ToolError> {
    let of = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let mut request = Request::new(operation.method, url(operation, &of)?).header(
        ACCEPT,
        HeaderValue::from_static("application/json, */*;q=0.5"),
    );
    for (name, parameter) in &operation.parameters {
        let pointer = format!("/{}", escaped(name));
        let Some(value) = of(name) else {
            if parameter.required {
                return Err(issue(
                    &pointer,
                    "a value, because the operation requires it",
                    &Value::Null,
                ));
            }
            continue;
        };
        match &parameter.place {
            Place::Path => {}
            Place::Query { explode } => {
                let items = items(value, &pointer)?;
                if *explode {
                    for item in items {
                        request = request.query(name, item);
                    }
                } else {
                    request = request.query(name, items.join(","));
                }
            }
            Place::Header(header) => {
                let text = items(value, &pointer)?.join(",");
                let text = HeaderValue::from_str(&text).map_err(|_| {
                    issue(
                        &pointer,
                        "a text without line breaks and other control characters",
                        value,
                    )
                })?;
                request = request.header(header.clone(), text);
            }
        }
    }
    let body = operation.body.as_ref();
    let given = match body {
        Some(body) if body.required => arguments.get(BODY),
        _ => of(BODY),
    };
    if let (Some(body), None) = (body, given)
        && body.required
    {
        return Err(issue(
            "/body",
            "a value, because the operation requires it",
            &Value::Null,
        ));
    }
    if let (Some(body), Some(value)) = (body, given) {
        request = request
            .header(CONTENT_TYPE, HeaderValue::from_str(&body.media_type)?)
            .body(value.to_string().into_bytes());
    }
    let is_unknown = |name: &&String| {
        !operation.parameters.contains_key(*name) && (body.is_none() || *name != BODY)
    };
    match arguments.keys().find(is_unknown) {
        Some(name) => Err(issue(
            &format!("/{}", escaped(name)),
            "no such key, because the operation has no such parameter",
            &arguments[name],
        )),
        None => Ok(request),
    }
}

/// Builds the URL without its query. Path parameters cannot leave their segment.
fn url<'v>(
    operation: &Operation,
    of: &impl Fn(&str) -> Option<&'v Value>,
) -> Result<String, ToolError> {
    let mut url = operation.server.to_string();
    if url.ends_with('/') {
        url.pop();
    }
    // The current segment without encoding, and the parameter in it, if it has one.
    let (mut segment, mut of_parameter) = (String::new(), None);
    let closed = |segment: &str, parameter: Option<(&str, &Value)>| match parameter {
        Some((name, value)) if ["", ".", ".."].contains(&segment) => Err(issue(
            &format!("/{}", escaped(name)),
            "a value that is neither empty nor `.` nor `..`",
            value,
        )),
        _ => Ok(()),
    };
    for part in &operation.path {
        match part {
            Part::Text(text) => {
                let mut pieces = text.split('/');
                segment.push_str(pieces.next().unwrap_or_default());
                for piece in pieces {
                    closed(&segment, of_parameter.take())?;
                    piece.clone_into(&mut segment);
                }
                url.push_str(text);
            }
            Part::Parameter(name) => {
                let pointer = format!("/{}", escaped(name));
                let Some(value) = of(name) else {
                    return Err(issue(
                        &pointer,
                        "a value, because it is part of the path",
                        &Value::Null,
                    ));
                };
                let text = items(value, &pointer)?.join(",");
                encode(&text, &mut url);
                segment.push_str(&text);
                of_parameter = Some((name, value));
            }
        }
    }
    closed(&segment, of_parameter)?;
    Ok(url)
}

/// Writes a text as a part of a path's segment: everything that RFC 3986 does not list as unreserved is percent-encoded.
fn encode(text: &str, to: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            to.push(char::from(byte));
        } else {
            to.push('%');
            to.push(char::from(HEX[usize::from(byte >> 4)]));
            to.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Returns the texts of a parameter: one, or one for each item of a list.
fn items(value: &Value, pointer: &str) -> Result<Vec<String>, ToolError> {
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(issue(
            pointer,
            "a text, a number, a boolean or a list of them",
            value,
        )),
    };
    match value {
        Value::Array(items) => items.iter().map(one).collect(),
        value => Ok(vec![one(value)?]),
    }
}

/// Returns the output of a successful response.
fn output(response: &Response) -> Result<FunctionOutput, ToolError> {
    if let Some(note) = response.note() {
        return Err(ToolError::new(format!(
            "the server's response cannot be used: {note}"
        )));
    }
    if response.is_cut() {
        let text = format!(
            "the server's response is longer than {} bytes, ask for less",
            response.bytes().len()
        );
        return Err(ToolError::new(text));
    }
    if response.bytes().is_empty() {
        return FunctionOutput::new(&Value::Null);
    }
    let (essence, _) = media_type(&response.headers);
    if essence == "application/json" || essence.ends_with("+json") {
        let text = response.text();
        // A value that is nested deeper than serde allows cannot be checked against the output schema.
        return match serde_json::from_str::<Value>(&text) {
            Ok(_) => FunctionOutput::new(&RawValue::from_string(text)?),
            Err(error) => Err(ToolError::new(format!(
                "the server's response is not valid JSON: {error}"
            ))),
        };
    }
    if is_text(&essence).unwrap_or_else(|| looks_like_text(response.bytes())) {
        return FunctionOutput::new(&response.text());
    }
    Err(ToolError::new(format!(
        "the server's response is not text (`{}`)",
        Excerpt::<100>::of(essence)
    )))
}

/// Returns the error for a status other than 200 to 299. The secret is redacted before the text is cut: a part of a secret would not be found
/// afterwards.
fn failed(response: &Response, redactor: &Redactor) -> ToolError {
    let status = response.status();
    let (essence, _) = media_type(&response.headers);
    let is_text = is_text(&essence).unwrap_or_else(|| looks_like_text(response.bytes()));
    let mut text = format!("the server returned the status {status}");
    if is_text && !response.is_cut() && !response.bytes().is_empty() {
        let body = response.text();
        let body = redactor.redact(&body);
        text.push_str(": ");
        text.push_str(&Excerpt::<MOST_ERROR>::of(body.into_owned()));
    }
    match status {
        429 | 503 => {
            let wait = response.retry_after().unwrap_or(Duration::from_secs(1));
            ToolError::new(text).retry_after(wait)
        }
        _ => ToolError::new(text),
    }
}
