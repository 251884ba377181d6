//! Records of a workspace in most of the tables that the API reads. The catalogue of tools is not among them.

use std::time::Duration;

use tool_core::store::{
    ApprovalKind, ApprovalRequest, AuditRow, CallId, Directory, Editor, EnablementStore,
    FunctionKind, InstanceId, Intent, KeyId, LongTermStore, Member, MemberRole, NewFunction,
    NewFunctionVersion, NewMessage, NewRun, NewTool, Role, Scope, SealKeyRow, SealStore, Sealed,
    SecretRow, SecretStore, SkillVersion, StoredToolStore, Switch, SwitchKey, SwitchKind, ThreadId,
    Timestamp, ToolChange, ToolEdit, ToolSchema, VariableField, VariableRequest,
    VariableRequestStore, VariableRow, VariableScope, VariableStore, VariableType, VariableValue,
    Workspace, WorkspaceSettings,
};

use crate::packs::{create_plan, create_task, remember, write_document, write_to_room};
use crate::site::{KEY, SiteStore};

/// The names and ids of the records of a workspace. Each name contains the name of the workspace.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The workspace of the records.
    pub workspace: String,
    /// The id of a pending approval.
    pub approval: String,
    /// The key of an ambiguous effect.
    pub effect: String,
    /// A conversation with messages, a plan, and an active run with the number 1. It is also a room.
    pub conversation: String,
    /// The tool of the approvals, the effect and the audit rows. A switch disables it.
    pub tool: String,
    /// The user of the approvals, the effect, the run and the audit rows.
    pub principal: String,
    /// The decision of every audit row.
    pub decision: String,
    /// An agent with a bound tool.
    pub agent: String,
    /// The id of a function with a published version.
    pub function: String,
    /// The id of the version.
    pub version: String,
    /// The id of a tool that runs the function.
    pub stored_tool: String,
    /// An instance with an agent and a skill.
    pub instance: String,
    /// A skill of the instance.
    pub skill: String,
    /// The id of a request for variables of the conversation.
    pub request: String,
    /// The id of a memory.
    pub memory: String,
    /// The file name of a document.
    pub file: String,
    /// The id of a scheduled task.
    pub task: String,
}

/// Stores the records of a workspace.
pub async fn seed(store: &(impl SiteStore + ?Sized), workspace: &str) -> Sample {
    seed_on(store, store, workspace).await
}

/// Stores the records of a workspace. A handle that seals contents refuses memories, so a second handle of the same store stores them.
pub async fn seed_on(
    store: &(impl SiteStore + ?Sized),
    memories: &(impl LongTermStore + ?Sized),
    workspace: &str,
) -> Sample {
    let name = |what: &str| format!("{what}-of-{workspace}");
    let (conversation, tool, principal) = (name("main"), name("send"), name("ann"));
    let thread = ThreadId::new(workspace, conversation.as_str()).unwrap();
    let now = Timestamp::now();
    let later = now.plus(Duration::from_hours(1));
    for n in 0..3 {
        store
            .open(request(
                workspace,
                &format!("{}-{n}", name("approval")),
                now,
            ))
            .await
            .unwrap();
    }
    let identity = CallId::in_thread(&thread, 2, 0);
    let intent = Intent {
        identity: identity.clone(),
        earlier: None,
        call: name("call"),
        thread: Some(conversation.clone()),
        agent: None,
        tool: tool.clone(),
        contract: name("contract"),
        principal: principal.clone(),
        arguments_hash: name("hash"),
        owner: name("owner"),
        at: now,
        lease_until: now.plus(Duration::from_millis(1)),
    };
    store.begin(intent, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    store
        .sweep(
            Scope::Workspace(&Workspace::new(workspace)),
            Timestamp::now(),
        )
        .await
        .unwrap();
    let new = NewRun {
        thread: thread.clone(),
        principal: Some(principal.clone()),
        agent: None,
        owner: name("driver"),
        at: now,
        lease_until: later,
    };
    store.begin_run(new).await.unwrap();
    for (number, outcome) in ["ok", "failed", "pending"].into_iter().enumerate() {
        let identity = CallId::in_thread(&thread, 9, u32::try_from(number).unwrap());
        let row = AuditRow {
            principal: Some(principal.clone()),
            decision: Some(name("decision")),
            outcome: Some(outcome.to_owned()),
            arguments: format!(r#"{{"to":"{}"}}"#, name("bob")),
            ..AuditRow::new(identity, name("call"), tool.as_str(), now)
        };
        store.write(vec![row]).await.unwrap();
    }
    for n in 0..3 {
        let message = NewMessage {
            thread: thread.clone(),
            role: Role::User,
            answers: None,
            follows: None,
            content: format!("\"{} {n}\"", name("hello")),
            at: now,
        };
        store.append(message).await.unwrap();
    }
    switch(store, workspace, now).await;
    let (function, version, stored_tool) = tools(store, workspace, now).await;
    enablement(store, workspace, now).await;
    vault(store, &thread, now).await;
    people(store, workspace, now).await;
    packs(store, &thread, &principal).await;
    let agent = name("agent");
    let owner = (Some(agent.as_str()), principal.as_str());
    let memory = remember(memories, workspace, owner, &name("note")).await;
    Sample {
        workspace: workspace.to_owned(),
        approval: format!("{}-0", name("approval")),
        effect: identity.key().as_str().to_owned(),
        conversation,
        tool,
        principal,
        decision: name("decision"),
        agent,
        function,
        version,
        stored_tool,
        instance: name("support"),
        skill: name("mail"),
        request: name("request"),
        memory,
        file: name("file"),
        task: name("task"),
    }
}

/// Stores a document, a plan, a scheduled task and an event of a room.
async fn packs(store: &(impl SiteStore + ?Sized), thread: &ThreadId, principal: &str) {
    let workspace = thread.workspace().as_str();
    let name = |what: &str| format!("{what}-of-{workspace}");
    let content = name("content");
    write_document(store, workspace, &name("file"), content.as_bytes()).await;
    create_plan(store, thread, principal).await;
    create_task(store, workspace, &name("task"), principal).await;
    write_to_room(store, thread, &name("event")).await;
}

/// Stores a switch that disables the tool.
async fn switch(store: &(impl SiteStore + ?Sized), workspace: &str, now: Timestamp) {
    let name = |what: &str| format!("{what}-of-{workspace}");
    let key = SwitchKey {
        workspace: Some(workspace.into()),
        kind: SwitchKind::Disable,
        tool: name("send"),
        source: String::new(),
    };
    let switch = Switch {
        key,
        on: true,
        by: name("olga"),
        reason: Some(name("spam")),
        at: now,
    };
    store.set(switch).await.unwrap();
}

/// Stores an instance with an agent and a skill.
async fn enablement(store: &(impl EnablementStore + ?Sized), workspace: &str, now: Timestamp) {
    let name = |what: &str| format!("{what}-of-{workspace}");
    let instance = InstanceId::new(workspace, name("support"));
    let agent = format!("agent:{}", name("agent"));
    let by = name("olga");
    store.enable(&instance, &agent, &by, now).await.unwrap();
    let mut skill = SkillVersion::new(name("mail"), "1.0.0");
    skill.required_tools = vec![name("send")];
    store
        .enable_skill(&instance, skill, &by, now)
        .await
        .unwrap();
}

/// Stores a secret whose sealed value cannot be opened, a variable, and a request for variables.
async fn vault(
    store: &(impl SealStore + SecretStore + VariableStore + VariableRequestStore + ?Sized),
    thread: &ThreadId,
    now: Timestamp,
) {
    let workspace = thread.workspace();
    let name = |what: &str| format!("{what}-of-{workspace}");
    let sealed = Sealed::new(&KeyId::new(KEY).unwrap(), &[0; 24], &[0; 16]);
    let key = SealKeyRow::new(sealed.clone(), now);
    store.register_key(key).await.unwrap();
    let by = name("olga");
    let secret = SecretRow::new(workspace, name("send"), name("id"), sealed, &by, now);
    store.put_secret(secret).await.unwrap();
    let target = VariableScope::thread(thread);
    let text = VariableValue::Clear(name("eu"));
    let kind = VariableType::Text;
    let row = VariableRow::new(
        target.clone(),
        name("send"),
        name("id"),
        kind,
        text,
        &by,
        now,
    );
    store.put_variables(vec![row]).await.unwrap();
    let field = VariableField::new(name("region"), kind);
    let (id, agent) = (name("request"), name("agent"));
    let request = VariableRequest::new(id, thread.clone(), agent, target, vec![field], now);
    store.open_request(request).await.unwrap();
}

/// Stores the settings of the workspace, and a member.
async fn people(store: &(impl Directory + ?Sized), workspace: &str, now: Timestamp) {
    let user = format!("ann-of-{workspace}");
    let member = Member::new(workspace, user.as_str(), MemberRole::Viewer, now);
    store.put_member(member, &Editor::System).await.unwrap();
    let mut settings = WorkspaceSettings::new(workspace, now);
    settings.default_runtime_user = Some(user);
    store
        .put_workspace(settings, &Editor::System)
        .await
        .unwrap();
}

/// Stores a function with a published version, and a tool that is bound to an agent. Returns their ids.
async fn tools(
    store: &(impl StoredToolStore + ?Sized),
    workspace: &str,
    now: Timestamp,
) -> (String, String, String) {
    let name = |what: &str| format!("{what}-of-{workspace}");
    let editor = Editor::member(workspace, name("olga"), MemberRole::Admin);
    let edit = async |change| {
        let edit = ToolEdit::new(editor.clone(), change, now);
        store.edit(edit).await.unwrap()
    };
    let kind = FunctionKind::Linked {
        tool: "pick_color".to_owned(),
    };
    let function = NewFunction::new(name("function"), kind);
    let function = edit(ToolChange::CreateFunction(function)).await;
    let function = function.into_function().unwrap().id;
    let schema = |text: &str| ToolSchema::new(text).unwrap();
    let input = r#"{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"],"additionalProperties":false}"#;
    let mut version = NewFunctionVersion::new(schema(input), schema(r#"{"type":"string"}"#));
    version.label = Some(name("label"));
    let version = ToolChange::CreateVersion {
        function: function.clone(),
        version,
    };
    let version = edit(version).await.into_version().unwrap().id;
    edit(ToolChange::Publish {
        version: version.clone(),
    })
    .await;
    let tool = NewTool::server(name("pick"), function.as_str());
    let tool = edit(ToolChange::CreateTool(Box::new(tool))).await;
    let tool = tool.into_tool().unwrap().id;
    edit(ToolChange::Bind {
        agent: name("agent"),
        tool: tool.clone(),
    })
    .await;
    (function, version, tool)
}

fn request(workspace: &str, id: &str, now: Timestamp) -> ApprovalRequest {
    let name = |what: &str| format!("{what}-of-{workspace}");
    let thread = ThreadId::new(workspace, name("main")).unwrap();
    ApprovalRequest {
        id: id.to_owned(),
        kind: ApprovalKind::Call,
        identity: CallId::in_thread(&thread, 4, 0),
        thread: Some(name("main")),
        call: name("call"),
        tool: name("send"),
        principal: name("ann"),
        agent: None,
        contract: name("contract"),
        arguments: format!(r#"{{"to":"{}"}}"#, name("bob")),
        policy: "v1".to_owned(),
        decision: name("decision"),
        four_eyes: true,
        reason: Some(name("reason")),
        nonce: format!("{id}-nonce"),
        created: now,
        expires: now.plus(Duration::from_hours(1)),
        parent: None,
    }
}
