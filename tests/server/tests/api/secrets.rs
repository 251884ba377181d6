//! Tests of secrets, variables, requests for variables, and the keys that seal values.

use std::collections::BTreeMap;

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use server_tests::{KEY, Site, StoreKind, tokens};
use tool_core::prelude::*;
use tool_core::store::seal::NewVariableRequest;
use tool_core::store::{
    MemoryStore, ThreadId, VariableField, VariableScope, VariableType, Workspace,
};
use tool_core::{Registry, ToolContext};
use tool_server::AdminServer;

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";
const ADMIN: &str = "admin-of-acme";
const SECRET: &str = "sk-4711-abcdef";

/// Sends a request, asserts that it succeeds and that the response does not contain [`SECRET`], and returns the JSON.
async fn done(site: &Site, token: &str, method: &str, path: &str, body: &Value) -> Value {
    let body = Some(body).filter(|body| !body.is_null());
    let answer = site.send(method, path, Some(token), &[], body).await;
    assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
    assert!(!answer.text.contains(SECRET), "{}", answer.text);
    answer.json()
}

/// Returns the value of a secret of the workspace `acme`, as the host opens it.
async fn opened(site: &Site, name: &str) -> Option<String> {
    let acme = Workspace::new("acme");
    let opened: BTreeMap<_, _> = site.vault.open_secrets(&acme, [name]).await.unwrap();
    opened
        .get(name)
        .map(|value| value.expose_secret().to_owned())
}

/// Returns every audit row of the workspace as text.
async fn audit(site: &Site) -> String {
    site.get("/v1/audit", VIEWER).await.to_string()
}

// S4-13: a secret is written, listed by name, and removed. No response and no audit row contains its value, and only an admin writes it.
pub(crate) async fn secret_is_written_and_never_read_case(kind: StoreKind) {
    let site = Site::start(kind).await;
    let path = "/v1/secrets/docs%2Fkey";
    let value = json!({ "value": SECRET });
    assert_eq!(site.ask("put", path, OPERATOR, &value).await.status, 403);
    let written = done(&site, ADMIN, "put", path, &value).await;
    assert_eq!(
        (&written["name"], &written["by"]),
        (&json!("docs/key"), &json!(ADMIN))
    );
    assert_eq!(opened(&site, "docs/key").await.as_deref(), Some(SECRET));
    let listed = done(&site, VIEWER, "get", "/v1/secrets", &Value::Null).await;
    assert_eq!(listed["items"], json!([written]));
    let other = site.get("/v1/secrets", "viewer-of-globex").await;
    assert_eq!(other["items"], json!([]));
    let read = site.send("get", path, Some(ADMIN), &[], None).await;
    assert_eq!(read.status, 405, "{}", read.text);
    let empty = site.ask("put", path, ADMIN, &json!({ "value": "" })).await;
    assert_eq!(
        (empty.status, &empty.json()["errors"][0]["pointer"]),
        (422, &json!("/value"))
    );
    // The error for a value of the wrong type does not contain the value.
    let number = site
        .ask("put", path, ADMIN, &json!({ "value": 471_147 }))
        .await;
    assert_eq!(
        (number.status, &number.json()["errors"][0]["pointer"]),
        (422, &json!("/value"))
    );
    assert!(
        number.text.contains("JSON string") && !number.text.contains("471147"),
        "{}",
        number.text
    );
    done(&site, ADMIN, "delete", path, &Value::Null).await;
    assert_eq!(opened(&site, "docs/key").await, None);
    let again = site.send("delete", path, Some(ADMIN), &[], None).await;
    assert_eq!(again.status, 404, "{}", again.text);
    let rows = audit(&site).await;
    for action in ["secret.write", "secret.remove"] {
        assert_eq!(rows.matches(action).count(), 1, "{rows}");
    }
    assert!(
        rows.contains("docs/key") && !rows.contains(SECRET),
        "{rows}"
    );
}

// S4-13: without a key provider, secrets and secret variables are not stored, keys are not changed, and the problem names the environment variable to
// set. Without a vault, no variable is stored, and the problem names the method that adds a vault. Secrets are listed in both cases.
pub(crate) async fn server_without_keys_stores_no_secret_case(_: StoreKind) {
    let store = MemoryStore::default();
    let vault = tool_core::store::seal::Vault::without_keys(store.clone())
        .await
        .unwrap();
    let builders = [
        (
            AdminServer::builder(store.clone()).vault(&vault),
            409,
            "TOOL_SEAL_KEYS",
            200,
        ),
        (
            AdminServer::builder(store),
            404,
            "AdminServerBuilder::vault",
            404,
        ),
    ];
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (builder, status, words, clear) in builders {
        let server = builder.authenticator(tokens(&["acme"])).build().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let task =
            tokio::spawn(async move { server.serve_until(listener, std::future::pending()).await });
        let send = async |method: &str, path: &str, body: &Value| {
            let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
            let request = client
                .request(method, format!("{url}{path}"))
                .header("authorization", "Bearer host")
                .header("content-type", "application/json")
                .body(body.to_string());
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        for (method, path, body) in [
            ("PUT", "/secrets/docs_key", json!({ "value": SECRET })),
            ("PUT", "/variables/TOKEN", json!({ "value": SECRET })),
            ("POST", "/secret-keys/rotate", json!({})),
            ("POST", "/secret-keys/old/retire", Value::Null),
        ] {
            let (got, text) = send(method, path, &body).await;
            assert_eq!(got, status, "{path}: {text}");
            assert!(
                text.contains(words) && !text.contains(SECRET),
                "{path}: {text}"
            );
        }
        let text = json!({ "value": "eu", "type": "text" });
        assert_eq!(send("PUT", "/variables/REGION", &text).await.0, clear);
        // Names are listed without a vault.
        assert_eq!(send("GET", "/secrets", &Value::Null).await.0, 200);
        task.abort();
    }
}

/// Reads a page of the private documentation.
#[tool(read_only, secret("docs_key", description = "A key that may read."))]
fn read_page(
    cx: &ToolContext,
    /// The title.
    title: String,
) -> String {
    let _ = cx.secret("docs_key");
    title
}

/// Picks a color.
#[tool(read_only)]
fn pick() -> String {
    "red".to_owned()
}

// S1-37: an operator sees which tools are misconfigured, with the keys that they lack and without any value.
pub(crate) async fn misconfigured_tools_name_the_missing_keys_case(kind: StoreKind) {
    let registry = Registry::builder();
    let registry = registry.tool::<read_page>().tool::<pick>().build().unwrap();
    let site = Site::with(kind, |server| {
        server
            .registry(&registry)
            .authenticator(tokens(&["acme", "globex"]))
    })
    .await;
    let read =
        async |path: &str| done(&site, VIEWER, "get", path, &Value::Null).await["items"].clone();
    let ready = json!({ "name": "pick", "status": "ready", "missing": [] });
    let lacks = json!({ "name": "read_page", "status": "misconfigured", "missing": ["docs_key"] });
    assert_eq!(read("/v1/tool-status").await, json!([ready, lacks]));
    assert_eq!(
        read("/v1/tool-status?status=misconfigured").await,
        json!([lacks])
    );
    let status = read("/v1/secret-status").await;
    assert_eq!(
        (&status[0]["key"], &status[0]["missing"]),
        (&json!("docs_key"), &json!(true))
    );
    assert_eq!(status[0]["required_by"], json!(["read_page"]));
    done(
        &site,
        ADMIN,
        "put",
        "/v1/secrets/docs_key",
        &json!({ "value": SECRET }),
    )
    .await;
    assert_eq!(
        read("/v1/tool-status?status=misconfigured").await,
        json!([])
    );
    let status = read("/v1/secret-status").await;
    assert_eq!(
        (&status[0]["missing"], &status[0]["by"]),
        (&json!(false), &json!(ADMIN))
    );
    let other = site
        .get("/v1/tool-status?status=misconfigured", "viewer-of-globex")
        .await;
    assert_eq!(other["items"], json!([lacks]));
}

// S4-13: values of an earlier key are counted, and sealed with the current key in limited requests. The earlier key can be retired only afterwards.
pub(crate) async fn keys_are_rotated_in_limited_requests_and_retired_case(kind: StoreKind) {
    let mut site = Site::start(kind).await;
    let old = site.vault_with(&["2026-10", KEY]).await;
    let acme = Workspace::new("acme");
    for n in 0..5 {
        let name = format!("secret-{n}");
        old.set_secret(&acme, &name, &SECRET.into(), "olga")
            .await
            .unwrap();
    }
    let scope = VariableScope::workspace("globex");
    let token = tool_core::store::seal::NewValue::undeclared("TOKEN", SECRET);
    old.set_variables(&scope, vec![token], "olga")
        .await
        .unwrap();
    // After the restart, the new key is the current key of the process.
    let both = site.vault_with(&[KEY, "2026-10"]).await;
    site.restart(&both).await;
    let keys = done(&site, "host", "get", "/v1/secret-keys", &Value::Null).await;
    let row = |key: &Value| {
        (
            key["id"].clone(),
            key["current"].clone(),
            key["secrets"].clone(),
            key["variables"].clone(),
            key["contents"].clone(),
        )
    };
    let rows: Vec<_> = keys["items"].as_array().unwrap().iter().map(row).collect();
    assert_eq!(
        rows[0],
        (json!("2026-10"), json!(false), json!(5), json!(1), json!(0))
    );
    assert_eq!(
        rows[1],
        (json!(KEY), json!(true), json!(0), json!(0), json!(0))
    );
    let retire = "/v1/secret-keys/2026-10/retire";
    let early = site.send("post", retire, Some("host"), &[], None).await;
    assert_eq!(early.status, 409, "{}", early.text);
    assert!(
        early.text.contains("5 of column `secret`"),
        "{}",
        early.text
    );
    let rotate = "/v1/secret-keys/rotate";
    let limits = json!({ "batch": 2, "most": 3 });
    let first = done(&site, "host", "post", rotate, &limits).await;
    assert_eq!(
        (&first["resealed"], &first["more"]),
        (&json!(4), &json!(true))
    );
    let second = done(&site, "host", "post", rotate, &limits).await;
    assert_eq!(
        (&second["resealed"], &second["more"]),
        (&json!(2), &json!(false))
    );
    assert_eq!(
        (&second["left"], &second["damaged"]),
        (&json!([]), &json!(0))
    );
    for body in [
        json!({ "batch": 0 }),
        json!({ "most": 0 }),
        json!({ "batch": 1001 }),
    ] {
        assert_eq!(
            site.ask("post", rotate, "host", &body).await.status,
            422,
            "{body}"
        );
    }
    done(&site, "host", "post", retire, &Value::Null).await;
    let current = site
        .send(
            "post",
            &format!("/v1/secret-keys/{KEY}/retire"),
            Some("host"),
            &[],
            None,
        )
        .await;
    assert_eq!(current.status, 409, "{}", current.text);
    let unknown = site
        .send(
            "post",
            "/v1/secret-keys/none/retire",
            Some("host"),
            &[],
            None,
        )
        .await;
    assert_eq!(unknown.status, 404, "{}", unknown.text);
    let keys = done(&site, "host", "get", "/v1/secret-keys", &Value::Null).await;
    assert!(keys["items"][0]["retired"].is_string(), "{keys}");
    assert_eq!(opened(&site, "secret-4").await.as_deref(), Some(SECRET));
    assert_eq!(site.ask("post", rotate, ADMIN, &limits).await.status, 403);
    let rows = audit(&site).await;
    assert_eq!(rows.matches("secret_keys.rotate").count(), 2, "{rows}");
    assert_eq!(rows.matches("secret_keys.retire").count(), 1, "{rows}");
}

// S4-13: variables of each owner are written, listed without secret values, and removed. A variable without a type is secret.
pub(crate) async fn variables_are_listed_without_secret_values_case(kind: StoreKind) {
    let site = Site::start(kind).await;
    let secret = json!({ "value": SECRET });
    let text = json!({ "value": "eu", "type": "text" });
    let written = done(&site, OPERATOR, "put", "/v1/variables/TOKEN", &secret).await;
    assert_eq!(
        (&written["type"], &written["value"]),
        (&json!("secret"), &Value::Null)
    );
    let agent = "/v1/variables/REGION?level=agent&owner=sales";
    let written = done(&site, OPERATOR, "put", agent, &text).await;
    assert_eq!(
        (&written["owner"], &written["value"]),
        (&json!("sales"), &json!("eu"))
    );
    let mut listed = Vec::new();
    let mut path = "/v1/variables?limit=1".to_owned();
    loop {
        let page = done(&site, VIEWER, "get", &path, &Value::Null).await;
        listed.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/v1/variables?limit=1&cursor={next}");
    }
    let names: Vec<_> = listed.iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["REGION", "TOKEN"]);
    let of_level = site.get("/v1/variables?level=workspace", VIEWER).await;
    assert_eq!(of_level["items"], json!([listed[1]]));
    for wrong in ["?level=agent", "?owner=sales", "?level=tool&owner=x"] {
        let path = format!("/v1/variables/REGION{wrong}");
        assert_eq!(
            site.ask("put", &path, OPERATOR, &text).await.status,
            400,
            "{wrong}"
        );
    }
    done(&site, OPERATOR, "delete", agent, &Value::Null).await;
    let again = site.send("delete", agent, Some(OPERATOR), &[], None).await;
    assert_eq!(again.status, 404, "{}", again.text);
    let rows = audit(&site).await;
    assert_eq!(rows.matches("variable.write").count(), 2, "{rows}");
    assert!(!rows.contains(SECRET), "{rows}");
}

// S4-56, S4-57: a request for variables is read without values. It is open until every value is stored. A request of a different conversation
// cannot be read, and a closed request cannot be answered.
pub(crate) async fn request_for_variables_is_open_until_every_value_is_stored_case(
    kind: StoreKind,
) {
    let site = Site::start(kind).await;
    let main = ThreadId::new("acme", "main").unwrap();
    let child = ThreadId::new("acme", "child").unwrap();
    let region = VariableField::new("REGION", VariableType::Select).choices(["eu", "us"]);
    let token = VariableField::new("TOKEN", VariableType::Secret).description("A key.");
    let request = NewVariableRequest {
        thread: main.clone(),
        agent: "sales".to_owned(),
        target: VariableScope::thread(&child),
        required: vec![region, token],
    };
    let id = site.vault.request_variables(request).await.unwrap();
    let path = format!("/v1/threads/main/variables/{id}");
    let read = done(&site, VIEWER, "get", &path, &Value::Null).await;
    assert_eq!(
        (&read["request"], &read["agent"]),
        (&json!(id), &json!("sales"))
    );
    assert_eq!(read["missing"], json!(["REGION", "TOKEN"]));
    assert_eq!(read["required"][0]["choices"], json!(["eu", "us"]));
    let list = site.get("/v1/threads/main/variables", VIEWER).await;
    assert_eq!(list["items"], json!([read]));
    // A different thread of the workspace is refused. An unknown request and a request of a different workspace are not found.
    for (token, path, status) in [
        (VIEWER, format!("/v1/threads/side/variables/{id}"), 403),
        (VIEWER, "/v1/threads/main/variables/none".to_owned(), 404),
        ("viewer-of-globex", path.clone(), 404),
    ] {
        let answer = site.send("get", &path, Some(token), &[], None).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
    }
    for (env, pointer) in [
        (json!({ "REGION": "asia" }), "/env/REGION"),
        (json!({ "OTHER/~": "x" }), "/env/OTHER~1~0"),
    ] {
        let answer = site
            .ask("post", &path, OPERATOR, &json!({ "env": env }))
            .await;
        assert_eq!(answer.status, 422, "{}", answer.text);
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer);
    }
    assert_eq!(
        site.ask("post", &path, VIEWER, &json!({ "env": {} }))
            .await
            .status,
        403
    );
    for env in [json!({}), json!({ "TOKEN": SECRET, "REGION": "" })] {
        let open = site
            .ask("post", &path, OPERATOR, &json!({ "env": env }))
            .await;
        assert_eq!(open.status, 400, "{}", open.text);
        assert_eq!(open.json()["errors"][0]["pointer"], "/env/REGION");
        assert!(!open.text.contains(SECRET), "{}", open.text);
    }
    let read = done(&site, VIEWER, "get", &path, &Value::Null).await;
    assert_eq!(read["missing"], json!(["REGION"]));
    let values = json!({ "env": { "REGION": "eu" } });
    let closed = done(&site, OPERATOR, "post", &path, &values).await;
    assert_eq!(closed, json!({ "missing": [] }));
    let again = site.ask("post", &path, OPERATOR, &values).await;
    assert_eq!(again.status, 404, "{}", again.text);
    let scope = [VariableScope::thread(&child)];
    let stored = site
        .vault
        .open_variables(&scope, ["REGION", "TOKEN"])
        .await
        .unwrap();
    let stored: Vec<_> = stored.iter().map(|one| one.value.expose_secret()).collect();
    assert_eq!(stored, ["eu", SECRET]);
    let rows = audit(&site).await;
    assert_eq!(rows.matches("variables.answer").count(), 2, "{rows}");
    assert!(!rows.contains(SECRET), "{rows}");
}
