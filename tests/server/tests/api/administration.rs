//! Tests of workspaces, members, erasure, removal of old rows, and forced ends.

use std::time::Duration;

use serde_json::{Value, json};
use server_tests::{Answer, Site, StoreKind, seed};
use tool_core::store::{
    ApprovalStore, AuditFilter, CallId, EffectLedger, Intent, RunState, Scope, ThreadId,
    ThreadStore, Timestamp,
};

const VIEWER: &str = "viewer-of-acme";
const OPERATOR: &str = "operator-of-acme";
const ADMIN: &str = "admin-of-acme";

/// Sends a request that succeeds.
pub(crate) async fn done(
    site: &Site,
    token: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> Answer {
    let body = Some(body).filter(|body| !body.is_null());
    let answer = site.send(method, path, Some(token), &[], body).await;
    assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
    answer
}

/// Returns the operator and the details of the last change with this action in the audit of `acme`.
pub(crate) async fn note(site: &Site, action: &str) -> (String, Value) {
    let page = site.get("/v1/audit", VIEWER).await;
    let mut rows = page["items"].as_array().unwrap().iter();
    let row = rows
        .find(|row| row["notes"][0]["action"] == action)
        .unwrap_or_else(|| panic!("no {action} in {page}"));
    let operator = row["principal"].as_str().unwrap().to_owned();
    (operator, row["notes"][0]["details"].clone())
}

// S3-22: an operator of the host creates a workspace, and an admin changes its settings. The runtime user has to be a member, and an old `ETag` is
// refused.
pub(crate) async fn workspace_has_settings_that_admins_change_case(kind: StoreKind) {
    let site = Site::start(kind).await;
    let there = [("tool-workspace", "initech")];
    let short = json!({ "retention_tier": "short" });
    let created = site
        .send("put", "/v1/workspace", Some("host"), &there, Some(&short))
        .await;
    assert_eq!(
        (created.status, &created.json()["workspace"]),
        (200, &json!("initech")),
        "{}",
        created.text
    );
    let foreign = site
        .send("put", "/v1/workspace", Some(ADMIN), &there, Some(&short))
        .await;
    assert_eq!(foreign.status, 403, "{}", foreign.text);
    let none = site
        .send("get", "/v1/workspace", Some(VIEWER), &[], None)
        .await;
    assert_eq!(none.status, 404, "{}", none.text);
    let own = done(&site, ADMIN, "put", "/v1/workspace", &json!({})).await;
    assert_eq!(own.json()["retention_tier"], "medium");
    let robot = json!({ "default_runtime_user": "robot" });
    let refused = site.ask("put", "/v1/workspace", ADMIN, &robot).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    done(
        &site,
        ADMIN,
        "put",
        "/v1/members/robot",
        &json!({ "role": "viewer" }),
    )
    .await;
    let read = done(&site, VIEWER, "get", "/v1/workspace", &Value::Null).await;
    let tag = [("if-match", read.header("etag").unwrap())];
    let send = async || {
        site.send("put", "/v1/workspace", Some(ADMIN), &tag, Some(&robot))
            .await
    };
    let changed = send().await;
    assert_eq!(
        (changed.status, &changed.json()["default_runtime_user"]),
        (200, &json!("robot")),
        "{}",
        changed.text
    );
    assert_eq!(changed.json()["created_at"], own.json()["created_at"]);
    assert_eq!(send().await.status, 412);
    let all = done(&site, "host", "get", "/v1/workspaces", &Value::Null)
        .await
        .json();
    let names: Vec<_> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["workspace"])
        .collect();
    assert_eq!(names, ["acme", "initech"]);
    assert_eq!(
        site.send("get", "/v1/workspaces", Some(ADMIN), &[], None)
            .await
            .status,
        403
    );
    let (operator, details) = note(&site, "workspace.write").await;
    assert_eq!(
        (&*operator, &details["default_runtime_user"]),
        (ADMIN, &json!("robot"))
    );
}

// Only an admin changes members. A request with an old `ETag` is refused, and each change has an audit row.
pub(crate) async fn members_are_changed_by_admins(kind: StoreKind) {
    let site = Site::start(kind).await;
    let approver = json!({ "role": "approver" });
    for token in [VIEWER, "approver-of-acme", OPERATOR, "author-of-acme"] {
        let answer = site.ask("put", "/v1/members/eve", token, &approver).await;
        assert_eq!(answer.status, 403, "{token}: {}", answer.text);
    }
    done(&site, ADMIN, "put", "/v1/members/eve", &approver).await;
    done(
        &site,
        ADMIN,
        "put",
        "/v1/members/bob",
        &json!({ "role": "admin" }),
    )
    .await;
    let unknown = site
        .ask("put", "/v1/members/eve", ADMIN, &json!({ "role": "owner" }))
        .await;
    assert_eq!(
        (unknown.status, &unknown.json()["errors"][0]["pointer"]),
        (422, &json!("/role")),
        "{}",
        unknown.text
    );
    let page = site.get("/v1/members?limit=1", VIEWER).await;
    assert_eq!(
        (&page["items"][0]["user"], &page["items"][0]["role"]),
        (&json!("bob"), &json!("admin"))
    );
    let next = format!("/v1/members?cursor={}", page["next"].as_str().unwrap());
    assert_eq!(site.get(&next, VIEWER).await["items"][0]["user"], "eve");
    assert_eq!(
        site.get("/v1/members", "viewer-of-globex").await["items"],
        json!([])
    );
    let read = done(&site, VIEWER, "get", "/v1/members/eve", &Value::Null).await;
    let tag = [("if-match", read.header("etag").unwrap())];
    let viewer = json!({ "role": "viewer" });
    let send = async |method: &str, body: Option<&Value>| {
        site.send(method, "/v1/members/eve", Some(ADMIN), &tag, body)
            .await
            .status
    };
    assert_eq!(send("put", Some(&viewer)).await, 200);
    assert_eq!(send("put", Some(&viewer)).await, 412);
    assert_eq!(send("delete", None).await, 412);
    done(&site, ADMIN, "delete", "/v1/members/eve", &Value::Null).await;
    let again = site
        .send("delete", "/v1/members/eve", Some(ADMIN), &[], None)
        .await;
    assert_eq!(again.status, 404, "{}", again.text);
    // A request with `If-Match` does not create a member.
    for tag in ["*", "none", "\"old\""] {
        let missing = site
            .send(
                "put",
                "/v1/members/eve",
                Some(ADMIN),
                &[("if-match", tag)],
                Some(&viewer),
            )
            .await;
        assert_eq!(missing.status, 412, "{tag}: {}", missing.text);
    }
    let (operator, details) = note(&site, "member.remove").await;
    assert_eq!((&*operator, &details["user"]), (ADMIN, &json!("eve")));
    let (_, details) = note(&site, "member.write").await;
    assert_eq!(details["role"], "viewer");
}

// An admin erases a conversation or the contents of a user, with a reason. Other rows and the audit row of the erasure are kept.
pub(crate) async fn contents_are_erased_with_a_reason(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    seed(&*site.store, "globex").await;
    let thread = format!("/v1/threads/{}/erase", acme.conversation);
    let user = format!("/v1/users/{}/erase", acme.principal);
    let why = json!({ "reason": "ann asked for it" });
    for path in [&thread, &user] {
        assert_eq!(site.ask("post", path, OPERATOR, &why).await.status, 403);
        let empty = site
            .ask("post", path, ADMIN, &json!({ "reason": " " }))
            .await;
        assert_eq!(
            (empty.status, &empty.json()["errors"][0]["pointer"]),
            (422, &json!("/reason"))
        );
    }
    let key = [("idempotency-key", "e-1")];
    let send = async || {
        site.send("post", &thread, Some(ADMIN), &key, Some(&why))
            .await
    };
    let erased = send().await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    let report = erased.json();
    assert_eq!(
        (
            &report["messages"],
            &report["approvals"],
            &report["variables"]
        ),
        (&json!(3), &json!(3), &json!(1)),
        "{report}"
    );
    assert_eq!(send().await.text, erased.text);
    let messages = format!("/v1/threads/{}/messages", acme.conversation);
    assert_eq!(site.get(&messages, VIEWER).await["items"], json!([]));
    let approval = ApprovalStore::get(&*site.store, &"acme".into(), &acme.approval)
        .await
        .unwrap()
        .unwrap();
    assert!(!approval.request.arguments.contains("bob"), "{approval:?}");
    let report = done(&site, ADMIN, "post", &user, &why).await.json();
    assert_eq!(report["audit"], json!(3), "{report}");
    let (operator, details) = note(&site, "user.erase").await;
    assert_eq!(
        (&*operator, &details["reason"]),
        (ADMIN, &json!("ann asked for it"))
    );
    assert_eq!(
        note(&site, "thread.erase").await.1["conversation"],
        acme.conversation
    );
    // The rows of a different workspace are kept.
    let foreign = ThreadId::new("globex", "main-of-globex").unwrap();
    assert_eq!(
        ThreadStore::read(&*site.store, &foreign, None)
            .await
            .unwrap()
            .len(),
        3
    );
}

// An operator of the host removes old rows. Each request removes a limited number, and the response states whether more rows remain.
pub(crate) async fn old_rows_are_purged_in_limited_requests(kind: StoreKind) {
    let site = Site::start(kind).await;
    let main = ThreadId::new("acme", "main").unwrap();
    for n in 0..5 {
        let identity = CallId::in_thread(&main, 1, n);
        let row =
            tool_core::store::AuditRow::new(identity, "c", "look", Timestamp::from_millis(1_000));
        site.store.write(vec![row]).await.unwrap();
    }
    let path = "/v1/maintenance/purge";
    let body = json!({ "days": { "audit": 30 }, "most": 3, "reason": "retention" });
    assert_eq!(site.ask("post", path, ADMIN, &body).await.status, 403);
    let first = done(&site, "host", "post", path, &body).await.json();
    assert_eq!((&first["audit"], &first["more"]), (&json!(3), &json!(true)));
    // The report counts every kind of row that the store removes.
    let kinds = serde_json::to_value(tool_core::store::Purged::default()).unwrap();
    let of = |report: &Value| {
        report
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&first), of(&kinds));
    let second = done(&site, "host", "post", path, &body).await.json();
    assert_eq!(
        (&second["audit"], &second["more"]),
        (&json!(2), &json!(false))
    );
    for (body, pointer) in [
        (
            json!({ "days": { "audit": 0 }, "reason": "x" }),
            "/days/audit",
        ),
        (
            json!({ "days": { "secrets": 1 }, "reason": "x" }),
            "/days/secrets",
        ),
        (json!({ "days": {}, "most": 0, "reason": "x" }), "/most"),
    ] {
        let answer = site.ask("post", path, "host", &body).await;
        assert_eq!(
            (answer.status, &answer.json()["errors"][0]["pointer"]),
            (422, &json!(pointer)),
            "{}",
            answer.text
        );
    }
    let all = site
        .store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    assert_eq!(all.len(), 2, "the audit rows of both purges are kept");
    let (operator, details) = note(&site, "maintenance.purge").await;
    assert_eq!(
        (&*operator, &details["days"]["audit"]),
        ("host", &json!(30))
    );
}

// An admin ends the run of a dead process by force, with a reason. A run that has ended cannot be ended again.
pub(crate) async fn run_of_a_dead_process_is_ended_by_force(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let path = format!("/v1/runs/{}/1/force", acme.conversation);
    let why = json!({ "reason": "the machine is gone" });
    assert_eq!(site.ask("post", &path, OPERATOR, &why).await.status, 403);
    let missing = site.ask("post", &path, ADMIN, &json!({})).await;
    assert_eq!(missing.status, 422, "{}", missing.text);
    let ended = done(&site, ADMIN, "post", &path, &why).await.json();
    assert_eq!(
        (&ended["state"], &ended["cause"]),
        (&json!(RunState::Ended.as_str()), &json!("cancelled"))
    );
    assert!(ended["ended"].is_string(), "{ended}");
    let again = site.ask("post", &path, ADMIN, &why).await;
    assert_eq!(again.status, 409, "{}", again.text);
    let (operator, details) = note(&site, "run.force").await;
    assert_eq!(
        (&*operator, &details["reason"]),
        (ADMIN, &json!("the machine is gone"))
    );
    let unknown = format!("/v1/runs/{}/9/force", acme.conversation);
    assert_eq!(site.ask("post", &unknown, ADMIN, &why).await.status, 404);
}

// An admin settles an effect whose row is still `running` by force, with a reason. `resolve` refuses to settle such an effect.
pub(crate) async fn effect_of_a_dead_process_is_settled_by_force(kind: StoreKind) {
    let site = Site::start(kind).await;
    let thread = ThreadId::new("acme", "main").unwrap();
    let now = Timestamp::now();
    let identity = CallId::in_thread(&thread, 1, 0);
    let intent = Intent {
        identity: identity.clone(),
        earlier: None,
        call: "call_0".to_owned(),
        thread: Some("main".to_owned()),
        agent: None,
        tool: "send_mail".to_owned(),
        contract: "9f".to_owned(),
        principal: "ann".to_owned(),
        arguments_hash: "00".to_owned(),
        owner: "dead".to_owned(),
        at: now,
        lease_until: now.plus(Duration::from_hours(1)),
    };
    EffectLedger::begin(&*site.store, intent, None)
        .await
        .unwrap();
    let key = identity.key();
    let path = |end: &str| format!("/v1/effects/{}/{end}", key.as_str());
    let failed = json!({ "finding": "failed", "error": "the mail was not sent" });
    let early = site.ask("post", &path("resolve"), OPERATOR, &failed).await;
    assert_eq!(early.status, 409, "{}", early.text);
    let mut forced = failed.clone();
    forced["reason"] = "the machine is gone".into();
    assert_eq!(
        site.ask("post", &path("force"), OPERATOR, &forced)
            .await
            .status,
        403
    );
    assert_eq!(
        site.ask("post", &path("force"), ADMIN, &failed)
            .await
            .status,
        422
    );
    let settled = done(&site, ADMIN, "post", &path("force"), &forced)
        .await
        .json();
    assert_eq!(
        (&settled["state"], &settled["resolved_by"]),
        (&json!("failed"), &json!(ADMIN))
    );
    let again = site.ask("post", &path("force"), ADMIN, &forced).await;
    assert_eq!(again.status, 409, "{}", again.text);
    let (operator, details) = note(&site, "effect.force").await;
    assert_eq!(
        (&*operator, &details["state"], &details["resolution"]),
        (ADMIN, &json!("running"), &json!("failed"))
    );
}
