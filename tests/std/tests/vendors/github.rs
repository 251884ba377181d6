//! Tests of the pack `github`: pages, errors and arguments. The tests in `vendor_servers` check the requests against GitHub's OpenAPI document.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{ErrorKind, Hints, Rules, ToolContextBuilder};
use tool_std::github::{
    GitHub, comment_github_issue, create_github_issue, create_github_pull_request,
    get_github_issue, get_github_pull_request, list_github_issues, search_github_issues,
};
use tool_std::vendor::Api;

use crate::faults::{self, Trial};
use crate::stand_in::{self, api, audited};
use crate::support::{OTHER, PRIVATE, Seen, Server, output, response};

const TOKEN: &str = "github_pat_11ABCDEFG0123456789";

fn tools() -> Toolset {
    toolset![
        get_github_issue,
        get_github_pull_request,
        list_github_issues,
        search_github_issues,
        create_github_issue,
        create_github_pull_request,
        comment_github_issue,
    ]
}

fn context(api: Api) -> ToolContextBuilder {
    ToolContext::builder()
        .with(GitHub::default().api(api))
        .secret("github_token", TOKEN)
}

async fn call(server: &Server, tool: &str, arguments: Value) -> CallResult {
    let cx = context(api(server, "/api/v3")).build();
    stand_in::call(&tools(), &cx, tool, &arguments).await
}

/// Returns an issue, or a pull request if the number is even.
fn item(number: u32) -> Value {
    let mut item = json!({
        "number": number,
        "title": format!("Title {number}"),
        "state": "open",
        "html_url": format!("https://github.com/acme/site/issues/{number}"),
        "repository_url": "https://api.github.com/repos/acme/site",
        "user": {"login": "octocat"},
        "labels": [{"name": "bug"}, "text"],
        "assignees": [{"login": "ann"}],
        "comments": 2,
        "body": "b".repeat(700),
        "created_at": "2026-03-01T09:30:00Z",
        "updated_at": "2026-03-02T08:00:00Z"
    });
    if number.is_multiple_of(2) {
        item["pull_request"] = json!({"url": "x"});
    }
    item
}

/// Returns the number of the requested page.
fn page(seen: &Seen) -> u32 {
    let number = seen.path().split_once("&page=").map(|(_, number)| number);
    number.map_or(1, |number| number.parse().unwrap())
}

/// Answers with the requested one of three pages of 40 entries each.
fn three_pages(seen: &Seen, entries: impl Fn(Vec<Value>) -> Value) -> Vec<u8> {
    let number = page(seen);
    let all = (number * 40 - 39..=number * 40).map(item).collect();
    let base = seen.path().split("&page=").next().unwrap();
    let host = seen.header("host").unwrap();
    let link = format!(
        "<http://{host}{base}&page=1>; rel=\"first\", <http://{host}{base}&page={}>; rel=\"next\"",
        number + 1
    );
    let kind = ("content-type", "application/json");
    let body = entries(all).to_string();
    if number == 3 {
        return response(200, &[kind], body);
    }
    response(200, &[kind, ("link", &link)], body)
}

// S1-50, the contract of ghIssue: the definitions are strict, tools that read are read-only, and tools that add something are hidden without a token.
#[test]
fn definitions_pass_the_test_kit() {
    let reading = [
        get_github_issue::DEF,
        get_github_pull_request::DEF,
        list_github_issues::DEF,
        search_github_issues::DEF,
    ];
    let adding = [
        create_github_issue::DEF,
        create_github_pull_request::DEF,
        comment_github_issue::DEF,
    ];
    assert_kept(&reading, &violations);
    assert_kept(&adding, &violations);
    for (def, read_only) in reading
        .iter()
        .map(|def| (def, true))
        .chain(adding.iter().map(|def| (def, false)))
    {
        assert!(def.examples().len() >= 2);
        assert_eq!(
            def.hints(),
            Hints {
                read_only,
                destructive: false,
                idempotent: read_only,
                open_world: true
            },
            "{}",
            def.name()
        );
    }
    let registry = Registry::builder()
        .tool::<list_github_issues>()
        .tool::<create_github_issue>()
        .build()
        .unwrap();
    let names = |cx: ToolContext| -> Vec<String> {
        let tools = registry.toolset(&cx, &Rules::default());
        tools.names().map(str::to_owned).collect()
    };
    assert_eq!(names(ToolContext::anonymous()), ["list_github_issues"]);
    // S1-50: `github_token` is declared, and an empty secret counts as a missing secret.
    let cx = ToolContext::builder().secret("github_token", "").build();
    assert_eq!(names(cx), ["list_github_issues"]);
    let cx = ToolContext::builder().secret("github_token", TOKEN).build();
    assert_eq!(names(cx).len(), 2);
}

// The contract of ghIssue: a list follows the links of three pages, and the result states whether more entries exist.
#[tokio::test]
async fn list_follows_three_pages() {
    let server = Server::start(PRIVATE, |seen| three_pages(seen, Value::from)).await;
    for (kind, limit, numbers, pages, truncated) in [
        (
            json!("issue"),
            60,
            (1..=119).step_by(2).collect::<Vec<_>>(),
            3,
            false,
        ),
        (
            json!("pull_request"),
            50,
            (2..=100).step_by(2).collect(),
            3,
            true,
        ),
        (json!(null), 40, (1..=40).collect(), 1, true),
        (json!(null), 41, (1..=41).collect(), 2, true),
        (json!(null), 100, (1..=100).collect(), 3, true),
    ] {
        let before = server.seen().len();
        let arguments = json!({"repo": "acme/site", "kind": kind, "limit": limit});
        let found = output(&call(&server, "list_github_issues", arguments).await);
        let issues = found["issues"].as_array().unwrap();
        let got: Vec<_> = issues
            .iter()
            .map(|issue| issue["number"].as_u64().unwrap())
            .collect();
        assert_eq!(got, numbers, "{kind} {limit}");
        assert_eq!(found["truncated"], truncated, "{kind} {limit}");
        let seen = server.seen().split_off(before);
        assert_eq!(seen.len(), pages, "{kind} {limit}");
        for seen in seen {
            assert!(
                seen.path()
                    .starts_with("/api/v3/repos/acme/site/issues?state=open&per_page=100"),
                "{}",
                seen.path()
            );
            assert_eq!(
                seen.header("authorization"),
                Some(&*format!("Bearer {TOKEN}"))
            );
            assert_eq!(seen.header("x-github-api-version"), Some("2022-11-28"));
        }
    }
    let arguments = json!({"repo": "acme/site", "limit": 1});
    let found = output(&call(&server, "list_github_issues", arguments).await);
    let body = format!("{}…", "b".repeat(499));
    assert_eq!(
        found["issues"][0],
        json!({
            "repo": "acme/site", "number": 1, "kind": "issue", "title": "Title 1", "state": "open", "author": "octocat",
            "labels": ["bug", "text"], "assignees": ["ann"], "comments": 2, "body": body,
            "created_at": "2026-03-01T09:30:00Z", "updated_at": "2026-03-02T08:00:00Z",
            "url": "https://github.com/acme/site/issues/1"
        })
    );
}

// The contract of ghIssue: the filters of a list are sent to GitHub.
#[tokio::test]
async fn list_sends_its_filters() {
    let server = Server::start(PRIVATE, |_| stand_in::json(200, &json!([]))).await;
    let arguments = json!({"repo": "acme/site", "state": "all", "labels": ["bug", "good first issue"], "assignee": "*"});
    let found = output(&call(&server, "list_github_issues", arguments).await);
    assert_eq!(
        found,
        json!({"issues": [], "total": null, "truncated": false})
    );
    assert_eq!(
        server.seen()[0].path(),
        "/api/v3/repos/acme/site/issues?state=all&per_page=100&labels=bug%2Cgood+first+issue&assignee=*"
    );
}

// The contract of ghIssue: a search has the words of the call and the qualifiers of its arguments.
#[tokio::test]
async fn search_has_qualifiers_and_pages() {
    let server = Server::start(PRIVATE, |seen| {
        three_pages(
            seen,
            |items| json!({"total_count": 120, "incomplete_results": false, "items": items}),
        )
    })
    .await;
    let arguments = json!({"query": "panic & \"empty input\"", "repo": "acme/site", "limit": 100});
    let found = output(&call(&server, "search_github_issues", arguments).await);
    assert_eq!(
        (&found["total"], &found["truncated"]),
        (&json!(120), &json!(true))
    );
    assert_eq!(found["issues"].as_array().unwrap().len(), 100);
    assert_eq!(found["issues"][0]["repo"], "acme/site");
    let url = url_query(&server.seen()[0]);
    assert_eq!(
        url,
        "panic & \"empty input\" repo:acme/site is:issue state:open"
    );
    assert_eq!(server.seen().len(), 3);
    let arguments = json!({"query": "x", "kind": "pull_request", "state": "all", "limit": 1});
    call(&server, "search_github_issues", arguments).await;
    assert_eq!(url_query(&server.seen()[3]), "x is:pull-request");
}

/// Returns the decoded parameter `q`.
fn url_query(seen: &Seen) -> String {
    let query = seen.path().split_once("?q=").unwrap().1;
    let query = query.split('&').next().unwrap().replace('+', " ");
    let mut bytes = Vec::new();
    let mut rest = query.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first == b'%' {
            let hex = std::str::from_utf8(&more[..2]).unwrap();
            bytes.push(u8::from_str_radix(hex, 16).unwrap());
            rest = &more[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

// The contract of ghIssue: an issue is returned with its text, and with comments if the call requests them.
#[tokio::test]
async fn issue_has_its_text_and_comments() {
    let server = Server::start(PRIVATE, |seen| {
        let comment = |number| json!({"html_url": format!("https://c/{number}"), "user": null, "body": "c", "created_at": "2026-03-01T09:30:00Z"});
        match seen.path() {
            "/api/v3/repos/acme/site/issues/17" => stand_in::json(200, &item(17)),
            _ => stand_in::json(200, &json!((0..2).map(comment).collect::<Vec<_>>())),
        }
    })
    .await;
    let arguments = json!({"repo": "acme/site", "number": 17});
    let found = output(&call(&server, "get_github_issue", arguments).await);
    assert_eq!(
        (&found["body"], &found["comments"]),
        (&json!("b".repeat(700)), &json!([]))
    );
    assert_eq!(
        (&found["issue"]["kind"], &found["truncated"]),
        (&json!("issue"), &json!(true))
    );
    assert_eq!(server.seen().len(), 1);
    for (comments, expected, truncated) in [(1, 1, true), (2, 2, false), (100, 2, false)] {
        let arguments = json!({"repo": "acme/site", "number": 17, "comments": comments});
        let found = output(&call(&server, "get_github_issue", arguments).await);
        let all = found["comments"].as_array().unwrap();
        assert_eq!(
            (all.len(), &found["truncated"]),
            (expected, &json!(truncated))
        );
        assert_eq!(all[0]["author"], "ghost");
    }
}

// The token is not sent to a next page on a different origin.
#[tokio::test]
async fn next_page_of_another_origin_is_refused() {
    let other = Server::start(OTHER, |_| stand_in::json(200, &json!([]))).await;
    let link = format!("<{}>; rel=\"next\"", other.url("127.0.0.3", "/"));
    let server = Server::start(PRIVATE, move |_| {
        response(
            200,
            &[("content-type", "application/json"), ("link", &link)],
            json!([item(1)]).to_string(),
        )
    })
    .await;
    let result = call(&server, "list_github_issues", json!({"repo": "acme/site"})).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Failed);
    assert!(other.seen().is_empty());
}

// GitHub reports its limits with 403 and 429. A request beyond the primary limit is not repeated.
#[tokio::test]
async fn rate_limits_of_github_are_recognized() {
    let reset = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs()
        + 600;
    for status in [403, 429] {
        let server = Server::start(PRIVATE, move |_| {
            let headers = [
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", &*reset.to_string()),
            ];
            response(
                status,
                &headers,
                r#"{"message": "API rate limit exceeded"}"#,
            )
        })
        .await;
        let result = call(&server, "list_github_issues", json!({"repo": "acme/site"})).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::RateLimited);
        let wait = error.wait().unwrap().as_secs();
        assert!((590..=600).contains(&wait), "{wait}");
        assert_eq!(server.seen().len(), 1, "{status}");
    }
    // The secondary limit has `Retry-After`, and the request is repeated.
    let server = Server::start(PRIVATE, |_| response(403, &[("retry-after", "0")], "{}")).await;
    let result = call(&server, "list_github_issues", json!({"repo": "acme/site"})).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::RateLimited);
    assert_eq!(server.seen().len(), 4);
}

// An error has GitHub's text and what to do.
#[tokio::test]
async fn error_of_github_has_its_text() {
    for (status, body, says) in [
        (
            404,
            json!({"message": "Not Found"}),
            "check `repo` and `number`",
        ),
        (
            410,
            json!({"message": "Issues are disabled for this repo"}),
            "Issues are disabled",
        ),
        (
            422,
            json!({"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "title", "code": "missing_field"}, {"message": "No commits between main and main"}, "text"]}),
            "Validation Failed; `title` is missing_field; No commits between main and main; text",
        ),
        (
            403,
            json!({"message": "Resource not accessible by personal access token"}),
            "needed: issues=write",
        ),
    ] {
        let server = Server::start(PRIVATE, move |_| {
            response(
                status,
                &[
                    ("content-type", "application/json"),
                    ("x-accepted-github-permissions", "issues=write"),
                ],
                body.to_string(),
            )
        })
        .await;
        let arguments = json!({"repo": "acme/site", "title": "x", "body": "y"});
        let result = call(&server, "create_github_issue", arguments).await;
        assert!(
            result.model_text().contains(says),
            "{}",
            result.model_text()
        );
        assert_eq!(server.seen().len(), 1);
    }
}

// Labels and assignees that GitHub drops silently are reported.
#[tokio::test]
async fn dropped_labels_are_reported() {
    let server = Server::start(PRIVATE, |_| stand_in::json(201, &item(17))).await;
    let arguments = json!({"repo": "acme/site", "title": "x", "body": "", "labels": ["Bug", "urgent"], "assignee": "bob"});
    let created = output(&call(&server, "create_github_issue", arguments).await);
    assert_eq!(
        created,
        json!({"number": 17, "url": "https://github.com/acme/site/issues/17", "left_out": ["urgent", "bob"]})
    );
    let body = stand_in::body(&server.seen()[0]);
    assert_eq!(
        body,
        json!({"title": "x", "body": "", "labels": ["Bug", "urgent"], "assignees": ["bob"]})
    );
}

// The argument `repo` cannot lead to a different path of the API.
#[tokio::test]
async fn repository_stays_in_its_path() {
    let server = Server::start(PRIVATE, |_| stand_in::json(200, &json!([]))).await;
    for repo in [
        "acme/..",
        "acme/.",
        "acme",
        "acme/a/b",
        "acme/a?b",
        "../a",
        "acme/%2e%2e",
        "",
        "a b/c",
    ] {
        let result = call(&server, "list_github_issues", json!({ "repo": repo })).await;
        assert_eq!(
            result.error().unwrap().kind(),
            ErrorKind::InvalidArguments,
            "{repo}"
        );
    }
    assert!(server.seen().is_empty());
}

// The contract of ghIssue: public repositories can be read without a token.
#[tokio::test]
async fn reading_needs_no_token() {
    let server = Server::start(PRIVATE, |_| stand_in::json(200, &json!([]))).await;
    let cx = ToolContext::builder()
        .with(GitHub::default().api(api(&server, "")))
        .build();
    let arguments = json!({"repo": "acme/site"});
    let result = stand_in::call(&tools(), &cx, "list_github_issues", &arguments).await;
    assert!(!result.is_error(), "{}", result.model_text());
    assert_eq!(server.seen()[0].header("authorization"), None);
}

// The audit row has the repository, and contains neither the texts of the call nor the token.
#[tokio::test]
async fn audit_has_no_texts() {
    let server = Server::start(PRIVATE, |_| stand_in::json(201, &item(17))).await;
    let cx = context(api(&server, "")).build();
    let arguments = json!({"repo": "acme/site", "title": "the-merger", "body": "is-off-now"});
    let text = format!(
        "{:?}",
        audited(tools(), &cx, "create_github_issue", &arguments).await
    );
    assert!(
        !text.contains("merger") && !text.contains("is-off") && !text.contains(TOKEN),
        "{text}"
    );
    assert!(text.contains("acme/site"), "{text}");
}

fn trial(tool: &'static str, arguments: Value, success: &Value, reads: bool) -> Trial {
    Trial {
        tools: tools(),
        context: |api: Api, key: &str| {
            ToolContext::builder()
                .with(GitHub::default().api(api))
                .secret("github_token", format!("github_pat_{key}"))
        },
        tool,
        arguments,
        success: stand_in::json(200, success),
        reads,
        forbidden: (
            403,
            json!({"message": "Resource not accessible by personal access token"}),
        ),
    }
}

// Faults are reported at every step of a request.
#[tokio::test]
async fn faults_are_reported() {
    let number = json!({"repo": "acme/site", "number": 17});
    faults::run(&trial("get_github_issue", number, &item(17), true)).await;
    let comment = json!({"repo": "acme/site", "number": 17, "body": "x"});
    let created = json!({"html_url": "https://c/1"});
    faults::run(&trial("comment_github_issue", comment, &created, false)).await;
}
