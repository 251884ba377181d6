//! Tests of the `search_web` tool.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{Dialects, ErrorKind, Rules};
use tool_std::http::Http;
use tool_std::web::{
    Brave, Depth, DuckDuckGo, SearXng, Search, SearchHit, SearchProvider, SearchQuery, SerpApi,
    Tavily, search_web,
};

use crate::support::{OTHER, PRIVATE, Seen, Server, client, output, response};

pub(crate) const KEY: &str = "tvly-4711-of-the-host";
const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// A search engine with fixed results.
struct Fixture(Vec<SearchHit>);

impl SearchProvider for Fixture {
    fn name(&self) -> &'static str {
        "fixture"
    }

    fn needs_key(&self) -> bool {
        false
    }

    fn search<'a>(
        &'a self,
        _: &'a Http,
        _: Option<&'a SecretString>,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
        assert_eq!((query.query.as_str(), query.depth), ("lamps", None));
        let hits = self.0.clone();
        async { Ok(hits) }.boxed()
    }
}

fn hit(title: &str, url: &str, snippet: &str) -> SearchHit {
    SearchHit {
        title: title.to_owned(),
        url: url.to_owned(),
        snippet: snippet.to_owned(),
        score: None,
    }
}

pub(crate) async fn search_by(cx: &ToolContext, arguments: Value) -> CallResult {
    let call = ToolCall::new("c-1", "search_web", arguments.to_string());
    toolset![search_web].call(call, cx).await
}

// S2-36, S2-27, the contracts of searchWeb and webSearch: results are ranked and have citations. Markup, duplicates and hits without an HTTP URL are
// removed.
#[tokio::test]
async fn results_are_ranked_and_cited() {
    let hits = vec![
        hit(
            "<b>Lamps</b> &amp; light",
            "https://a.example/",
            "All about\n  <strong>lamps</strong>.",
        ),
        hit("No address", "javascript:alert(1)", ""),
        hit("A local file", "file:///etc/passwd", ""),
        SearchHit {
            score: Some(f64::NAN),
            ..hit("Second", "http://b.example/x?y=1", "1 < 2 & 3 > 2")
        },
        hit("The first again", "https://a.example", "twice"),
        hit("Third", "https://c.example/", &"x".repeat(5_000)),
        hit("Fourth", "https://d.example/", ""),
    ];
    let cx = ToolContext::builder()
        .with(Search::only(Fixture(hits)))
        .build();
    let result = search_by(&cx, json!({"query": "lamps", "limit": 3})).await;
    assert_eq!(
        output(&result),
        json!({
            "query": "lamps",
            "provider": "fixture",
            "results": [
                {"rank": 1, "title": "Lamps & light", "url": "https://a.example/", "snippet": "All about lamps.", "score": null},
                {"rank": 2, "title": "Second", "url": "http://b.example/x?y=1", "snippet": "1 < 2 & 3 > 2", "score": null},
                {"rank": 3, "title": "Third", "url": "https://c.example/", "snippet": format!("{}…", "x".repeat(1_999)), "score": null}
            ]
        })
    );
    let cited: Vec<_> = result
        .citations()
        .iter()
        .map(|citation| (citation.source(), citation.source_id()))
        .collect();
    let urls = [
        "https://a.example/",
        "http://b.example/x?y=1",
        "https://c.example/",
    ];
    assert_eq!(cited, urls.map(|url| ("fixture", url)));
    let cx = ToolContext::builder()
        .with(Search::only(Fixture(Vec::new())))
        .build();
    assert_eq!(
        output(&search_by(&cx, json!({"query": "lamps"})).await)["results"],
        json!([])
    );
}

pub(crate) fn serves(file: &'static str) -> impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static {
    move |_| response(200, JSON, file)
}

fn serde_results(scores: [Value; 2]) -> Value {
    let [first, second] = scores;
    json!([
        {"rank": 1, "title": "Field attributes · Serde", "url": "https://serde.rs/field-attrs.html",
         "snippet": "Serialize and deserialize this field with the given name instead of its Rust name.", "score": first},
        {"rank": 2, "title": "Container attributes · Serde", "url": "https://serde.rs/container-attrs.html",
         "snippet": "Rename all the fields.", "score": second}
    ])
}

/// Calls one engine with the key. Returns the request that the engine received, and the output of the call.
async fn ask(server: &Server, search: Search, arguments: Value) -> (Seen, Value) {
    let cx = ToolContext::builder()
        .with(client())
        .with(search)
        .secret("search_api_key", KEY)
        .build();
    let result = search_by(&cx, arguments).await;
    assert!(!result.model_text().contains(KEY));
    (server.seen().pop().unwrap(), output(&result))
}

// S2-36, the contract of webSearch: the request and the results match the API of Tavily.
#[tokio::test]
async fn tavily_request_matches_its_api() {
    let server = Server::start(
        PRIVATE,
        serves(include_str!("../../../data/web/tavily.json")),
    )
    .await;
    let search = || Search::only(Tavily::at(server.url("127.0.0.1", "/search")));
    let (seen, found) = ask(
        &server,
        search(),
        json!({"query": "rust serde rename", "limit": 2}),
    )
    .await;
    assert_eq!(seen.line, "POST /search HTTP/1.1");
    assert_eq!(
        seen.header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
    let sent: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!(
        sent,
        json!({"query": "rust serde rename", "max_results": 2, "search_depth": "basic"})
    );
    assert_eq!(found["provider"], "tavily");
    assert_eq!(found["results"], serde_results([json!(0.93), json!(0.81)]));
    let (seen, found) = ask(
        &server,
        search(),
        json!({"query": "rust", "limit": 1, "depth": "advanced"}),
    )
    .await;
    assert!(
        seen.body.contains(r#""search_depth":"advanced""#),
        "{}",
        seen.body
    );
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
}

// S2-36, the contract of webSearch: the request and the results match the API of SerpApi.
#[tokio::test]
async fn serpapi_request_matches_its_api() {
    let server = Server::start(
        PRIVATE,
        serves(include_str!("../../../data/web/serpapi.json")),
    )
    .await;
    let search = Search::only(SerpApi::at(server.url("127.0.0.1", "/search.json")));
    let (seen, found) = ask(&server, search, json!({"query": "rust & serde"})).await;
    assert_eq!(
        seen.line,
        format!("GET /search.json?engine=google&q=rust+%26+serde&num=5&api_key={KEY} HTTP/1.1")
    );
    let mut expected = serde_results([Value::Null, Value::Null]);
    expected[1]["snippet"] = "".into(); // the recorded second result has no snippet
    assert_eq!(found["results"], expected);
}

// S2-36: the request and the results match the API of Brave.
#[tokio::test]
async fn brave_request_matches_its_api() {
    let server = Server::start(
        PRIVATE,
        serves(include_str!("../../../data/web/brave.json")),
    )
    .await;
    let search = Search::only(Brave::at(server.url("127.0.0.1", "/res/v1/web/search")));
    let (seen, found) = ask(&server, search, json!({"query": "rust serde", "limit": 20})).await;
    assert_eq!(
        seen.line,
        "GET /res/v1/web/search?q=rust+serde&count=20 HTTP/1.1"
    );
    assert_eq!(seen.header("x-subscription-token"), Some(KEY));
    assert_eq!(seen.header("accept"), Some("application/json"));
    let mut expected = serde_results([Value::Null, Value::Null]);
    let first = expected[0]["snippet"]
        .as_str()
        .unwrap()
        .replace("name.", "name & more.");
    expected[0]["snippet"] = first.into();
    assert_eq!(found["results"], expected);
}

// S2-36: the request and the results match the API of SearXNG, which runs in the host's network and needs no key.
#[tokio::test]
async fn searxng_request_matches_its_api() {
    let server = Server::start(
        PRIVATE,
        serves(include_str!("../../../data/web/searxng.json")),
    )
    .await;
    for base in ["", "/"] {
        let search = Search::only(SearXng::at(server.url("127.0.0.1", base)));
        let cx = ToolContext::builder().with(client()).with(search).build();
        let result = search_by(&cx, json!({"query": "rust serde"})).await;
        assert_eq!(
            output(&result)["results"],
            serde_results([json!(4.0), json!(0.5)])
        );
        let seen = server.seen().pop().unwrap();
        assert_eq!(seen.line, "GET /search?q=rust+serde&format=json HTTP/1.1");
    }
}

// S2-36, the contract of webSearch: the request and the results match the API of DuckDuckGo.
#[tokio::test]
async fn duckduckgo_request_matches_its_api() {
    let server = Server::start(
        PRIVATE,
        serves(include_str!("../../../data/web/duckduckgo.json")),
    )
    .await;
    let search = Search::only(DuckDuckGo::at(server.url("127.0.0.1", "/")));
    let (seen, found) = ask(&server, search, json!({"query": "serde"})).await;
    assert_eq!(
        seen.line,
        "GET /?q=serde&format=json&no_html=1&no_redirect=1&skip_disambig=1 HTTP/1.1"
    );
    assert!(
        !format!("{seen:?}").contains(KEY),
        "the engine needs no key, but the request has one"
    );
    let told: Vec<_> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (&found["title"], &found["url"]))
        .collect();
    assert_eq!(
        told,
        [
            (
                &json!("Serde"),
                &json!("https://en.wikipedia.org/wiki/Serde")
            ),
            (&json!("Official site"), &json!("https://serde.rs/")),
            (&json!("Rust"), &json!("https://duckduckgo.com/c/Rust")),
            (&json!("JSON"), &json!("https://duckduckgo.com/JSON"))
        ]
    );
}

// S2-36: the host chooses whether a missing key hides the tool or fails the call. S1-49: only the operator sees the reason for hiding.
#[tokio::test]
async fn missing_key_hides_the_tool_or_fails_the_call() {
    let server = Server::start(PRIVATE, serves("{}")).await;
    let keyed = Search::only(Tavily::at(server.url("127.0.0.1", "/")));
    let without = ToolContext::builder().with(keyed.clone()).build();
    // By default, the tool is visible, and a call reports that the key is missing.
    let result = search_by(&without, json!({"query": "x"})).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    assert!(
        result
            .error()
            .unwrap()
            .operator_text()
            .contains("`tavily_api_key` or `search_api_key` for the search engine `tavily`")
    );
    assert_eq!(server.seen().len(), 0);
    // If the host requires the secret, the tool is hidden.
    let registry = Registry::builder()
        .tool::<search_web>()
        .required_secret("search_web", "search_api_key")
        .build()
        .unwrap();
    let hidden = registry.toolset(&without, &Rules::default());
    assert_eq!(hidden.names().count(), 0);
    assert!(format!("{:?}", hidden.explain("search_web")).contains("Secrets"));
    let call = || ToolCall::new("c-1", "search_web", r#"{"query": "x"}"#);
    assert_eq!(
        hidden.call(call(), &without).await.error().unwrap().kind(),
        ErrorKind::UnknownTool
    );
    let with = ToolContext::builder()
        .with(keyed)
        .secret("search_api_key", KEY)
        .build();
    let shown = registry.toolset(&with, &Rules::default());
    assert_eq!(shown.names().collect::<Vec<_>>(), ["search_web"]);
    assert!(!shown.call(call(), &with).await.is_error());
}

// S2-36: an error of an engine explains what to do and contains no key.
#[tokio::test]
async fn engine_errors_contain_what_to_do() {
    for (status, kind, said) in [
        (
            400,
            ErrorKind::Failed,
            "does not accept this query, rephrase it",
        ),
        (401, ErrorKind::Unavailable, "refuses the host's key"),
        (403, ErrorKind::Unavailable, "refuses the host's key"),
        (
            429,
            ErrorKind::RateLimited,
            "too many requests, try again later (try again after 9 s)",
        ),
        (500, ErrorKind::Failed, "cannot answer now"),
        (302, ErrorKind::Failed, "cannot answer now"),
        (200, ErrorKind::Failed, "returned an unexpected response"),
    ] {
        let server = Server::start(PRIVATE, move |seen| {
            let said = seen.header("x-subscription-token").unwrap();
            response(status, &[("retry-after", "9")], format!("no: {said}"))
        })
        .await;
        let search = Search::only(Brave::at(server.url("127.0.0.1", "/")));
        let cx = ToolContext::builder()
            .with(search)
            .secret("search_api_key", KEY)
            .build();
        let result = search_by(&cx, json!({"query": "x"})).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), kind, "{status}");
        assert!(error.model_text().contains(said), "{}", error.model_text());
        assert!(
            error
                .operator_text()
                .contains(&format!("`brave` returned the status {status}: no: "))
        );
        assert!(
            !error.operator_text().contains(KEY),
            "{}",
            error.operator_text()
        );
    }
}

// S1-102, S2-36: the target of an engine's redirect receives no key, and a redirect to a private host is refused.
#[tokio::test]
async fn redirect_of_an_engine_gets_no_key() {
    let other = Server::start(OTHER, serves("{}")).await;
    let private = Server::start(PRIVATE, serves("{}")).await;
    let public = other.url("other.example", "/");
    let inside = private.url("127.0.0.1", "/");
    let server = Server::start(PRIVATE, move |seen| {
        let to = if seen.path().contains("inside") {
            &inside
        } else {
            &public
        };
        response(302, &[("location", to)], "")
    })
    .await;
    for path in ["/public", "/inside"] {
        let url = server.url("127.0.0.1", path);
        for search in [
            Search::only(Tavily::at(&*url)),
            Search::only(Brave::at(&*url)),
            Search::only(SerpApi::at(&*url)),
        ] {
            let cx = ToolContext::builder()
                .with(client())
                .with(search)
                .secret("search_api_key", KEY)
                .build();
            let result = search_by(&cx, json!({"query": "x"})).await;
            assert_eq!(
                result.is_error(),
                path == "/inside",
                "{}",
                result.model_text()
            );
        }
    }
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| format!("{seen:?}").contains(KEY))
    );
    assert_eq!(
        (
            server.seen().len(),
            other.seen().len(),
            private.seen().len()
        ),
        (6, 3, 0)
    );
    assert!(
        other
            .seen()
            .iter()
            .all(|seen| !format!("{seen:?}").contains(KEY))
    );
}

// S1-30, the contracts of searchWeb and webSearch: the schema is strict in all dialects, the tool has at least two examples, and its effects follow
// from the handles.
#[test]
fn web_tool_passes_the_test_kit() {
    let tool = search_web::DEF;
    assert_kept(std::slice::from_ref(&tool), &violations);
    assert!(tool.examples().len() >= 2);
    assert_eq!(tool.providers(), Dialects::ALL);
    assert!(tool.hints().read_only && tool.hints().open_world);
    assert!(tool.output_schema().unwrap().contains("snippet"));
    assert_eq!(tool.secrets()[0].key, "search_api_key");
    let typed = search_web {
        query: "lamps".to_owned(),
        limit: 3,
        depth: Some(Depth::Basic),
    };
    assert_eq!(typed.limit, 3);
}

// Long titles and snippets are truncated and a hit with a long URL is dropped, because the engine controls their length.
#[tokio::test]
async fn no_part_of_a_result_is_longer_than_its_bound() {
    let long = "long ".repeat(100_000);
    let far = format!("https://example.com/{}", "x".repeat(5_000));
    let hits = vec![
        hit("far", &far, "dropped"),
        hit(&long, "https://example.com/", &long),
    ];
    let cx = ToolContext::builder()
        .with(Search::only(Fixture(hits)))
        .build();
    let result = search_by(&cx, json!({ "query": "lamps" })).await;
    let found = output(&result)["results"].clone();
    assert_eq!(found.as_array().unwrap().len(), 1);
    let chars = |name: &str| found[0][name].as_str().unwrap().chars().count();
    assert_eq!((chars("title"), chars("snippet")), (300, 2_000));
    assert!(result.model_text().len() < 3_000);
}
