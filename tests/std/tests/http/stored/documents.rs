//! Validation of documents when they are saved: an unusable document is refused with the pointer of the fault.

use serde_json::{Value, json};
use tool_core::store::Workspace;

use super::{World, document, faults, object, version, with_key};

const GET: &str = "/paths/~1a~1{b}/get";

/// Returns a valid document with an operation that has a parameter in the path.
fn good() -> Value {
    let parameter =
        json!({"name": "b", "in": "path", "required": true, "schema": {"type": "string"}});
    let operation = json!({"parameters": [parameter]});
    document("https://shop.example.com", "/a/{b}", "get", operation)
}

/// Returns the valid document with a different value at a pointer.
fn changed(pointer: &str, value: Value) -> Value {
    let mut document = good();
    *document.pointer_mut(pointer).unwrap() = value;
    document
}

/// Returns the valid document with a second parameter.
fn with_parameter(parameter: Value) -> Value {
    let mut document = good();
    let all = document.pointer_mut(&format!("{GET}/parameters"));
    all.unwrap().as_array_mut().unwrap().push(parameter);
    document
}

fn parameter(name: &str, place: &str, required: bool, schema: &Value) -> Value {
    json!({"name": name, "in": place, "required": required, "schema": schema})
}

/// Asserts that each document is refused with a fault at the pointer whose text contains the given part, and that no version is stored.
async fn refused(cases: impl IntoIterator<Item = (Value, String, &'static str)>) {
    let world = World::new();
    let function = world.function().await;
    for (document, pointer, part) in cases {
        let mut version = version(&document);
        version.input_schema = object(&json!({"b": {"type": "string"}}), &["b"]);
        let faults = faults(world.create(&function.id, version).await);
        let pointer = format!("/files/api.json{pointer}");
        let found = faults.iter().find(|(at, _)| *at == pointer);
        let found = found.unwrap_or_else(|| panic!("{pointer}: {faults:?}"));
        assert!(found.1.contains(part), "{found:?}");
    }
    let acme = Workspace::new("acme");
    let store = world.tools.store();
    let versions = store.function_versions(&acme, &function.id).await;
    assert_eq!(versions.unwrap(), []);
}

// S3-34, S1-102: a document whose server cannot be used or is at a private address is refused with a pointer.
#[tokio::test]
async fn unusable_server_is_refused_with_a_pointer() {
    let url = "/servers/0/url";
    let cases = [
        (url, json!("/v1"), url, "is not the URL of a server"),
        (
            url,
            json!("ftp://x.example"),
            url,
            "only `https` and `http`",
        ),
        (url, json!("https://{host}/"), url, "has no `default`"),
        (url, json!("https://x.example/?key=1"), url, "has a query"),
        (
            url,
            json!("http://127.0.0.1/"),
            url,
            "not at a public address",
        ),
        (url, json!("http://0x7f.1/"), url, "not at a public address"),
        (url, json!("http://[::1]/"), url, "not at a public address"),
        (
            url,
            json!("http://169.254.169.254/"),
            url,
            "not at a public address",
        ),
        (url, json!("http://localhost/"), url, "not a public host"),
        (
            url,
            json!("https://a:b@x.example/"),
            url,
            "a user or a password",
        ),
        ("/servers", json!([]), "", "has no server"),
    ];
    refused(cases.map(|(at, value, pointer, part)| (changed(at, value), pointer.to_owned(), part)))
        .await;
}

// S3-34: a small document that would expand to a huge URL or schema is refused, as is a document with a long URL.
#[tokio::test]
async fn document_that_expands_without_bound_is_refused() {
    // Each default contains the next variable twice, 2^40 times in all.
    let mut variables = serde_json::Map::new();
    for number in 0..40 {
        let default = format!("{{v{0}}}{{v{0}}}", number + 1);
        variables.insert(format!("v{number}"), json!({"default": default}));
    }
    let mut bomb = good();
    bomb["servers"] = json!([{"url": "https://x.example/{v0}", "variables": variables}]);
    let mut long = good();
    long["servers"] = json!([{"url": format!("https://x.example/{}", "a".repeat(5_000))}]);
    // Each schema refers to the next one eight times, 8^15 times in all.
    let mut schemas = serde_json::Map::new();
    for number in 0..15 {
        let next = json!({"$ref": format!("#/components/schemas/s{}", number + 1)});
        schemas.insert(format!("s{number}"), json!({"anyOf": vec![next; 8]}));
    }
    schemas.insert("s15".to_owned(), json!({"type": "string"}));
    let mut wide = with_parameter(parameter(
        "c",
        "query",
        true,
        &json!({"$ref": "#/components/schemas/s0"}),
    ));
    wide["components"] = json!({"schemas": schemas});
    let world = World::new();
    let function = world.function().await;
    for (document, part) in [
        (bomb, "is not the URL of a server"),
        (long, "longer than 4096 bytes"),
        (wide, "too many alternatives"),
    ] {
        let mut version = version(&document);
        version.input_schema = object(&json!({"b": {"type": "string"}}), &["b"]);
        let faults = faults(world.create(&function.id, version).await);
        assert!(
            faults.iter().any(|(_, text)| text.contains(part)),
            "{part}: {faults:?}"
        );
    }
}

// S3-34: a document whose parameters cannot be sent is refused with a pointer.
#[tokio::test]
async fn unusable_parameter_is_refused_with_a_pointer() {
    let text = &json!({"type": "string"});
    let second = "/parameters/1";
    let added = [
        (
            parameter("q", "query", true, &json!({"type": "object"})),
            format!("{second}/schema"),
            "may be an object",
        ),
        (
            parameter("q", "query", true, &json!({})),
            format!("{second}/schema"),
            "may be an object",
        ),
        (
            parameter("c", "cookie", true, text),
            format!("{second}/in"),
            "only `path`, `query` and `header`",
        ),
        (
            parameter("Host", "header", true, text),
            format!("{second}/name"),
            "set by the program",
        ),
        (
            parameter("Metadata-Flavor", "header", true, text),
            format!("{second}/name"),
            "set by the program",
        ),
        (
            parameter("b", "query", false, text),
            format!("{second}/name"),
            "two parameters are named `b`",
        ),
    ];
    let added = added.map(|(own, at, part)| (with_parameter(own), format!("{GET}{at}"), part));
    let first = format!("{GET}/parameters/0");
    let circle = json!({"$ref": format!("#{first}")});
    let references = [
        (
            json!({"$ref": "other.json#/x"}),
            format!("{first}/$ref"),
            "outside of the document",
        ),
        (
            json!({"$ref": "#/x"}),
            format!("{first}/$ref"),
            "has no `#/x`",
        ),
        (circle, first.clone(), "the chain of references is too long"),
    ];
    let references = references.map(|(own, at, part)| (changed(&first, own), at, part));
    let path = "/paths/~1a~1{b}".to_owned();
    let extra = with_parameter(parameter("c", "path", true, text));
    let none = changed(&format!("{GET}/parameters"), json!([]));
    let template = [
        (none, path.clone(), "no parameter in `path` has this name"),
        (extra, path, "the path has no `{c}`"),
    ];
    refused(added.into_iter().chain(references).chain(template)).await;
}

// S3-34: a document is refused with a pointer if its version, body or security scheme is not supported, if it has the operation twice or not at all,
// if it is not JSON, or if it is too long.
#[tokio::test]
async fn unusable_document_is_refused_with_a_pointer() {
    let schemes = "/components/securitySchemes/shop_key";
    let mut twice = good();
    twice["paths"]["/c"] = json!({"get": {"operationId": "go"}});
    let mut form = document("https://shop.example.com", "/a", "post", json!({}));
    let body = json!({"required": true, "content": {"text/plain": {}}});
    form["paths"]["/a"]["post"]["requestBody"] = body;
    let oauth = json!({"type": "oauth2"});
    let host = json!({"type": "apiKey", "in": "header", "name": "Host"});
    let id = format!("{GET}/operationId");
    refused([
        (
            changed("/openapi", json!("2.0")),
            "/openapi".to_owned(),
            "3.0 or 3.1, found `2.0`",
        ),
        (
            changed(&id, json!("stop")),
            "/paths".to_owned(),
            "the document has `stop`",
        ),
        (
            twice,
            "/paths/~1c/get/operationId".to_owned(),
            "a second operation",
        ),
        (
            form,
            "/paths/~1a/post/requestBody/content".to_owned(),
            "only `application/json` and types",
        ),
        (
            with_key(good(), &oauth),
            schemes.to_owned(),
            "is not supported",
        ),
        (
            with_key(good(), &host),
            format!("{schemes}/name"),
            "not a header that can be sent",
        ),
    ])
    .await;
    let world = World::new();
    let function = world.function().await;
    let long = " ".repeat((1 << 20) + 1);
    for (text, part) in [
        ("openapi: 3.0.0", "convert it if it is YAML"),
        (&*long, "the maximum is"),
    ] {
        let mut version = version(&good());
        version.files.insert("api.json".to_owned(), text.to_owned());
        let faults = faults(world.create(&function.id, version).await);
        assert_eq!(faults[0].0, "/files/api.json");
        assert!(faults[0].1.contains(part), "{faults:?}");
    }
}
