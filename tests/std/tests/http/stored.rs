//! Stored tools whose functions are HTTP operations: documents, arguments, secrets, responses and errors.

mod documents;

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::stored::{SaveError, Saved, StoredTools};
use tool_core::{CancellationToken, ErrorKind};
use tool_std::http::{Http, HttpRunner};

use super::support::{OTHER, PUBLIC, Server, client, response, text};

const SECRET: &str = "key-4711-of-acme";

/// A host whose stored tools send HTTP requests.
struct World {
    tools: StoredTools,
    workspace: &'static str,
}

fn json_response(status: u16, body: &Value) -> Vec<u8> {
    let headers = [("content-type", "application/json")];
    response(status, &headers, body.to_string())
}

fn object(properties: &Value, required: &[&str]) -> ToolSchema {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    ToolSchema::new(schema.to_string()).unwrap()
}

fn schema(value: &Value) -> ToolSchema {
    ToolSchema::new(value.to_string()).unwrap()
}

/// Returns a document with one operation `go`.
fn document(server: &str, path: &str, method: &str, operation: Value) -> Value {
    let mut operation = operation;
    operation["operationId"] = "go".into();
    json!({
        "openapi": "3.0.3",
        "info": {"title": "A shop", "version": "1"},
        "servers": [{"url": server}],
        "paths": {path: {method: operation}},
    })
}

fn with_key(mut document: Value, scheme: &Value) -> Value {
    document["security"] = json!([{"shop_key": []}]);
    document["components"] = json!({"securitySchemes": {"shop_key": scheme}});
    document
}

fn bearer(document: Value) -> Value {
    with_key(document, &json!({"type": "http", "scheme": "bearer"}))
}

/// Returns a function version without arguments that runs the document.
fn version(document: &Value) -> NewFunctionVersion {
    let mut version = NewFunctionVersion::new(object(&json!({}), &[]), schema(&json!({})));
    let file = "api.json".to_owned();
    version.files.insert(file, document.to_string());
    version
}

fn faults(saved: Result<Saved, SaveError>) -> Vec<(String, String)> {
    match saved {
        Err(SaveError::Rejected(faults)) => {
            let faults = faults.into_iter();
            faults.map(|fault| (fault.pointer, fault.text)).collect()
        }
        other => panic!("expected faults, got {other:?}"),
    }
}

impl World {
    fn new() -> Self {
        Self::with(client())
    }

    fn with(http: Http) -> Self {
        let runner = HttpRunner::new(http).secrets_over_plain_http();
        Self {
            tools: StoredTools::new(MemoryStore::default()).runner(runner),
            workspace: "acme",
        }
    }

    /// Returns the same host for a different tenant.
    fn of(&self, workspace: &'static str) -> Self {
        let tools = self.tools.clone();
        Self { tools, workspace }
    }

    async fn edit(&self, change: ToolChange) -> Result<Saved, SaveError> {
        let admin = Editor::member(self.workspace, "olga", MemberRole::Admin);
        let edit = ToolEdit::new(admin, change, Timestamp::now());
        self.tools.edit(edit).await
    }

    async fn function(&self) -> Function {
        let kind = FunctionKind::Http {
            document: "api.json".to_owned(),
            operation: "go".to_owned(),
        };
        let new = ToolChange::CreateFunction(NewFunction::new("go", kind));
        let saved = self.edit(new).await.unwrap();
        saved.edited.into_function().unwrap()
    }

    async fn create(
        &self,
        function: &str,
        version: NewFunctionVersion,
    ) -> Result<Saved, SaveError> {
        let function = function.to_owned();
        let change = ToolChange::CreateVersion { function, version };
        self.edit(change).await
    }

    async fn publish(&self, function: &str, version: NewFunctionVersion) -> FunctionVersion {
        let saved = self.create(function, version).await.unwrap();
        let version = saved.edited.into_version().unwrap();
        let id = version.id.clone();
        self.edit(ToolChange::Publish { version: id })
            .await
            .unwrap();
        version
    }

    async fn bind(&self, new: NewTool) -> StoredTool {
        let new = ToolChange::CreateTool(Box::new(new));
        let tool = self.edit(new).await.unwrap().edited.into_tool().unwrap();
        let bind = ToolChange::Bind {
            agent: "clerk".to_owned(),
            tool: tool.id.clone(),
        };
        self.edit(bind).await.unwrap();
        tool
    }

    /// Publishes a function version and binds a tool `go` that runs it.
    async fn offer(&self, version: NewFunctionVersion) {
        let function = self.function().await;
        self.publish(&function.id, version).await;
        self.bind(NewTool::server("go", function.id)).await;
    }

    async fn toolset(&self) -> Toolset {
        let workspace = Workspace::new(self.workspace);
        let own = self.tools.of_agent(&workspace, "clerk").await.unwrap();
        assert_eq!(own.left_out, []);
        own.registry.open()
    }

    async fn call_in(&self, name: &str, arguments: Value, cx: &ToolContext) -> CallResult {
        let call = ToolCall::new("c-1", name, arguments.to_string());
        self.toolset().await.call(call, cx).await
    }

    async fn call(&self, arguments: Value) -> CallResult {
        let cx = ToolContext::builder().workspace(self.workspace).build();
        self.call_in("go", arguments, &cx).await
    }

    /// Calls `go` with a secret.
    async fn call_with(&self, key: &str, secret: &str) -> CallResult {
        let cx = ToolContext::builder().workspace(self.workspace);
        let cx = cx.secret(key, secret).build();
        self.call_in("go", json!({}), &cx).await
    }
}

#[track_caller]
fn output(result: &CallResult) -> Value {
    super::support::output(result)
}

#[track_caller]
fn failed(result: &CallResult, kind: ErrorKind, part: &str) {
    let error = result.error().unwrap();
    assert_eq!(error.kind(), kind, "{error:?}");
    assert!(error.model_text().contains(part), "{}", error.model_text());
}

// S3-34: the arguments of a stored HTTP operation are sent in path, query, header and body.
#[tokio::test]
async fn arguments_are_sent_in_path_query_header_and_body() {
    let server = Server::start(PUBLIC, |_| json_response(200, &json!({"id": 7}))).await;
    let mut document = document(
        &server.url("public.example", "/v1/"),
        "/shops/{shop}/items/{item}.json",
        "put",
        json!({
            "parameters": [
                {"name": "item", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "tag", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                {"name": "fields", "in": "query", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
                {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
                {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                {"$ref": "#/components/parameters/page"},
            ],
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/item"}}}},
        }),
    );
    document["paths"]["/shops/{shop}/items/{item}.json"]["parameters"] = json!([
        {"name": "shop", "in": "path", "required": true, "schema": {"type": "string"}},
        // The parameter `item` of the operation has priority over this one.
        {"name": "item", "in": "path", "required": true, "schema": {"type": "object"}},
    ]);
    document["components"] = json!({
        "parameters": {"page": {"name": "page", "in": "query", "schema": {"type": "integer"}}},
        "schemas": {"item": {"type": "object"}},
    });
    let mut version = version(&document);
    let text = json!({"type": "string"});
    version.input_schema = object(
        &json!({
            "shop": text, "item": {"type": "integer"}, "tag": {"type": "array", "items": text},
            "fields": {"type": "array", "items": text}, "dry": {"type": ["boolean", "null"]},
            "X-Trace": text, "page": {"type": ["integer", "null"]},
            "body": {"type": "object", "properties": {"name": text}, "required": ["name"], "additionalProperties": false},
        }),
        &[
            "shop", "item", "tag", "fields", "dry", "X-Trace", "page", "body",
        ],
    );
    version.output_schema = schema(&json!({
        "type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false,
    }));
    let world = World::new();
    world.offer(version).await;
    let arguments = json!({
        "shop": "a/../b?c#d%2e é", "item": -3, "tag": ["x y", "&z=1"], "fields": ["a", "b"], "dry": true,
        "X-Trace": "t-1", "page": null, "body": {"name": "Lamp"},
    });
    let result = world.call(arguments).await;
    assert_eq!(output(&result), json!({"id": 7}));
    let seen = server.seen().pop().unwrap();
    assert_eq!(
        seen.line,
        "PUT /v1/shops/a%2F..%2Fb%3Fc%23d%252e%20%C3%A9/items/-3.json?dry=true&fields=a%2Cb&tag=x+y&tag=%26z%3D1 HTTP/1.1"
    );
    assert_eq!(seen.header("x-trace"), Some("t-1"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.body, r#"{"name":"Lamp"}"#);
}

// S3-34: an argument in the path cannot lead to a different path.
#[tokio::test]
async fn path_argument_stays_in_its_segment() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let parameter = |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    let operation = json!({"parameters": [parameter("a"), parameter("b")]});
    let document = document(
        &server.url("public.example", "/v1"),
        "/x/{a}{b}/y",
        "get",
        operation,
    );
    let mut version = version(&document);
    let text = json!({"type": "string"});
    version.input_schema = object(&json!({"a": text, "b": text}), &["a", "b"]);
    let world = World::new();
    world.offer(version).await;
    for (a, b) in [("", ""), (".", ""), (".", "."), ("", "..")] {
        let result = world.call(json!({"a": a, "b": b})).await;
        failed(&result, ErrorKind::InvalidArguments, "neither empty nor");
    }
    assert_eq!(server.seen().len(), 0);
    for (a, b, path) in [
        ("..", "x", "/v1/x/..x/y"),
        ("/", "..", "/v1/x/%2F../y"),
        ("%2e", "%2E", "/v1/x/%252e%252E/y"),
        ("\\", "..", "/v1/x/%5C../y"),
    ] {
        let result = world.call(json!({"a": a, "b": b})).await;
        assert_eq!(output(&result), "ok");
        assert_eq!(server.seen().pop().unwrap().path(), path);
    }
}

// S3-11, S3-34: an input schema whose arguments could not be sent is refused.
#[tokio::test]
async fn input_schema_that_does_not_match_the_operation_is_refused() {
    let world = World::new();
    let function = world.function().await;
    let document = document(
        "https://shop.example.com",
        "/a/{b}",
        "post",
        json!({
            "parameters": [
                {"name": "b", "in": "path", "required": true, "schema": {"type": "number"}},
                {"name": "q", "in": "query", "schema": {"type": "integer", "nullable": true}},
                {"name": "session", "in": "cookie", "schema": {"type": "string"}},
            ],
            "requestBody": {"content": {"application/json": {"schema": {"type": "array"}}}},
        }),
    );
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    for (properties, required, pointer, part) in [
        (
            json!({"b": text}),
            &["b"][..],
            "/input_schema/properties/b",
            "takes number here, the schema also admits string",
        ),
        (
            json!({"b": {"type": ["integer", "null"]}}),
            &["b"],
            "/input_schema/properties/b",
            "also admits null",
        ),
        (
            json!({"b": number, "x": text}),
            &["b", "x"],
            "/input_schema/properties/x",
            "has no parameter `x`",
        ),
        (
            json!({"b": number, "session": text}),
            &["b", "session"],
            "/input_schema/properties/session",
            "only `path`, `query` and `header`",
        ),
        (
            json!({"b": number, "body": text}),
            &["b", "body"],
            "/input_schema/properties/body",
            "takes array here",
        ),
        (json!({}), &[], "/input_schema/required", "requires `b`"),
        (
            json!({"b": number}),
            &[],
            "/input_schema/required",
            "requires `b`",
        ),
    ] {
        let mut version = version(&document);
        version.input_schema = object(&properties, required);
        let faults = faults(world.create(&function.id, version).await);
        let found = faults.iter().find(|(at, _)| at == pointer);
        let found = found.unwrap_or_else(|| panic!("{properties}: {faults:?}"));
        assert!(found.1.contains(part), "{found:?}");
    }
    let mut version = version(&document);
    version.input_schema = object(
        &json!({"b": number, "q": {"type": ["integer", "null"]}, "body": {"type": "array", "items": text}}),
        &["b", "q", "body"],
    );
    world.create(&function.id, version).await.unwrap();
}

// S3-34, S1-102: a name that resolves to a private address, and a redirect to one, are refused at the call.
#[tokio::test]
async fn private_addresses_are_refused_at_the_call() {
    let inside = Server::start(Ipv4Addr::LOCALHOST, |_| text("inside")).await;
    let world = World::new();
    let document_of = |server: &str| document(server, "/a", "get", json!({}));
    world
        .offer(version(&document_of(&inside.url("private.example", ""))))
        .await;
    failed(
        &world.call(json!({})).await,
        ErrorKind::Denied,
        "not at a public address",
    );

    let location = inside.url("127.0.0.1", "/");
    let server = Server::start(PUBLIC, move |_| {
        response(302, &[("location", &location)], "")
    })
    .await;
    let world = World::new();
    world
        .offer(version(&document_of(&server.url("public.example", ""))))
        .await;
    failed(
        &world.call(json!({})).await,
        ErrorKind::Failed,
        "redirects to a URL that is refused",
    );
    assert_eq!((inside.seen().len(), server.seen().len()), (0, 1));
}

// S3-34: each tenant sends its own secret, and does not see the functions and tools of the other tenant.
#[tokio::test]
async fn tenants_have_their_own_secrets_and_tools() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let document = bearer(document(
        &server.url("public.example", ""),
        "/a",
        "get",
        json!({}),
    ));
    let acme = World::new();
    let umbrella = acme.of("umbrella");
    acme.offer(version(&document)).await;
    assert_eq!(umbrella.toolset().await.names().count(), 0);
    umbrella.offer(version(&document)).await;
    let key = format!("public.example:{}/shop_key", server.port());
    for (world, secret) in [(&acme, SECRET), (&umbrella, "key-0815-of-umbrella")] {
        let tools = world.toolset().await;
        let needs: Vec<_> = tools
            .get("go")
            .unwrap()
            .secrets()
            .iter()
            .map(|need| &*need.key)
            .collect();
        assert_eq!(needs, [&*key]);
        assert_eq!(output(&world.call_with(&key, secret).await), "ok");
        let expected = format!("Bearer {secret}");
        assert_eq!(
            server.seen().pop().unwrap().header("authorization"),
            Some(&*expected)
        );
    }
    let calls = server.seen().len();
    failed(&acme.call(json!({})).await, ErrorKind::Unavailable, "");
    assert_eq!(server.seen().len(), calls);
}

// S3-34: a secret is sent in the header of its scheme, and only to the host in its key.
#[tokio::test]
async fn secret_is_bound_to_the_host_of_its_key() {
    let server = Server::start(PUBLIC, |_| text("ok")).await;
    let scheme = json!({"type": "apiKey", "in": "header", "name": "X-Shop-Key"});
    let api_key = with_key(
        document(&server.url("public.example", ""), "/a", "get", json!({})),
        &scheme,
    );
    let world = World::new();
    world.offer(version(&api_key)).await;
    let key = format!("public.example:{}/shop_key", server.port());
    assert_eq!(output(&world.call_with(&key, SECRET).await), "ok");
    assert_eq!(
        server.seen().pop().unwrap().header("x-shop-key"),
        Some(SECRET)
    );

    // An author copies the document and changes the server to their own. The key of the secret contains the host, so the copy gets no secret.
    let theirs = Server::start(OTHER, |_| text("thanks")).await;
    let copy = bearer(document(
        &theirs.url("other.example", ""),
        "/a",
        "get",
        json!({}),
    ));
    let world = World::new();
    world.offer(version(&copy)).await;
    failed(
        &world.call_with(&key, SECRET).await,
        ErrorKind::Unavailable,
        "",
    );
    assert_eq!(theirs.seen().len(), 0);

    // By default, secrets are sent over HTTPS only.
    let tools = StoredTools::new(MemoryStore::default()).runner(HttpRunner::new(client()));
    let world = World {
        tools,
        workspace: "acme",
    };
    let function = world.function().await;
    let faults = faults(world.create(&function.id, version(&api_key)).await);
    assert_eq!(faults[0].0, "/files/api.json/servers/0/url");
    assert!(faults[0].1.contains("over HTTPS only"), "{faults:?}");
}

// S3-34: an error status is an error result with a part of the body, in which the secret is redacted even where the body is cut.
#[tokio::test]
async fn secret_in_an_error_body_is_redacted_and_the_body_is_cut() {
    for before in [0, 980, 990, 999, 5_000] {
        let server = Server::start(PUBLIC, move |seen| {
            let said = seen.header("authorization").unwrap();
            let body = format!("{}{said} is wrong{}", "x".repeat(before), "y".repeat(9_000));
            response(403, &[("content-type", "text/plain")], body)
        })
        .await;
        let world = World::new();
        let document = bearer(document(
            &server.url("public.example", ""),
            "/a",
            "get",
            json!({}),
        ));
        world.offer(version(&document)).await;
        let key = format!("public.example:{}/shop_key", server.port());
        let result = world.call_with(&key, SECRET).await;
        failed(
            &result,
            ErrorKind::Failed,
            "the server returned the status 403: ",
        );
        let error = result.error().unwrap();
        for text in [error.model_text(), error.operator_text()] {
            assert!(text.chars().count() < 1_100, "{text}");
            assert!(!text.contains(&SECRET[..6]), "{text}");
        }
        assert_eq!(
            server.seen()[0].header("authorization"),
            Some(&*format!("Bearer {SECRET}"))
        );
    }
}

// S3-09, S3-10: a pinned tool calls the server of its version, and an unpinned tool calls the server of the default version.
#[tokio::test]
async fn pinned_version_keeps_its_document() {
    let old = Server::start(PUBLIC, |_| text("old")).await;
    let new = Server::start(OTHER, |_| text("new")).await;
    let world = World::new();
    let function = world.function().await;
    let of = |url: String| version(&document(&url, "/a", "get", json!({})));
    let one = world
        .publish(&function.id, of(old.url("public.example", "")))
        .await;
    let mut pinned = NewTool::server("pinned", &*function.id);
    pinned.function_version = Some(one.id);
    world.bind(pinned).await;
    world.bind(NewTool::server("free", &*function.id)).await;
    world
        .publish(&function.id, of(new.url("other.example", "")))
        .await;
    let cx = ToolContext::builder().workspace("acme").build();
    for (name, said) in [("pinned", "old"), ("free", "new")] {
        assert_eq!(output(&world.call_in(name, json!({}), &cx).await), said);
    }
}

// S3-34: the error states that a server cannot be reached, closed the connection in the middle of a response, or asks the client to wait.
#[tokio::test]
async fn unreachable_server_is_reported() {
    let gone = Server::start(PUBLIC, |_| text("ok")).await;
    let world = World::new();
    // No server listens on this port of the other address.
    let url = format!("http://other.example:{}", gone.port());
    world
        .offer(version(&document(&url, "/a", "get", json!({}))))
        .await;
    failed(
        &world.call(json!({})).await,
        ErrorKind::Failed,
        "could not be reached",
    );

    let broken = Server::serve((PUBLIC, 0).into(), |mut socket, _| {
        async move {
            let _ = socket
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
                .await;
        }
        .boxed()
    })
    .await;
    let world = World::new();
    world
        .offer(version(&document(
            &broken.url("public.example", ""),
            "/a",
            "get",
            json!({}),
        )))
        .await;
    failed(
        &world.call(json!({})).await,
        ErrorKind::Failed,
        "ended early",
    );

    let busy = Server::start(PUBLIC, |_| response(503, &[("retry-after", "7")], "")).await;
    let world = World::new();
    world
        .offer(version(&document(
            &busy.url("public.example", ""),
            "/a",
            "get",
            json!({}),
        )))
        .await;
    let result = world.call(json!({})).await;
    failed(&result, ErrorKind::Failed, "the status 503");
    assert_eq!(result.error().unwrap().wait(), Some(Duration::from_secs(7)));
}

// S3-12: a response that does not match the output schema is an error result.
#[tokio::test]
async fn response_that_violates_the_output_schema_is_an_error() {
    let wanted = schema(&json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false,
    }));
    for (answer, part) in [
        (json_response(200, &json!({"n": "seven"})), ""),
        (text("plain"), ""),
        (response(204, &[], ""), ""),
        (
            response(200, &[("content-type", "application/json")], "{\"n\": 7"),
            "not valid JSON",
        ),
        (
            response(200, &[("content-type", "image/png")], [0, 1, 2]),
            "is not text (`image/png`)",
        ),
    ] {
        let server = Server::start(PUBLIC, move |_| answer.clone()).await;
        let mut version = version(&document(
            &server.url("public.example", ""),
            "/a",
            "get",
            json!({}),
        ));
        version.output_schema = wanted.clone();
        let world = World::new();
        world.offer(version).await;
        failed(&world.call(json!({})).await, ErrorKind::Failed, part);
    }
    // The output of a response without a body is null, and a response that is too long is not read to its end.
    let empty = Server::start(PUBLIC, |_| response(204, &[], "")).await;
    let world = World::new();
    world
        .offer(version(&document(
            &empty.url("public.example", ""),
            "/a",
            "delete",
            json!({}),
        )))
        .await;
    assert_eq!(output(&world.call(json!({})).await), Value::Null);
    let long = Server::start(PUBLIC, |_| text(&"x".repeat(100_000))).await;
    let world = World::with(client().most_bytes(1_000));
    world
        .offer(version(&document(
            &long.url("public.example", ""),
            "/a",
            "get",
            json!({}),
        )))
        .await;
    failed(
        &world.call(json!({})).await,
        ErrorKind::Failed,
        "longer than 1000 bytes",
    );
}

// S3-34: a call ends when it is cancelled, when its deadline passes and when the client's timeout expires, although the server does not answer.
#[tokio::test]
async fn cancelled_and_late_calls_end() {
    let server = Server::silent(PUBLIC).await;
    let world = World::new();
    world
        .offer(version(&document(
            &server.url("public.example", ""),
            "/a",
            "get",
            json!({}),
        )))
        .await;
    let cancel = CancellationToken::new();
    let cx = ToolContext::builder()
        .workspace("acme")
        .cancellation(cancel.clone())
        .build();
    let call = world.call_in("go", json!({}), &cx);
    let stop = async {
        while server.seen().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (result, ()) = futures::join!(call, stop);
    failed(&result, ErrorKind::Cancelled, "");

    let cx = ToolContext::builder()
        .workspace("acme")
        .deadline(Duration::from_millis(50))
        .build();
    failed(
        &world.call_in("go", json!({}), &cx).await,
        ErrorKind::TimedOut,
        "",
    );

    let world = World::with(client().timeout(Duration::from_millis(50)));
    world
        .offer(version(&document(
            &server.url("public.example", ""),
            "/a",
            "get",
            json!({}),
        )))
        .await;
    failed(
        &world.call(json!({})).await,
        ErrorKind::TimedOut,
        "within 50 ms",
    );
}

// S3-21: an operation may do everything, whatever its method, until an admin states its effects.
#[tokio::test]
async fn operation_has_all_effects_until_an_admin_declares_them() {
    let world = World::new();
    let function = world.function().await;
    world
        .publish(
            &function.id,
            version(&document(
                "https://shop.example.com",
                "/a",
                "get",
                json!({}),
            )),
        )
        .await;
    world.bind(NewTool::server("go", &*function.id)).await;
    let hints = world.toolset().await.get("go").unwrap().hints();
    assert!(
        hints.destructive && hints.open_world && !hints.read_only,
        "{hints:?}"
    );
    let mut update = FunctionUpdate::default();
    update.effects = Some(Some(FunctionEffects {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: true,
    }));
    let (id, expected) = (function.id, None);
    world
        .edit(ToolChange::UpdateFunction {
            id,
            update,
            expected,
        })
        .await
        .unwrap();
    let hints = world.toolset().await.get("go").unwrap().hints();
    assert!(
        hints.read_only && !hints.destructive && hints.open_world,
        "{hints:?}"
    );
}
