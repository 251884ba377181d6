//! Tests of `#[schema(deserialize)]`, which generates a `Deserialize` that follows the rules of the schema.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::StrictSchema;
use tool_core::prelude::*;

/// The address of a service.
#[derive(Debug, PartialEq, Serialize, StrictSchema)]
#[schema(deserialize)]
struct Service {
    /// The name of the host.
    #[schema(length = 1..=20)]
    host: String,
    /// The port of the service.
    #[schema(default = 8080, range = 1024..=65535)]
    port: u16,
    /// The time limit of a request.
    patience: Option<Wait>,
    /// The protocol of the service.
    speaks: Vec<Protocol>,
}

/// A number of seconds to wait.
#[derive(Debug, PartialEq, Serialize, StrictSchema)]
#[schema(deserialize)]
struct Wait(#[schema(range = 1..=60)] u32);

#[derive(Debug, PartialEq, Serialize, StrictSchema)]
#[schema(deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Protocol {
    Http {
        /// The version of HTTP.
        version: u8,
    },
    Grpc,
}

/// A page of items.
#[derive(Debug, PartialEq, Serialize, StrictSchema)]
#[schema(deserialize)]
struct Page<T> {
    /// The items on the page.
    items: Vec<T>,
}

#[derive(Debug, PartialEq, StrictSchema)]
#[schema(deserialize, integer)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 5,
}

// S0-07: serde reads values that match the schema, and fills in the defaults.
#[test]
fn serde_reads_values_that_fit_the_schema() {
    let text =
        r#"{"host":"a","patience":5,"speaks":[{"kind":"http","version":2},{"kind":"grpc"}]}"#;
    let service: Service = serde_json::from_str(text).expect("the value fits the schema");
    let expected = Service {
        host: "a".to_owned(),
        port: 8080,
        patience: Some(Wait(5)),
        speaks: vec![Protocol::Http { version: 2 }, Protocol::Grpc],
    };
    assert_eq!(service, expected);
    // A value can be written and read again. A format other than JSON can be read too.
    let value = serde_json::to_value(&service).expect("the value can be serialised");
    assert_eq!(
        Service::deserialize(&value).expect("the value fits the schema"),
        expected
    );
    let file = "host = \"a\"\npatience = 5\nspeaks = [{ kind = \"http\", version = 2 }, { kind = \"grpc\" }]";
    assert_eq!(
        toml::from_str::<Service>(file).expect("the value fits the schema"),
        expected
    );
    assert_eq!(
        serde_json::from_str::<Level>("5").expect("the value fits the schema"),
        Level::High
    );
}

// S0-07: the error lists every fault with its path; serde's derive stops at the first fault and accepts unknown keys.
#[test]
fn an_error_names_every_fault() {
    let read = serde_json::from_value::<Service>(
        json!({"host": "", "port": 80, "speaks": [{"kind": "http", "version": 300}], "prot": 1}),
    );
    let message = read.expect_err("no field fits the schema").to_string();
    for place in ["/host", "/port", "/speaks/0/version", "/prot"] {
        assert!(message.contains(place), "{place}: {message}");
    }
}

// S0-07: a generic type can be read inside a type that derives serde's `Deserialize`.
#[test]
fn generic_types_are_read_too() {
    #[derive(Debug, Deserialize)]
    struct Book {
        page: Page<Wait>,
    }
    let book: Book = serde_json::from_value(json!({"page": {"items": [1, 60]}}))
        .expect("the value fits the schema");
    assert_eq!(book.page.items, [Wait(1), Wait(60)]);
    let read = serde_json::from_value::<Book>(json!({"page": {"items": [61]}}));
    let message = read.expect_err("61 is above the bound").to_string();
    assert!(message.contains("/items/0"), "{message}");
}

/// Starts a service, for this test.
#[tool(read_only)]
async fn start_service(
    /// The service to connect to.
    service: Service,
    /// The services to connect to later.
    later: Page<Service>,
) -> usize {
    usize::from(service.port) + later.items.len()
}

// S0-07: a type with `#[schema(deserialize)]` can be the parameter of a tool.
#[tokio::test]
async fn derived_type_works_as_a_parameter() {
    let service = r#"{"host":"a","port":null,"patience":null,"speaks":[]}"#;
    let arguments = format!(r#"{{"service":{service},"later":{{"items":[{service}]}}}}"#);
    let call = ToolCall::new("c", "start_service", arguments);
    let result = toolset![start_service]
        .call(call, &ToolContext::anonymous())
        .await;
    assert_eq!(result.model_text(), "8081");
}
