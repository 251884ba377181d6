//! Tests of the routes `/v1/documents`: lists, contents and deletion.

use std::time::Duration;

use serde_json::{Value, json};
use server_tests::{Site, StoreKind, write_document};
use tool_core::store::{IndexClaim, IndexOutcome, Scope, Timestamp};

use crate::administration::{done, note};

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";
const ADMIN: &str = "admin-of-acme";

async fn files(site: &Site, query: &str) -> Vec<String> {
    let page = site.get(&format!("/v1/documents{query}"), VIEWER).await;
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|item| item["file"].as_str().unwrap().to_owned())
        .collect()
}

// Documents are listed in the order of their file names, page by page, even if documents are written between two pages. The state of the index is a
// filter.
pub(crate) async fn documents_are_listed_with_their_index(kind: StoreKind) {
    let site = Site::start(kind).await;
    for file in ["c.md", "a.md", "b.md"] {
        write_document(&*site.store, "acme", file, b"Returns are free.").await;
    }
    write_document(&*site.store, "globex", "secret.md", b"none").await;
    let at = Timestamp::now();
    let claim = IndexClaim {
        worker: "worker-1".to_owned(),
        lease: Duration::from_mins(1),
        most_recoveries: 3,
        at,
    };
    let acme = "acme".into();
    let claimed = site.store.claim_document(Scope::Workspace(&acme), claim);
    let row = claimed.await.unwrap().unwrap().row;
    let failed = IndexOutcome::Failed("PDF_ENCRYPTED".to_owned());
    let token = row.token.clone().unwrap();
    let finished = site.store.finish_index(&row.name, &token, failed, at);
    assert!(finished.await.unwrap());

    let all = site.get("/v1/documents?limit=2", VIEWER).await;
    let cursor = all["next"].as_str().unwrap();
    write_document(&*site.store, "acme", "a0.md", b"new").await;
    write_document(&*site.store, "acme", "d.md", b"new").await;
    let rest = format!("?limit=2&cursor={cursor}");
    assert_eq!(files(&site, "?limit=2").await, ["a.md", "a0.md"]);
    assert_eq!(files(&site, &rest).await, ["c.md", "d.md"]);
    assert_eq!(files(&site, "?status=failed").await, [row.name.file()]);
    let path = format!("/v1/documents/{}", row.name.file());
    let read = site.get(&path, VIEWER).await;
    assert_eq!(
        (&read["fault"], &read["worker"], &read["chunks"]),
        (&json!("PDF_ENCRYPTED"), &json!("worker-1"), &json!(0))
    );
    assert_eq!(
        (&read["mime"], &read["size"]),
        (&json!("text/markdown"), &json!(17))
    );
    for query in ["status=lost", "limit=0", "cursor=x", "owner=ann"] {
        let path = format!("/v1/documents?{query}");
        let answer = site.send("get", &path, Some(VIEWER), &[], None).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
}

// The content of a document is returned unchanged, with headers that make a browser download it instead of showing it. A name with a slash is
// percent-encoded.
pub(crate) async fn content_of_a_document_is_returned(kind: StoreKind) {
    let site = Site::start(kind).await;
    let content = "<script>alert('ü')</script>";
    write_document(&*site.store, "acme", "notes/a b.html", content.as_bytes()).await;
    let path = "/v1/documents/notes%2Fa%20b.html/content";
    let answer = site.send("get", path, Some(VIEWER), &[], None).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, content));
    assert_eq!(
        answer.header("content-type"),
        Some("application/octet-stream")
    );
    assert_eq!(answer.header("content-disposition"), Some("attachment"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    for path in [
        "/v1/documents/nothing/content",
        "/v1/documents/%00",
        "/v1/documents/notes",
    ] {
        let answer = site.send("get", path, Some(VIEWER), &[], None).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
    }
}

// An admin deletes a document; a request with an old `ETag` is refused. The response for a document of a different workspace is the same as for an
// unknown document, and that document is kept.
pub(crate) async fn document_is_deleted_by_an_admin(kind: StoreKind) {
    let site = Site::start(kind).await;
    for (workspace, file) in [("acme", "a.md"), ("globex", "b.md")] {
        write_document(&*site.store, workspace, file, b"old").await;
    }
    let path = "/v1/documents/a.md";
    let read = done(&site, VIEWER, "get", path, &Value::Null).await;
    let tag = [("if-match", read.header("etag").unwrap())];
    write_document(&*site.store, "acme", "a.md", b"newer").await;
    let delete = async |path: &str, token: &str, headers: &[(&str, &str)]| {
        let sent = site.send("delete", path, Some(token), headers, None).await;
        (sent.status, sent.text)
    };
    assert_eq!(delete(path, OPERATOR, &[]).await.0, 403);
    assert_eq!(delete(path, ADMIN, &tag).await.0, 412);
    let foreign = delete("/v1/documents/b.md", ADMIN, &[]).await;
    assert_eq!(foreign.0, 404);
    assert_eq!(
        delete("/v1/documents/nothing.md", ADMIN, &[]).await,
        foreign
    );
    assert_eq!(delete(path, ADMIN, &[("if-match", "*")]).await.0, 200);
    assert_eq!(delete(path, ADMIN, &[]).await.0, 404);
    assert_eq!(files(&site, "").await, [""; 0]);
    site.get("/v1/documents/b.md", "viewer-of-globex").await;
    let (operator, details) = note(&site, "document.delete").await;
    assert_eq!((&*operator, &details["file"]), (ADMIN, &json!("a.md")));
}
