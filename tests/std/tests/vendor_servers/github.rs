//! Tests of the pack `github` with GitHub's OpenAPI document from the package `@octokit/openapi`. The responses are the examples in the document.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::{Node, Ran};
use tool_core::prelude::*;
use tool_std::github::{
    GitHub, comment_github_issue, create_github_issue, create_github_pull_request,
    get_github_issue, get_github_pull_request, list_github_issues, search_github_issues,
};
use tool_std::vendor::Api;

use crate::openapi::Document;
use crate::support::{PRIVATE, Server, output, response};

// Each request of the pack matches an operation of GitHub's document, and the documented example of the response is parsed.
pub(crate) async fn each_tool_matches_the_openapi_document_case() -> Ran {
    let package = "@octokit/openapi/generated/api.github.com.json";
    let file = Node::with(package)?.package(package);
    let document = Document::read(&file);
    let names = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&names);
    let server = Server::start(PRIVATE, move |seen| {
        let matched = document.check(seen);
        noted.lock().unwrap().push(matched.name.clone());
        let (status, body) = matched.example();
        response(
            status,
            &[("content-type", "application/json")],
            body.to_string(),
        )
    })
    .await;
    let tools = toolset![
        get_github_issue,
        get_github_pull_request,
        list_github_issues,
        search_github_issues,
        create_github_issue,
        create_github_pull_request,
        comment_github_issue,
    ];
    let cx = ToolContext::builder()
        .with(GitHub::default().api(Api::at(server.url("127.0.0.1", ""))))
        .secret("github_token", "github_pat_11ABCDEFG0123456789")
        .build();
    let call = async |tool: &str, arguments: Value| {
        let call = ToolCall::new("c-1", tool, arguments.to_string());
        output(&tools.call(call, &cx).await)
    };
    let repo = "octocat/Hello-World";
    let issue = call(
        "get_github_issue",
        json!({"repo": repo, "number": 1347, "comments": 5}),
    )
    .await;
    assert_eq!(issue["issue"]["title"], "Found a bug");
    assert_eq!(issue["body"], "I'm having a problem with this.");
    assert_eq!(issue["comments"][0]["body"], "Me too");
    let filters = json!({"repo": repo, "state": "all", "labels": ["bug"], "assignee": "octocat", "kind": null});
    let list = call("list_github_issues", filters).await;
    assert_eq!(list["issues"][0]["labels"], json!(["bug"]));
    let found = call(
        "search_github_issues",
        json!({"query": "pinyin", "repo": repo}),
    )
    .await;
    assert_eq!(found["total"], 280);
    assert_eq!(found["issues"][0]["repo"], "batterseapower/pinyin-toolkit");
    let pull = call(
        "get_github_pull_request",
        json!({"repo": repo, "number": 1347}),
    )
    .await;
    assert_eq!(
        (&pull["head"], &pull["base"]),
        (&json!("octocat:new-topic"), &json!("master"))
    );
    let created = json!({"repo": repo, "title": "Found a bug", "body": "", "labels": ["bug"], "assignee": "octocat"});
    let created = call("create_github_issue", created).await;
    assert_eq!(
        created,
        json!({"number": 1347, "url": "https://github.com/octocat/Hello-World/issues/1347", "left_out": []})
    );
    let pull = json!({"repo": repo, "title": "Amazing new feature", "body": "x", "head": "octocat:new-topic", "base": "master", "draft": true});
    let pull = call("create_github_pull_request", pull).await;
    assert_eq!(
        pull["url"],
        "https://github.com/octocat/Hello-World/pull/1347"
    );
    let comment = call(
        "comment_github_issue",
        json!({"repo": repo, "number": 1347, "body": "Me too"}),
    )
    .await;
    assert_eq!(
        comment["url"],
        "https://github.com/octocat/Hello-World/issues/1347#issuecomment-1"
    );
    assert_eq!(
        *names.lock().unwrap(),
        [
            "get /repos/{owner}/{repo}/issues/{issue_number}",
            "get /repos/{owner}/{repo}/issues/{issue_number}/comments",
            "get /repos/{owner}/{repo}/issues",
            "get /search/issues",
            "get /repos/{owner}/{repo}/pulls/{pull_number}",
            "post /repos/{owner}/{repo}/issues",
            "post /repos/{owner}/{repo}/pulls",
            "post /repos/{owner}/{repo}/issues/{issue_number}/comments",
        ]
    );
    Ok(())
}
