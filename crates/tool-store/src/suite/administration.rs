//! Tests of changes by operators with their audit rows: instances, the vault, workspaces, members, erasures, and forced ends of runs and effects.

use crate::*;

use super::records::{acme, at, intent, key, request, thread};
use super::{conflict, missing, tests};

/// The traits of a store whose rows these tests change.
pub trait AdministeredStore:
    ChangeStore + EnablementStore + VaultStore + Directory + Maintenance
{
}

impl<T: ChangeStore + EnablementStore + VaultStore + Directory + Maintenance> AdministeredStore
    for T
{
}

fn umbrella() -> Workspace {
    Workspace::new("umbrella")
}

/// Returns a change in a workspace, with an audit row of the operator `olga`.
fn of(workspace: &Workspace, change: Change) -> ChangeRequest {
    let audit = AuditRow::of_operator(workspace, "olga", "test", "{}", at(300)).unwrap();
    ChangeRequest {
        change,
        audit,
        key: None,
    }
}

/// Makes a change in the workspace `acme`.
async fn make(store: &impl ChangeStore, change: Change) -> Changed {
    match store.apply(of(&acme(), change)).await.unwrap() {
        Applied::Changed(changed) => changed,
        Applied::Repeated(response) => panic!("{response}"),
    }
}

async fn rows_of_audit(store: &impl AuditSink) -> Vec<AuditRow> {
    let all = AuditFilter::default();
    store.export(Scope::All, &all).await.unwrap()
}

fn support() -> InstanceId {
    InstanceId::new(acme(), "support")
}

fn enable(tool: &str) -> Change {
    Change::Instance(InstanceChange::Enable {
        instance: support(),
        tool: tool.to_owned(),
        by: "olga".to_owned(),
        at: at(300),
    })
}

fn disable(tool: &str) -> Change {
    Change::Instance(InstanceChange::Disable {
        instance: support(),
        tool: tool.to_owned(),
        by: "olga".to_owned(),
    })
}

fn skill(version: &str, tools: &[&str]) -> Change {
    let mut skill = SkillVersion::new("mail", version);
    skill.required_tools = tools.iter().map(|&tool| tool.to_owned()).collect();
    Change::Instance(InstanceChange::EnableSkill {
        instance: support(),
        skill: Box::new(skill),
        by: "olga".to_owned(),
        at: at(300),
    })
}

fn sealed() -> Sealed {
    Sealed::new(&KeyId::new("k1").unwrap(), &[0; 24], &[0; 16])
}

fn secret(name: &str) -> Change {
    let row = SecretRow::new(
        acme(),
        name,
        format!("id-{name}"),
        sealed(),
        "olga",
        at(300),
    );
    Change::Vault(VaultChange::PutSecret(Box::new(row)))
}

fn text(scope: &VariableScope, name: &str, value: &str) -> VariableRow {
    let value = VariableValue::Clear(value.to_owned());
    let id = format!("id-{name}");
    VariableRow::new(
        scope.clone(),
        name,
        id,
        VariableType::Text,
        value,
        "olga",
        at(300),
    )
}

fn admin() -> Editor {
    Editor::member(acme(), "olga", MemberRole::Admin)
}

fn put_member(user: &str, role: MemberRole, editor: Editor, expected: Expected<Member>) -> Change {
    Change::Directory(DirectoryChange::PutMember {
        member: Member::new(acme(), user, role, at(300)),
        editor,
        expected,
    })
}

fn put_workspace(tier: RetentionTier, expected: Expected<Box<WorkspaceSettings>>) -> Change {
    let mut settings = WorkspaceSettings::new(acme(), at(300));
    settings.retention_tier = tier;
    Change::Directory(DirectoryChange::PutWorkspace {
        settings: Box::new(settings),
        editor: admin(),
        expected,
    })
}

async fn begin_run(store: &impl RunStore) -> RunId {
    let new = NewRun {
        thread: thread("main"),
        principal: None,
        agent: None,
        owner: "one".to_owned(),
        at: at(100),
        lease_until: at(900),
    };
    match store.begin_run(new).await.unwrap() {
        RunBegun::Begun(row) => row.id,
        RunBegun::Busy(row) => panic!("{row:?}"),
    }
}

tests! {
    ($) __suite_administration in administration for AdministeredStore;

    // S1-34, S1-35, S1-36: a change of an instance has the result of the same method of `EnablementStore`, and the audit row names the tool. A
    // refused change writes nothing.
    #[test]
    async fn instance_is_changed_with_its_audit_row(store: impl Store + ChangeStore + EnablementStore) {
        let entries = ["read_mail", "send_mail"].map(CatalogueEntry::new);
        store.reconcile(entries.to_vec()).await.unwrap();
        let add = Change::Instance(InstanceChange::Add { instance: support(), at: at(300) });
        assert_eq!(make(&store, add.clone()).await, Changed::Row { changed: true });
        assert_eq!(make(&store, add).await, Changed::Row { changed: false });
        let enabled = Changed::Enablement { tool: "send_mail".into(), changed: true };
        let version = store.changed_since(0).await.unwrap().version;
        assert_eq!(make(&store, enable("send_mail")).await, enabled);
        assert_eq!(store.changed_since(version).await.unwrap().instances, [support()]);
        let Changed::Skill(change) = make(&store, skill("1", &["read_mail", "fax"])).await else {
            panic!("the result is not a change of a skill");
        };
        assert_eq!((change.added, change.missing), (vec!["read_mail".to_owned()], vec!["fax".to_owned()]));
        let before = rows_of_audit(&store).await;
        let tools: Vec<_> = before.iter().map(|row| row.tool.as_str()).filter(|tool| !tool.is_empty()).collect();
        assert_eq!(tools, ["send_mail"]);
        conflict(store.apply(of(&acme(), disable("read_mail"))).await, "source `skill`");
        conflict(store.apply(of(&acme(), skill("1", &["send_mail"]))).await, "different contents");
        missing(store.apply(of(&acme(), enable("unknown"))).await);
        // A refused change does not add the instance.
        let sales = InstanceId::new(acme(), "sales");
        let unknown = InstanceChange::Enable { instance: sales.clone(), tool: "unknown".into(), by: "olga".into(), at: at(300) };
        missing(store.apply(of(&acme(), Change::Instance(unknown))).await);
        assert_eq!(store.list_instances(&acme(), None, 9).await.unwrap(), [support()]);
        missing(store.apply(of(&acme(), Change::Instance(InstanceChange::Remove { instance: sales }))).await);
        assert_eq!(rows_of_audit(&store).await, before);
        let disabled = Changed::Enablement { tool: "send_mail".into(), changed: true };
        assert_eq!(make(&store, disable("send_mail")).await, disabled);
        let unpin = InstanceChange::DisableSkill { instance: support(), skill: "mail".into(), by: "olga".into() };
        let Changed::Skill(change) = make(&store, Change::Instance(unpin)).await else {
            panic!("the result is not a change of a skill");
        };
        assert_eq!(change.removed, ["read_mail"]);
        let remove = Change::Instance(InstanceChange::Remove { instance: support() });
        assert_eq!(make(&store, remove).await, Changed::Row { changed: true });
        assert_eq!(store.list_instances(&acme(), None, 9).await.unwrap(), []);
    }

    // Instances of a workspace are listed by name, page by page.
    #[test]
    async fn instances_are_listed_by_name(store: impl EnablementStore) {
        for (workspace, slug) in [("acme", "b"), ("acme", ""), ("acme", "a"), ("umbrella", "a")] {
            store.add_instance(&InstanceId::new(workspace, slug), at(1)).await.unwrap();
        }
        let names = async |after: Option<&str>, most| {
            let page = store.list_instances(&acme(), after, most).await.unwrap();
            page.iter().map(|instance| instance.slug().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(None, 2).await, ["", "a"]);
        assert_eq!(names(Some("a"), 2).await, ["b"]);
        assert_eq!(names(Some(""), 1).await, ["a"]);
        assert_eq!(names(Some("b"), 2).await, [""; 0]);
    }

    // S4-13, S4-57: each change of the vault is stored with its audit row. A refused change writes no audit row.
    #[test]
    async fn vault_is_changed_with_its_audit_row(store: impl Store + ChangeStore + VaultStore) {
        conflict(store.apply(of(&acme(), secret("docs"))).await, "not registered");
        store.register_key(SealKeyRow::new(sealed(), at(1))).await.unwrap();
        make(&store, secret("docs")).await;
        let scope = VariableScope::thread(&thread("child"));
        make(&store, Change::Vault(VaultChange::PutVariables(vec![text(&scope, "CITY", "Rome")]))).await;
        let fields = ["REGION", "ZONE"].map(|name| VariableField::new(name, VariableType::Text));
        let open = VariableRequest::new("r1", thread("main"), "sales", scope.clone(), fields.to_vec(), at(1));
        store.open_request(open).await.unwrap();
        let answer = |rows| Change::Vault(VaultChange::AnswerRequest { workspace: acme(), id: "r1".into(), rows });
        let region = vec![text(&scope, "REGION", "eu")];
        assert_eq!(make(&store, answer(region)).await, Changed::Answered { missing: vec!["ZONE".into()] });
        let before = rows_of_audit(&store).await;
        assert_eq!(before.len(), 3);
        conflict(store.apply(of(&acme(), answer(vec![text(&scope, "OTHER", "x")]))).await, "does not ask");
        let retire = |key: &str| Change::Vault(VaultChange::RetireKey { key: KeyId::new(key).unwrap(), at: at(300) });
        conflict(store.apply(of(&acme(), retire("k1"))).await, "still seals");
        missing(store.apply(of(&acme(), retire("k2"))).await);
        let remove = |name: &str| Change::Vault(VaultChange::RemoveSecret { workspace: acme(), name: name.into() });
        missing(store.apply(of(&acme(), remove("other"))).await);
        let forget = |name: &str| Change::Vault(VaultChange::RemoveVariable { scope: scope.clone(), name: name.into() });
        missing(store.apply(of(&acme(), forget("OTHER"))).await);
        assert_eq!(rows_of_audit(&store).await, before);
        let zone = vec![text(&scope, "ZONE", "1")];
        assert_eq!(make(&store, answer(zone)).await, Changed::Answered { missing: Vec::new() });
        assert_eq!(store.request(&acme(), "r1").await.unwrap(), None);
        make(&store, remove("docs")).await;
        make(&store, forget("CITY")).await;
        make(&store, retire("k1")).await;
        assert!(store.keys().await.unwrap()[0].retired.is_some());
        assert_eq!(store.variables(std::slice::from_ref(&scope)).await.unwrap().len(), 2);
        assert_eq!(rows_of_audit(&store).await.len(), 7);
    }

    // If two operators change the settings or the member that both have read, the second change is stale. An editor who is not an admin is refused.
    #[test]
    async fn workspaces_and_members_are_changed_once(store: impl Store + ChangeStore + Directory) {
        let Changed::Workspace(first) = make(&store, put_workspace(RetentionTier::Long, Expected::Same(None))).await else {
            panic!("the result is not a change of a workspace");
        };
        assert_eq!(store.workspace_settings(&acme()).await.unwrap().as_ref(), Some(&*first));
        let stale = |answer| assert!(matches!(answer, Err(StoreError::Stale(_))), "{answer:?}");
        stale(store.apply(of(&acme(), put_workspace(RetentionTier::Short, Expected::Same(None)))).await);
        make(&store, put_workspace(RetentionTier::Short, Expected::Same(Some(first.clone())))).await;
        stale(store.apply(of(&acme(), put_workspace(RetentionTier::Long, Expected::Same(Some(first))))).await);
        make(&store, put_member("eve", MemberRole::Approver, admin(), Expected::Same(None))).await;
        let eve = store.member(&acme(), "eve").await.unwrap();
        stale(store.apply(of(&acme(), put_member("eve", MemberRole::Viewer, admin(), Expected::Same(None)))).await);
        make(&store, put_member("eve", MemberRole::Viewer, admin(), Expected::Same(eve.clone()))).await;
        let remove = |expected| Change::Directory(DirectoryChange::RemoveMember {
            workspace: acme(), user: "eve".into(), editor: admin(), expected,
        });
        stale(store.apply(of(&acme(), remove(Expected::Same(eve)))).await);
        let before = rows_of_audit(&store).await.len();
        for role in [MemberRole::Operator, MemberRole::Author, MemberRole::Viewer] {
            let editor = Editor::member(acme(), "bob", role);
            let answer = store.apply(of(&acme(), put_member("eve", MemberRole::Viewer, editor, Expected::Any))).await;
            assert!(matches!(answer, Err(StoreError::Forbidden(_))), "{answer:?}");
        }
        make(&store, remove(Expected::Any)).await;
        missing(store.apply(of(&acme(), remove(Expected::Any))).await);
        assert_eq!(rows_of_audit(&store).await.len(), before + 1);
        assert_eq!(store.members(&acme(), None, 9).await.unwrap(), []);
    }

    // An erasure of a user keeps its own audit row, although the operator is the erased user. An erasure of a thread withdraws its pending approval.
    #[test]
    async fn erasure_keeps_its_own_audit_row(store: impl Store + ChangeStore + Maintenance) {
        store.open(request("a1")).await.unwrap();
        let row = AuditRow { principal: Some("olga".into()), ..AuditRow::new(CallId::in_thread(&thread("thread"), 1, 0), "c", "look", at(1)) };
        store.write(vec![row]).await.unwrap();
        let contents = ErasedContents::Principal { workspace: acme(), principal: "olga".into() };
        let Changed::Erased(erased) = make(&store, Change::Erase(contents)).await else {
            panic!("the change is an erasure");
        };
        assert_eq!(erased.audit, 1);
        let rows = rows_of_audit(&store).await;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].notes[0].action, "test");
        let thread = Change::Erase(ErasedContents::Thread(thread("thread")));
        let Changed::Erased(erased) = make(&store, thread).await else {
            panic!("the change is an erasure");
        };
        assert_eq!(erased.approvals, 1);
        let row = ApprovalStore::get(&store, &acme(), "a1").await.unwrap().unwrap();
        assert_eq!((row.status, &*row.request.arguments), (ApprovalStatus::Withdrawn, ApprovalRequest::BLANK));
    }

    // A run and an effect whose leases have not expired can be ended by force. A second attempt is a conflict.
    #[test]
    async fn rows_of_dead_processes_are_ended_by_force(store: impl Store + ChangeStore) {
        let run = begin_run(&store).await;
        let owner = store.get_run(&run).await.unwrap().unwrap().owner;
        let end_of = |owner: &str| Change::EndRun { id: run.clone(), owner: owner.into(), at: at(300) };
        let end = || end_of(&owner);
        let taken_over = store.apply(of(&acme(), end_of("a different owner"))).await;
        assert!(matches!(taken_over, Err(StoreError::Stale(_))), "{taken_over:?}");
        let Changed::Run(row) = make(&store, end()).await else {
            panic!("the result is not a change of a run");
        };
        assert_eq!((row.state, row.cause, row.ended), (RunState::Ended, Some(RunCause::Cancelled), Some(at(300))));
        assert_eq!(store.get_run(&run).await.unwrap().as_ref(), Some(&*row));
        conflict(store.apply(of(&acme(), end())).await, "has ended");
        // The next run of the conversation can begin.
        assert_eq!(begin_run(&store).await.number(), run.number() + 1);
        store.begin(intent("e1"), None).await.unwrap();
        let resolution = Resolution::Failed("no".into());
        let resolve = Change::Resolve { key: key("e1"), resolution: resolution.clone(), operator: "olga".into(), at: at(105) };
        conflict(store.apply(of(&acme(), resolve)).await, "not ambiguous");
        let force = || Change::Force { key: key("e1"), resolution: resolution.clone(), operator: "olga".into(), at: at(105) };
        let Changed::Effect(row) = make(&store, force()).await else {
            panic!("the result is not a change of an effect");
        };
        assert_eq!((row.state, row.resolved_by.as_deref()), (EffectState::Failed, Some("olga")));
        conflict(store.apply(of(&acme(), force())).await, "failed");
        assert_eq!(rows_of_audit(&store).await.len(), 2);
    }

    // No change affects a row of a different workspace.
    #[test]
    async fn administration_stays_in_its_workspace(store: impl Store + ChangeStore + EnablementStore + VaultStore + Directory + Maintenance) {
        store.reconcile(vec![CatalogueEntry::new("send_mail")]).await.unwrap();
        store.register_key(SealKeyRow::new(sealed(), at(1))).await.unwrap();
        let run = begin_run(&store).await;
        store.begin(intent("e1"), None).await.unwrap();
        let scope = VariableScope::thread(&thread("main"));
        let field = VariableField::new("REGION", VariableType::Text);
        let open = VariableRequest::new("r1", thread("main"), "sales", scope.clone(), vec![field], at(1));
        store.open_request(open).await.unwrap();
        let rows = vec![text(&scope, "REGION", "eu")];
        for change in [
            enable("send_mail"),
            skill("1", &["send_mail"]),
            secret("docs"),
            Change::Vault(VaultChange::PutVariables(rows.clone())),
            Change::Vault(VaultChange::AnswerRequest { workspace: acme(), id: "r1".into(), rows: rows.clone() }),
            Change::Vault(VaultChange::AnswerRequest { workspace: umbrella(), id: "r1".into(), rows }),
            put_member("eve", MemberRole::Viewer, Editor::System, Expected::Any),
            put_workspace(RetentionTier::Short, Expected::Any),
            Change::Erase(ErasedContents::Thread(thread("main"))),
            Change::EndRun { id: run.clone(), owner: "one".into(), at: at(300) },
            Change::Force { key: key("e1"), resolution: Resolution::Rerun, operator: "olga".into(), at: at(300) },
        ] {
            missing(store.apply(of(&umbrella(), change)).await);
        }
        assert_eq!(rows_of_audit(&store).await, []);
        assert_eq!(store.rows(&support()).await.unwrap(), []);
        assert_eq!(store.list_secrets(Scope::All, &SecretFilter::default()).await.unwrap(), []);
        assert!(store.request(&acme(), "r1").await.unwrap().is_some());
        assert_eq!(store.get_run(&run).await.unwrap().unwrap().state, RunState::Running);
    }
}
