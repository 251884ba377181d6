//! Tests of the `fetch_webpage` tool.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{Dialects, ErrorKind};
use tool_std::http::Http;
use tool_std::web::fetch_webpage;

use crate::support::{OTHER, PRIVATE, PUBLIC, Server, client, guard, output, response};

const HTML: &[(&str, &str)] = &[("content-type", "text/html; charset=utf-8")];

async fn fetch(http: Http, url: &str) -> CallResult {
    fetch_some(http, json!({ "url": url })).await
}

async fn fetch_some(http: Http, arguments: Value) -> CallResult {
    let cx = ToolContext::builder().with(http).build();
    let call = ToolCall::new("c-1", "fetch_webpage", arguments.to_string());
    toolset![fetch_webpage].call(call, &cx).await
}

async fn page_of(
    headers: &'static [(&'static str, &'static str)],
    body: impl Into<Vec<u8>>,
) -> CallResult {
    let body = body.into();
    let server = Server::start(PUBLIC, move |_| response(200, headers, &body)).await;
    fetch(
        client(),
        &server.url("public.example", "/journal/lamps/made"),
    )
    .await
}

// S2-35, S2-27, the contract of fetchWebpage: a page returns its main text without the navigation, and a citation.
#[tokio::test]
async fn page_returns_its_main_text_without_navigation() {
    let server = Server::start(PUBLIC, |_| {
        response(200, HTML, include_str!("../../../data/web/article.html"))
    })
    .await;
    let url = server.url("public.example", "/journal/lamps/made");
    let result = fetch(client(), &url).await;
    let page = output(&result);
    assert_eq!(page["url"], url);
    assert_eq!(page["title"], "How lamps are made");
    assert_eq!(page["truncated"], false);
    let text = page["markdown"].as_str().unwrap();
    let metals = server.url(
        "public.example",
        "/journal/metals/tungsten?from=lamps#melting",
    );
    for part in [
        "A lamp begins as **sand**, which is melted",
        "## The wire",
        "*tungsten*",
        &format!("[its melting point]({metals})"),
        "[a page about coils](https://other.example/coils)",
        "this trap",
        "- First the glass is made",
        "```\nfn lamp() -> Light {\n    glass() + wire()\n}\n```",
        "more if it is not switched on and off",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    for part in [
        "Newest lamps",
        "Log in",
        "cookies",
        "Advertisement",
        "Buy lamps",
        "Copyright",
        "Imprint",
        "do not read me",
        "written by a script",
        "color: red",
        "javascript:",
        "tracker.example",
        "<",
    ] {
        assert!(!text.contains(part), "{part:?} is in\n{text}");
    }
    assert_eq!(
        page["links"],
        json!([
            {"text": "its melting point", "url": metals},
            {"text": "a page about coils", "url": "https://other.example/coils"}
        ])
    );
    // The citation is part of the output, and is also passed to the client separately.
    let [citation] = result.citations() else {
        panic!("{:?}", result.citations())
    };
    assert_eq!((citation.source(), citation.source_id()), ("web", &*url));
    assert_eq!(
        page["citation"],
        json!({"source": "web", "source_id": url, "retrieved_at": citation.retrieved_at_text()})
    );
}

// S2-35: URLs with private addresses or other schemes, redirects to private addresses, and hosts outside the allowlist are refused.
#[tokio::test]
async fn pages_at_private_addresses_are_refused() {
    let private = Server::start(PRIVATE, |_| response(200, HTML, "<p>private</p>")).await;
    let port = private.port();
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://private.example:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[::1]/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let result = fetch(client(), &url).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied, "{url}");
        assert!(result.citations().is_empty());
    }
    let moved = Server::start(PUBLIC, move |_| {
        response(
            302,
            &[("location", &format!("http://127.0.0.1:{port}/"))],
            "",
        )
    })
    .await;
    let result = fetch(client(), &moved.url("public.example", "/")).await;
    assert!(
        result
            .model_text()
            .starts_with("the server redirects to a URL that is refused")
    );
    let only = client().guard(guard().allow(["other.example"]).unwrap());
    assert!(
        fetch(only, &moved.url("public.example", "/"))
            .await
            .is_error()
    );
    assert_eq!(private.seen().len(), 0);
}

// S2-35: relative links and the citation are based on the URL of the last hop.
#[tokio::test]
async fn page_url_is_the_url_of_the_last_hop() {
    let other = Server::start(OTHER, |_| {
        response(200, HTML, r#"<p><a href="next">Next</a></p>"#)
    })
    .await;
    let location = other.url("other.example", "/book/1");
    let moved = Server::start(PUBLIC, move |_| {
        response(301, &[("location", &location)], "")
    })
    .await;
    let result = fetch(client(), &moved.url("public.example", "/")).await;
    let page = output(&result);
    assert_eq!(page["url"], other.url("other.example", "/book/1"));
    assert_eq!(
        page["links"],
        json!([{"text": "Next", "url": other.url("other.example", "/book/next")}])
    );
    assert_eq!(
        result.citations()[0].source_id(),
        other.url("other.example", "/book/1")
    );
}

// The contract of fetchWebpage: the text is cut at `max_chars` characters, 20,000 by default.
#[tokio::test]
async fn a_long_page_is_cut() {
    let html: String =
        vec!["<p>Grüße an die Lampe, die hier steht und leuchtet.</p>"; 2_000].concat();
    let server = Server::start(PUBLIC, move |_| response(200, HTML, &html)).await;
    let url = server.url("public.example", "/");
    for (arguments, chars) in [
        (json!({"url": url}), 20_000),
        (json!({"url": url, "max_chars": 100}), 100),
        (json!({"url": url, "max_chars": 50_000}), 50_000),
    ] {
        let page = output(&fetch_some(client(), arguments).await);
        assert_eq!(page["markdown"].as_str().unwrap().chars().count(), chars);
        assert_eq!(page["truncated"], true);
    }
    // If only a part of a page was read, the page is marked as truncated.
    let page = output(&fetch(client().most_bytes(1_000), &url).await);
    assert_eq!(page["truncated"], true);
    assert!(page["markdown"].as_str().unwrap().chars().count() < 1_000);
}

// The contract of fetchWebpage: if no article is found in a page, the whole page except its navigation is converted.
#[tokio::test]
async fn page_without_an_article_is_converted_whole() {
    let html = r#"<html><head><title>  All
        lamps </title></head><body><nav>Menu</nav><ul><li><a href="/a">A</a></li><li><a href="/b">B</a></li><li><a href="/a">A again</a></li></ul>
        <form><input value="x"></form></body></html>"#;
    let page = output(&page_of(HTML, html).await);
    assert_eq!(page["title"], "All lamps");
    assert!(!page["markdown"].as_str().unwrap().contains("Menu"));
    let texts: Vec<_> = page["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link["text"].clone())
        .collect();
    assert_eq!(texts, ["A", "B"]);

    let page = output(&page_of(HTML, "").await);
    assert_eq!(
        (&page["title"], &page["markdown"]),
        (&Value::Null, &json!(""))
    );
}

// The contract of fetchWebpage: a page is decoded with its charset.
#[tokio::test]
async fn a_page_is_read_in_its_charset() {
    const BARE: &[(&str, &str)] = &[("content-type", "text/html")];
    const LATIN: &[(&str, &str)] = &[("content-type", "text/html; charset=iso-8859-1")];
    let text = "<p>Grüße aus Köln, 世界 ist überall.</p>";
    let latin: Vec<u8> = "<p>Grüße aus Köln</p>"
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    let with = |meta: &str, body: &[u8]| {
        [format!("<html><head>{meta}</head><body>").as_bytes(), body].concat()
    };
    for (headers, body, said) in [
        (HTML, text.as_bytes().to_vec(), "世界"),
        (BARE, text.as_bytes().to_vec(), "世界"),
        (LATIN, latin.clone(), "Grüße aus Köln"),
        (BARE, latin.clone(), "Grüße aus Köln"),
        (
            BARE,
            with(r#"<meta charset="iso-8859-1">"#, &latin),
            "Grüße aus Köln",
        ),
        (
            BARE,
            with(
                r#"<META http-equiv=Content-Type content="text/html; charset=Shift_JIS">"#,
                b"<p>\x90\xa2\x8aE</p>",
            ),
            "世界",
        ),
        (
            BARE,
            with(r#"<meta charset="utf-16">"#, text.as_bytes()),
            "世界",
        ),
        // ISO-2022-JP consists of ASCII bytes with escape sequences.
        (
            BARE,
            with(
                r#"<meta charset="iso-2022-jp">"#,
                b"<p>\x1b$B@$3&\x1b(B</p>",
            ),
            "世界",
        ),
        (
            BARE,
            with(r#"<meta charset="x-user-defined">"#, b"<p>Gr\xfc\xdfe</p>"),
            "Grüße",
        ),
        (
            HTML,
            with(r#"<meta charset="shift_jis">"#, text.as_bytes()),
            "世界",
        ), // the charset of the header has priority
        (BARE, [b"\xef\xbb\xbf", text.as_bytes()].concat(), "世界"),
    ] {
        let page = output(&page_of(headers, body).await);
        let markdown = page["markdown"].as_str().unwrap();
        assert!(markdown.contains(said), "{markdown}");
    }
}

// The contract of fetchWebpage: the content type decides how a page is read.
#[tokio::test]
async fn content_type_decides_how_a_page_is_read() {
    for (kind, body, markdown) in [
        ("text/plain", "a <b> text", "a <b> text"),
        ("text/markdown; charset=utf-8", "# A title", "# A title"),
        (
            "application/json",
            "{\"a\": 1}\n",
            "```json\n{\"a\": 1}\n```",
        ),
        (
            "application/rss+xml",
            "<rss>````</rss>",
            "`````xml\n<rss>````</rss>\n`````",
        ),
        ("text/x-rust", "fn main() {}", "```rust\nfn main() {}\n```"),
    ] {
        let server = Server::start(PUBLIC, move |_| {
            response(200, &[("content-type", kind)], body)
        })
        .await;
        let page = output(&fetch(client(), &server.url("public.example", "/")).await);
        assert_eq!(page["markdown"], markdown, "{kind}");
    }
    assert_eq!(
        output(&page_of(&[], "<!DOCTYPE html><p>A <b>page</b></p>").await)["markdown"],
        "A **page**"
    );
    assert_eq!(output(&page_of(&[], "a text").await)["markdown"], "a text");
    for (kind, body) in [
        ("application/pdf", "%PDF-1.7"),
        ("image/png", "\x7fPNG"),
        ("application/octet-stream", "\0\0"),
    ] {
        let server = Server::start(PUBLIC, move |_| {
            response(200, &[("content-type", kind)], body)
        })
        .await;
        let result = fetch(client(), &server.url("public.example", "/")).await;
        assert!(
            result
                .model_text()
                .contains(&format!("is not a text page but `{kind}`")),
            "{}",
            result.model_text()
        );
    }
}

// The contract of fetchWebpage: an error status, or the status 204, becomes an error that explains what to do.
#[tokio::test]
async fn error_status_of_a_page_is_an_error() {
    for (status, kind, said) in [
        (
            404,
            ErrorKind::Failed,
            "there is no such page, use another URL",
        ),
        (
            410,
            ErrorKind::Failed,
            "there is no such page, use another URL",
        ),
        (
            403,
            ErrorKind::Failed,
            "access to it is restricted, use another source",
        ),
        (
            429,
            ErrorKind::RateLimited,
            "too many requests (try again after 7 s)",
        ),
        (
            503,
            ErrorKind::Failed,
            "without a page (try again after 7 s)",
        ),
        (
            204,
            ErrorKind::Failed,
            "without a page (try again after 7 s)",
        ),
    ] {
        let server = Server::start(PUBLIC, move |_| {
            let wait = if matches!(status, 429 | 503 | 204) {
                vec![("retry-after", "7")]
            } else {
                vec![]
            };
            response(status, &wait, "<p>Not here</p>")
        })
        .await;
        let result = fetch(client(), &server.url("public.example", "/")).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), kind);
        assert!(error.model_text().ends_with(said), "{}", error.model_text());
    }
}

// S2-35: a page that attacks the HTML parser is parsed or refused.
#[tokio::test]
async fn hostile_html_is_parsed_or_refused() {
    const MANY: usize = 100_000;
    let too_much =
        "the page has too many elements, or they are nested too deeply, use another source";
    // Deep nesting is slow, because the parser searches all open elements for each tag.
    for tag in [
        "<div>",
        "<span>",
        "<b>",
        "<ul><li>",
        "<blockquote>",
        "<table><tr><td>",
        "<font>",
        "<svg>",
        "<div></span>",
    ] {
        let result = page_of(HTML, tag.repeat(MANY) + "text").await;
        assert_eq!(result.model_text(), too_much, "{tag}");
    }
    // Many elements are slow too, because the parser reopens the font elements in each paragraph.
    let fonts: Vec<_> = (0..500).map(|i| format!("<font size={i}>")).collect();
    for html in [
        fonts.concat() + &"<p>x".repeat(MANY),
        "<p>".repeat(MANY),
        "<a href='/x'>x</a>".repeat(MANY),
    ] {
        assert_eq!(page_of(HTML, html).await.model_text(), too_much);
    }
    // 400 nested elements are accepted.
    let page = output(&page_of(HTML, "<div>".repeat(400) + "<p>at the ground</p>").await);
    assert!(page["markdown"].as_str().unwrap().contains("at the ground"));
    // The process neither hangs nor crashes on these pages.
    let attributes: Vec<_> = (0..50_000).map(|i| format!("a{i} ")).collect();
    for html in [
        "<!--".to_owned() + &"-".repeat(MANY),
        "<".repeat(MANY),
        "&".repeat(MANY),
        format!("<p {}>x</p>", "a=b ".repeat(MANY)),
        format!("<p {}>x</p>", attributes.concat()),
        "\0\u{fffd}<p>\u{202e}x".to_owned(),
        "<meta charset=".repeat(100),
    ] {
        page_of(HTML, html).await;
    }
}

// The time for parsing a page counts towards the timeout of the call.
#[tokio::test]
async fn parsing_time_counts_against_the_call_timeout() {
    // Parsing this page is slow, because the parser compares each attribute with all previous ones.
    let attributes: Vec<_> = (0..200_000).map(|i| format!("a{i} ")).collect();
    let html = format!("<p {}>x</p>", attributes.concat());
    let server = Server::start(PUBLIC, move |_| response(200, HTML, &html)).await;
    let http = client().timeout(std::time::Duration::from_secs(1));
    let result = fetch(http, &server.url("public.example", "/")).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::TimedOut);
}

// S1-30, the contract of fetchWebpage: the schema is strict in all dialects, the tool has at least two examples, and its effects follow from the
// handles.
#[test]
fn web_tool_passes_the_test_kit() {
    let tool = fetch_webpage::DEF;
    assert_kept(std::slice::from_ref(&tool), &violations);
    assert!(tool.examples().len() >= 2);
    assert_eq!(tool.providers(), Dialects::ALL);
    assert!(tool.hints().read_only && tool.hints().open_world);
    assert!(tool.output_schema().unwrap().contains("markdown"));
}

// The title, links and link texts are truncated, because the page controls their length.
#[tokio::test]
async fn no_part_of_a_page_is_longer_than_its_bound() {
    let long = "long ".repeat(100_000);
    let link = |n: usize| {
        let far = "x".repeat(n * 20);
        format!(r#"<a href="https://other.example/{n}/{far}">{long}</a> "#)
    };
    let links = (0..200).map(link).collect::<Vec<_>>().concat();
    let body = format!(
        r#"<html><head><title>{long}</title><meta property="og:title" content="{long}">
        <script type="application/ld+json">{{"@context":"https://schema.org","@type":"Article","headline":"{long}"}}</script></head>
        <body><article><h1>{long}</h1><p>{}</p><p>{links}</p></article></body></html>"#,
        "A lamp is made of glass, and of wire. ".repeat(40)
    );
    let server = Server::start(PUBLIC, move |_| response(200, HTML, body.as_bytes())).await;
    let url = server.url("public.example", "/");
    for most in [100, 20_000] {
        let result = fetch_some(client(), json!({ "url": url, "max_chars": most })).await;
        let page = output(&result);
        let chars = |text: &Value| text.as_str().unwrap().chars().count();
        assert!(chars(&page["title"]) <= 300);
        assert!(chars(&page["markdown"]) <= most);
        let links = page["links"].as_array().unwrap();
        let mut all = 0;
        for link in links {
            assert!(chars(&link["text"]) <= 200 && chars(&link["url"]) <= 2_000);
            all += chars(&link["text"]) + chars(&link["url"]);
        }
        assert!(!links.is_empty() && all <= most.max(1_000), "{all}");
        assert_eq!(page["truncated"], true);
        let length = result.model_text().chars().count();
        assert!(length < most + most.max(1_000) + 2_000, "{length}");
    }
}

// The content type in an error is truncated, because the server controls its length.
#[tokio::test]
async fn long_content_type_in_a_page_error_is_truncated() {
    let kind = format!("image/{}", "x".repeat(6_000));
    let headers: &'static [(&'static str, &'static str)] =
        vec![("content-type", &*kind.leak())].leak();
    let result = page_of(headers, b"\x00\x01".to_vec()).await;
    let message = result.error().unwrap().model_text();
    assert!(
        message.contains("image/xxx") && message.len() < 500,
        "{}",
        message.len()
    );
}
