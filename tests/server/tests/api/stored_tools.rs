//! Tests of functions, stored tools and bindings, which an operator manages over HTTP.

use serde_json::{Value, json};
use server_tests::{Site, StoreKind, seed};
use tool_core::prelude::*;
use tool_core::stored::{LinkedRunner, StoredTools};
use tool_core::{Registry, Rules};

const AUTHOR: &str = "author-of-acme";
const ADMIN: &str = "admin-of-acme";

/// Sends a request, asserts that it succeeds, and returns the response body.
async fn done(site: &Site, method: &str, path: &str, body: &Value) -> Value {
    let body = Some(body).filter(|body| !body.is_null());
    let answer = site.send(method, path, Some(AUTHOR), &[], body).await;
    assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
    answer.json()
}

fn input() -> Value {
    json!({
        "type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"], "additionalProperties": false,
    })
}

/// Creates a function that picks colors, with a published version. Returns its id.
async fn function(site: &Site) -> String {
    let new = json!({"name": "colors", "kind": {"type": "linked", "tool": "pick_color"}});
    let function = done(site, "post", "/v1/functions", &new).await;
    let id = function["id"].as_str().unwrap().to_owned();
    assert_eq!(function["kind"], new["kind"]);
    let version =
        json!({"input_schema": input(), "output_schema": {"type": "string"}, "label": "first"});
    let versions = format!("/v1/functions/{id}/versions");
    let version = done(site, "post", &versions, &version).await;
    assert_eq!(
        (&version["number"], &version["label"]),
        (&json!(1), &json!("first"))
    );
    let publish = format!(
        "/v1/function-versions/{}/publish",
        version["id"].as_str().unwrap()
    );
    let published = done(site, "post", &publish, &Value::Null).await;
    assert_eq!(published["default_version"], version["id"]);
    id
}

fn stored(site: &Site) -> StoredTools {
    let linked = Registry::builder()
        .tool::<server_tests::pick_color>()
        .build()
        .unwrap();
    StoredTools::shared(site.store.clone()).runner(LinkedRunner::new(&linked, Rules::default()))
}

/// Returns the tools of the agent `painter` in a process of the host.
async fn offered(site: &Site) -> Toolset {
    let own = stored(site)
        .of_agent(&"acme".into(), "painter")
        .await
        .unwrap();
    own.registry.open()
}

// S3-01, S3-16, S3-23, S3-33: an operator creates a tool, and a process of the host offers and calls it until an operator disables or deletes it.
pub(crate) async fn tool_is_created_called_disabled_and_deleted(kind: StoreKind) {
    let site = Site::start(kind).await;
    let function = function(&site).await;
    let new = json!({"name": "pick_paint", "description": "Picks paint.", "target": "server", "function": function});
    let saved = done(&site, "post", "/v1/stored-tools", &new).await;
    assert_eq!(saved["warnings"], json!([]));
    let id = saved["tool"]["id"].as_str().unwrap().to_owned();
    let bind = format!("/v1/agents/painter/tools/{id}");
    assert_eq!(
        done(&site, "put", &bind, &Value::Null).await["changed"],
        true
    );
    assert_eq!(
        done(&site, "put", &bind, &Value::Null).await["changed"],
        false
    );
    let cx = ToolContext::builder().workspace("acme").build();
    let call = async |tools: &Toolset| {
        let call = ToolCall::new("c", "pick_paint", r#"{"thing":"wall"}"#);
        tools.call(call, &cx).await.model_text()
    };
    let tools = offered(&site).await;
    assert_eq!(call(&tools).await, "wall is red");

    let path = format!("/v1/stored-tools/{id}");
    let enabled = format!("{path}/enabled");
    let muted = site
        .ask(
            "put",
            &enabled,
            "operator-of-acme",
            &json!({"enabled": false}),
        )
        .await;
    assert_eq!(
        (muted.status, &muted.json()["tool"]["enabled"]),
        (200, &json!(false))
    );
    assert!(offered(&site).await.is_empty());
    assert!(call(&tools).await.contains("switched off"));
    done(&site, "patch", &path, &json!({"enabled": true})).await;
    assert_eq!(call(&tools).await, "wall is red");

    let deleted = done(&site, "delete", &path, &Value::Null).await;
    assert_eq!(deleted["tool"]["retention_tier"], "medium");
    assert!(offered(&site).await.is_empty());
    assert_eq!(
        site.get("/v1/stored-tools", AUTHOR).await["items"],
        json!([])
    );
    assert_eq!(
        site.get("/v1/stored-tools?include_deleted=only", AUTHOR)
            .await["items"][0]["id"],
        *id
    );
    assert_eq!(
        site.get("/v1/agents/painter/tools", AUTHOR).await["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        done(&site, "delete", &bind, &Value::Null).await["binding"]["agent"],
        "painter"
    );
}

// S3-28, S3-29: times are ISO 8601, and every key of a tool is present.
pub(crate) async fn tool_has_every_key_and_times_in_iso_8601_case(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let path = format!("/v1/stored-tools/{}", acme.stored_tool);
    let tool = site.get(&path, AUTHOR).await;
    let keys: Vec<_> = tool
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "created_at",
            "created_by",
            "deleted_at",
            "description",
            "enabled",
            "examples",
            "function",
            "function_version",
            "id",
            "input_schema",
            "name",
            "output_schema",
            "requires_confirmation",
            "retention_tier",
            "runtime_user",
            "source",
            "system",
            "target",
            "updated_at",
            "workspace",
        ]
    );
    for key in ["created_at", "updated_at"] {
        let text = tool[key].as_str().unwrap();
        assert!(
            text.starts_with("20") && &text[10..11] == "T" && text.ends_with('Z'),
            "{text}"
        );
        // The filter of the audit accepts the text as a time.
        site.get(&format!("/v1/audit?since={text}"), AUTHOR).await;
    }
    assert_eq!(tool["deleted_at"], Value::Null);
    let renamed = done(&site, "patch", &path, &json!({"name": "pick"})).await;
    assert_eq!(renamed["tool"]["created_at"], tool["created_at"]);
    assert!(renamed["tool"]["updated_at"].as_str() > tool["updated_at"].as_str());
}

// S3-11, S3-13: an invalid schema, an invalid example, a read-only field and an unknown target are refused with a JSON pointer. A client tool with a
// function is a conflict.
pub(crate) async fn invalid_tools_are_refused_with_json_pointers(kind: StoreKind) {
    let site = Site::start(kind).await;
    let function = function(&site).await;
    let pointers = async |method: &str, path: &str, body: Value| {
        let answer = site.ask(method, path, AUTHOR, &body).await;
        assert_eq!(answer.status, 422, "{}", answer.text);
        let errors = answer.json()["errors"].clone();
        let errors = errors.as_array().unwrap().iter();
        errors
            .map(|error| error["pointer"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let mut open = input();
    open["properties"]["thing"] = map;
    let version = json!({"input_schema": open, "output_schema": {"type": "string"}});
    let found = pointers(
        "post",
        &format!("/v1/functions/{function}/versions"),
        version,
    )
    .await;
    assert!(
        found.contains(&"/input_schema/properties/thing".to_owned()),
        "{found:?}"
    );
    let tool = |extra: Value| {
        let mut tool = json!({"name": "pick", "target": "server", "function": function});
        tool.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        tool
    };
    let found = pointers(
        "post",
        "/v1/stored-tools",
        tool(json!({"examples": [{"args": {"thing": 1}}]})),
    )
    .await;
    assert_eq!(found, ["/examples/0/args/thing"]);
    let found = pointers("post", "/v1/stored-tools", tool(json!({"id": "mine"}))).await;
    assert_eq!(found, ["/id"]);
    let found = pointers(
        "post",
        "/v1/stored-tools",
        tool(json!({"target": "browser"})),
    )
    .await;
    assert_eq!(found, ["/target"]);
    let client = site
        .ask(
            "post",
            "/v1/stored-tools",
            AUTHOR,
            &tool(json!({"target": "client"})),
        )
        .await;
    assert_eq!(client.status, 409, "{}", client.text);
    // None of the refused requests created a tool.
    assert_eq!(
        site.get("/v1/stored-tools", AUTHOR).await["items"],
        json!([])
    );
}

// S3-17, S3-18, S3-21: only an admin sets a runtime user, who must be a member of the workspace. A change writes one audit row that names its author.
pub(crate) async fn changes_need_roles_and_are_audited(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let path = format!("/v1/stored-tools/{}", acme.stored_tool);
    let robot = json!({"runtime_user": "robot"});
    let refused = site.ask("patch", &path, AUTHOR, &robot).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let stranger = site.ask("patch", &path, ADMIN, &robot).await;
    assert_eq!(stranger.status, 409, "{}", stranger.text);
    assert!(stranger.text.contains("not a member"), "{}", stranger.text);
    let before = site.get("/v1/audit", AUTHOR).await["items"]
        .as_array()
        .unwrap()
        .len();
    done(&site, "patch", &path, &json!({"name": "pick"})).await;
    let audit = site.get("/v1/audit", AUTHOR).await;
    let rows = audit["items"].as_array().unwrap();
    assert_eq!(rows.len(), before + 1);
    let row = rows.iter().find(|row| row["principal"] == AUTHOR).unwrap();
    assert_eq!(row["tool"], "pick");
    assert!(row.to_string().contains("stored_tool.update"), "{row}");
}

// S3-28: an update with an old `ETag` is refused.
pub(crate) async fn update_with_an_old_etag_is_refused(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    for path in [
        format!("/v1/stored-tools/{}", acme.stored_tool),
        format!("/v1/functions/{}", acme.function),
    ] {
        let read = site.send("get", &path, Some(AUTHOR), &[], None).await;
        let tag = read.header("etag").unwrap();
        let name = json!({"name": "new_name"});
        for status in [200, 412] {
            let answer = site
                .send(
                    "patch",
                    &path,
                    Some(AUTHOR),
                    &[("if-match", tag)],
                    Some(&name),
                )
                .await;
            assert_eq!(answer.status, status, "{}", answer.text);
        }
    }
}

// S3-32: the pages of the tools together contain every tool, also if the pages have the largest size.
pub(crate) async fn pages_of_tools_are_complete(kind: StoreKind) {
    let site = Site::start(kind).await;
    let new = |n: usize| {
        json!({
            "name": format!("ask_{n}"), "target": "client", "input_schema": input(), "output_schema": {"type": "string"},
        })
    };
    for n in 0..101 {
        done(&site, "post", "/v1/stored-tools", &new(n)).await;
    }
    for limit in [7, 100] {
        let (mut seen, mut query) = (Vec::new(), format!("?limit={limit}"));
        loop {
            let page = site.get(&format!("/v1/stored-tools{query}"), AUTHOR).await;
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= limit);
            seen.extend(
                items
                    .iter()
                    .map(|tool| tool["name"].as_str().unwrap().to_owned()),
            );
            let Some(next) = page["next"].as_str() else {
                break;
            };
            query = format!("?limit={limit}&cursor={next}");
        }
        seen.sort_by_key(|name| name[4..].parse::<usize>().unwrap());
        seen.dedup();
        assert_eq!(seen.len(), 101);
    }
}

/// Returns the number of items in a list.
async fn count(site: &Site, path: &str) -> usize {
    site.get(path, AUTHOR).await["items"]
        .as_array()
        .unwrap()
        .len()
}

// A repeated creation with the same idempotency key gets the first response and creates nothing, even if the change would be refused now.
pub(crate) async fn repeated_creation_is_made_once(kind: StoreKind) {
    let site = Site::start(kind).await;
    let send = async |path: &str, key: &str, body: &Value| {
        let key = [("idempotency-key", key)];
        let body = Some(body).filter(|body| !body.is_null());
        let first = site.send("post", path, Some(AUTHOR), &key, body).await;
        let again = site.send("post", path, Some(AUTHOR), &key, body).await;
        assert_eq!(first.status, 200, "{path}: {}", first.text);
        assert_eq!((again.status, &again.text), (200, &first.text), "{path}");
        first.json()
    };
    let new = json!({"name": "colors", "kind": {"type": "linked", "tool": "pick_color"}});
    let function = send("/v1/functions", "k-1", &new).await;
    assert_eq!(count(&site, "/v1/functions").await, 1);
    let versions = format!(
        "/v1/functions/{}/versions",
        function["id"].as_str().unwrap()
    );
    let new_version = json!({"input_schema": input(), "output_schema": {"type": "string"}});
    let version = send(&versions, "k-2", &new_version).await;
    assert_eq!(count(&site, &versions).await, 1);
    let publish = format!(
        "/v1/function-versions/{}/publish",
        version["id"].as_str().unwrap()
    );
    send(&publish, "k-3", &Value::Null).await;
    let tool = json!({"name": "paint", "target": "server", "function": function["id"]});
    let made = send("/v1/stored-tools", "k-4", &tool).await;
    assert!(!made["warnings"].as_array().unwrap().is_empty());
    assert_eq!(count(&site, "/v1/stored-tools").await, 1);

    // The key was used for a different request.
    let other = json!({"name": "sketch", "target": "server", "function": function["id"]});
    let key = [("idempotency-key", "k-4")];
    let answer = site
        .send("post", "/v1/stored-tools", Some(AUTHOR), &key, Some(&other))
        .await;
    assert_eq!(answer.status, 409, "{}", answer.text);
    // A repeated request is answered before it is validated: the runtime user is no longer a member of the workspace.
    let member = "/v1/members/zoe";
    let joined = site
        .ask("put", member, ADMIN, &json!({"role": "viewer"}))
        .await;
    assert_eq!(joined.status, 200, "{}", joined.text);
    let tool = json!({"name": "draw", "target": "server", "function": function["id"], "runtime_user": "zoe"});
    let create = async |key: &str| {
        let key = [("idempotency-key", key)];
        site.send("post", "/v1/stored-tools", Some(ADMIN), &key, Some(&tool))
            .await
    };
    let first = create("k-5").await;
    assert_eq!(first.status, 200, "{}", first.text);
    let left = site.send("delete", member, Some(ADMIN), &[], None).await;
    assert_eq!(left.status, 200, "{}", left.text);
    assert_ne!(create("k-6").await.status, 200);
    assert_eq!(create("k-5").await.text, first.text);
}

// A server without stored tools returns the status 404 with the reason.
pub(crate) async fn server_without_stored_tools_returns_404(kind: StoreKind) {
    let site = Site::start(kind).await;
    let tokens = server_tests::tokens(&["acme"]);
    let server = tool_server::AdminServer::shared(site.store.clone())
        .authenticator(tokens)
        .build()
        .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving =
        tokio::spawn(async move { server.serve_until(listener, std::future::pending()).await });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client
        .get(format!("http://{address}/v1/stored-tools"))
        .bearer_auth(AUTHOR);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 404);
    assert!(response.text().await.unwrap().contains("no stored tools"));
    serving.abort();
}
