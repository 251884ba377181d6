//! Tests of the isolation of workspaces, for every route of the document.

use serde_json::Value;
use server_tests::{Answer, Sample, Site, StoreKind, document, operations, seed};

use crate::samples::{bodies, parameters, path, value};

/// Returns the names of records that do not exist.
fn nobody() -> Sample {
    let name = |what: &str| format!("{what}-of-nobody");
    Sample {
        workspace: "nobody".to_owned(),
        approval: name("approval"),
        effect: "0".repeat(64),
        conversation: name("main"),
        tool: name("send"),
        principal: name("ann"),
        decision: name("decision"),
        agent: name("agent"),
        function: "1".repeat(32),
        version: "2".repeat(32),
        stored_tool: "3".repeat(32),
        instance: name("support"),
        skill: name("mail"),
        request: name("request"),
        memory: "4".repeat(32),
        file: name("file"),
        task: name("task"),
    }
}

/// Removes the times from a body, and returns whether there were any.
fn without_times(body: &mut Value) -> bool {
    match body {
        Value::Object(object) => {
            let before = object.len();
            object.retain(|name, _| !["at", "created_at", "updated_at"].contains(&name.as_str()));
            let removed = object.len() < before;
            object
                .values_mut()
                .map(without_times)
                .fold(removed, |any, one| any | one)
        }
        Value::Array(items) => items
            .iter_mut()
            .map(without_times)
            .fold(false, |any, one| any | one),
        _ => false,
    }
}

/// Returns the status, the headers that do not vary between requests, and the body, with the names of the request replaced by the names of
/// `nobody`.
fn shown(answer: &Answer, of: &Sample) -> (u16, Vec<(String, String)>, String) {
    let hidden = nobody();
    let plain = |text: &str| {
        let mut text = text.to_owned();
        for (from, to) in [
            (&of.approval, &hidden.approval),
            (&of.effect, &hidden.effect),
            (&of.conversation, &hidden.conversation),
            (&of.tool, &hidden.tool),
            (&of.principal, &hidden.principal),
            (&of.decision, &hidden.decision),
            (&of.agent, &hidden.agent),
            (&of.function, &hidden.function),
            (&of.version, &hidden.version),
            (&of.stored_tool, &hidden.stored_tool),
            (&of.instance, &hidden.instance),
            (&of.skill, &hidden.skill),
            (&of.request, &hidden.request),
            (&of.memory, &hidden.memory),
            (&of.file, &hidden.file),
            (&of.task, &hidden.task),
        ] {
            text = text.replace(from.as_str(), to);
        }
        text
    };
    // A switch that the caller sets in its own workspace contains the time, which also changes its `ETag`.
    let mut body = plain(&answer.text);
    let mut varies = vec!["date"];
    if let Ok(mut read) = serde_json::from_str::<Value>(&body)
        && without_times(&mut read)
    {
        body = read.to_string();
        varies.extend(["etag", "content-length"]);
    }
    let headers = answer.headers.iter();
    let headers = headers.filter(|(name, _)| !varies.contains(&name.as_str()));
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let mut headers: Vec<_> = headers
        .filter(|(name, _)| name != "content-length")
        .collect();
    headers.sort();
    (answer.status, headers, body)
}

/// Returns the responses of all `GET` routes to a viewer of the workspace.
async fn everything(site: &Site, of: &Sample) -> Vec<Value> {
    let document = document();
    let token = format!("viewer-of-{}", of.workspace);
    let mut all = Vec::new();
    for (method, template, operation) in operations(&document) {
        if method == "get" && operation["x-host"] == false {
            let path = path(&template, &operation, of);
            let answer = site.send("get", &path, Some(&token), &[], None).await;
            all.push(serde_json::from_str(&answer.text).unwrap_or(Value::String(answer.text)));
        }
    }
    all
}

// On every route, a caller from a different workspace gets the same response for names of existing records as for unknown names, and no
// record changes.
pub(crate) async fn records_of_another_workspace_are_answered_like_unknown_ones(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let before = everything(&site, &acme).await;
    assert!(
        before
            .iter()
            .filter(|read| read.to_string().contains("-of-acme"))
            .count()
            >= 8
    );
    let document = document();
    let mut compared = 0;
    for (method, template, operation) in operations(&document) {
        let mut requests: Vec<Option<Value>> = bodies(&document, &operation)
            .into_iter()
            .map(Some)
            .collect();
        if requests.is_empty() {
            requests.push(None);
        }
        for body in &requests {
            let mut answers = Vec::new();
            for of in [&acme, &nobody()] {
                let path = path(&template, &operation, of);
                let headers: &[(&str, &str)] = if template.starts_with("/v1/policy") {
                    &[("if-match", "*")]
                } else {
                    &[]
                };
                let token = Some("admin-of-globex");
                let answer = site
                    .send(&method, &path, token, headers, body.as_ref())
                    .await;
                assert!(answer.status < 500, "{method} {path}: {answer:?}");
                answers.push(shown(&answer, of));
            }
            assert_eq!(answers[0], answers[1], "{method} {template} {body:?}");
            compared += 1;
        }
    }
    assert!(compared >= 80, "{compared}");
    assert_eq!(everything(&site, &acme).await, before);
}

// Responses to `GET` contain no record of a different workspace, even if a filter or a cursor names the record.
pub(crate) async fn lists_contain_no_record_of_another_workspace(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let document = document();
    let mut asked = 0;
    for (method, template, operation) in operations(&document) {
        if method != "get" || operation["x-host"] == true {
            continue;
        }
        let place = path(&template, &operation, &acme);
        let mut queries = vec![String::new()];
        for name in parameters(&operation, "query") {
            // The kind of an approval is a word, not a name.
            if let Some(value) = value(&name, &acme).filter(|_| name != "kind") {
                queries.push(format!("?{name}={value}"));
            }
        }
        let first = format!("{place}?limit=1");
        let page = site
            .send("get", &first, Some("viewer-of-acme"), &[], None)
            .await;
        if page.status == 200
            && let Ok(page) = serde_json::from_str::<Value>(&page.text)
            && let Some(cursor) = page["next"].as_str()
        {
            queries.push(format!("?cursor={cursor}"));
        }
        for query in queries {
            let path = format!("{place}{query}");
            let answer = site
                .send("get", &path, Some("viewer-of-globex"), &[], None)
                .await;
            assert!([200, 404].contains(&answer.status), "{path}: {answer:?}");
            assert!(!answer.text.contains("-of-acme"), "{path}: {answer:?}");
            asked += 1;
        }
    }
    assert!(asked >= 30, "{asked}");
}

// Only operators of the host can choose the workspace of a request. Other callers can only name their own workspace.
pub(crate) async fn only_operators_of_the_host_choose_the_workspace(kind: StoreKind) {
    let site = Site::start(kind).await;
    let globex = seed(&*site.store, "globex").await;
    let path = format!("/v1/approvals/{}", globex.approval);
    let there = [("tool-workspace", "globex")];
    for (token, headers, status) in [
        ("host", &there[..], 200),
        ("host", &[], 404),
        ("admin-of-acme", &there[..], 403),
        ("viewer-of-globex", &there[..], 200),
        ("viewer-of-globex", &[], 200),
    ] {
        let answer = site.send("get", &path, Some(token), headers, None).await;
        assert_eq!(answer.status, status, "{token} {headers:?}");
    }
}
