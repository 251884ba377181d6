//! Functions, versions, tools and bindings in PostgreSQL.

use crate::digest::sha256;
use crate::sql::contents::Reader;
use crate::sql::stored_tool as shared;
use crate::store::{
    AgentBinding, BindingFilter, Function, FunctionFilter, FunctionVersion, RequestKey,
    ResolvedTool, Scope, StoreFuture, StoredTool, StoredToolFilter, StoredToolStore, Timestamp,
    ToolEdit, ToolEdited, Workspace,
};

use super::change::change;
use super::{PostgresStore, lock_number, request, step};

/// Returns the advisory lock of the functions, versions, tools and bindings of an owner, because a change reads other rows before it writes one. Rows
/// of a workspace may refer to rows of the system, which have a different lock: foreign keys detect conflicts, and the store retries the transaction.
pub(super) fn lock(owner: Option<&Workspace>) -> i64 {
    lock_number(&match owner {
        Some(workspace) => sha256(&["stored tools", workspace.as_str()]),
        None => sha256(&["stored tools"]),
    })
}

impl StoredToolStore for PostgresStore {
    fn edit(&self, edit: ToolEdit) -> StoreFuture<'_, ToolEdited> {
        step(async move {
            let owner = edit.editor.owner();
            let locks = || {
                let key = owner.zip(edit.key.as_ref());
                let key = key.map(|(workspace, key)| request::lock(workspace, key));
                [Some(lock(owner)), key].into_iter().flatten().collect()
            };
            change!(self, locks(), db => shared::edit(db, edit.clone()).await)
        })
    }

    fn repeated<'a>(
        &'a self,
        workspace: &'a Workspace,
        key: &'a RequestKey<ToolEdited>,
    ) -> StoreFuture<'a, Option<String>> {
        step(async move {
            let reader = Reader::of_clear_texts();
            change!(self, Vec::new(), db => request::find(db, workspace, key, &reader).await)
        })
    }

    fn stored_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<StoredTool>> {
        step(async move { shared::tool(&mut &*self, Some(workspace), id).await })
    }

    fn stored_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a StoredToolFilter,
    ) -> StoreFuture<'a, Vec<StoredTool>> {
        step(async move { shared::tools(&mut &*self, workspace, filter).await })
    }

    fn function<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<Function>> {
        step(async move { shared::function(&mut &*self, Some(workspace), id).await })
    }

    fn functions<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a FunctionFilter,
    ) -> StoreFuture<'a, Vec<Function>> {
        step(async move { shared::functions(&mut &*self, workspace, filter).await })
    }

    fn function_version<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<FunctionVersion>> {
        step(async move { shared::version(&mut &*self, Some(workspace), id).await })
    }

    fn function_versions<'a>(
        &'a self,
        workspace: &'a Workspace,
        function: &'a str,
    ) -> StoreFuture<'a, Vec<FunctionVersion>> {
        step(async move { shared::versions(&mut &*self, workspace, function).await })
    }

    fn bindings<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a BindingFilter,
    ) -> StoreFuture<'a, Vec<AgentBinding>> {
        step(async move { shared::bindings(&mut &*self, workspace, filter).await })
    }

    fn resolve_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ResolvedTool>> {
        step(async move { shared::resolve(&mut &*self, workspace, id).await })
    }

    fn agent_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        agent: &'a str,
    ) -> StoreFuture<'a, Vec<ResolvedTool>> {
        step(async move { shared::agent_tools(&mut &*self, workspace, agent).await })
    }

    fn purge_tools<'a>(
        &'a self,
        scope: Scope<'a>,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Vec<StoredTool>> {
        step(async move {
            // Most calls find no tool to remove, and need no transaction.
            if !shared::is_any_due(&mut &*self, scope, now).await? {
                return Ok(Vec::new());
            }
            change!(self, Vec::new(), db => shared::purge(db, scope, now, most).await)
        })
    }
}
