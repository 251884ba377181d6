//! `/v1/policy`: the policy of this process, its report, and a policy in shadow mode.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_TYPE, ETAG};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::policy::{Decision, Policy, PolicyError, PolicyFile, ShadowReport, SharedPolicy};
use tool_core::store::{AuditFilter, Scope};
use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{answer, json};
use crate::extract::{Body, Id, IfMatch};
use crate::openapi::one_of;
use crate::problem::{InputError, Kind, Problem};
use crate::state::{Inner, Shared};

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::host(Role::Viewer), routes!(get_policy)))
        .routes(needs(Access::host(Role::Admin), routes!(replace_policy)))
        .routes(needs(Access::host(Role::Viewer), routes!(report_policy)))
        .routes(needs(Access::host(Role::Viewer), routes!(get_shadow)))
        .routes(needs(Access::host(Role::Admin), routes!(set_shadow)))
        .routes(needs(Access::host(Role::Admin), routes!(end_shadow)))
        .routes(needs(Access::role(Role::Viewer), routes!(explain_decision)))
}

/// Returns the policy of the process. Fails if the server was built without a policy.
fn policy(admin: &Inner) -> Result<&SharedPolicy, Problem> {
    let missing = || {
        let detail = "this server was built without the host's policy, add it with `AdminServerBuilder::policy`";
        Problem::new(Kind::NotFound, detail)
    };
    admin.policy.as_ref().ok_or_else(missing)
}

/// A policy as an operator writes it: the JSON form of a policy file.
#[derive(Deserialize)]
#[serde(transparent)]
struct PolicyDocument(PolicyFile);

fn verdicts() -> Schema {
    one_of(["allow", "ask", "deny"])
}

/// Returns the schema of the allow list and the deny list.
fn lists() -> Schema {
    let names = || ArrayBuilder::new().items(ObjectBuilder::new().schema_type(Type::String));
    Schema::Object(
        ObjectBuilder::new()
            .property("allow", names())
            .property("deny", names())
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .build(),
    )
}

impl PartialSchema for PolicyDocument {
    /// Describes a policy file. tool-core defines the types of rules without schemas, so the schema is written here; docs/operator.md lists the keys
    /// of rules.
    fn schema() -> RefOr<Schema> {
        let agent = ObjectBuilder::new()
            .property("id", ObjectBuilder::new().schema_type(Type::String))
            .property("tools", lists())
            .required("id")
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        let rule = ObjectBuilder::new()
            .property("name", ObjectBuilder::new().schema_type(Type::String))
            .property("verdict", verdicts())
            .required("name")
            .required("verdict")
            .description(Some("The operators' guide lists the other keys of a rule"));
        let document = ObjectBuilder::new()
            .description(Some("A policy: the JSON form of a policy file"))
            .property("default", verdicts())
            .property("tools", lists())
            .property("agents", ArrayBuilder::new().items(agent))
            .property("rules", ArrayBuilder::new().items(rule))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        RefOr::T(Schema::Object(document.build()))
    }
}

impl ToSchema for PolicyDocument {}

/// The policy that is in force in this process.
#[derive(Serialize, ToSchema)]
struct CurrentPolicy {
    /// A hash of the policy's contents.
    version: String,
    /// The verdict if no rule matches.
    #[schema(schema_with = verdicts)]
    default: &'static str,
    /// The allow list and the deny list for all agents.
    #[schema(schema_with = lists)]
    tools: Value,
    /// The rules in evaluation order: deny, ask, allow.
    rules: Vec<Value>,
}

impl From<&Policy> for CurrentPolicy {
    fn from(policy: &Policy) -> Self {
        let value = |value: serde_json::Result<Value>| value.unwrap_or_default();
        let rules = policy.rules().iter();
        Self {
            version: policy.version().to_owned(),
            default: policy.default_verdict().as_str(),
            tools: value(serde_json::to_value(policy.global_lists())),
            rules: rules
                .map(|rule| value(serde_json::to_value(rule)))
                .collect(),
        }
    }
}

fn tag(policy: &Policy) -> String {
    format!("\"{}\"", policy.version())
}

fn shown(policy: &Policy) -> Response {
    let text = json(&CurrentPolicy::from(policy));
    let kind = "application/json".to_owned();
    ([(CONTENT_TYPE, kind), (ETAG, tag(policy))], text).into_response()
}

/// Creates the problem for an invalid policy.
fn faulty(error: &PolicyError) -> Problem {
    let faults = error.faults().iter().map(|fault| InputError {
        pointer: String::new(),
        detail: fault.clone(),
    });
    Problem::inputs(faults.collect())
}

/// Returns the policy in force in this process.
#[utoipa::path(get, path = "/v1/policy", tag = "policy",
    responses((status = 200, description = "The policy", body = CurrentPolicy, headers(("ETag" = String, description = "The version of the policy")))))]
async fn get_policy(State(admin): State<Shared>) -> Answer {
    Ok(shown(&policy(&admin)?.current()))
}

/// Replaces the policy in force in this process.
///
/// Other processes use the policy of their own configuration, and so does this process after a restart.
#[utoipa::path(put, path = "/v1/policy", tag = "policy",
    params(("If-Match" = String, Header, description = "The `ETag` of the policy that was read")),
    request_body = PolicyDocument,
    responses((status = 200, description = "The new policy", body = CurrentPolicy)))]
async fn replace_policy(
    State(admin): State<Shared>,
    caller: Caller,
    tags: IfMatch,
    Body(PolicyDocument(file)): Body<PolicyDocument>,
) -> Answer {
    let shared = policy(&admin)?;
    tags.required()?;
    let new = file.build().map_err(|error| faulty(&error))?;
    let _replacing = admin.replacing.lock().await;
    let before = shared.current();
    tags.check(&tag(&before))?;
    let details = json!({ "from": before.version(), "to": new.version() });
    admin.note(&caller, "policy.replace", details).await?;
    shared.replace(new);
    Ok(shown(&shared.current()))
}

/// Gaps and unused rules of the policy in force.
#[derive(Serialize, ToSchema)]
struct Report {
    /// The version of the policy.
    version: String,
    /// Tools that no rule can match.
    unreached: Vec<String>,
    /// Destructive tools that can be called without an approval.
    unapproved: Vec<Unapproved>,
    /// Rules that match no tool.
    idle: Vec<String>,
    /// Names in rules and lists, written without `*` and `?`, that no tool has.
    unknown: Vec<UnknownName>,
}

/// A destructive tool that can be called without an approval.
#[derive(Serialize, ToSchema)]
struct Unapproved {
    tool: String,
    /// The allow rule that permits the call; null if the default permits it.
    rule: Option<String>,
    /// The pattern of the affected workspaces.
    tenant: String,
    /// The pattern of the affected users.
    principal: String,
    /// The pattern of the affected agents.
    agent: String,
}

/// A name that no tool has.
#[derive(Serialize, ToSchema)]
struct UnknownName {
    name: String,
    /// The list or rule that contains the name.
    place: String,
    /// Names of tools that are similar.
    near: Vec<String>,
}

/// Reports gaps and unused rules of the policy in force.
#[utoipa::path(get, path = "/v1/policy/report", tag = "policy",
    responses((status = 200, description = "The report", body = Report)))]
async fn report_policy(State(admin): State<Shared>) -> Answer {
    let current = policy(&admin)?.current();
    let missing = || {
        let detail = "this server was built without the host's tools, add them with `AdminServerBuilder::registry`";
        Problem::new(Kind::NotFound, detail)
    };
    let registry = admin.registry.as_ref().ok_or_else(missing)?;
    let report = current.report(registry);
    Ok(answer(json(&Report {
        version: current.version().to_owned(),
        unreached: report.unreached,
        unapproved: report
            .unapproved
            .into_iter()
            .map(|one| {
                // `rule` is the id of a policy rule, not of a rule for schemas.
                let rule = one.rule;
                Unapproved {
                    tool: one.tool,
                    rule,
                    tenant: one.tenant,
                    principal: one.principal,
                    agent: one.agent,
                }
            })
            .collect(),
        idle: report.idle,
        unknown: report
            .unknown
            .into_iter()
            .map(|one| UnknownName {
                name: one.name,
                place: one.place,
                near: one.near,
            })
            .collect(),
    })))
}

/// The decisions of a policy in shadow mode, compared with the policy in force.
#[derive(Serialize, ToSchema)]
struct Shadow {
    /// The version of the shadow policy.
    version: String,
    /// The number of decisions that the shadow policy has made. It decides again on a call whose rules have changed before its body begins.
    judged: u64,
    /// The number of these decisions that differ from the decision of the policy in force.
    differed: u64,
    /// The most recent differences, oldest first.
    differences: Vec<ShadowDifference>,
}

/// A call on which the shadow policy would have decided differently.
#[derive(Serialize, ToSchema)]
struct ShadowDifference {
    tool: String,
    workspace: String,
    decided: Judgement,
    would: Judgement,
}

/// The decision of a policy on a call.
#[derive(Serialize, ToSchema)]
struct Judgement {
    #[schema(schema_with = verdicts)]
    verdict: &'static str,
    /// The rule that decided; null if the default or a kill switch decided.
    rule: Option<String>,
    reason: Option<String>,
    four_eyes: bool,
}

impl From<&Decision> for Judgement {
    fn from(decision: &Decision) -> Self {
        Self {
            verdict: decision.verdict.as_str(),
            rule: decision.rule.as_deref().map(str::to_owned),
            reason: decision.reason.as_deref().map(str::to_owned),
            four_eyes: decision.four_eyes,
        }
    }
}

impl From<ShadowReport> for Shadow {
    fn from(report: ShadowReport) -> Self {
        Self {
            version: (*report.policy).to_owned(),
            judged: report.judged,
            differed: report.differed,
            differences: report
                .differences
                .iter()
                .map(|one| ShadowDifference {
                    tool: one.tool.clone(),
                    workspace: one.tenant.clone(),
                    decided: Judgement::from(&one.decided),
                    would: Judgement::from(&one.would),
                })
                .collect(),
        }
    }
}

const SHADOW: &str = "shadow policy";

/// Returns the report on the shadow policy.
#[utoipa::path(get, path = "/v1/policy/shadow", tag = "policy",
    responses((status = 200, description = "The report", body = Shadow)))]
async fn get_shadow(State(admin): State<Shared>) -> Answer {
    let report = policy(&admin)?.shadow_report();
    let report = report.ok_or_else(|| Problem::missing(SHADOW))?;
    Ok(answer(json(&Shadow::from(report))))
}

/// Tries a policy in shadow mode: the policy in force still decides, and the calls on which the shadow policy would decide differently are counted.
#[utoipa::path(put, path = "/v1/policy/shadow", tag = "policy", request_body = PolicyDocument,
    responses((status = 200, description = "The report, which is empty at first", body = Shadow)))]
async fn set_shadow(
    State(admin): State<Shared>,
    caller: Caller,
    Body(PolicyDocument(file)): Body<PolicyDocument>,
) -> Answer {
    let shared = policy(&admin)?;
    let new = file.build().map_err(|error| faulty(&error))?;
    let details = json!({ "version": new.version() });
    admin.note(&caller, "policy.shadow", details).await?;
    shared.shadow(new);
    let report = shared.shadow_report();
    let report = report.ok_or_else(|| Problem::missing(SHADOW))?;
    Ok(answer(json(&Shadow::from(report))))
}

/// Ends the shadow mode and returns its last report.
#[utoipa::path(delete, path = "/v1/policy/shadow", tag = "policy",
    responses((status = 200, description = "The last report", body = Shadow)))]
async fn end_shadow(State(admin): State<Shared>, caller: Caller) -> Answer {
    let shared = policy(&admin)?;
    let running = shared.shadow_report();
    let running = running.ok_or_else(|| Problem::missing(SHADOW))?;
    let details = json!({ "version": &*running.policy });
    admin.note(&caller, "policy.end_shadow", details).await?;
    let report = shared.end_shadow();
    let report = report.ok_or_else(|| Problem::missing(SHADOW))?;
    Ok(answer(json(&Shadow::from(report))))
}

/// The explanation of a decision.
#[derive(Serialize, ToSchema)]
struct Explanation {
    /// The rule that decided, and why.
    explanation: String,
}

/// Explains a decision on a call of the workspace. Only decisions of the last 32 policies of this process can be explained.
#[utoipa::path(get, path = "/v1/policy/decisions/{id}", tag = "policy",
    params(("id" = String, Path, description = "The id of the decision in an audit row")),
    responses((status = 200, description = "The explanation", body = Explanation)))]
async fn explain_decision(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
) -> Answer {
    const WHAT: &str = "decision";
    // Rules may name other workspaces, so only decisions on calls of this workspace are explained.
    let filter = AuditFilter {
        decision: Some(id.clone()),
        limit: Some(1),
        ..AuditFilter::default()
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = admin.store.export(scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let known = rows.first().zip(admin.policy.as_ref());
    let explanation = known.and_then(|(_, policy)| policy.explain(&id));
    let explanation = explanation.ok_or_else(|| Problem::missing(WHAT))?;
    Ok(answer(json(&Explanation { explanation })))
}
