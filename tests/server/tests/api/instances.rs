//! Tests of instances, their tools and their skills.

use serde_json::{Value, json};
use server_tests::{Site, StoreKind};
use tool_core::InstanceRules;
use tool_core::store::{Catalogue, CatalogueEntry, EnablementStore, InstanceId, Timestamp};

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";

/// Starts a site whose catalogue has a global tool, a harness tool and three other tools.
async fn start(kind: StoreKind) -> Site {
    let site = Site::start(kind).await;
    let mut entries = ["end_turn", "read_mail", "search", "send_mail", "unlock"].map(|name| {
        let mut entry = CatalogueEntry::new(name);
        entry.is_global = name == "unlock";
        entry.is_harness = name == "end_turn";
        entry.synced_at = Timestamp::now();
        entry
    });
    entries[2].secrets = vec!["search_key".to_owned()];
    entries[2].aliases = vec!["find".to_owned()];
    Catalogue::sync(&*site.store, entries.to_vec())
        .await
        .unwrap();
    site
}

/// Sends a request that succeeds.
async fn done(site: &Site, method: &str, path: &str, body: &Value) -> Value {
    let body = Some(body).filter(|body| !body.is_null());
    let answer = site.send(method, path, Some(OPERATOR), &[], body).await;
    assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
    answer.json()
}

/// Returns the enabled tools of an instance with their sources.
async fn enabled(site: &Site, instance: &str) -> Vec<String> {
    let path = format!("/v1/instances/{instance}/tools?enabled=true");
    let page = site.get(&path, VIEWER).await;
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| {
            let source = item["source"].as_str().unwrap_or("-");
            format!("{} {source}", item["name"].as_str().unwrap())
        })
        .collect()
}

/// Returns the last change of an operator in the audit: action, operator and tool.
async fn last_change(site: &Site) -> (String, String, String) {
    let page = site.get("/v1/audit?limit=1", VIEWER).await;
    let row = &page["items"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (
        text(&row["notes"][0]["action"]),
        text(&row["principal"]),
        text(&row["tool"]),
    )
}

// S1-32, S1-36: an operator enables and disables a tool of an instance. Each tool is listed with its state and source, and a process of the host
// reads the change.
pub(crate) async fn tool_is_enabled_and_disabled_by_hand_case(kind: StoreKind) {
    let site = start(kind).await;
    let path = "/v1/instances/support/tools/send_mail";
    assert_eq!(enabled(&site, "support").await, ["end_turn -"]);
    assert_eq!(
        done(&site, "put", path, &Value::Null).await["changed"],
        true
    );
    assert_eq!(
        done(&site, "put", path, &Value::Null).await["changed"],
        false
    );
    let with = ["end_turn -", "send_mail manual", "unlock global"];
    assert_eq!(enabled(&site, "support").await, with);
    let change = ("instance.enable_tool", OPERATOR, "send_mail");
    let change = (
        change.0.to_owned(),
        change.1.to_owned(),
        change.2.to_owned(),
    );
    assert_eq!(last_change(&site).await, change);
    let page = site.get("/v1/instances/support/tools", VIEWER).await;
    let items = page["items"].as_array().unwrap();
    assert_eq!(items.len(), 5, "every tool of the catalogue is listed");
    assert_eq!(
        (&items[1]["name"], &items[1]["enabled"]),
        (&json!("read_mail"), &json!(false))
    );
    assert_eq!(
        (&items[3]["by"], &items[3]["manual"]),
        (&json!(OPERATOR), &json!(true))
    );
    let support = InstanceId::new("acme", "support");
    let rules = InstanceRules::open_shared(site.store.clone())
        .await
        .unwrap();
    let rows = rules.store().rows(&support).await.unwrap();
    assert_eq!(rows.len(), 2);
    // A request with an alias enables the tool, and an agent needs no entry in the catalogue.
    done(
        &site,
        "put",
        "/v1/instances/support/tools/find",
        &Value::Null,
    )
    .await;
    done(
        &site,
        "put",
        "/v1/instances/support/tools/agent:sales",
        &Value::Null,
    )
    .await;
    assert_eq!(enabled(&site, "support").await.len(), 5);
    let unknown = "/v1/instances/support/tools/unknown";
    let answer = site.send("put", unknown, Some(OPERATOR), &[], None).await;
    assert_eq!(answer.status, 404, "{}", answer.text);
    assert_eq!(
        done(&site, "delete", path, &Value::Null).await["changed"],
        true
    );
    assert_eq!(
        done(&site, "delete", path, &Value::Null).await["changed"],
        false
    );
    assert!(
        !enabled(&site, "support")
            .await
            .contains(&with[1].to_owned())
    );
}

// S1-36: a tool that a skill or the program enables cannot be disabled. The refusal contains the source and writes no audit row.
pub(crate) async fn refusal_names_the_source_case(kind: StoreKind) {
    let site = start(kind).await;
    let skill = json!({ "version": "1.0.0", "required_tools": ["read_mail"] });
    done(&site, "put", "/v1/instances/support/skills/mail", &skill).await;
    let before = last_change(&site).await;
    for (tool, source) in [
        ("read_mail", "source `skill`"),
        ("unlock", "source `global`"),
    ] {
        let path = format!("/v1/instances/support/tools/{tool}");
        let answer = site.send("delete", &path, Some(OPERATOR), &[], None).await;
        assert_eq!(answer.status, 409, "{}", answer.text);
        assert!(answer.text.contains(source), "{}", answer.text);
    }
    assert_eq!(last_change(&site).await, before);
}

// S1-34, S1-35: a skill enables the tools that it requires. If the skill is removed, a tool stays enabled if a different skill requires it or a
// person has enabled it.
pub(crate) async fn skill_enables_the_tools_that_it_requires_case(kind: StoreKind) {
    let site = start(kind).await;
    let mail = "/v1/instances/support/skills/mail";
    let version = |number: &str, tools: &[&str]| {
        json!({
            "version": number, "description": "Answers mail.", "required_tools": tools, "env": ["MAIL"],
            "files": { "SKILL.md": format!("# Mail {number}") },
        })
    };
    done(
        &site,
        "put",
        "/v1/instances/support/tools/send_mail",
        &Value::Null,
    )
    .await;
    let first = done(
        &site,
        "put",
        mail,
        &version("1.0.0", &["read_mail", "send_mail", "fax"]),
    )
    .await;
    assert_eq!(first["added"], json!(["read_mail"]));
    assert_eq!(first["missing"], json!(["fax"]));
    let page = site.get("/v1/instances/support/skills", VIEWER).await;
    let pin = &page["items"][0];
    assert_eq!(
        (&pin["version"], &pin["by"]),
        (&json!("1.0.0"), &json!(OPERATOR))
    );
    assert_eq!(pin["files"], json!(["SKILL.md"]));
    let page = site.get("/v1/instances/support/tools", VIEWER).await;
    assert_eq!(page["items"][1]["skills"], json!(["mail"]));
    // The same version with different contents is refused.
    let other = version("1.0.0", &["search"]);
    assert_eq!(site.ask("put", mail, OPERATOR, &other).await.status, 409);
    let empty = site
        .ask("put", mail, OPERATOR, &json!({ "version": "" }))
        .await;
    assert_eq!(
        (empty.status, &empty.json()["errors"][0]["pointer"]),
        (422, &json!("/version"))
    );
    let many = vec!["search"; 257];
    let many = site
        .ask("put", mail, OPERATOR, &version("1.0.1", &many))
        .await;
    assert_eq!(
        (many.status, &many.json()["errors"][0]["pointer"]),
        (422, &json!("/required_tools"))
    );
    let second = done(
        &site,
        "put",
        mail,
        &version("1.1.0", &["send_mail", "search"]),
    )
    .await;
    assert_eq!(
        (&second["added"], &second["removed"]),
        (&json!(["search"]), &json!(["read_mail"]))
    );
    let more = json!({ "version": "1", "required_tools": ["search"] });
    done(&site, "put", "/v1/instances/support/skills/more", &more).await;
    let gone = done(&site, "delete", mail, &Value::Null).await;
    assert_eq!((&gone["tools"], &gone["removed"]), (&json!([]), &json!([])));
    let left = [
        "end_turn -",
        "search skill",
        "send_mail manual",
        "unlock global",
    ];
    assert_eq!(enabled(&site, "support").await, left);
}

// S1-32: instances are added, listed page by page and removed with their rows, each in its workspace.
pub(crate) async fn instances_are_added_listed_and_removed_case(kind: StoreKind) {
    let site = start(kind).await;
    for name in ["support", "@workspace", "sales"] {
        let path = format!("/v1/instances/{name}");
        assert_eq!(
            done(&site, "put", &path, &Value::Null).await["changed"],
            true
        );
        assert_eq!(
            done(&site, "put", &path, &Value::Null).await["changed"],
            false
        );
    }
    let mut names = Vec::new();
    let mut path = "/v1/instances?limit=2".to_owned();
    loop {
        let page = site.get(&path, VIEWER).await;
        let items = page["items"].as_array().unwrap();
        names.extend(items.iter().map(|item| item["name"].clone()));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/v1/instances?limit=2&cursor={next}");
    }
    assert_eq!(names, ["@workspace", "sales", "support"]);
    let own = InstanceId::of_workspace("acme");
    let rows = EnablementStore::rows(&*site.store, &own).await.unwrap();
    assert_eq!(rows[0].tool, "unlock");
    let other = site.get("/v1/instances", "viewer-of-globex").await;
    assert_eq!(other["items"], json!([]));
    done(&site, "delete", "/v1/instances/@workspace", &Value::Null).await;
    let rows = EnablementStore::rows(&*site.store, &own).await.unwrap();
    assert_eq!(rows, []);
    let again = site
        .send(
            "delete",
            "/v1/instances/@workspace",
            Some(OPERATOR),
            &[],
            None,
        )
        .await;
    assert_eq!(again.status, 404, "{}", again.text);
}

// S1-33: the catalogue shows the keys of secrets, the flags and the time of the last sync.
pub(crate) async fn catalogue_shows_flags_and_keys_of_secrets_case(kind: StoreKind) {
    let site = start(kind).await;
    let tool = site.get("/v1/tools/search", VIEWER).await;
    assert_eq!(
        (&tool["secrets"], &tool["aliases"]),
        (&json!(["search_key"]), &json!(["find"]))
    );
    assert!(
        tool["synced_at"].as_str().unwrap().starts_with("20"),
        "{tool}"
    );
    let tool = site.get("/v1/tools/unlock", VIEWER).await;
    assert_eq!(
        (&tool["global"], &tool["harness"], &tool["meta"]),
        (&json!(true), &json!(false), &json!(false))
    );
}
