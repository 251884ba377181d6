//! Tests of stored tools: functions, versions, tools, bindings to agents, and the directory of workspaces and members.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::*;

use super::records::{acme, at};
use super::{at_once, conflict, missing, tests};

const DAY: i64 = 24 * 60 * 60 * 1000;

fn umbrella() -> Workspace {
    Workspace::new("umbrella")
}

fn of(role: MemberRole) -> Editor {
    Editor::member(acme(), "olga", role)
}

fn author() -> Editor {
    of(MemberRole::Author)
}

fn admin() -> Editor {
    of(MemberRole::Admin)
}

fn foreign() -> Editor {
    Editor::member(umbrella(), "eve", MemberRole::Admin)
}

fn schema(key: &str) -> ToolSchema {
    let text = format!(
        r#"{{"type":"object","properties":{{"{key}":{{"type":"string"}}}},"required":["{key}"],"additionalProperties":false}}"#
    );
    ToolSchema::new(text).unwrap()
}

fn linked(tool: &str) -> NewFunction {
    let kind = FunctionKind::Linked {
        tool: tool.to_owned(),
    };
    NewFunction::new(tool, kind)
}

fn new_version() -> NewFunctionVersion {
    NewFunctionVersion::new(schema("in"), schema("out"))
}

fn client(name: &str) -> NewTool {
    NewTool::client(name, schema("in"), schema("out"))
}

/// Asserts that the store refused a call with [`StoreError::Forbidden`] and a text that contains `words`.
fn forbidden<T: std::fmt::Debug>(answer: Result<T, StoreError>, words: &str) {
    match answer {
        Err(StoreError::Forbidden(text)) if text.contains(words) => {}
        other => panic!("expected a refusal about `{words}`, got {other:?}"),
    }
}

/// Makes changes as one editor at one time.
struct By<'s, S>(&'s S, Editor, i64);

impl<S: StoredToolStore> By<'_, S> {
    async fn make(&self, change: ToolChange) -> Result<ToolEdited, StoreError> {
        let edit = ToolEdit::new(self.1.clone(), change, at(self.2));
        self.0.edit(edit).await
    }

    async fn function(&self, new: NewFunction) -> Result<Function, StoreError> {
        let edited = self.make(ToolChange::CreateFunction(new)).await?;
        Ok(edited.into_function().unwrap())
    }

    async fn change_function(
        &self,
        id: &str,
        update: FunctionUpdate,
    ) -> Result<Function, StoreError> {
        let (id, expected) = (id.to_owned(), None);
        let change = ToolChange::UpdateFunction {
            id,
            update,
            expected,
        };
        Ok(self.make(change).await?.into_function().unwrap())
    }

    async fn remove_function(&self, id: &str) -> Result<Function, StoreError> {
        let id = id.to_owned();
        let edited = self.make(ToolChange::DeleteFunction { id }).await?;
        Ok(edited.into_function().unwrap())
    }

    async fn version(
        &self,
        function: &str,
        version: NewFunctionVersion,
    ) -> Result<FunctionVersion, StoreError> {
        let function = function.to_owned();
        let edited = self
            .make(ToolChange::CreateVersion { function, version })
            .await?;
        Ok(edited.into_version().unwrap())
    }

    async fn remove_version(&self, id: &str) -> Result<FunctionVersion, StoreError> {
        let id = id.to_owned();
        let edited = self.make(ToolChange::DeleteVersion { id }).await?;
        Ok(edited.into_version().unwrap())
    }

    async fn publish(&self, version: &str) -> Result<Function, StoreError> {
        let version = version.to_owned();
        let edited = self.make(ToolChange::Publish { version }).await?;
        Ok(edited.into_function().unwrap())
    }

    async fn tool(&self, new: NewTool) -> Result<StoredTool, StoreError> {
        let edited = self.make(ToolChange::CreateTool(Box::new(new))).await?;
        Ok(edited.into_tool().unwrap())
    }

    async fn change(&self, id: &str, update: ToolUpdate) -> Result<StoredTool, StoreError> {
        let change = ToolChange::UpdateTool {
            id: id.to_owned(),
            update: Box::new(update),
            expected: None,
        };
        Ok(self.make(change).await?.into_tool().unwrap())
    }

    async fn delete(&self, id: &str) -> Result<StoredTool, StoreError> {
        let (id, expected) = (id.to_owned(), None);
        let edited = self.make(ToolChange::DeleteTool { id, expected }).await?;
        Ok(edited.into_tool().unwrap())
    }

    async fn bind(&self, agent: &str, tool: &str) -> Result<bool, StoreError> {
        let (agent, tool) = (agent.to_owned(), tool.to_owned());
        let edited = self.make(ToolChange::Bind { agent, tool }).await?;
        Ok(matches!(edited, ToolEdited::Binding { changed: true, .. }))
    }

    async fn unbind(&self, agent: &str, tool: &str) -> Result<bool, StoreError> {
        let (agent, tool) = (agent.to_owned(), tool.to_owned());
        let edited = self.make(ToolChange::Unbind { agent, tool }).await?;
        Ok(matches!(edited, ToolEdited::Binding { changed: true, .. }))
    }

    /// Returns a function with one published version.
    async fn published(&self, name: &str) -> (Function, FunctionVersion) {
        let function = self.function(linked(name)).await.unwrap();
        let version = self.version(&function.id, new_version()).await.unwrap();
        (self.publish(&version.id).await.unwrap(), version)
    }
}

fn by<S: StoredToolStore>(store: &S, editor: Editor, millis: i64) -> By<'_, S> {
    By(store, editor, millis)
}

async fn stored(store: &impl StoredToolStore, id: &str) -> StoredTool {
    store.stored_tool(&acme(), id).await.unwrap().unwrap()
}

async fn names(store: &impl StoredToolStore, filter: StoredToolFilter) -> Vec<String> {
    let tools = store.stored_tools(&acme(), &filter).await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

async fn agent_names(store: &impl StoredToolStore, agent: &str) -> Vec<String> {
    let tools = store.agent_tools(&acme(), agent).await.unwrap();
    tools.into_iter().map(|found| found.tool.name).collect()
}

async fn resolved(store: &impl StoredToolStore, id: &str) -> ResolvedTool {
    store.resolve_tool(&acme(), id).await.unwrap().unwrap()
}

async fn join(store: &impl StoredToolStore, user: &str, role: MemberRole) {
    let member = Member::new(acme(), user, role, at(1));
    store.put_member(member, &admin()).await.unwrap();
}

fn acting_as(user: Option<&str>) -> ToolUpdate {
    ToolUpdate {
        runtime_user: Some(user.map(str::to_owned)),
        ..ToolUpdate::default()
    }
}

/// All keys in the JSON of a stored tool.
const KEYS: [&str; 20] = [
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
];

tests! {
    ($) __suite_stored_tool in stored_tool for StoredToolStore;

    // S3-01: the store assigns the id, and neither a new tool nor an update can set the id or a different read-only field.
    #[test]
    async fn read_only_fields_cannot_be_written(store: impl StoredToolStore) {
        let new = json!({"name": "ask", "target": "client", "input_schema": {}, "output_schema": {}});
        for (key, value) in [
            ("id", json!("mine")), ("created_at", json!(1)), ("updated_at", json!(1)), ("created_by", json!("eve")), ("system", json!(true)),
            ("workspace", json!("umbrella")), ("deleted_at", json!(1)), ("retention_tier", json!("none")), ("source", json!("system")),
        ] {
            let mut written = new.clone();
            written[key] = value.clone();
            let refused = serde_json::from_value::<NewTool>(written).unwrap_err().to_string();
            assert!(refused.contains(&format!("unknown field `{key}`")), "{refused}");
            let refused = serde_json::from_value::<ToolUpdate>(json!({ key: value })).unwrap_err().to_string();
            assert!(refused.contains(&format!("unknown field `{key}`")), "{refused}");
        }
        let olga = by(&store, author(), 1);
        let one = olga.tool(serde_json::from_value(new.clone()).unwrap()).await.unwrap();
        let two = olga.tool(serde_json::from_value(new).unwrap()).await.unwrap();
        assert!(!one.id.is_empty() && one.id != two.id);
        let renamed = by(&store, author(), 2).change(&one.id, serde_json::from_value(json!({"name": "b"})).unwrap()).await.unwrap();
        assert_eq!(renamed.id, one.id);
    }

    // S3-02, S3-18: the owner is the workspace of the author; a system tool has neither a workspace nor an author. The workspace and the author never
    // change.
    #[test]
    async fn tool_keeps_its_owner_and_its_author(store: impl StoredToolStore) {
        let own = by(&store, author(), 1).tool(client("own")).await.unwrap();
        assert_eq!((own.workspace.as_ref(), own.system, own.created_by.as_deref()), (Some(&acme()), false, Some("olga")));
        let system = by(&store, Editor::System, 1).tool(client("system")).await.unwrap();
        assert_eq!((system.workspace.as_ref(), system.system, system.created_by.as_deref()), (None, true, None));
        let ann = Editor::member(acme(), "ann", MemberRole::Author);
        let changed = by(&store, ann, 2).change(&own.id, ToolUpdate { name: Some("new".into()), ..ToolUpdate::default() }).await.unwrap();
        assert_eq!((changed.workspace, changed.created_by), (own.workspace, own.created_by));
    }

    // S3-03, S3-04: two tools run one function under different names and descriptions, and renaming a tool does not change the function.
    #[test]
    async fn two_tools_run_one_function_under_their_own_names(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let (function, _) = olga.published("send_mail").await;
        let one = NewTool { description: Some("For the team.".into()), ..NewTool::server("tell_the_team", &*function.id) };
        let one = olga.tool(one).await.unwrap();
        let two = NewTool { description: Some("For customers.".into()), ..NewTool::server("write_to_customer", &*function.id) };
        let two = olga.tool(two).await.unwrap();
        olga.bind("internal", &one.id).await.unwrap();
        olga.bind("support", &two.id).await.unwrap();
        assert_eq!(agent_names(&store, "internal").await, ["tell_the_team"]);
        assert_eq!(agent_names(&store, "support").await, ["write_to_customer"]);
        let update = ToolUpdate { name: Some("tell_everybody".into()), ..ToolUpdate::default() };
        by(&store, author(), 2).change(&one.id, update).await.unwrap();
        assert_eq!(store.function(&acme(), &function.id).await.unwrap(), Some(function));
        assert_eq!(stored(&store, &two.id).await, two);
    }

    // S3-05: the description may be null when the tool is created, and may be set to null later.
    #[test]
    async fn description_may_be_null(store: impl StoredToolStore) {
        let tool = by(&store, author(), 1).tool(client("ask")).await.unwrap();
        assert_eq!(tool.description, None);
        let set = ToolUpdate { description: Some(Some("Asks.".into())), ..ToolUpdate::default() };
        assert_eq!(by(&store, author(), 2).change(&tool.id, set).await.unwrap().description.as_deref(), Some("Asks."));
        let unset = serde_json::from_value(json!({"description": null})).unwrap();
        assert_eq!(by(&store, author(), 3).change(&tool.id, unset).await.unwrap().description, None);
    }

    // S3-05, S3-34: descriptions and labels may contain NUL, private-use characters and characters outside of the Basic Multilingual Plane.
    #[test]
    async fn free_texts_round_trip(store: impl StoredToolStore) {
        let (olga, text) = (by(&store, author(), 1), "a\0b\u{f8ff}0 \u{1f600}");
        let function = olga.function(NewFunction { description: Some(text.into()), ..linked("look") }).await.unwrap();
        let version = olga.version(&function.id, NewFunctionVersion { label: Some(text.into()), ..new_version() }).await.unwrap();
        let tool = olga.tool(NewTool { description: Some(text.into()), ..client("ask") }).await.unwrap();
        assert_eq!(tool.description.as_deref(), Some(text));
        assert_eq!(stored(&store, &tool.id).await, tool);
        assert_eq!(store.function(&acme(), &function.id).await.unwrap(), Some(function));
        assert_eq!(store.function_version(&acme(), &version.id).await.unwrap(), Some(version));
    }

    // S3-06: the target is `server` or `client`.
    #[test]
    async fn target_is_server_or_client(store: impl StoredToolStore) {
        let refused = serde_json::from_value::<NewTool>(json!({"name": "a", "target": "browser"})).unwrap_err();
        assert!(refused.to_string().contains("expected `server` or `client`"), "{refused}");
        assert_eq!(ToolTarget::from_word("browser"), None);
        let tool = by(&store, author(), 1).tool(client("ask")).await.unwrap();
        assert_eq!(serde_json::to_value(&tool).unwrap()["target"], "client");
    }

    // S3-07: a server tool has a function. A client tool has no function and no version, and needs an output schema. Unknown functions and blank
    // names are refused.
    #[test]
    async fn only_server_tools_have_a_function(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let (function, version) = olga.published("look").await;
        let named = Some(function.id.clone());
        let server = olga.tool(NewTool::server("look", &*function.id)).await.unwrap();
        assert_eq!(server.function, named);
        conflict(olga.tool(NewTool { function: None, ..NewTool::server("look", "") }).await, "`function`");
        assert_eq!(olga.tool(client("ask")).await.unwrap().function, None);
        conflict(olga.tool(NewTool { function: named.clone(), ..client("ask") }).await, "leave `function` out");
        conflict(olga.tool(NewTool { function_version: Some(version.id.clone()), ..client("ask") }).await, "leave `function_version` out");
        conflict(olga.tool(NewTool { output_schema: None, ..client("ask") }).await, "`output_schema`");
        // The same check applies to updates.
        let ask = olga.tool(client("ask")).await.unwrap();
        conflict(olga.change(&ask.id, ToolUpdate { function: named, ..ToolUpdate::default() }).await, "leave `function` out");
        missing(olga.tool(NewTool::server("look", "unknown")).await);
        missing(olga.change(&server.id, ToolUpdate { function: Some("unknown".into()), ..ToolUpdate::default() }).await);
        conflict(olga.tool(NewTool::server(" ", &*function.id)).await, "name");
    }

    // S3-09, S3-10: a pinned tool runs its version, and a tool without a pin runs the default version at the time of the call. It cannot be called if
    // its function has no published version.
    #[test]
    async fn tool_without_a_pin_runs_the_default_version_at_the_call(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let (function, one) = olga.published("look").await;
        let pin = Some(one.id.clone());
        let pinned = olga.tool(NewTool { function_version: pin, ..NewTool::server("pinned", &*function.id) }).await.unwrap();
        let free = olga.tool(NewTool::server("free", &*function.id)).await.unwrap();
        let two = olga.version(&function.id, NewFunctionVersion { label: Some("v2".into()), ..new_version() }).await.unwrap();
        assert_eq!(resolved(&store, &free.id).await.version.as_ref(), Some(&one));
        let later = by(&store, author(), 5);
        assert_eq!(later.publish(&two.id).await.unwrap().updated_at, at(5));
        assert_eq!(resolved(&store, &pinned.id).await.version.as_ref(), Some(&one));
        assert_eq!(resolved(&store, &free.id).await.version.as_ref(), Some(&two));
        assert_eq!(stored(&store, &free.id).await, free);
        // An update can remove the pin.
        let unpinned = ToolUpdate { function_version: Some(None), ..ToolUpdate::default() };
        later.change(&pinned.id, unpinned).await.unwrap();
        assert_eq!(resolved(&store, &pinned.id).await.version, Some(two));
        // A tool cannot be pinned to a version of a different function.
        let (other, strange) = olga.published("other").await;
        let wrong = Some(strange.id.clone());
        conflict(olga.tool(NewTool { function_version: wrong.clone(), ..NewTool::server("x", &*function.id) }).await, "belongs to function");
        conflict(olga.change(&free.id, ToolUpdate { function_version: Some(wrong), ..ToolUpdate::default() }).await, "belongs to function");
        missing(olga.tool(NewTool { function_version: Some("unknown".into()), ..NewTool::server("x", &*other.id) }).await);
        let unpublished = olga.function(linked("later")).await.unwrap();
        let tool = olga.tool(NewTool::server("later", &*unpublished.id)).await.unwrap();
        conflict(resolved(&store, &tool.id).await.check(), "publish a version");
    }

    // S3-11, S3-12: the schemas of the tool apply, else the schemas of the version that runs; the store keeps their bytes.
    #[test]
    async fn schemas_of_the_tool_outrank_schemas_of_the_version(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let (function, version) = olga.published("look").await;
        let text = "{ \"z\": 1,\n \"a\": 2.50 }";
        let own = ToolSchema::new(text).unwrap();
        assert_eq!(own.text(), text);
        let tool = NewTool { input_schema: Some(own.clone()), ..NewTool::server("look", &*function.id) };
        let tool = olga.tool(tool).await.unwrap();
        let found = resolved(&store, &tool.id).await;
        assert_eq!(found.input_schema(), Some(&own));
        assert_eq!(found.input_schema().map(ToolSchema::text), Some(text));
        assert_eq!(found.output_schema(), Some(&version.output_schema));
        let unset = serde_json::from_value(json!({"input_schema": null})).unwrap();
        olga.change(&tool.id, unset).await.unwrap();
        assert_eq!(resolved(&store, &tool.id).await.input_schema(), Some(&version.input_schema));
    }

    // S3-13: examples are null or a list of arguments with an optional result.
    #[test]
    async fn examples_are_null_or_a_list(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let new = json!({
            "name": "ask", "target": "client", "input_schema": {}, "output_schema": {},
            "examples": [{"args": {"in": "a"}}, {"args": {"in": "b"}, "result": {"out": 1.5}}],
        });
        let tool = olga.tool(serde_json::from_value(new).unwrap()).await.unwrap();
        let examples = stored(&store, &tool.id).await.examples.unwrap();
        assert_eq!(examples[0], StoredExample { args: json!({"in": "a"}), result: None });
        assert_eq!(examples[1].result, Some(json!({"out": 1.5})));
        assert!(serde_json::from_value::<StoredExample>(json!({"result": 1})).is_err());
        let none = olga.change(&tool.id, ToolUpdate { examples: Some(None), ..ToolUpdate::default() }).await.unwrap();
        assert_eq!(none.examples, None);
    }

    // S3-15, S3-16: by default, a tool needs no confirmation and is enabled.
    #[test]
    async fn new_tool_needs_no_confirmation_and_is_enabled(store: impl StoredToolStore) {
        let new = json!({"name": "ask", "target": "client", "input_schema": {}, "output_schema": {}});
        let olga = by(&store, author(), 1);
        let tool = olga.tool(serde_json::from_value(new.clone()).unwrap()).await.unwrap();
        assert_eq!((tool.requires_confirmation, tool.enabled), (false, true));
        let mut other = new;
        (other["requires_confirmation"], other["enabled"]) = (json!(true), json!(false));
        let tool = olga.tool(serde_json::from_value(other).unwrap()).await.unwrap();
        assert_eq!((tool.requires_confirmation, tool.enabled), (true, false));
        assert_eq!(stored(&store, &tool.id).await, tool);
    }

    // S3-16: the binding of a disabled tool is kept, but `agent_tools` does not return the tool.
    #[test]
    async fn disabled_tool_is_bound_and_not_listed_for_the_agent(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let tool = olga.tool(client("ask")).await.unwrap();
        olga.bind("support", &tool.id).await.unwrap();
        by(&store, of(MemberRole::Operator), 2).change(&tool.id, ToolUpdate::enable(false)).await.unwrap();
        assert_eq!(agent_names(&store, "support").await, [""; 0]);
        assert_eq!(store.bindings(&acme(), &BindingFilter::default()).await.unwrap().len(), 1);
        conflict(resolved(&store, &tool.id).await.check(), "disabled");
        by(&store, of(MemberRole::Operator), 3).change(&tool.id, ToolUpdate::enable(true)).await.unwrap();
        assert_eq!(agent_names(&store, "support").await, ["ask"]);
        // An author may enable a tool, and an approver may not.
        by(&store, author(), 4).change(&tool.id, ToolUpdate::enable(true)).await.unwrap();
        forbidden(by(&store, of(MemberRole::Approver), 5).change(&tool.id, ToolUpdate::enable(false)).await, "`author` or `operator`");
        let both = ToolUpdate { name: Some("b".into()), ..ToolUpdate::enable(false) };
        forbidden(by(&store, of(MemberRole::Operator), 5).change(&tool.id, both).await, "`author`");
    }

    // S3-17: an admin of a workspace cannot change or delete system rows, but can bind a system tool.
    #[test]
    async fn system_rows_are_read_only(store: impl StoredToolStore) {
        let system = by(&store, Editor::System, 1);
        let (function, version) = system.published("look").await;
        let tool = system.tool(NewTool::server("look", &*function.id)).await.unwrap();
        let olga = by(&store, admin(), 2);
        forbidden(olga.change(&tool.id, ToolUpdate::enable(false)).await, "belongs to the system");
        forbidden(olga.change(&tool.id, acting_as(Some("olga"))).await, "belongs to the system");
        forbidden(olga.delete(&tool.id).await, "belongs to the system");
        forbidden(olga.change_function(&function.id, FunctionUpdate::default()).await, "belongs to the system");
        forbidden(olga.remove_function(&function.id).await, "belongs to the system");
        forbidden(olga.version(&function.id, new_version()).await, "belongs to the system");
        forbidden(olga.publish(&version.id).await, "belongs to the system");
        forbidden(olga.remove_version(&version.id).await, "belongs to the system");
        assert_eq!(stored(&store, &tool.id).await, tool);
        assert!(olga.bind("support", &tool.id).await.unwrap());
        assert_eq!(agent_names(&store, "support").await, ["look"]);
        // A tool of a workspace may run a system function under a different name.
        assert_eq!(olga.tool(NewTool::server("see", &*function.id)).await.unwrap().source, ToolSource::Workspace);
        // The host's program may change system rows. It cannot change a tool of a workspace, and a system tool cannot run a function of a workspace.
        system.change(&tool.id, ToolUpdate::enable(false)).await.unwrap();
        let own = olga.tool(client("own")).await.unwrap();
        missing(system.delete(&own.id).await);
        let (function, _) = olga.published("own").await;
        missing(system.tool(NewTool::server("own", &*function.id)).await);
    }

    // S3-20: the runtime user comes from the tool, else from the function, else from the workspace.
    #[test]
    async fn runtime_user_has_three_levels(store: impl StoredToolStore) {
        let olga = by(&store, admin(), 1);
        let (function, _) = olga.published("look").await;
        let tool = olga.tool(NewTool::server("look", &*function.id)).await.unwrap();
        let user = async || resolved(&store, &tool.id).await.runtime_user().map(|user| (user.user.to_owned(), user.level));
        assert_eq!(user().await, None);
        for name in ["robot", "mailer", "boss"] {
            join(&store, name, MemberRole::Viewer).await;
        }
        let settings = WorkspaceSettings { default_runtime_user: Some("robot".into()), ..WorkspaceSettings::new(acme(), at(2)) };
        store.put_workspace(settings, &admin()).await.unwrap();
        assert_eq!(user().await, Some(("robot".to_owned(), RuntimeUserLevel::Workspace)));
        let update = FunctionUpdate { runtime_user: Some(Some("mailer".into())), ..FunctionUpdate::default() };
        olga.change_function(&function.id, update).await.unwrap();
        assert_eq!(user().await, Some(("mailer".to_owned(), RuntimeUserLevel::Function)));
        olga.change(&tool.id, acting_as(Some("boss"))).await.unwrap();
        assert_eq!(user().await, Some(("boss".to_owned(), RuntimeUserLevel::Tool)));
        assert_eq!(resolved(&store, &tool.id).await.member.unwrap().user, "boss");
        olga.change(&tool.id, acting_as(None)).await.unwrap();
        assert_eq!(user().await, Some(("mailer".to_owned(), RuntimeUserLevel::Function)));
    }

    // S3-21: only an admin sets or removes the runtime user of a tool, a function or a workspace. A system tool cannot have one.
    #[test]
    async fn runtime_user_needs_an_admin(store: impl StoredToolStore) {
        join(&store, "robot", MemberRole::Viewer).await;
        let (member, boss) = (by(&store, author(), 1), by(&store, admin(), 1));
        let new = || NewTool { runtime_user: Some("robot".into()), ..client("ask") };
        forbidden(member.tool(new()).await, "`admin`");
        let tool = boss.tool(new()).await.unwrap();
        forbidden(member.change(&tool.id, acting_as(None)).await, "`admin`");
        forbidden(member.change(&tool.id, acting_as(Some("olga"))).await, "`admin`");
        // A change of a different field keeps the runtime user.
        let renamed = member.change(&tool.id, ToolUpdate { name: Some("b".into()), ..ToolUpdate::default() }).await.unwrap();
        assert_eq!(renamed.runtime_user.as_deref(), Some("robot"));
        let function = || NewFunction { runtime_user: Some("robot".into()), ..linked("look") };
        forbidden(member.function(function()).await, "`admin`");
        let function = boss.function(function()).await.unwrap();
        let update = FunctionUpdate { runtime_user: Some(None), ..FunctionUpdate::default() };
        forbidden(member.change_function(&function.id, update).await, "`admin`");
        let settings = WorkspaceSettings { default_runtime_user: Some("robot".into()), ..WorkspaceSettings::new(acme(), at(2)) };
        forbidden(store.put_workspace(settings, &author()).await, "`admin`");
        conflict(by(&store, Editor::System, 1).tool(new()).await, "belongs to no workspace");
    }

    // S3-22: the runtime user must be a member when it is set, and again when the tool is called.
    #[test]
    async fn runtime_user_must_be_a_member(store: impl StoredToolStore) {
        let olga = by(&store, admin(), 1);
        conflict(olga.tool(NewTool { runtime_user: Some("robot".into()), ..client("ask") }).await, "not a member");
        conflict(olga.function(NewFunction { runtime_user: Some("robot".into()), ..linked("look") }).await, "not a member");
        let settings = WorkspaceSettings { default_runtime_user: Some("robot".into()), ..WorkspaceSettings::new(acme(), at(2)) };
        conflict(store.put_workspace(settings.clone(), &admin()).await, "not a member");
        // A member of only a different workspace is refused.
        store.put_member(Member::new(umbrella(), "robot", MemberRole::Admin, at(1)), &foreign()).await.unwrap();
        conflict(olga.tool(NewTool { runtime_user: Some("robot".into()), ..client("ask") }).await, "not a member");
        join(&store, "robot", MemberRole::Viewer).await;
        let tool = olga.tool(NewTool { runtime_user: Some("robot".into()), ..client("ask") }).await.unwrap();
        resolved(&store, &tool.id).await.check().unwrap();
        assert!(store.remove_member(&acme(), "robot", &admin()).await.unwrap());
        assert!(!store.remove_member(&acme(), "robot", &admin()).await.unwrap());
        conflict(resolved(&store, &tool.id).await.check(), "not a member");
        // The tool can still be disabled.
        olga.change(&tool.id, ToolUpdate::enable(false)).await.unwrap();
    }

    // S3-23: a deleted tool is not listed and cannot be called, and its row is kept. It cannot be changed, bound or deleted again, but can be
    // unbound. An operator cannot delete a tool.
    #[test]
    async fn deleted_tool_keeps_its_row(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let tool = olga.tool(client("ask")).await.unwrap();
        assert_eq!(tool.deleted_at, None);
        olga.bind("support", &tool.id).await.unwrap();
        let deleted = by(&store, author(), 5).delete(&tool.id).await.unwrap();
        assert_eq!((deleted.deleted_at, deleted.updated_at), (Some(at(5)), at(5)));
        assert_eq!(stored(&store, &tool.id).await, deleted);
        assert_eq!(names(&store, StoredToolFilter::default()).await, [""; 0]);
        assert_eq!(agent_names(&store, "support").await, [""; 0]);
        missing(resolved(&store, &tool.id).await.check());
        conflict(olga.change(&tool.id, ToolUpdate::enable(true)).await, "deleted");
        conflict(olga.delete(&tool.id).await, "deleted");
        conflict(olga.bind("other", &tool.id).await, "deleted");
        assert!(olga.unbind("support", &tool.id).await.unwrap());
        assert_eq!(stored(&store, &tool.id).await, deleted);
        forbidden(by(&store, of(MemberRole::Operator), 9).delete(&tool.id).await, "`author`");
    }

    // S3-24, S3-26: the clean-up removes a deleted tool and its bindings one second after the end of its retention and not one second before it. It
    // never removes a tool of the tier `none`.
    #[test]
    async fn deleted_tool_is_removed_after_its_tier(store: impl StoredToolStore) {
        let tiers = [(RetentionTier::Short, Some(7)), (RetentionTier::Medium, Some(30)), (RetentionTier::Long, Some(90)), (RetentionTier::None, None)];
        for (tier, days) in tiers {
            let settings = WorkspaceSettings { retention_tier: tier, ..WorkspaceSettings::new(acme(), at(1)) };
            store.put_workspace(settings, &admin()).await.unwrap();
            let tool = by(&store, author(), 1).tool(client(tier.as_str())).await.unwrap();
            by(&store, author(), 1).bind("support", &tool.id).await.unwrap();
            let deleted = by(&store, author(), 1000).delete(&tool.id).await.unwrap();
            assert_eq!(deleted.retention_tier, Some(tier));
            let Some(days) = days else {
                assert_eq!(store.purge_tools(Scope::All, at(i64::MAX), 100).await.unwrap(), []);
                assert_eq!(stored(&store, &tool.id).await, deleted);
                continue;
            };
            let due = 1000 + days * DAY;
            assert_eq!(store.purge_tools(Scope::All, at(due - 1000), 100).await.unwrap(), []);
            assert_eq!(stored(&store, &tool.id).await, deleted);
            assert_eq!(store.purge_tools(Scope::All, at(due + 1000), 100).await.unwrap(), std::slice::from_ref(&deleted));
            assert_eq!(store.stored_tool(&acme(), &tool.id).await.unwrap(), None);
            let bound = BindingFilter { tool: Some(tool.id), ..BindingFilter::default() };
            assert_eq!(store.bindings(&acme(), &bound).await.unwrap(), []);
        }
    }

    // S3-24: the clean-up removes at most `most` tools, the tools that are due first, and never an active tool.
    #[test]
    async fn clean_up_is_bounded(store: impl StoredToolStore) {
        let active = by(&store, author(), 1).tool(client("active")).await.unwrap();
        for (name, deleted) in [("c", 30), ("a", 10), ("b", 20)] {
            let tool = by(&store, author(), 1).tool(client(name)).await.unwrap();
            by(&store, author(), deleted).delete(&tool.id).await.unwrap();
        }
        let mut seen = Vec::new();
        for most in [2, 2, 2] {
            let removed = store.purge_tools(Scope::Workspace(&acme()), at(40 * DAY), most).await.unwrap();
            seen.push(removed.into_iter().map(|tool| tool.name).collect::<Vec<_>>());
        }
        assert_eq!(seen, [vec!["a", "b"], vec!["c"], vec![]]);
        assert_eq!(stored(&store, &active.id).await, active);
    }

    // S3-25: the deletion copies the tier of the workspace, and a later change of the workspace does not change the copy.
    #[test]
    async fn tier_is_copied_at_the_deletion(store: impl StoredToolStore) {
        let tier = async |tier| {
            let settings = WorkspaceSettings { retention_tier: tier, ..WorkspaceSettings::new(acme(), at(1)) };
            store.put_workspace(settings, &admin()).await.unwrap();
        };
        tier(RetentionTier::Short).await;
        let tool = by(&store, author(), 1).tool(client("ask")).await.unwrap();
        assert_eq!(tool.retention_tier, None);
        let deleted = by(&store, author(), 1000).delete(&tool.id).await.unwrap();
        let due = deleted.due();
        assert_eq!(due, Some(at(1000 + 7 * DAY)));
        for later in [RetentionTier::Long, RetentionTier::None] {
            tier(later).await;
            assert_eq!(stored(&store, &tool.id).await.due(), due);
        }
        assert_eq!(store.purge_tools(Scope::All, due.unwrap(), 100).await.unwrap().len(), 1);
        // A workspace without settings has the tier `medium`.
        let other = by(&store, foreign(), 1).tool(client("ask")).await.unwrap();
        let other = by(&store, foreign(), 1000).delete(&other.id).await.unwrap();
        assert_eq!((other.retention_tier, other.due()), (Some(RetentionTier::Medium), Some(at(1000 + 30 * DAY))));
    }

    // S3-28: the time of creation never changes, and every update increases the time of the last change, even if the clock was set back.
    #[test]
    async fn every_update_of_a_tool_sets_a_later_time(store: impl StoredToolStore) {
        let tool = by(&store, author(), 100).tool(client("ask")).await.unwrap();
        assert_eq!((tool.created_at, tool.updated_at), (at(100), at(100)));
        let mut before = tool.updated_at;
        for (clock, expected) in [(200, 200), (200, 201), (50, 202), (300, 300)] {
            let update = ToolUpdate { requires_confirmation: Some(clock == 200), ..ToolUpdate::default() };
            let changed = by(&store, author(), clock).change(&tool.id, update).await.unwrap();
            assert_eq!((changed.created_at, changed.updated_at), (at(100), at(expected)));
            assert!(changed.updated_at > before);
            before = changed.updated_at;
            assert_eq!(stored(&store, &tool.id).await, changed);
        }
    }

    // S3-28: an update or a deletion is refused if the row has a different time of change than the editor expects.
    #[test]
    async fn stale_update_changes_nothing(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let (function, _) = olga.published("look").await;
        let tool = olga.tool(NewTool::server("look", &*function.id)).await.unwrap();
        let changed = olga.change(&tool.id, ToolUpdate::enable(false)).await.unwrap();
        let (id, read) = (tool.id.clone(), tool.updated_at);
        let update = Box::new(ToolUpdate::enable(true));
        let stale = [
            ToolChange::UpdateTool { id: id.clone(), update: update.clone(), expected: Some(read) },
            ToolChange::DeleteTool { id: id.clone(), expected: Some(read) },
            ToolChange::UpdateFunction { id: function.id.clone(), update: FunctionUpdate::default(), expected: Some(at(77)) },
        ];
        for change in stale {
            let refused = olga.make(change).await;
            assert!(matches!(refused, Err(StoreError::Stale(_))), "{refused:?}");
        }
        assert_eq!(stored(&store, &id).await, changed);
        olga.make(ToolChange::UpdateTool { id, update, expected: Some(changed.updated_at) }).await.unwrap();
    }

    // S3-29: a serialized tool contains every key, and null for an empty field.
    #[test]
    async fn every_key_is_serialized(store: impl StoredToolStore) {
        let tool = by(&store, Editor::System, 1).tool(client("ask")).await.unwrap();
        let written = serde_json::to_value(stored(&store, &tool.id).await).unwrap();
        let keys: Vec<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, KEYS);
        for key in ["created_by", "deleted_at", "description", "examples", "function", "function_version", "retention_tier", "runtime_user", "workspace"] {
            assert_eq!(written[key], Value::Null, "{key}");
        }
        assert_eq!(written["input_schema"]["id"], schema("in").id());
        assert_eq!(serde_json::from_str::<StoredTool>(&written.to_string()).unwrap().name, "ask");
    }

    // S3-30: `include_deleted` is false, true or only.
    #[test]
    async fn lists_contain_deleted_tools_on_request(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        olga.tool(client("live")).await.unwrap();
        let gone = by(&store, author(), 2).tool(client("gone")).await.unwrap();
        olga.delete(&gone.id).await.unwrap();
        let list = async |word: &str| {
            let include_deleted = IncludeDeleted::from_word(word).unwrap();
            names(&store, StoredToolFilter { include_deleted, ..StoredToolFilter::default() }).await
        };
        assert_eq!(list("false").await, ["live"]);
        assert_eq!(list("true").await, ["live", "gone"]);
        assert_eq!(list("only").await, ["gone"]);
        assert_eq!(IncludeDeleted::default().as_str(), "false");
    }

    // S3-31: each filter of tools and of functions narrows the list, and system tools are in the list of a workspace.
    #[test]
    async fn every_filter_narrows_the_list(store: impl StoredToolStore) {
        let (system, olga) = (by(&store, Editor::System, 1), by(&store, author(), 2));
        system.tool(client("of_the_system")).await.unwrap();
        let (function, _) = olga.published("look").await;
        let own = olga.tool(NewTool { requires_confirmation: true, ..NewTool::server("Own_Look", &*function.id) }).await.unwrap();
        let kind = FunctionKind::Mcp { server: "crm".into(), tool: "find".into() };
        let mcp = by(&store, author(), 3).function(NewFunction::new("find", kind)).await.unwrap();
        let found = by(&store, author(), 3).tool(NewTool::server("find_customer", &*mcp.id)).await.unwrap();
        by(&store, author(), 4).tool(client("pick_color")).await.unwrap();
        by(&store, foreign(), 5).tool(client("foreign")).await.unwrap();
        olga.bind("support", &own.id).await.unwrap();
        by(&store, foreign(), 1).bind("support", &store.stored_tools(&umbrella(), &StoredToolFilter::default()).await.unwrap()[0].id).await.unwrap();

        let none = StoredToolFilter::default();
        for (filter, expected) in [
            (none.clone(), vec!["of_the_system", "Own_Look", "find_customer", "pick_color"]),
            (StoredToolFilter { source: Some(ToolSource::System), ..none.clone() }, vec!["of_the_system"]),
            (StoredToolFilter { source: Some(ToolSource::Workspace), ..none.clone() }, vec!["Own_Look", "pick_color"]),
            (StoredToolFilter { source: Some(ToolSource::Integration), ..none.clone() }, vec!["find_customer"]),
            (StoredToolFilter { agent: Some("support".into()), ..none.clone() }, vec!["Own_Look"]),
            (StoredToolFilter { agent: Some("nobody".into()), ..none.clone() }, vec![]),
            (StoredToolFilter { function: Some(function.id.clone()), ..none.clone() }, vec!["Own_Look"]),
            (StoredToolFilter { target: Some(ToolTarget::Client), ..none.clone() }, vec!["of_the_system", "pick_color"]),
            (StoredToolFilter { target: Some(ToolTarget::Server), ..none.clone() }, vec!["Own_Look", "find_customer"]),
            (StoredToolFilter { name: Some("LOOK".into()), ..none.clone() }, vec!["Own_Look"]),
            (StoredToolFilter { name: Some("_".into()), ..none.clone() }, vec!["of_the_system", "Own_Look", "find_customer", "pick_color"]),
            (StoredToolFilter { name: Some("%".into()), ..none.clone() }, vec![]),
            (StoredToolFilter { requires_confirmation: Some(true), ..none.clone() }, vec!["Own_Look"]),
            (StoredToolFilter { requires_confirmation: Some(false), target: Some(ToolTarget::Server), ..none }, vec!["find_customer"]),
        ] {
            assert_eq!(names(&store, filter.clone()).await, expected, "{filter:?}");
        }
        // The source depends on the function.
        let moved = ToolUpdate { function: Some(function.id), ..ToolUpdate::default() };
        assert_eq!(olga.change(&found.id, moved).await.unwrap().source, ToolSource::Workspace);
        let kinds = FunctionFilter { kind: Some("mcp".into()), ..FunctionFilter::default() };
        assert_eq!(store.functions(&acme(), &kinds).await.unwrap(), std::slice::from_ref(&mcp));
        let part = FunctionFilter { name: Some("FIN".into()), ..FunctionFilter::default() };
        assert_eq!(store.functions(&acme(), &part).await.unwrap(), [mcp]);
    }

    // S3-32: pages forward and backward contain every tool once, even while tools are added.
    #[test]
    async fn pages_skip_and_repeat_nothing(store: impl StoredToolStore) {
        let mut all = Vec::new();
        for n in 0..9 {
            // Groups of three tools have the same creation time.
            all.push(by(&store, author(), 100 + n / 3).tool(client(&format!("t{n}"))).await.unwrap());
        }
        all.sort_by_key(StoredTool::place);
        let ids: Vec<_> = all.iter().map(|tool| tool.id.clone()).collect();
        for forward in [true, false] {
            let mut page = StoredToolFilter { limit: Some(2), ..StoredToolFilter::default() };
            if !forward {
                page.before = Some((at(500), String::new()));
            }
            let (mut read, mut n) = (Vec::new(), 0);
            loop {
                let tools = store.stored_tools(&acme(), &page).await.unwrap();
                assert!(tools.is_sorted_by_key(StoredTool::place), "{tools:?}");
                let ends = if forward { tools.last() } else { tools.first() };
                let Some(end) = ends else { break };
                if forward {
                    page.after = Some(end.place());
                    read.extend(tools);
                } else {
                    page.before = Some(end.place());
                    read.splice(0..0, tools);
                }
                // The first new tool is at the end of the list, and the second is on the side of the cursor that was already read.
                n += 1;
                if n < 4 {
                    by(&store, author(), 900 + n).tool(client("new")).await.unwrap();
                    by(&store, author(), if forward { 1 } else { 902 }).tool(client("new")).await.unwrap();
                }
            }
            read.retain(|tool| tool.name != "new");
            assert_eq!(read.iter().map(|tool| tool.id.clone()).collect::<Vec<_>>(), ids);
        }
        let between = StoredToolFilter { after: Some(all[1].place()), before: Some(all[5].place()), ..StoredToolFilter::default() };
        assert_eq!(store.stored_tools(&acme(), &between).await.unwrap(), all[2..5]);
    }

    // S3-32: a page has 1 to 100 tools, and 100 by default.
    #[test]
    async fn limit_of_a_page_has_a_range(store: impl StoredToolStore) {
        for n in 0..101 {
            by(&store, author(), n).tool(client("ask")).await.unwrap();
        }
        let list = async |limit| {
            let filter = StoredToolFilter { limit, ..StoredToolFilter::default() };
            store.stored_tools(&acme(), &filter).await.map(|tools| tools.len())
        };
        assert_eq!(list(None).await.unwrap(), 100);
        assert_eq!(list(Some(1)).await.unwrap(), 1);
        assert_eq!(list(Some(100)).await.unwrap(), 100);
        conflict(list(Some(0)).await, "1 to 100");
        conflict(list(Some(101)).await, "1 to 100");
    }

    // S3-33: a binding is a separate row: it can be removed without the tool, and binding a tool twice stores one row. An unknown tool, an empty
    // agent, an approver and the host's program are refused.
    #[test]
    async fn binding_is_a_separate_row(store: impl StoredToolStore) {
        let olga = by(&store, of(MemberRole::Author), 1);
        let tool = olga.tool(client("ask")).await.unwrap();
        assert!(olga.bind("support", &tool.id).await.unwrap());
        assert!(olga.bind("sales", &tool.id).await.unwrap());
        assert!(!by(&store, author(), 2).bind("support", &tool.id).await.unwrap());
        let row = AgentBinding::new(acme(), "support", &*tool.id, "olga", at(1));
        let of_agent = BindingFilter { agent: Some("support".into()), ..BindingFilter::default() };
        assert_eq!(store.bindings(&acme(), &of_agent).await.unwrap(), [row]);
        let agents = async |filter: BindingFilter| {
            let rows = store.bindings(&acme(), &filter).await.unwrap();
            rows.into_iter().map(|row| row.agent).collect::<Vec<_>>()
        };
        let first = BindingFilter { tool: Some(tool.id.clone()), limit: Some(1), ..BindingFilter::default() };
        assert_eq!(agents(first.clone()).await, ["sales"]);
        assert_eq!(agents(BindingFilter { after: Some(("sales".into(), tool.id.clone())), ..first }).await, ["support"]);
        assert!(olga.unbind("support", &tool.id).await.unwrap());
        assert!(!olga.unbind("support", &tool.id).await.unwrap());
        assert_eq!(stored(&store, &tool.id).await, tool);
        assert_eq!(agent_names(&store, "support").await, [""; 0]);
        assert_eq!(agent_names(&store, "sales").await, ["ask"]);
        missing(olga.bind("support", "unknown").await);
        conflict(olga.bind("", &tool.id).await, "agent");
        forbidden(by(&store, of(MemberRole::Approver), 1).bind("support", &tool.id).await, "`operator`");
        missing(by(&store, Editor::System, 1).bind("support", &tool.id).await);
    }

    // S3-34: a version keeps its parent, label, files, uses and both schemas when its function is changed. A version without a schema, without its
    // entry file or with an invalid parent is refused, and `uses` needs a function of TypeScript.
    #[test]
    async fn function_version_never_changes(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let kind = FunctionKind::TypeScript { entry: "main.ts".into() };
        let function = olga.function(NewFunction::new("report", kind)).await.unwrap();
        let new = NewFunctionVersion {
            label: Some("first".into()),
            files: [("main.ts".to_owned(), "export {}".to_owned()), ("lib/a.ts".to_owned(), "ü".to_owned())].into(),
            uses: vec!["send_mail".into()],
            ..new_version()
        };
        let one = olga.version(&function.id, new.clone()).await.unwrap();
        assert_eq!((one.number, one.parent.as_deref(), one.label.as_deref()), (1, None, Some("first")));
        assert_eq!((&one.files, &one.uses), (&new.files, &new.uses));
        assert_eq!((&one.input_schema, &one.output_schema), (&schema("in"), &schema("out")));
        let fork = NewFunctionVersion { parent: Some(one.id.clone()), ..new.clone() };
        let two = by(&store, author(), 2).version(&function.id, fork).await.unwrap();
        assert_eq!((two.number, two.parent.as_deref()), (2, Some(&*one.id)));
        olga.publish(&two.id).await.unwrap();
        by(&store, author(), 3).change_function(&function.id, FunctionUpdate { name: Some("x".into()), ..FunctionUpdate::default() }).await.unwrap();
        assert_eq!(store.function_versions(&acme(), &function.id).await.unwrap(), [one.clone(), two.clone()]);
        assert_eq!(store.function_version(&acme(), &one.id).await.unwrap(), Some(one.clone()));

        for lacking in ["input_schema", "output_schema"] {
            let mut new = json!({"input_schema": {}, "output_schema": {}});
            new.as_object_mut().unwrap().remove(lacking);
            let refused = serde_json::from_value::<NewFunctionVersion>(new).unwrap_err().to_string();
            assert!(refused.contains(lacking), "{refused}");
        }
        conflict(olga.version(&function.id, new_version()).await, "`main.ts`");
        missing(olga.version(&function.id, NewFunctionVersion { parent: Some("unknown".into()), ..new.clone() }).await);
        let (other, strange) = olga.published("other").await;
        conflict(olga.version(&function.id, NewFunctionVersion { parent: Some(strange.id), ..new }).await, "belongs to function");
        conflict(olga.version(&other.id, NewFunctionVersion { uses: vec!["a".into()], ..new_version() }).await, "`uses`");
        // A version that other rows refer to cannot be removed.
        conflict(olga.remove_version(&two.id).await, "default");
        conflict(olga.remove_version(&one.id).await, "parent");
    }

    // S3-34: a version is not removed while a tool is pinned to it. A function is not removed while a tool runs it, even a deleted tool that is still
    // kept.
    #[test]
    async fn function_in_use_is_not_removed(store: impl StoredToolStore) {
        let olga = by(&store, author(), 1);
        let (function, one) = olga.published("look").await;
        let two = olga.version(&function.id, new_version()).await.unwrap();
        let pin = Some(one.id.clone());
        let tool = olga.tool(NewTool { function_version: pin, ..NewTool::server("look", &*function.id) }).await.unwrap();
        olga.publish(&two.id).await.unwrap();
        conflict(olga.remove_version(&one.id).await, "pinned by 1 tool,");
        conflict(olga.remove_function(&function.id).await, "used by 1 tool,");
        olga.delete(&tool.id).await.unwrap();
        conflict(olga.remove_function(&function.id).await, "used by 1 tool,");
        store.purge_tools(Scope::All, at(31 * DAY), 10).await.unwrap();
        assert_eq!(olga.remove_version(&one.id).await.unwrap(), one);
        forbidden(by(&store, of(MemberRole::Operator), 1).remove_function(&function.id).await, "`author`");
        olga.remove_function(&function.id).await.unwrap();
        assert_eq!(store.function(&acme(), &function.id).await.unwrap(), None);
        assert_eq!(store.function_versions(&acme(), &function.id).await.unwrap(), []);
        missing(olga.remove_function(&function.id).await);
    }

    // S3-21: only an admin states or removes the effects of a function, and only for foreign functions. An operator creates no functions and no
    // tools.
    #[test]
    async fn effects_of_foreign_functions_need_an_admin(store: impl StoredToolStore) {
        let kind = FunctionKind::Http { document: "api.json".into(), operation: "find".into() };
        let effects = Some(FunctionEffects { read_only: true, destructive: false, idempotent: true, open_world: true });
        let new = || NewFunction { effects, ..NewFunction::new("find", kind.clone()) };
        forbidden(by(&store, author(), 1).function(new()).await, "`admin`");
        let function = by(&store, admin(), 1).function(new()).await.unwrap();
        assert_eq!(store.function(&acme(), &function.id).await.unwrap().unwrap().effects, effects);
        let update = || FunctionUpdate { effects: Some(None), ..FunctionUpdate::default() };
        forbidden(by(&store, author(), 2).change_function(&function.id, update()).await, "`admin`");
        assert_eq!(by(&store, admin(), 2).change_function(&function.id, update()).await.unwrap().effects, None);
        conflict(by(&store, admin(), 1).function(NewFunction { effects, ..linked("look") }).await, "only the effects of functions of the kinds");

        // An author cannot publish a version of a function with stated effects, because the version may have other effects.
        let stated = by(&store, admin(), 3).function(new()).await.unwrap();
        let document = [("api.json".to_owned(), "{}".to_owned())].into();
        let version = NewFunctionVersion { files: document, ..new_version() };
        let version = by(&store, author(), 3).version(&stated.id, version).await.unwrap();
        forbidden(by(&store, author(), 4).publish(&version.id).await, "`admin`");
        by(&store, admin(), 4).publish(&version.id).await.unwrap();
        conflict(by(&store, admin(), 1).function(NewFunction::new("", kind)).await, "name");
        forbidden(by(&store, of(MemberRole::Operator), 1).function(linked("look")).await, "`author`");
        forbidden(by(&store, of(MemberRole::Operator), 1).tool(client("ask")).await, "`author`");
    }

    // S3-17, S3-18: a change and its audit row are one transaction; a refused change writes no row, and the audit row cannot belong to a different
    // workspace.
    #[test]
    async fn change_is_written_with_its_audit_row(store: impl StoredToolStore + AuditSink) {
        let row = |workspace: Workspace| AuditRow::of_operator(workspace, "olga", "tool.create", "{}", at(1)).unwrap();
        let create = |new| ToolEdit::new(author(), ToolChange::CreateTool(Box::new(new)), at(1));
        let rows = async || store.export(Scope::All, &AuditFilter::default()).await.unwrap();
        missing(store.edit(create(client("ask")).audited(row(umbrella()))).await);
        conflict(store.edit(create(client(" ")).audited(row(acme()))).await, "name");
        assert_eq!(rows().await, []);
        assert_eq!(names(&store, StoredToolFilter::default()).await, [""; 0]);
        store.edit(create(client("ask")).audited(row(acme()))).await.unwrap();
        let rows = rows().await;
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].tool.as_str(), rows[0].principal.as_deref()), ("ask", Some("olga")));
        assert_eq!(rows[0].notes[0].action, "tool.create");
    }

    // A different workspace cannot read or change the members, settings, functions, versions, tools and bindings of a workspace.
    #[test]
    async fn workspaces_are_separate(store: impl StoredToolStore) {
        let olga = by(&store, admin(), 1);
        store.put_workspace(WorkspaceSettings::new(acme(), at(1)), &admin()).await.unwrap();
        join(&store, "robot", MemberRole::Viewer).await;
        let (function, version) = olga.published("look").await;
        let tool = olga.tool(NewTool::server("look", &*function.id)).await.unwrap();
        olga.bind("support", &tool.id).await.unwrap();

        let eve = by(&store, foreign(), 2);
        missing(eve.change(&tool.id, ToolUpdate::enable(false)).await);
        missing(eve.delete(&tool.id).await);
        missing(eve.bind("support", &tool.id).await);
        missing(eve.unbind("support", &tool.id).await);
        missing(eve.tool(NewTool::server("look", &*function.id)).await);
        missing(eve.change_function(&function.id, FunctionUpdate::default()).await);
        missing(eve.remove_function(&function.id).await);
        missing(eve.version(&function.id, new_version()).await);
        missing(eve.publish(&version.id).await);
        missing(eve.remove_version(&version.id).await);
        let (own, _) = eve.published("own").await;
        missing(eve.tool(NewTool { function_version: Some(version.id.clone()), ..NewTool::server("x", &*own.id) }).await);
        missing(store.put_workspace(WorkspaceSettings::new(acme(), at(2)), &foreign()).await);
        missing(store.put_member(Member::new(acme(), "eve", MemberRole::Admin, at(2)), &foreign()).await);
        missing(store.remove_member(&acme(), "robot", &foreign()).await);

        let other = umbrella();
        assert_eq!(store.stored_tool(&other, &tool.id).await.unwrap(), None);
        assert_eq!(store.resolve_tool(&other, &tool.id).await.unwrap(), None);
        assert_eq!(store.agent_tools(&other, "support").await.unwrap(), []);
        assert_eq!(store.stored_tools(&other, &StoredToolFilter::default()).await.unwrap(), []);
        assert_eq!(store.function(&other, &function.id).await.unwrap(), None);
        assert_eq!(store.functions(&other, &FunctionFilter::default()).await.unwrap(), [own]);
        assert_eq!(store.function_version(&other, &version.id).await.unwrap(), None);
        assert_eq!(store.function_versions(&other, &function.id).await.unwrap(), []);
        assert_eq!(store.bindings(&other, &BindingFilter::default()).await.unwrap(), []);
        assert_eq!(store.workspace_settings(&other).await.unwrap(), None);
        assert_eq!(store.member(&other, "robot").await.unwrap(), None);
        assert_eq!(store.members(&other, None, 9).await.unwrap(), []);
        olga.delete(&tool.id).await.unwrap();
        assert_eq!(store.purge_tools(Scope::Workspace(&other), at(99 * DAY), 9).await.unwrap(), []);
        assert!(stored(&store, &tool.id).await.is_deleted());
    }

    // Workspaces and members are listed in pages, and a later write does not change the creation time of a workspace. Only an admin changes members,
    // and a member needs a name.
    #[test]
    async fn directory_lists_workspaces_and_members(store: impl StoredToolStore) {
        for (name, millis) in [("b", 2), ("a", 1), ("c", 3)] {
            store.put_workspace(WorkspaceSettings::new(name, at(millis)), &Editor::System).await.unwrap();
        }
        let (first, last) = (Workspace::new("a"), Workspace::new("c"));
        let names = async |after, most| {
            let rows = store.workspaces(after, most).await.unwrap();
            rows.into_iter().map(|row| row.workspace.as_str().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(None, 2).await, ["a", "b"]);
        assert_eq!(names(Some(&first), 9).await, ["b", "c"]);
        assert_eq!(names(Some(&last), 9).await, [""; 0]);
        let again = WorkspaceSettings { retention_tier: RetentionTier::Long, ..WorkspaceSettings::new("a", at(9)) };
        let again = store.put_workspace(again, &Editor::System).await.unwrap();
        assert_eq!((again.created_at, again.updated_at), (at(1), at(9)));
        assert_eq!(store.workspace_settings(&first).await.unwrap(), Some(again));

        for user in ["zoe", "ann", "olga"] {
            join(&store, user, MemberRole::Author).await;
        }
        join(&store, "ann", MemberRole::Admin).await;
        let members = store.members(&acme(), Some("ann"), 9).await.unwrap();
        assert_eq!(members.iter().map(|member| &*member.user).collect::<Vec<_>>(), ["olga", "zoe"]);
        assert_eq!(store.members(&acme(), None, 1).await.unwrap()[0].role, MemberRole::Admin);
        conflict(store.put_member(Member::new(acme(), "", MemberRole::Viewer, at(1)), &admin()).await, "name");
        forbidden(store.put_member(Member::new(acme(), "x", MemberRole::Viewer, at(1)), &author()).await, "`admin`");
        forbidden(store.remove_member(&acme(), "zoe", &author()).await, "`admin`");
    }
}

tests! {
    ($) __suite_stored_tool_races in stored_tool for StoredToolStore;

    // S3-34: 32 versions that are created at once have the numbers 1 to 32.
    #[test]
    fn versions_are_numbered_once(opener) {
        opener.test(async |place| {
            let store = place.open().await;
            let function = by(&store, author(), 1).function(linked("look")).await.unwrap();
            let (store, id) = (store.clone(), function.id.clone());
            let numbers = at_once(move |_| {
                let (store, id) = (store.clone(), id.clone());
                async move { by(&store, author(), 2).version(&id, new_version()).await.unwrap().number }
            });
            let numbers: BTreeSet<_> = numbers.await.into_iter().collect();
            assert_eq!(numbers, (1..=32).collect());
        });
    }

    // S3-28: of many concurrent updates that expect the same time of change, one succeeds.
    #[test]
    fn one_of_many_expected_updates_wins(opener) {
        opener.test(async |place| {
            let store = place.open().await;
            let tool = by(&store, author(), 1).tool(client("ask")).await.unwrap();
            let made = at_once(move |_| {
                let (store, id, expected) = (store.clone(), tool.id.clone(), Some(tool.updated_at));
                async move {
                    let update = Box::new(ToolUpdate::enable(false));
                    let change = ToolChange::UpdateTool { id, update, expected };
                    by(&store, author(), 2).make(change).await.is_ok()
                }
            });
            assert_eq!(made.await.into_iter().filter(|made| *made).count(), 1);
        });
    }
}
