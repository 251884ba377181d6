//! Tests of lists, pages and filters.

use serde_json::Value;
use server_tests::{Site, StoreKind, seed};
use tool_core::store::{AuditRow, CallId, Catalogue, CatalogueEntry, ThreadId, Timestamp};

const VIEWER: &str = "viewer-of-acme";

fn ids(page: &Value, name: &str) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item[name].as_str().unwrap().to_owned())
        .collect()
}

/// Reads every page of a list.
async fn pages(site: &Site, path: &str, name: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = site.get(&format!("{path}{cursor}"), VIEWER).await;
        all.extend(ids(&page, name));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

async fn write_rows(site: &Site, rows: i64) -> Vec<String> {
    let thread = ThreadId::new("acme", "main").unwrap();
    let mut written = Vec::new();
    for n in 0..rows {
        let identity = CallId::in_thread(&thread, 1, u32::try_from(n).unwrap());
        let (tool, outcome) = if n % 2 == 0 {
            ("send", "ok")
        } else {
            ("look", "timed_out")
        };
        let row = AuditRow {
            principal: Some(format!("user-{}", n % 3)),
            outcome: Some(outcome.to_owned()),
            ..AuditRow::new(
                identity,
                format!("call-{n}"),
                tool,
                Timestamp::from_millis(1_000 * (n / 4)),
            )
        };
        written.push(row.call.clone());
        site.store.write(vec![row]).await.unwrap();
    }
    written
}

// The pages of the audit together contain each row once, and a page has the newest row first.
pub(crate) async fn pages_of_the_audit_skip_and_repeat_nothing(kind: StoreKind) {
    let site = Site::start(kind).await;
    let mut written = write_rows(&site, 30).await;
    let mut read = pages(&site, "/v1/audit?limit=7", "call").await;
    let rows = site.get("/v1/audit", VIEWER).await;
    let times = ids(&rows, "at");
    assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");
    read.sort();
    written.sort();
    assert_eq!(read, written);
}

// Each query parameter filters the audit.
pub(crate) async fn audit_is_filtered_by_each_parameter(kind: StoreKind) {
    let site = Site::start(kind).await;
    write_rows(&site, 12).await;
    for (query, expected) in [
        ("", 12),
        ("?tool=look", 6),
        ("?principal=user-1", 4),
        ("?conversation=main", 12),
        ("?conversation=side", 0),
        ("?call=call-3", 1),
        ("?failed=true", 6),
        ("?failed=true&principal=user-1", 2),
        ("?failed=false", 12),
        ("?outcome=timed_out", 6),
        ("?since=1970-01-01T00:00:01Z", 8),
        ("?since=1970-01-01T00:00:01Z&until=1970-01-01T00:00:02Z", 4),
        ("?until=1970-01-01T01:00:01%2B01:00", 4),
        ("?decision=d1", 0),
    ] {
        let page = site.get(&format!("/v1/audit{query}"), VIEWER).await;
        assert_eq!(page["items"].as_array().unwrap().len(), expected, "{query}");
    }
}

// An export contains every row that matches the filter as a JSON line, in the order of the list, and has no limit.
pub(crate) async fn export_has_every_row_as_a_json_line(kind: StoreKind) {
    let site = Site::start(kind).await;
    write_rows(&site, 230).await;
    let path = "/v1/audit/export?tool=send";
    let answer = site.send("get", path, Some(VIEWER), &[], None).await;
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let rows: Vec<Value> = answer
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 115);
    let page = site.get("/v1/audit?tool=send&limit=100", VIEWER).await;
    assert_eq!(rows[..100], page["items"].as_array().unwrap()[..]);
    let answer = site
        .send("get", "/v1/audit/export?limit=3", Some(VIEWER), &[], None)
        .await;
    assert_eq!(answer.status, 400, "{}", answer.text);
}

// Unknown and repeated parameters, wrong values and invalid cursors are refused.
pub(crate) async fn malformed_queries_are_refused(kind: StoreKind) {
    let site = Site::start(kind).await;
    for query in [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=x",
        "cursor=x",
        "cursor=",
        "since=yesterday",
        "colour=red",
        "failed=maybe",
        "tool=a&tool=b",
    ] {
        let path = format!("/v1/audit?{query}");
        let answer = site.send("get", &path, Some(VIEWER), &[], None).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        assert_eq!(answer.json()["type"], "urn:tool-server:bad-request");
    }
    for path in [
        "/v1/approvals?status=open",
        "/v1/switches?kind=enable",
        "/v1/runs?state=dead",
    ] {
        let answer = site.send("get", path, Some(VIEWER), &[], None).await;
        assert_eq!(answer.status, 400, "{path}");
    }
}

// Approvals, effects, runs, messages, switches and tools have pages as well.
pub(crate) async fn approvals_effects_runs_tools_switches_and_messages_have_pages(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let entries = ["b", "a", "c"].map(|name| {
        let mut entry = CatalogueEntry::new(name);
        entry.description = format!("Does {name}.");
        "general".clone_into(&mut entry.category);
        "9f".clone_into(&mut entry.contract);
        entry.effect = 1;
        entry
    });
    Catalogue::sync(&*site.store, entries.to_vec())
        .await
        .unwrap();
    for (kind, tool) in [("kill", "x"), ("disable", "y"), ("kill", "z")] {
        let path = format!("/v1/switches/{kind}/{tool}");
        let on = serde_json::json!({ "on": true });
        assert_eq!(
            site.ask("put", &path, "operator-of-acme", &on).await.status,
            200
        );
    }
    let approvals = pages(&site, "/v1/approvals?limit=2&status=pending", "id").await;
    assert_eq!(approvals.len(), 3);
    assert_eq!(
        pages(&site, "/v1/effects?limit=1&state=ambiguous", "key").await,
        [acme.effect]
    );
    assert_eq!(
        pages(&site, "/v1/runs?limit=1", "conversation").await,
        [acme.conversation.as_str()]
    );
    assert_eq!(
        pages(&site, "/v1/tools?limit=2", "name").await,
        ["a", "b", "c"]
    );
    assert_eq!(
        pages(&site, "/v1/switches?limit=1", "tool").await,
        [acme.tool.as_str(), "y", "x", "z"]
    );
    let messages = format!("/v1/threads/{}/messages?limit=2", acme.conversation);
    let contents = pages(&site, &messages, "content").await;
    assert_eq!(contents.len(), 3);
    assert!(
        contents[0].ends_with('0') && contents[2].ends_with('2'),
        "{contents:?}"
    );
}

// The messages of a conversation can be read if its name must be percent-encoded in the path. A name that is not UTF-8 is not found.
pub(crate) async fn names_in_paths_are_percent_encoded(kind: StoreKind) {
    let site = Site::start(kind).await;
    let thread = ThreadId::new("acme", "a/b ?é").unwrap();
    let message = tool_core::store::NewMessage {
        thread,
        role: tool_core::store::Role::User,
        answers: None,
        follows: None,
        content: "\"hello\"".to_owned(),
        at: Timestamp::now(),
    };
    let number: Result<u64, _> = tool_core::store::ThreadStore::append(&*site.store, message).await;
    assert_eq!(number.unwrap(), 1);
    let page = site
        .get("/v1/threads/a%2Fb%20%3F%C3%A9/messages", VIEWER)
        .await;
    assert_eq!(page["items"][0]["content"], "hello");
    let answer = site
        .send("get", "/v1/threads/%FF/messages", Some(VIEWER), &[], None)
        .await;
    assert_eq!(answer.status, 404);
}
