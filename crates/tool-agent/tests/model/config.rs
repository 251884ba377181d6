//! Invalid configurations of models, which are refused before a request is sent.

use serde_json::json;
use tool_agent::model::{ApiKey, ConfigError, Endpoint, HttpModel};

use crate::support::KEY;

fn refused(endpoint: Endpoint) -> String {
    let built = HttpModel::builder(endpoint, "m").build();
    built.unwrap_err().to_string()
}

#[test]
fn invalid_base_urls_are_refused() {
    for (url, why) in [
        ("localhost:11434", "its scheme is not http or https"),
        ("api.example.com/v1", "relative URL without a base"),
        ("https://", "empty host"),
        (
            "https://user:hunter2@example.com",
            "it contains credentials",
        ),
        (
            "https://example.com/v1?api-version=1",
            "it contains a query",
        ),
    ] {
        let error = refused(Endpoint::compatible(url));
        assert!(
            error.contains(why) && error.contains("https://host/path"),
            "{error}"
        );
        assert!(
            !error.contains("hunter2") && !error.contains("version=1"),
            "{error}"
        );
    }
}

// Credentials over http are allowed only to this machine, unless the host calls `allow_http`.
#[test]
fn credentials_over_http_are_refused() {
    let endpoint = |url: &str| Endpoint::compatible(url).credentials(ApiKey::new(KEY));
    for url in [
        "http://gpu.example.com/v1",
        "http://10.0.0.1/v1",
        "http://localhost.example.com/v1",
    ] {
        let error = refused(endpoint(url));
        assert!(
            error.contains("would send credentials over http"),
            "{error}"
        );
    }
    for allowed in [
        endpoint("http://localhost:8000/v1"),
        endpoint("http://127.0.0.1:8000/v1"),
        endpoint("http://[::1]:8000/v1"),
        endpoint("https://gpu.example.com/v1"),
        endpoint("http://gpu.example.com/v1").allow_http(),
        Endpoint::compatible("http://gpu.example.com/v1"),
    ] {
        HttpModel::builder(allowed, "m").build().unwrap();
    }
}

#[test]
fn invalid_headers_fields_and_names_are_refused() {
    let local = || Endpoint::compatible("http://localhost:1/v1");
    let error = refused(local().header("x title", "a"));
    assert_eq!(
        error,
        "the header `x title` cannot be sent: its name contains a character that header names cannot contain"
    );
    let error = refused(local().header("x-title", "a\nb"));
    assert_eq!(
        error,
        "the header `x-title` cannot be sent: its value contains a control character"
    );
    for field in ["messages", "tools", "model", "stream"] {
        let built = HttpModel::builder(local(), "m")
            .field(field, json!([]))
            .build();
        assert_eq!(built.unwrap_err(), ConfigError::Field(field.to_owned()));
    }
    let built = HttpModel::builder(local(), " ").build();
    assert_eq!(built.unwrap_err(), ConfigError::NoModel);
    let built = HttpModel::builder(local(), "m")
        .temperature(f64::NAN)
        .build();
    assert_eq!(built.unwrap_err(), ConfigError::Temperature);
}

#[test]
fn missing_key_names_the_variable() {
    let error = ApiKey::from_env("TOOL_AGENT_TEST_UNSET").unwrap_err();
    let text = "the environment variable `TOOL_AGENT_TEST_UNSET` is not set: set it to the key that the provider issued";
    assert_eq!(error.to_string(), text);
}

#[test]
fn debug_output_contains_no_secret() {
    let endpoint = Endpoint::openai(ApiKey::new(KEY))
        .header("x-team", "hidden")
        .query("sig", "hidden");
    let builder = HttpModel::builder(endpoint.clone(), "m");
    let model = builder.clone().build().unwrap();
    let with_secrets = Endpoint::compatible("https://user:hidden@example.com/v1?key=hidden");
    for text in [
        format!("{with_secrets:?}"),
        format!("{endpoint:?}"),
        format!("{builder:?}"),
        format!("{model:?}"),
        format!("{:?}", ApiKey::new(KEY)),
    ] {
        assert!(!text.contains(KEY) && !text.contains("hidden"), "{text}");
    }
}

// Anthropic's API has no temperature, and the error says what to do for an old model.
#[test]
fn temperature_for_anthropic_is_refused() {
    let endpoint = || Endpoint::anthropic(ApiKey::new(KEY));
    let built = HttpModel::builder(endpoint(), "m").temperature(0.2).build();
    let text = "Anthropic has no parameter `temperature`: remove it, or add it with `HttpModelBuilder::field` for an old model that accepts it";
    assert_eq!(built.unwrap_err().to_string(), text);
    let built = HttpModel::builder(endpoint(), "m").field("temperature", 0.2);
    built.build().unwrap();
}
