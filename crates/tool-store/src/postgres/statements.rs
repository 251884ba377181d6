//! Statements of the store, each with the index that its plan must use, for tests.

use std::time::Duration;

use crate::sql::{
    budget, child, directory, fence, knowledge, limit, long_term, note, plan, room, schedule,
    sealed, stored_tool, thread_event, work,
};
use crate::store::{
    ApprovalFilter, ApprovalStatus, AuditFilter, BindingFilter, BudgetFilter, BudgetId, CallKey,
    ChildFilter, ChildKind, ChildRow, ChildState, DocumentFilter, DocumentName, DocumentStatus,
    EffectFilter, EffectState, EnablementFilter, Erasure, FunctionFilter, IncludeDeleted,
    InstanceId, KeyId, LimitId, MemoryFilter, MemoryScope, MemoryVector, PlanFilter, PlanRunId,
    RoomEventFilter, RoomEventState, RunCursor, RunFence, RunFilter, RunId, Scope, SealedColumn,
    SealedPlace, SecretFilter, StoredToolFilter, SwitchFilter, SwitchKey, SwitchKind, TaskFilter,
    TaskId, TaskRunFilter, ThreadId, Timestamp, ToolSource, VariableFilter, VariableLevel,
    WorkAgent, WorkFilter, WorkState, Workspace,
};
use sqlx::{Postgres, QueryBuilder};

use super::{
    approval, audit, enablement, ledger, maintenance, request, run, secret, spill, switch,
    variable, variable_request,
};

/// The name of the index that a statement must use, and the statement's text.
type Statement = (&'static str, String);

fn add(all: &mut Vec<Statement>, index: &'static str, query: &QueryBuilder<Postgres>) {
    all.push((index, query.sql().as_str().to_owned()));
}

/// Returns the queries of lists, with each filter, for the first page and for a later page, and statements that look up, count, erase or remove rows.
pub fn statements() -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let own = Workspace::new("x");
    for newest_first in [true, false] {
        for is_later in [true, false] {
            audits(&mut all, &own, newest_first, is_later);
            effects(&mut all, &own, newest_first, is_later);
            approvals(&mut all, &own, newest_first, is_later);
        }
    }
    children(&mut all, &own);
    queue(&mut all, &own);
    thread_events(&mut all, &own);
    budgets(&mut all, &own);
    documents(&mut all, &own);
    plans(&mut all, &own);
    rooms(&mut all, &own);
    schedules(&mut all, &own);
    memories(&mut all, &own);
    runs(&mut all, &own);
    switches(&mut all, &own);
    enablements(&mut all, &own);
    vault(&mut all, &own);
    people(&mut all, &own);
    stored_tools(&mut all, &own);
    functions(&mut all, &own);
    expiry(&mut all, &own);
    for (index, sql) in [
        ("effect_pkey", ledger::LOCK_OWN),
        ("effect_by_earlier", ledger::LOCK),
        ("effect_by_earlier", ledger::FIND),
        ("run_", run::LOCK),
        ("run_running", run::FIND_RUNNING),
        ("approval_pkey", approval::LOCK),
        ("audit_by_principal", audit::ERASE),
        ("spill_", spill::READ),
        ("request_pkey", request::FIND),
        ("request_by_expiry", request::SWEEP),
    ] {
        all.push((index, sql.to_owned()));
    }
    all
}

fn audits(all: &mut Vec<Statement>, own: &Workspace, newest_first: bool, is_later: bool) {
    let page = AuditFilter {
        limit: Some(10),
        newest_first,
        after: is_later.then(|| (Timestamp::default(), CallKey::new("x", "x"))),
        ..AuditFilter::default()
    };
    let with = |set: fn(&mut AuditFilter)| {
        let mut filter = page.clone();
        set(&mut filter);
        filter
    };
    add(all, "audit_by_time", &audit::listing(Scope::All, &page));
    for (index, filter) in [
        ("audit_by_workspace", page.clone()),
        (
            "audit_by_workspace",
            with(|filter| filter.since = Some(Timestamp::default())),
        ),
        (
            "audit_by_workspace",
            with(|filter| filter.outcome = Some("ok".to_owned())),
        ),
        (
            "audit_by_outcome",
            with(|filter| filter.outcome = Some("failed".to_owned())),
        ),
        ("audit_by_failure", with(|filter| filter.failed = true)),
        (
            "audit_by_principal",
            with(|filter| filter.principal = Some("x".to_owned())),
        ),
        (
            "audit_by_tool",
            with(|filter| filter.tool = Some("x".to_owned())),
        ),
        (
            "audit_by_call",
            with(|filter| filter.call = Some("x".to_owned())),
        ),
        (
            "audit_by_thread",
            with(|filter| filter.thread = Some("x".to_owned())),
        ),
        (
            "audit_by_decision",
            with(|filter| filter.decision = Some("x".to_owned())),
        ),
    ] {
        add(all, index, &audit::listing(Scope::Workspace(own), &filter));
    }
}

fn effects(all: &mut Vec<Statement>, own: &Workspace, newest_first: bool, is_later: bool) {
    let page = EffectFilter {
        limit: Some(10),
        newest_first,
        after: is_later.then(|| (Timestamp::default(), CallKey::new("x", "x"))),
        ..EffectFilter::default()
    };
    let with = |set: fn(&mut EffectFilter)| {
        let mut filter = page.clone();
        set(&mut filter);
        filter
    };
    let running = with(|filter| filter.state = Some(EffectState::Running));
    add(all, "effect_by_time", &ledger::listing(Scope::All, &page));
    add(
        all,
        "effect_by_state",
        &ledger::listing(Scope::All, &running),
    );
    for (index, filter) in [
        ("effect_by_workspace", page.clone()),
        (
            "effect_by_doubt",
            with(|filter| filter.state = Some(EffectState::Ambiguous)),
        ),
        (
            "effect_by_thread",
            with(|filter| filter.thread = Some("x".to_owned())),
        ),
        (
            "effect_by_principal",
            with(|filter| filter.principal = Some("x".to_owned())),
        ),
    ] {
        add(all, index, &ledger::listing(Scope::Workspace(own), &filter));
    }
}

fn approvals(all: &mut Vec<Statement>, own: &Workspace, newest_first: bool, is_later: bool) {
    let page = ApprovalFilter {
        limit: Some(10),
        newest_first,
        after: is_later.then(|| (Timestamp::default(), "x".to_owned())),
        ..ApprovalFilter::default()
    };
    let with = |set: fn(&mut ApprovalFilter)| {
        let mut filter = page.clone();
        set(&mut filter);
        filter
    };
    add(
        all,
        "approval_by_time",
        &approval::listing(Scope::All, &page),
    );
    for (index, filter) in [
        ("approval_by_workspace", page.clone()),
        (
            "approval_by_status",
            with(|filter| filter.status = Some(ApprovalStatus::Denied)),
        ),
        (
            "approval_by_principal",
            with(|filter| filter.principal = Some("x".to_owned())),
        ),
        (
            "approval_by_assignee",
            with(|filter| filter.assignee = Some("x".to_owned())),
        ),
        (
            "approval_by_tool",
            with(|filter| filter.tool = Some("x".to_owned())),
        ),
        (
            "approval_by_key",
            with(|filter| filter.key = Some("x".to_owned())),
        ),
        (
            "approval_by_thread",
            with(|filter| filter.thread = Some("x".to_owned())),
        ),
    ] {
        add(
            all,
            index,
            &approval::listing(Scope::Workspace(own), &filter),
        );
    }
}

fn children(all: &mut Vec<Statement>, own: &Workspace) {
    let (Ok(thread), Ok(parent)) = (ThreadId::new(own, "x"), ThreadId::new(own, "y")) else {
        return;
    };
    for is_later in [true, false] {
        let page = ChildFilter {
            limit: Some(10),
            after: is_later.then(|| thread.clone()),
            ..ChildFilter::default()
        };
        let of_parent = ChildFilter {
            parent: Some(parent.clone()),
            ..page.clone()
        };
        let in_state = ChildFilter {
            state: Some(ChildState::Running),
            ..page.clone()
        };
        for (index, scope, filter) in [
            ("child_thread_pkey", Scope::All, &page),
            ("child_thread_pkey", Scope::Workspace(own), &page),
            ("child_thread_by_parent", Scope::All, &of_parent),
            ("child_thread_by_parent", Scope::Workspace(own), &of_parent),
            ("child_thread_by_state", Scope::All, &in_state),
            ("child_thread_by_state", Scope::Workspace(own), &in_state),
        ] {
            add(all, index, &child::listing(scope, filter).query);
        }
    }
    for (index, column) in [
        ("child_thread_pkey", "conversation"),
        ("child_thread_by_parent", "parent"),
    ] {
        add(all, index, &child::removal(column, &parent).query);
    }
    add(all, "message_pkey", &child::last_of_user(&thread, 1).query);
    let row = ChildRow::new(
        thread,
        parent,
        ChildKind::Subagent,
        "x",
        Timestamp::default(),
    );
    add(all, "child_thread_live", &child::siblings(&row).query);
}

fn queue(all: &mut Vec<Statement>, own: &Workspace) {
    let Ok(thread) = ThreadId::new(own, "x") else {
        return;
    };
    for is_later in [true, false] {
        let page = WorkFilter {
            limit: Some(10),
            after: is_later.then(|| thread.clone()),
            ..WorkFilter::default()
        };
        let in_state = WorkFilter {
            state: Some(WorkState::Waiting),
            ..page.clone()
        };
        for (index, scope, filter) in [
            ("work_pkey", Scope::All, &page),
            ("work_pkey", Scope::Workspace(own), &page),
            ("work_by_state", Scope::All, &in_state),
            ("work_by_state", Scope::Workspace(own), &in_state),
        ] {
            add(all, index, &work::listing(scope, filter).query);
        }
    }
    let (agent, now) = (WorkAgent::new("x", "y"), Timestamp::default());
    for suspects in [false, true] {
        let ready = work::ready("state", &agent, now, suspects, 10);
        add(all, "work_ready", &ready.query);
    }
    add(all, "work_pkey", &work::removal(&thread).query);
    add(
        all,
        "run_running",
        &work::end_of_run(&thread, now, Duration::ZERO).query,
    );
    let user = Erasure::Principal {
        workspace: own,
        principal: "x",
    };
    for erased in [user, Erasure::Thread(&thread)] {
        add(all, "run_running", &fence::erased_threads(erased).query);
        add(all, "run_running", &fence::erasure(erased, now).query);
    }
}

fn thread_events(all: &mut Vec<Statement>, own: &Workspace) {
    let Ok(thread) = ThreadId::new(own, "x") else {
        return;
    };
    let page = thread_event::listing(&thread, 1, 10);
    add(all, "thread_event_pkey", &page.query);
    add(
        all,
        "thread_event_pkey",
        &thread_event::removal(&thread).query,
    );
    let end = thread_event::end_of_step(&thread);
    add(all, "thread_event_transient", &end.query);
}

fn budgets(all: &mut Vec<Statement>, own: &Workspace) {
    let Ok(id) = BudgetId::new(own, "x") else {
        return;
    };
    for is_later in [true, false] {
        let page = BudgetFilter {
            limit: Some(10),
            after: is_later.then(|| id.clone()),
        };
        for scope in [Scope::All, Scope::Workspace(own)] {
            add(all, "budget_pkey", &budget::listing(scope, &page).query);
        }
    }
    add(all, "budget_pkey", &budget::one(&id).query);
    let reservation = budget::reservation(&id, "x");
    add(all, "budget_reservation_pkey", &reservation.query);
    for workspace in [None, Some(own)] {
        if let Ok(id) = LimitId::new(workspace, "x") {
            add(all, "shared_limit_pkey", &limit::one(&id).query);
        }
    }
}

fn documents(all: &mut Vec<Statement>, own: &Workspace) {
    let name = DocumentName::new(own, "x").ok();
    for after in [None, name] {
        let page = DocumentFilter {
            limit: Some(10),
            after,
            ..DocumentFilter::default()
        };
        let pending = DocumentFilter {
            status: Some(DocumentStatus::Pending),
            ..page.clone()
        };
        for (index, scope, filter) in [
            ("knowledge_document_pkey", Scope::All, &page),
            ("knowledge_document_pkey", Scope::Workspace(own), &page),
            (
                "knowledge_document_by_status",
                Scope::Workspace(own),
                &pending,
            ),
        ] {
            add(all, index, &knowledge::listing(scope, filter).query);
        }
    }
    let now = Timestamp::default();
    let ready = knowledge::ready(Scope::All, now);
    add(all, "knowledge_document_ready", &ready.query);
    let ready = knowledge::ready_to_embed(Scope::All, now);
    add(all, "knowledge_document_embed_ready", &ready.query);
    if let Ok(vector) = MemoryVector::new("m", vec![1.0]) {
        let blocks = knowledge::blocks(own, &vector);
        add(all, "knowledge_code_pkey", &blocks.query);
    }
    let erasure = knowledge::erasure(own, "x");
    add(all, "knowledge_document_by_user", &erasure.query);
    let terms = ["x".to_owned(), "y".to_owned()];
    let found = knowledge::candidates::<Postgres>(own, &terms);
    add(all, "knowledge_chunk_terms", &found.query);
}

fn plans(all: &mut Vec<Statement>, own: &Workspace) {
    let Ok(thread) = ThreadId::new(own, "x") else {
        return;
    };
    let id = PlanRunId::new(thread.clone(), 1);
    add(all, "plan_run_pkey", &plan::one(&id).query);
    add(all, "plan_run_active", &plan::active(&thread).query);
    for before in [None, Some(9)] {
        let page = plan::listing(&thread, before, 10);
        add(all, "plan_run_pkey", &page.query);
    }
    add(all, "plan_event_pkey", &plan::events(&id, 1, 10).query);
    for after in [None, Some(("x".to_owned(), 1))] {
        let page = PlanFilter {
            after,
            limit: Some(10),
            ..PlanFilter::default()
        };
        add(all, "plan_run_pkey", &plan::finding(own, &page).query);
    }
    let of_thread = Erasure::Thread(&thread);
    add(all, "plan_run_pkey", &plan::removal(of_thread).query);
    let of_principal = Erasure::Principal {
        workspace: own,
        principal: "x",
    };
    let removal = plan::removal(of_principal);
    add(all, "plan_run_by_principal", &removal.query);
}

fn rooms(all: &mut Vec<Statement>, own: &Workspace) {
    let Ok(thread) = ThreadId::new(own, "x") else {
        return;
    };
    let page = RoomEventFilter {
        limit: Some(10),
        after: 1,
        state: None,
    };
    let pending = RoomEventFilter {
        state: Some(RoomEventState::Pending),
        ..page.clone()
    };
    add(all, "room_event_pkey", &room::events(&thread, &page).query);
    add(
        all,
        "room_event_by_state",
        &room::events(&thread, &pending).query,
    );
    add(all, "room_message_pkey", &room::messages(&thread).query);
    let page = room::message_page(&thread, 1, 10);
    add(all, "room_message_pkey", &page.query);
    for after in [None, Some("x")] {
        let names = |table| room::names(table, own, after, 10);
        add(all, "room_event_", &names("room_event").query);
        add(all, "room_message_", &names("room_message").query);
    }
}

fn schedules(all: &mut Vec<Statement>, own: &Workspace) {
    let Ok(id) = TaskId::new(own, "x") else {
        return;
    };
    for is_later in [true, false] {
        let page = TaskFilter {
            limit: Some(10),
            after: is_later.then(|| id.clone()),
        };
        for scope in [Scope::All, Scope::Workspace(own)] {
            add(all, "task_pkey", &schedule::listing(scope, &page).query);
        }
    }
    let now = Timestamp::default();
    add(all, "task_ready", &schedule::ready(now, 10).query);
    let runs = TaskRunFilter {
        limit: Some(10),
        before: Some(now),
        ..TaskRunFilter::default()
    };
    add(all, "task_run_pkey", &schedule::runs(&id, &runs).query);
    for (index, table) in [
        ("task_by_principal", "task"),
        ("task_run_by_principal", "task_run"),
    ] {
        let removal = schedule::user_removal(table, own, "x");
        add(all, index, &removal.query);
    }
    add(all, "task_run_ended", &maintenance::old_task_runs(now, 10));
}

fn memories(all: &mut Vec<Statement>, own: &Workspace) {
    let (scope, now) = (MemoryScope::shared(own), Timestamp::default());
    for is_later in [true, false] {
        let page = MemoryFilter {
            limit: Some(10),
            after: is_later.then(|| (own.clone(), "x".to_owned())),
            ..MemoryFilter::default()
        };
        let of_principal = MemoryFilter {
            principal: Some("x".to_owned()),
            ..page.clone()
        };
        for scope in [Scope::All, Scope::Workspace(own)] {
            let listing = long_term::listing(scope, &page);
            add(all, "memory_by_id", &listing.query);
        }
        let listing = long_term::listing(Scope::Workspace(own), &of_principal);
        add(all, "memory_by_principal", &listing.query);
    }
    for (index, statement) in [
        ("memory_by_id", long_term::one(own, "x")),
        ("memory_by_", long_term::of_hash(&scope, "x")),
        ("memory_by_id", long_term::removal(own, "id", "x")),
        ("memory_by_", long_term::removal_of_scope(&scope)),
        (
            "memory_by_conversation",
            long_term::removal(own, "conversation", "x"),
        ),
        (
            "memory_by_principal",
            long_term::removal(own, "principal", "x"),
        ),
        ("memory_by_expiry", long_term::expiry(now, 10)),
        ("memory_by_", long_term::unembedded_listing(own, "x", 10)),
    ] {
        add(all, index, &statement.query);
    }
    if let Ok(thread) = ThreadId::new(own, "x") {
        add(all, "thread_note_pkey", &note::one(&thread).query);
    }
}

fn runs(all: &mut Vec<Statement>, own: &Workspace) {
    let thread = ThreadId::new(own, "x").ok();
    if let Some(thread) = thread.clone() {
        let owner = String::new();
        let fence = RunFence {
            id: RunId::new(thread, 1),
            owner,
        };
        add(all, "run_pkey", &fence::last_run(&fence).query);
    }
    for is_later in [true, false] {
        let last = thread.clone().filter(|_| is_later);
        let page = RunFilter {
            limit: Some(10),
            after: last.map(|thread| RunCursor {
                started: Timestamp::default(),
                id: RunId::new(thread, 1),
            }),
            ..RunFilter::default()
        };
        let of_thread = RunFilter {
            conversation: Some("x".to_owned()),
            ..page.clone()
        };
        add(all, "run_by_time", &run::listing(Scope::All, &page));
        let own = Scope::Workspace(own);
        add(all, "run_by_workspace", &run::listing(own, &page));
        add(all, "run_by_conversation", &run::listing(own, &of_thread));
    }
}

fn switches(all: &mut Vec<Statement>, own: &Workspace) {
    let page = SwitchFilter {
        limit: Some(10),
        after: Some(SwitchKey {
            workspace: None,
            kind: SwitchKind::Kill,
            tool: "x".to_owned(),
            source: String::new(),
        }),
        ..SwitchFilter::default()
    };
    add(all, "switch_pkey", &switch::listing(Scope::All, &page));
    add(
        all,
        "switch_pkey",
        &switch::listing(Scope::Workspace(own), &page),
    );
    all.push(("switch_in_force", switch::IN_FORCE.to_owned()));
    all.push(("switch_pkey", switch::ENABLEMENT.to_owned()));
}

fn enablements(all: &mut Vec<Statement>, own: &Workspace) {
    for is_later in [true, false] {
        let page = EnablementFilter {
            limit: Some(10),
            after: is_later.then(|| (InstanceId::new(own, "x"), "x".to_owned())),
            ..EnablementFilter::default()
        };
        let of_instance = EnablementFilter {
            instance: Some("x".to_owned()),
            ..page.clone()
        };
        let of_tool = EnablementFilter {
            tool: Some("x".to_owned()),
            ..page.clone()
        };
        let workspace = Scope::Workspace(own);
        add(
            all,
            "enablement_pkey",
            &enablement::listing(Scope::All, &page),
        );
        add(
            all,
            "enablement_pkey",
            &enablement::listing(workspace, &page),
        );
        add(
            all,
            "enablement_pkey",
            &enablement::listing(workspace, &of_instance),
        );
        add(
            all,
            "enablement_by_tool",
            &enablement::listing(Scope::All, &of_tool),
        );
    }
    all.push(("enablement_pkey", enablement::ROWS.to_owned()));
    all.push(("enablement_by_tool", enablement::OF_TOOL.to_owned()));
    all.push(("instance_by_version", enablement::CHANGED.to_owned()));
}

fn vault(all: &mut Vec<Statement>, own: &Workspace) {
    for is_later in [true, false] {
        let secrets = SecretFilter {
            limit: Some(10),
            after: is_later.then(|| (own.clone(), "x".to_owned())),
        };
        let variables = VariableFilter {
            limit: Some(10),
            after: is_later.then(|| (VariableLevel::Agent, "x".to_owned(), "x".to_owned())),
            ..VariableFilter::default()
        };
        for scope in [Scope::All, Scope::Workspace(own)] {
            add(all, "secret_pkey", &secret::listing(scope, &secrets));
        }
        add(all, "variable_pkey", &variable::listing(own, &variables));
        if let Ok(key) = KeyId::new("x") {
            for (column, index) in [
                (SealedColumn::Secret, "secret_by_key"),
                (SealedColumn::Variable, "variable_by_key"),
                (SealedColumn::Arguments, "approval_sealed"),
                (SealedColumn::EditedArguments, "approval_edited"),
                (SealedColumn::Message, "message_sealed"),
                (SealedColumn::ThreadEvent, "thread_event_sealed"),
                (SealedColumn::PlanSpec, "plan_run_spec_sealed"),
                (SealedColumn::PlanState, "plan_run_sealed"),
                (SealedColumn::SpillChunk, "spill_chunk_sealed"),
                (SealedColumn::Response, "request_sealed"),
            ] {
                let place = is_later.then(|| SealedPlace {
                    column,
                    workspace: own.clone(),
                    id: "x".to_owned(),
                    owner: String::new(),
                });
                add(
                    all,
                    index,
                    &sealed::listing(column, &key, place.as_ref(), 10).query,
                );
            }
        }
    }
}

fn people(all: &mut Vec<Statement>, own: &Workspace) {
    for is_later in [true, false] {
        let workspaces = directory::list_workspaces(is_later.then_some(own), 10);
        add(all, "workspace_pkey", &workspaces.query);
        let members = directory::list_members(own, is_later.then_some("x"), 10);
        add(all, "member_pkey", &members.query);
    }
}

fn stored_tools(all: &mut Vec<Statement>, own: &Workspace) {
    let place = || Some((Timestamp::default(), "x".to_owned()));
    let pages = [
        StoredToolFilter::default(),
        StoredToolFilter {
            after: place(),
            ..StoredToolFilter::default()
        },
        StoredToolFilter {
            before: place(),
            ..StoredToolFilter::default()
        },
    ];
    for page in pages {
        let with = |set: fn(&mut StoredToolFilter)| {
            let mut filter = page.clone();
            set(&mut filter);
            filter
        };
        let both = ["stored_tool_by_workspace", "stored_tool_of_system"];
        for (indexes, filter) in [
            (&both[..], page.clone()),
            (
                &both[..],
                with(|filter| filter.include_deleted = IncludeDeleted::Yes),
            ),
            (&both[..], with(|filter| filter.name = Some("x".to_owned()))),
            (
                &both[..1],
                with(|filter| filter.source = Some(ToolSource::Workspace)),
            ),
            (
                &both[1..],
                with(|filter| filter.source = Some(ToolSource::System)),
            ),
            (
                &["stored_tool_by_function"],
                with(|filter| filter.function = Some("x".to_owned())),
            ),
            (
                &["agent_tool_pkey"],
                with(|filter| filter.agent = Some("x".to_owned())),
            ),
        ] {
            let list = stored_tool::list_tools(own, &filter, 10);
            for index in indexes {
                add(all, index, &list.query);
            }
        }
    }
    for after in [None, Some(("x".to_owned(), "x".to_owned()))] {
        let page = BindingFilter {
            limit: Some(10),
            after,
            ..BindingFilter::default()
        };
        let of_agent = BindingFilter {
            agent: Some("x".to_owned()),
            ..page.clone()
        };
        let of_tool = BindingFilter {
            tool: Some("x".to_owned()),
            ..page.clone()
        };
        for (index, filter) in [
            ("agent_tool_pkey", page),
            ("agent_tool_pkey", of_agent),
            ("agent_tool_by_tool", of_tool),
        ] {
            add(all, index, &stored_tool::list_bindings(own, &filter).query);
        }
    }
    let agent_tools = stored_tool::resolution(own, "x");
    for index in [
        "agent_tool_pkey",
        "stored_tool_pkey",
        "function_pkey",
        "function_version_pkey",
        "workspace_pkey",
    ] {
        add(all, index, &agent_tools.query);
    }
    for scope in [Scope::All, Scope::Workspace(own)] {
        let due = stored_tool::due(scope, Timestamp::default(), 10);
        add(all, "stored_tool_by_due", &due.query);
    }
}

fn functions(all: &mut Vec<Statement>, own: &Workspace) {
    for is_later in [true, false] {
        let page = FunctionFilter {
            limit: Some(10),
            after: is_later.then(|| (Timestamp::default(), "x".to_owned())),
            ..FunctionFilter::default()
        };
        let of_kind = FunctionFilter {
            kind: Some("x".to_owned()),
            ..page.clone()
        };
        for filter in [page, of_kind] {
            let list = stored_tool::list_functions(own, &filter);
            for index in ["function_by_workspace", "function_of_system"] {
                add(all, index, &list.query);
            }
        }
    }
    for (index, statement) in [
        (
            "function_version_by_number",
            stored_tool::list_versions(own, "x"),
        ),
        (
            "function_version_by_number",
            stored_tool::last_number_of("x"),
        ),
        (
            "function_version_by_parent",
            stored_tool::count_of("function_version", "parent", "x"),
        ),
        (
            "stored_tool_by_function",
            stored_tool::count_of("stored_tool", "function", "x"),
        ),
        (
            "stored_tool_by_version",
            stored_tool::count_of("stored_tool", "function_version", "x"),
        ),
    ] {
        add(all, index, &statement.query);
    }
}

fn expiry(all: &mut Vec<Statement>, own: &Workspace) {
    let (now, most) = (Timestamp::default(), 10);
    for scope in [Scope::All, Scope::Workspace(own)] {
        // In one workspace, the planner may expect fewer open requests than expired requests, and choose the index of either state.
        add(all, "approval_by_", &approval::expired(scope, None));
        add(all, "approval_by_", &approval::expiry(scope, 0));
        add(all, "effect_by_lease", &ledger::lapsed(scope, None));
        add(all, "effect_by_lease", &ledger::sweeping(scope, 0));
        add(all, "spill_by_expiry", &spill::expiry(scope, 0));
    }
    add(
        all,
        "approval_by_expiry",
        &approval::expired(Scope::All, None),
    );
    add(
        all,
        "audit_by_time",
        &audit::retention(Scope::All, now, most),
    );
    add(all, "effect_by_end", &maintenance::old_effects(now, most));
    add(all, "run_by_end", &maintenance::old_runs(now, most));
    add(
        all,
        "variable_request_by_time",
        &variable_request::expiry(Scope::All, now, most),
    );
    add(all, "spill_by_expiry", &maintenance::old_spills(0, most));
    add(
        all,
        "request_by_expiry",
        &maintenance::old_requests(0, most),
    );
    add(
        all,
        "approval_by_time",
        &maintenance::old_approvals(now, most),
    );
    add(
        all,
        "switch_turned_off",
        &switch::retirement(Scope::All, now, most),
    );
    if let Ok(thread) = ThreadId::new(own, "x") {
        let erased = Erasure::Thread(&thread);
        add(all, "effect_by_thread", &maintenance::effects(erased));
        add(all, "approval_by_thread", &maintenance::approvals(erased));
        add(all, "request_pkey", &request::erasure(erased));
        add(
            all,
            "variable_request_by_thread",
            &variable_request::removal(&thread),
        );
    }
    let erased = Erasure::Principal {
        workspace: own,
        principal: "x",
    };
    add(all, "effect_by_principal", &maintenance::effects(erased));
    add(
        all,
        "approval_by_principal",
        &maintenance::approvals(erased),
    );
}
