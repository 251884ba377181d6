//! `/v1/instances`: the tools and the skills of the instances of a workspace.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Catalogue, Change, Changed, EnablementRow, EnablementStore, InstanceChange, InstanceId,
    SkillChange, SkillPin, SkillVersion, Timestamp,
};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, ChangeOutcome, Routes, needs, outcome};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Body, Id, Idempotency, Query};
use crate::page::{Page, Paged, Paging};
use crate::problem::Problem;
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "instance";
const TOOL: &str = "tool";
const SKILL: &str = "skill";

/// The path segment for the instance with an empty name. A workspace that is not divided into instances has only this instance.
pub(super) const WORKSPACE: &str = "@workspace";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_instances)))
        .routes(needs(Access::role(Role::Operator), routes!(add_instance)))
        .routes(needs(
            Access::role(Role::Operator),
            routes!(remove_instance),
        ))
        .routes(needs(
            Access::role(Role::Viewer),
            routes!(list_instance_tools),
        ))
        .routes(needs(Access::role(Role::Operator), routes!(enable_tool)))
        .routes(needs(Access::role(Role::Operator), routes!(disable_tool)))
        .routes(needs(
            Access::role(Role::Viewer),
            routes!(list_instance_skills),
        ))
        .routes(needs(Access::role(Role::Operator), routes!(enable_skill)))
        .routes(needs(Access::role(Role::Operator), routes!(disable_skill)))
}

fn id(caller: &Caller, name: &str) -> InstanceId {
    if name == WORKSPACE {
        InstanceId::of_workspace(&caller.workspace)
    } else {
        InstanceId::new(&caller.workspace, name)
    }
}

fn name(instance: &InstanceId) -> String {
    match instance.slug() {
        "" => WORKSPACE.to_owned(),
        slug => slug.to_owned(),
    }
}

/// An instance: a part of a workspace that has its own tools and skills.
#[derive(Serialize, ToSchema)]
struct Instance {
    /// The name of the instance; `@workspace` for the only instance of a workspace.
    name: String,
}

/// Lists the instances of the workspace, by name.
#[utoipa::path(get, path = "/v1/instances", tag = "instances", params(Paged),
    responses((status = 200, description = "A page of instances", body = Page<Instance>)))]
async fn list_instances(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging()?;
    let after = paging.after.as_deref();
    let rows = admin
        .store
        .list_instances(&caller.workspace, after, paging.rows());
    let rows = rows
        .await
        .map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |instance: &InstanceId| instance.slug().to_owned();
    let page = paging.page(rows, place, |instance| Instance {
        name: name(&instance),
    });
    Ok(answer(json(&page)))
}

/// Applies a change to an instance on behalf of a caller.
async fn change(
    admin: &Inner,
    caller: &Caller,
    change: InstanceChange,
    (action, details): (&'static str, serde_json::Value),
    what: &'static str,
    respond: fn(&Changed) -> String,
) -> Answer {
    let wanted = Wanted {
        change: Change::Instance(change),
        action,
        details,
        request: "",
        what,
    };
    let text = admin.change(caller, Idempotency(None), wanted, respond);
    Ok(answer(text.await?))
}

/// Adds an instance, which gets the tools that the program enables for every instance.
#[utoipa::path(put, path = "/v1/instances/{instance}", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace")),
    responses((status = 200, description = "Whether the instance was added", body = ChangeOutcome)))]
async fn add_instance(
    State(admin): State<Shared>,
    caller: Caller,
    Id(instance): Id<String>,
) -> Answer {
    let details = ("instance.add", json!({ "instance": instance }));
    let add = InstanceChange::Add {
        instance: id(&caller, &instance),
        at: Timestamp::now(),
    };
    change(&admin, &caller, add, details, WHAT, outcome).await
}

/// Removes an instance with its tools and skills.
#[utoipa::path(delete, path = "/v1/instances/{instance}", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace")),
    responses((status = 200, description = "The instance was removed", body = ChangeOutcome)))]
async fn remove_instance(
    State(admin): State<Shared>,
    caller: Caller,
    Id(instance): Id<String>,
) -> Answer {
    let details = ("instance.remove", json!({ "instance": instance }));
    let remove = InstanceChange::Remove {
        instance: id(&caller, &instance),
    };
    change(&admin, &caller, remove, details, WHAT, outcome).await
}

/// A tool of an instance.
#[derive(Serialize, ToSchema)]
struct InstanceTool {
    /// The name of the tool, or `agent:` and the name of an agent for the tool that calls the agent.
    name: String,
    /// Whether the tool is enabled for the instance.
    enabled: bool,
    /// The highest source that enables the tool: `global`, `skill` or `manual`. Null if the tool is not enabled, or if it is enabled only because it
    /// is a harness tool.
    source: Option<&'static str>,
    /// Whether a person has enabled the tool. If so, it stays enabled when a higher source ends.
    manual: bool,
    /// The skills of the instance that require the tool.
    skills: Vec<String>,
    /// The user who has enabled the tool; `sync` for the program.
    by: Option<String>,
    #[schema(format = DateTime)]
    at: Option<String>,
}

impl InstanceTool {
    fn of(name: String, row: Option<&EnablementRow>, is_harness: bool) -> Self {
        Self {
            name,
            enabled: is_harness || row.is_some(),
            source: row.map(|row| row.source.as_str()),
            manual: row.is_some_and(|row| row.is_manual),
            skills: Vec::new(),
            by: row.map(|row| row.by.clone()),
            at: row.map(|row| time::text(row.at)),
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ToolFilter {
    /// Only tools that are enabled (`true`), or only tools that are not enabled (`false`).
    enabled: Option<bool>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists the tools of the catalogue and the agents of an instance, by name, with the source that enables each of them.
///
/// An instance that does not exist has no enabled tools.
#[utoipa::path(get, path = "/v1/instances/{instance}/tools", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace"), ToolFilter),
    responses((status = 200, description = "A page of tools", body = Page<InstanceTool>)))]
async fn list_instance_tools(
    State(admin): State<Shared>,
    caller: Caller,
    Id(instance): Id<String>,
    Query(query): Query<ToolFilter>,
) -> Answer {
    let paging = Paging::<String>::new(query.limit, query.cursor.as_deref())?;
    let instance = id(&caller, &instance);
    let failed = |error| Problem::of_store(&error, WHAT);
    let entries = Catalogue::entries(&*admin.store).await.map_err(failed)?;
    let rows = EnablementStore::rows(&*admin.store, &instance).await;
    let pins = EnablementStore::skills(&*admin.store, &instance).await;
    let rows: BTreeMap<String, EnablementRow> = rows
        .map_err(failed)?
        .into_iter()
        .map(|row| (row.tool.clone(), row))
        .collect();
    let pins = pins.map_err(failed)?;
    let mut tools: BTreeMap<String, InstanceTool> = BTreeMap::new();
    for entry in entries {
        let names: BTreeSet<&String> = entry.aliases.iter().chain([&entry.name]).collect();
        let requires = |pin: &&SkillPin| {
            let mut required = pin.skill.required_tools.iter();
            required.any(|tool| names.contains(tool))
        };
        let skills = pins.iter().filter(requires);
        let skills = skills.map(|pin| pin.skill.name.clone()).collect();
        let name = entry.name.clone();
        let tool = InstanceTool::of(name.clone(), rows.get(&name), entry.is_harness);
        tools.insert(name, InstanceTool { skills, ..tool });
    }
    for (name, row) in &rows {
        let tool = || InstanceTool::of(name.clone(), Some(row), false);
        tools.entry(name.clone()).or_insert_with(tool);
    }
    let tools = tools.into_values().filter(|tool| {
        query.enabled.is_none_or(|wanted| tool.enabled == wanted) && paging.is_later(&tool.name)
    });
    let page = paging.page(tools.collect(), |tool| tool.name.clone(), |tool| tool);
    Ok(answer(json(&page)))
}

/// Enables a tool for an instance.
///
/// Every process that uses the store applies the change within a second. The instance is added if it does not exist.
#[utoipa::path(put, path = "/v1/instances/{instance}/tools/{tool}", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace"),
        ("tool" = String, Path, description = "The name of the tool, or `agent:` and the name of an agent")),
    responses((status = 200, description = "Whether the request has enabled the tool", body = ChangeOutcome)))]
async fn enable_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id((instance, tool)): Id<(String, String)>,
) -> Answer {
    let details = json!({ "instance": instance, "tool": tool });
    let enable = InstanceChange::Enable {
        instance: id(&caller, &instance),
        tool,
        by: caller.subject.clone(),
        at: Timestamp::now(),
    };
    let details = ("instance.enable_tool", details);
    change(&admin, &caller, enable, details, TOOL, outcome).await
}

/// Disables a tool that a person has enabled for an instance.
///
/// If a skill or the program enables the tool, the request is refused, and the problem names the source.
#[utoipa::path(delete, path = "/v1/instances/{instance}/tools/{tool}", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace"),
        ("tool" = String, Path, description = "The name of the tool, or `agent:` and the name of an agent")),
    responses((status = 200, description = "Whether the request has disabled the tool", body = ChangeOutcome)))]
async fn disable_tool(
    State(admin): State<Shared>,
    caller: Caller,
    Id((instance, tool)): Id<(String, String)>,
) -> Answer {
    let details = json!({ "instance": instance, "tool": tool });
    let disable = InstanceChange::Disable {
        instance: id(&caller, &instance),
        tool,
        by: caller.subject.clone(),
    };
    let details = ("instance.disable_tool", details);
    change(&admin, &caller, disable, details, TOOL, outcome).await
}

/// A skill of an instance, with its pinned version.
#[derive(Serialize, ToSchema)]
struct InstanceSkill {
    name: String,
    /// The version that is pinned for the instance.
    version: String,
    /// The description of the skill for the model.
    description: String,
    /// The tools that the version requires.
    required_tools: Vec<String>,
    /// The environment variables that the version needs.
    env: Vec<String>,
    /// The paths of the files of the version.
    files: Vec<String>,
    /// The user who has pinned the version.
    by: String,
    #[schema(format = DateTime)]
    at: String,
}

impl From<SkillPin> for InstanceSkill {
    fn from(pin: SkillPin) -> Self {
        let skill = pin.skill;
        Self {
            name: skill.name,
            version: skill.version,
            description: skill.description,
            required_tools: skill.required_tools,
            env: skill.env,
            files: skill.files.into_keys().collect(),
            by: pin.by,
            at: time::text(pin.at),
        }
    }
}

/// Lists the skills of an instance, by name, each with its pinned version.
#[utoipa::path(get, path = "/v1/instances/{instance}/skills", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace"), Paged),
    responses((status = 200, description = "A page of skills", body = Page<InstanceSkill>)))]
async fn list_instance_skills(
    State(admin): State<Shared>,
    caller: Caller,
    Id(instance): Id<String>,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging()?;
    let instance = id(&caller, &instance);
    let pins = EnablementStore::skills(&*admin.store, &instance).await;
    let mut pins = pins.map_err(|error| Problem::of_store(&error, WHAT))?;
    pins.retain(|pin| paging.is_later(&pin.skill.name));
    let page = paging.page(pins, |pin| pin.skill.name.clone(), InstanceSkill::from);
    Ok(answer(json(&page)))
}

/// A version of a skill: the values from the front matter of its `SKILL.md`, and its files.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSkill {
    /// The version. A version that the workspace has stored cannot have other contents.
    version: String,
    /// The description of the skill for the model.
    #[serde(default)]
    description: String,
    /// The tools that the skill requires, at most 256.
    #[serde(default)]
    required_tools: Vec<String>,
    /// The environment variables that the skill needs.
    #[serde(default)]
    env: Vec<String>,
    /// The texts of the Markdown files by their path in the folder of the skill. `SKILL.md` is without its front matter.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// The maximum number of tools that a skill may require. The change looks up each of them in one transaction.
const MOST_TOOLS: usize = 256;

/// The tools that enabling or disabling a skill has affected.
#[derive(Serialize, ToSchema)]
struct SkillOutcome {
    /// The tools that the skill requires and that are enabled now; empty if the skill was disabled.
    tools: Vec<String>,
    /// The tools that were not enabled before.
    added: Vec<String>,
    /// The tools that are not enabled any more.
    removed: Vec<String>,
    /// The required tools that the catalogue lacks. They are enabled as soon as a program has them.
    missing: Vec<String>,
}

fn respond_skill(changed: &Changed) -> String {
    let change = match changed {
        Changed::Skill(change) => change.clone(),
        _ => SkillChange::default(),
    };
    json(&SkillOutcome {
        tools: change.tools,
        added: change.added,
        removed: change.removed,
        missing: change.missing,
    })
}

/// Enables a version of a skill for an instance, in place of the version that was enabled before, with the tools that it requires.
///
/// The instance is added if it does not exist.
#[utoipa::path(put, path = "/v1/instances/{instance}/skills/{skill}", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace"),
        ("skill" = String, Path, description = "The name of the skill")),
    request_body = NewSkill,
    responses((status = 200, description = "The changes to the tools of the instance", body = SkillOutcome)))]
async fn enable_skill(
    State(admin): State<Shared>,
    caller: Caller,
    Id((instance, skill)): Id<(String, String)>,
    Body(body): Body<NewSkill>,
) -> Answer {
    if body.version.is_empty() {
        return Err(Problem::input(
            "/version",
            "the version of the skill is empty, write the version",
        ));
    }
    if body.required_tools.len() > MOST_TOOLS {
        let text = format!("a skill requires at most {MOST_TOOLS} tools, split the skill");
        return Err(Problem::input("/required_tools", text));
    }
    let details = json!({ "instance": instance, "skill": skill, "version": body.version });
    let mut version = SkillVersion::new(skill, body.version);
    version.description = body.description;
    version.required_tools = body.required_tools;
    version.env = body.env;
    version.files = body.files;
    let enable = InstanceChange::EnableSkill {
        instance: id(&caller, &instance),
        skill: Box::new(version),
        by: caller.subject.clone(),
        at: Timestamp::now(),
    };
    let details = ("instance.enable_skill", details);
    change(&admin, &caller, enable, details, SKILL, respond_skill).await
}

/// Disables a skill of an instance. A tool stays enabled if a different skill requires it, if a person has enabled it, or if the program does.
#[utoipa::path(delete, path = "/v1/instances/{instance}/skills/{skill}", tag = "instances",
    params(("instance" = String, Path, description = "The name of the instance; `@workspace` for the only instance of a workspace"),
        ("skill" = String, Path, description = "The name of the skill")),
    responses((status = 200, description = "The changes to the tools of the instance", body = SkillOutcome)))]
async fn disable_skill(
    State(admin): State<Shared>,
    caller: Caller,
    Id((instance, skill)): Id<(String, String)>,
) -> Answer {
    let details = json!({ "instance": instance, "skill": skill });
    let disable = InstanceChange::DisableSkill {
        instance: id(&caller, &instance),
        skill,
        by: caller.subject.clone(),
    };
    let details = ("instance.disable_skill", details);
    change(&admin, &caller, disable, details, SKILL, respond_skill).await
}
