//! Functions, versions, tools and bindings in SQLite.

use crate::sql::contents::Reader;
use crate::sql::stored_tool as shared;
use crate::store::{
    AgentBinding, BindingFilter, Function, FunctionFilter, FunctionVersion, RequestKey,
    ResolvedTool, Scope, StoreFuture, StoredTool, StoredToolFilter, StoredToolStore, Timestamp,
    ToolEdit, ToolEdited, Workspace,
};

use super::{SqliteStore, change, step};

#[cfg(test)]
mod tests;

impl StoredToolStore for SqliteStore {
    fn edit(&self, edit: ToolEdit) -> StoreFuture<'_, ToolEdited> {
        step(self.change(|db| Box::pin(shared::edit(db, edit))))
    }

    fn repeated<'a>(
        &'a self,
        workspace: &'a Workspace,
        key: &'a RequestKey<ToolEdited>,
    ) -> StoreFuture<'a, Option<String>> {
        step(async move {
            let reader = Reader::of_clear_texts();
            change::find_request(&self.readers, workspace, key, &reader).await
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
            // Most calls find no tool to remove, and must not block other writers.
            if !shared::is_any_due(&mut &*self, scope, now).await? {
                return Ok(Vec::new());
            }
            let workspace = scope.workspace().cloned();
            let purged = self.change(move |db| {
                Box::pin(async move {
                    let scope = workspace.as_ref().map_or(Scope::All, Scope::Workspace);
                    shared::purge(db, scope, now, most).await
                })
            });
            purged.await
        })
    }
}
