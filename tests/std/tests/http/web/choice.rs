//! The choice of the search engine, its key and its address.

use std::time::Duration;

use serde_json::json;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::http::{Credential, Guard, Http, HttpRead, HttpWrite};
use tool_std::web::{Brave, DuckDuckGo, SearXng, Search, SerpApi, Tavily};

use super::search::{KEY, search_by, serves};
use crate::support::{Names, PRIVATE, Server, client, output};

// The contract of webSearch: the variable `SEARCH_PROVIDER` selects the engine.
#[tokio::test]
async fn the_variable_chooses_the_engine() {
    let server = Server::start(PRIVATE, serves(r#"{"results": []}"#)).await;
    let url = |path: &str| server.url("127.0.0.1", path);
    let search = Search::only(Tavily::at(url("/tavily")))
        .and(SerpApi::at(url("/serpapi")))
        .and(Brave::at(url("/replaced")))
        .and(Brave::at(url("/brave")))
        .and(SearXng::at(url("/searxng")))
        .and(DuckDuckGo::at(url("/duckduckgo")));
    for (name, path) in [
        (Some("serpapi"), "/serpapi?"),
        (Some("brave"), "/brave?"),
        (Some("Brave"), "/brave?"),
        (Some(" SEARXNG\n"), "/searxng/search?"),
        (Some("duckduckgo"), "/duckduckgo?"),
        (Some("tavily"), "/tavily"),
        (Some(""), "/tavily"),
        (None, "/tavily"),
    ] {
        let cx = ToolContext::builder()
            .with(search.clone())
            .secret("search_api_key", KEY);
        let cx = match name {
            Some(name) => cx.variable("SEARCH_PROVIDER", name),
            None => cx,
        };
        search_by(&cx.build(), json!({"query": "x"})).await;
        let asked = server.seen().pop().unwrap();
        assert!(asked.path().starts_with(path), "{name:?}: {}", asked.path());
    }
}

/// Calls the tool with the default engines. Returns the host names that the search looked up, and the error.
async fn looked_up(provider: &str, secrets: &[&str]) -> (Vec<String>, String) {
    let names = Names::default();
    let http = Http::default().guard(Guard::default().resolver(names.clone()));
    let mut cx = ToolContext::builder()
        .with(http)
        .variable("SEARCH_PROVIDER", provider);
    for name in secrets {
        cx = cx.secret(*name, format!("{KEY}-{name}"));
    }
    let result = search_by(&cx.build(), json!({"query": "x"})).await;
    // The call fails, because the test's resolver does not resolve any name.
    let error = result.error().unwrap();
    (names.asked(), error.operator_text())
}

// The contract of webSearch: the variable may select tavily, serpapi, brave or duckduckgo; tavily is the default. S1-50: each engine has its own
// address.
#[tokio::test]
async fn default_engine_is_tavily_and_each_has_its_address() {
    let shared = ["search_api_key"];
    for (provider, host) in [
        ("", "api.tavily.com"),
        ("tavily", "api.tavily.com"),
        ("serpapi", "serpapi.com"),
        ("brave", "api.search.brave.com"),
        ("duckduckgo", "api.duckduckgo.com"),
    ] {
        let (asked, _) = looked_up(provider, &shared).await;
        assert_eq!(asked, [host], "{provider}");
    }
    let (asked, _) = looked_up("altavista", &["tavily_api_key"]).await;
    assert_eq!(asked, ["api.tavily.com"]);
}

// The contract of webSearch: if the engine name is unknown, a key is not sent to an engine to which it does not belong.
#[tokio::test]
async fn unknown_engine_name_sends_no_key() {
    for secrets in [
        &["search_api_key"][..],
        &["search_api_key", "brave_api_key", "serpapi_api_key"],
        &["brave_api_key"],
        &[],
    ] {
        let (asked, message) = looked_up("braev", secrets).await;
        assert!(asked.is_empty(), "{secrets:?}: {asked:?}");
        assert!(
            message.contains("`braev`")
                && message.contains("known are `tavily`, `serpapi`, `brave`, `duckduckgo`"),
            "{message}"
        );
    }
    // An engine that needs no key is called instead, and its request contains no key.
    let server = Server::start(PRIVATE, serves(r#"{"results": []}"#)).await;
    let cx = ToolContext::builder()
        .with(Search::only(SearXng::at(server.url("127.0.0.1", ""))))
        .variable("SEARCH_PROVIDER", "braev")
        .secret("search_api_key", KEY)
        .build();
    let result = search_by(&cx, json!({"query": "x"})).await;
    assert_eq!(output(&result)["provider"], "searxng");
    assert!(!format!("{:?}", server.seen()).contains(KEY));
}

// S1-50: an engine's own key, such as `tavily_api_key`, has priority over the shared key. S1-07: both keys are optional.
#[tokio::test]
async fn engine_key_has_priority_over_the_shared_key() {
    let server = Server::start(PRIVATE, serves(r#"{"results": []}"#)).await;
    let url = || server.url("127.0.0.1", "/");
    let search = Search::only(Tavily::at(url()))
        .and(SerpApi::at(url()))
        .and(Brave::at(url()));
    let all = ["tavily", "serpapi", "brave"];
    for engine in all {
        let cx = |secrets: &[&str]| {
            let mut cx = ToolContext::builder()
                .with(search.clone())
                .variable("SEARCH_PROVIDER", engine);
            for name in secrets {
                cx = cx.secret(format!("{name}_api_key"), format!("{KEY}-of-{name}-it-is"));
            }
            cx.build()
        };
        for (secrets, key) in [
            (&["tavily", "serpapi", "brave", "search"][..], engine),
            (&["search"], "search"),
        ] {
            output(&search_by(&cx(secrets), json!({"query": "x"})).await);
            let seen = format!("{:?}", server.seen().pop().unwrap());
            for name in ["tavily", "serpapi", "brave", "search"] {
                let sent = seen.contains(&format!("{KEY}-of-{name}-it-is"));
                assert_eq!(sent, name == key, "{engine}, {name}: {seen}");
            }
        }
        let others: Vec<_> = all.into_iter().filter(|name| *name != engine).collect();
        let before = server.seen().len();
        let result = search_by(&cx(&others), json!({"query": "x"})).await;
        assert!(
            result.error().unwrap().operator_text().contains(&format!(
                "`{engine}_api_key` or `search_api_key` for the search engine `{engine}`"
            )),
            "{:?}",
            result.error()
        );
        assert_eq!(server.seen().len(), before);
    }
}

// S1-102: the guard checks the default address of an engine like any other URL.
#[tokio::test]
async fn default_engine_address_is_checked_by_the_guard() {
    let reached = async |guard: Guard| {
        let names = Names::default();
        let cx = ToolContext::builder()
            .with(Http::default().guard(guard.resolver(names.clone())))
            .with(Search::only(Tavily::new()))
            .secret("tavily_api_key", KEY)
            .build();
        let result = search_by(&cx, json!({"query": "x"})).await;
        (names.asked(), result)
    };
    for guard in [
        Guard::default().allow(["example.com"]).unwrap(),
        Guard::default().block(["tavily.com"]).unwrap(),
        Guard::default().ports([80]),
    ] {
        let (asked, result) = reached(guard).await;
        let error = result.error().unwrap();
        assert_eq!(asked, [""; 0], "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.model_text().contains("continue without it"));
        let message = error.operator_text();
        assert!(
            message.contains("`tavily` at `https://api.tavily.com/search`")
                && message.contains("add its host to the guard's allowlist"),
            "{message}"
        );
    }
    let (asked, _) = reached(Guard::default().allow(["tavily.com"]).unwrap()).await;
    assert_eq!(asked, ["api.tavily.com"]);
}

// S1-102, S2-36: an engine address that the host configured may be private, unless the host blocks that address.
#[tokio::test]
async fn host_configured_engine_may_be_private_unless_blocked() {
    let server = Server::start(PRIVATE, serves(r#"{"results": []}"#)).await;
    let strict = || {
        let names = Names::default().with("localhost", [PRIVATE]);
        Guard::default()
            .resolver(names)
            .allow(["example.com"])
            .unwrap()
    };
    for host in ["127.0.0.1", "localhost"] {
        for (guard, reached) in [
            (strict(), true),
            (strict().block([host]).unwrap(), false),
            (strict().block(["example.com"]).unwrap(), true),
        ] {
            let before = server.seen().len();
            let cx = ToolContext::builder()
                .with(Http::default().guard(guard))
                .with(Search::only(SearXng::at(server.url(host, ""))))
                .build();
            let result = search_by(&cx, json!({"query": "x"})).await;
            assert_eq!(!result.is_error(), reached, "{}", result.model_text());
            assert_eq!(server.seen().len() > before, reached, "{host}");
        }
    }
}

// The contract of webSearch: the timeout is 10 s, or shorter if the host's timeout is shorter.
#[tokio::test(start_paused = true)]
async fn engine_request_times_out_after_ten_seconds() {
    let silent = Server::silent(PRIVATE).await;
    let url = silent.url("127.0.0.1", "/");
    for (http, seconds) in [
        (client(), 10),
        (client().timeout(Duration::from_mins(1)), 10),
        (client().timeout(Duration::from_secs(3)), 3),
    ] {
        let cx = ToolContext::builder()
            .with(http)
            .with(Search::only(DuckDuckGo::at(&*url)))
            .build();
        let began = tokio::time::Instant::now();
        let result = search_by(&cx, json!({"query": "x"})).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let message = error.model_text();
        assert!(
            message.contains(&format!("within {seconds}000 ms,")),
            "{message}"
        );
        assert!(began.elapsed() >= Duration::from_secs(seconds));
    }
}

// The `Debug` output of a host value does not contain secrets.
#[test]
fn debug_output_names_engines_and_shows_no_secret() {
    let credential = Credential::for_hosts(["api.example.com"]).unwrap();
    let http = Http::default().credential(credential);
    let cx = ToolContext::builder()
        .with(http.clone())
        .with(Search::default())
        .secret("search_api_key", KEY)
        .secret("http_api_key", KEY)
        .build();
    let search: Search = cx.get().unwrap();
    let message = format!(
        "{http:?} {search:?} {:?} {:?}",
        cx.get::<HttpRead>().unwrap(),
        cx.get::<HttpWrite>().unwrap()
    );
    assert!(
        message.contains(r#"["tavily", "serpapi", "brave", "duckduckgo", "firecrawl"]"#),
        "{message}"
    );
    assert!(
        message.contains("api.example.com") && !message.contains(KEY),
        "{message}"
    );
}
