//! Tests of the policy endpoints: replacement, report, shadow policy and explained decisions.

use serde_json::{Value, json};
use server_tests::{Site, StoreKind, tokens};
use tool_core::policy::{Policy, PolicyRequest, PolicyVerdict, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::{Registry, Tool};

const HOST: &str = "host";

/// Removes a file.
#[tool(destructive)]
fn remove_file(
    /// The path of the file.
    path: String,
) -> String {
    path
}

async fn start(kind: StoreKind) -> (Site, SharedPolicy) {
    let policy = Policy::builder()
        .rule(Rule::ask("mails").tools(["send_*"]))
        .share()
        .unwrap();
    let registry = Registry::builder().tool::<remove_file>().build().unwrap();
    let site = Site::with(kind, |server| {
        server
            .policy(&policy)
            .registry(&registry)
            .authenticator(tokens(&["acme"]))
    })
    .await;
    (site, policy)
}

fn denied() -> Value {
    json!({ "default": "allow", "rules": [{ "name": "keep", "verdict": "deny", "tools": ["remove_*"], "reason": "kept" }] })
}

fn verdict(policy: &SharedPolicy) -> (PolicyVerdict, String) {
    let decision = policy.decide(&PolicyRequest {
        tool: &<remove_file as Tool>::DEF,
        tenant: "acme",
        principal: "ann",
        agent: None,
        arguments: "{}",
    });
    (decision.verdict, decision.id.to_string())
}

// An operator of the host can replace the policy only with the `ETag` of the current policy, and the replacement writes an audit row. Faulty policies
// are refused.
pub(crate) async fn policy_is_replaced_only_with_its_current_etag(kind: StoreKind) {
    let (site, policy) = start(kind).await;
    let read = site.send("get", "/v1/policy", Some(HOST), &[], None).await;
    assert_eq!(read.json()["rules"][0]["name"], "mails");
    let tag = read.header("etag").unwrap();
    let new = denied();
    let put = |tag: Option<&str>, body: &Value| {
        let headers: Vec<(&str, String)> = tag
            .map(|tag| ("if-match", tag.to_owned()))
            .into_iter()
            .collect();
        let body = body.clone();
        let site = &site;
        async move {
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            site.send("put", "/v1/policy", Some(HOST), &headers, Some(&body))
                .await
        }
    };
    assert_eq!(put(None, &new).await.status, 428);
    let faulty =
        json!({ "rules": [{ "name": "a", "verdict": "deny" }, { "name": "a", "verdict": "ask" }] });
    assert_eq!(put(Some(tag), &faulty).await.status, 422);
    let unknown = json!({ "rules": [{ "name": "a", "verdict": "deny", "tool": ["x"] }] });
    let refused = put(Some(tag), &unknown).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert_eq!(verdict(&policy).0, PolicyVerdict::Allow);
    let done = put(Some(tag), &new).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(done.json()["version"], policy.current().version());
    assert_eq!(verdict(&policy).0, PolicyVerdict::Deny);
    assert_eq!(put(Some(tag), &new).await.status, 412);
    let audit = site.get("/v1/audit", "viewer-of-acme").await;
    assert_eq!(audit["items"].as_array().unwrap().len(), 1);
    assert_eq!(audit["items"][0]["notes"][0]["action"], "policy.replace");
    assert_eq!(
        audit["items"][0]["notes"][0]["details"]["to"],
        policy.current().version()
    );
}

// The report names rules that match no tool, and tools that no rule matches.
pub(crate) async fn report_names_gaps_of_the_policy(kind: StoreKind) {
    let (site, _) = start(kind).await;
    let report = site.get("/v1/policy/report", HOST).await;
    assert_eq!(report["idle"], json!(["mails"]));
    assert_eq!(report["unreached"], json!(["remove_file"]));
}

// A shadow policy does not decide about calls, and the differences from the policy are counted.
pub(crate) async fn shadow_policy_is_compared_and_ended(kind: StoreKind) {
    let (site, policy) = start(kind).await;
    let path = "/v1/policy/shadow";
    assert_eq!(
        site.send("get", path, Some(HOST), &[], None).await.status,
        404
    );
    assert_eq!(site.ask("put", path, HOST, &denied()).await.status, 200);
    assert_eq!(verdict(&policy).0, PolicyVerdict::Allow);
    let report = site.get(path, HOST).await;
    assert_eq!(
        (&report["judged"], &report["differed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(report["differences"][0]["would"]["rule"], "keep");
    let ended = site.send("delete", path, Some(HOST), &[], None).await;
    assert_eq!(ended.json()["differed"], 1);
    assert_eq!(
        site.send("delete", path, Some(HOST), &[], None)
            .await
            .status,
        404
    );
    assert!(policy.shadow_report().is_none());
}

// A decision is explained only in the workspace of its call.
pub(crate) async fn decision_is_explained_to_its_workspace(kind: StoreKind) {
    use tool_core::store::{AuditRow, CallId, Timestamp};

    let (site, policy) = start(kind).await;
    policy.replace(
        tool_core::policy::PolicyFile::from_json(&denied().to_string())
            .unwrap()
            .build()
            .unwrap(),
    );
    let (_, id) = verdict(&policy);
    let row = AuditRow {
        decision: Some(id.clone()),
        ..AuditRow::new(
            CallId::alone("acme").unwrap(),
            "c",
            "remove_file",
            Timestamp::now(),
        )
    };
    site.store.write(vec![row]).await.unwrap();
    let path = format!("/v1/policy/decisions/{id}");
    let text = site.get(&path, "viewer-of-acme").await;
    assert!(
        text["explanation"].as_str().unwrap().contains("keep"),
        "{text}"
    );
    let other = [("tool-workspace", "globex")];
    assert_eq!(
        site.send("get", &path, Some(HOST), &other, None)
            .await
            .status,
        404
    );
}
