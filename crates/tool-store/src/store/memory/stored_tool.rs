//! In-memory store of functions, versions, tools and bindings.

use std::collections::BTreeMap;

use super::directory::People;
use super::event::Noted;
use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    AgentBinding, BindingFilter, Editor, Function, FunctionFilter, FunctionVersion, Member,
    RequestKey, ResolvedTool, Scope, StoreError, StoreFuture, StoredTool, StoredToolFilter,
    StoredToolStore, Timestamp, ToolChange, ToolEdit, ToolEdited, ToolFacts, Workspace, new_row_id,
};

#[derive(Default)]
pub(super) struct StoredTools {
    functions: BTreeMap<String, Function>,
    versions: BTreeMap<String, FunctionVersion>,
    tools: BTreeMap<String, StoredTool>,
    /// The bindings, by workspace, agent and tool.
    bindings: BTreeMap<(Workspace, String, String), AgentBinding>,
    pub(super) functions_noted: Vec<Noted>,
    pub(super) tools_noted: Vec<Noted>,
}

impl StoredTools {
    fn function(&self, editor: &Editor, id: &str) -> Result<&Function, StoreError> {
        let found = self.functions.get(id);
        found
            .filter(|function| editor.sees(function.workspace.as_ref()))
            .ok_or_else(|| Function::missing(id))
    }

    fn version(&self, editor: &Editor, id: &str) -> Result<&FunctionVersion, StoreError> {
        let found = self.versions.get(id);
        found
            .filter(|version| editor.sees(version.workspace.as_ref()))
            .ok_or_else(|| FunctionVersion::missing(id))
    }

    fn tool(&self, editor: &Editor, id: &str) -> Result<&StoredTool, StoreError> {
        let found = self.tools.get(id);
        found
            .filter(|tool| editor.sees(tool.workspace.as_ref()))
            .ok_or_else(|| StoredTool::missing(id))
    }

    /// Checks a tool against the rows that it refers to.
    fn decide(
        &self,
        people: &People,
        editor: &Editor,
        tool: StoredTool,
        before: Option<&StoredTool>,
    ) -> Result<StoredTool, StoreError> {
        let function = tool.function.clone();
        let version = tool.function_version.clone();
        let user = tool.runtime_user.clone();
        let facts = ToolFacts {
            function: function.and_then(|id| self.function(editor, &id).ok()),
            version: version.and_then(|id| self.version(editor, &id).ok()),
            member: member(people, editor, user.as_deref()),
        };
        tool.decide(before, facts)
    }

    fn resolve(&self, people: &People, workspace: &Workspace, tool: &StoredTool) -> ResolvedTool {
        let function = tool.function.as_ref().and_then(|id| self.functions.get(id));
        let version = function
            .and_then(|function| ResolvedTool::version_of(tool, function))
            .and_then(|id| self.versions.get(id));
        let settings = people.settings(workspace);
        let mut resolved = ResolvedTool {
            function: function.cloned(),
            version: version.cloned(),
            default_runtime_user: settings
                .and_then(|settings| settings.default_runtime_user.clone()),
            ..ResolvedTool::new(tool.clone())
        };
        let user = resolved.runtime_user();
        let member = user.and_then(|user| people.member(workspace, user.user));
        resolved.member = member.cloned();
        resolved
    }

    /// Notes the events of a change.
    fn note(&mut self, edited: &ToolEdited) {
        match edited {
            ToolEdited::Function(function) => {
                let key = vec![function.id.clone()];
                self.functions_noted.push((function.workspace.clone(), key));
            }
            ToolEdited::Version(version) => {
                let key = vec![version.function.clone()];
                self.functions_noted.push((version.workspace.clone(), key));
            }
            ToolEdited::Tool(tool) => {
                let key = vec![tool.id.clone()];
                self.tools_noted.push((tool.workspace.clone(), key));
            }
            ToolEdited::Binding { binding, changed } => {
                if let Some(binding) = binding
                    && *changed
                {
                    let key = vec![binding.tool.clone()];
                    self.tools_noted
                        .push((Some(binding.workspace.clone()), key));
                }
            }
            ToolEdited::Repeated(_) => {}
        }
    }
}

fn member<'p>(people: &'p People, editor: &Editor, user: Option<&str>) -> Option<&'p Member> {
    people.member(editor.owner()?, user?)
}

fn sees(workspace: &Workspace, owner: Option<&Workspace>) -> bool {
    owner.is_none_or(|owner| owner == workspace)
}

impl Tables {
    pub(super) fn edit_tools(&mut self, edit: ToolEdit) -> Result<ToolEdited, StoreError> {
        let workspace = edit.check()?.cloned();
        let ToolEdit {
            editor,
            change,
            at,
            audit,
            key,
        } = edit;
        let key = workspace.zip(key);
        if let Some((workspace, key)) = &key
            && let Some(repeated) = self.requests.find(workspace, key)
        {
            return repeated.map(ToolEdited::Repeated);
        }
        let edited = self.edit_tool_rows(&editor, change, at)?;
        self.stored_tools.note(&edited);
        if let Some(mut row) = audit {
            edited.complete(&mut row);
            self.audit.write(*row);
        }
        if let Some((workspace, key)) = key {
            self.requests.insert(&workspace, key, &edited, (None, None));
        }
        Ok(edited)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each change")]
    fn edit_tool_rows(
        &mut self,
        editor: &Editor,
        change: ToolChange,
        at: Timestamp,
    ) -> Result<ToolEdited, StoreError> {
        let (own, people) = (&mut self.stored_tools, &self.people);
        Ok(match change {
            ToolChange::CreateFunction(new) => {
                let function = new.decide(editor, new_row_id()?, at)?;
                let member = member(people, editor, function.runtime_user.as_deref());
                function.check_member(None, member)?;
                own.functions.insert(function.id.clone(), function.clone());
                ToolEdited::Function(Box::new(function))
            }
            ToolChange::UpdateFunction {
                id,
                update,
                expected,
            } => {
                let stored = own.function(editor, &id)?;
                ToolEdit::check_expected(expected, stored.updated_at)?;
                let function = update.decide(editor, stored, at)?;
                let member = member(people, editor, function.runtime_user.as_deref());
                function.check_member(Some(stored), member)?;
                own.functions.insert(id, function.clone());
                ToolEdited::Function(Box::new(function))
            }
            ToolChange::DeleteFunction { id } => {
                let function = own.function(editor, &id)?.clone();
                let tools = own.tools.values();
                let tools = tools.filter(|tool| tool.function.as_ref() == Some(&id));
                function.check_removal(editor, count(tools.count()))?;
                own.functions.remove(&id);
                own.versions.retain(|_, version| version.function != id);
                ToolEdited::Function(Box::new(function))
            }
            ToolChange::CreateVersion { function, version } => {
                let function = own.function(editor, &function)?;
                let siblings = own.versions.values();
                let siblings = siblings.filter(|version| version.function == function.id);
                let last = siblings.map(|version| version.number).max();
                let parent = version.parent.as_ref().and_then(|id| own.versions.get(id));
                let place = (new_row_id()?, last.unwrap_or_default() + 1);
                let version = version.decide(editor, function, parent, place, at)?;
                own.versions.insert(version.id.clone(), version.clone());
                ToolEdited::Version(Box::new(version))
            }
            ToolChange::DeleteVersion { id } => {
                let version = own.version(editor, &id)?.clone();
                let function = own.functions.get(&version.function);
                let default = function.and_then(|function| function.default_version.as_ref());
                let is_default = default == Some(&id);
                let pins = own.tools.values();
                let pins = pins.filter(|tool| tool.function_version.as_ref() == Some(&id));
                let forks = own.versions.values();
                let forks = forks.filter(|version| version.parent.as_ref() == Some(&id));
                let (pins, forks) = (count(pins.count()), count(forks.count()));
                version.check_removal(editor, is_default, pins, forks)?;
                own.versions.remove(&id);
                ToolEdited::Version(Box::new(version))
            }
            ToolChange::Publish { version } => {
                let version = own.version(editor, &version)?;
                let function = own.function(editor, &version.function)?;
                let function = function.publish(editor, version, at)?;
                own.functions.insert(function.id.clone(), function.clone());
                ToolEdited::Function(Box::new(function))
            }
            ToolChange::CreateTool(new) => {
                let tool = new.begin(editor, new_row_id()?, at)?;
                let tool = own.decide(people, editor, tool, None)?;
                own.tools.insert(tool.id.clone(), tool.clone());
                ToolEdited::Tool(Box::new(tool))
            }
            ToolChange::UpdateTool {
                id,
                update,
                expected,
            } => {
                let stored = own.tool(editor, &id)?;
                ToolEdit::check_expected(expected, stored.updated_at)?;
                let tool = update.begin(editor, stored, at)?;
                let tool = own.decide(people, editor, tool, Some(stored))?;
                own.tools.insert(id, tool.clone());
                ToolEdited::Tool(Box::new(tool))
            }
            ToolChange::DeleteTool { id, expected } => {
                let stored = own.tool(editor, &id)?;
                ToolEdit::check_expected(expected, stored.updated_at)?;
                let tier = people.tier(stored.workspace.as_ref());
                let tool = stored.clone().delete(editor, tier, at)?;
                own.tools.insert(id, tool.clone());
                ToolEdited::Tool(Box::new(tool))
            }
            ToolChange::Bind { agent, tool } => {
                let workspace = own.tool(editor, &tool)?;
                let workspace = workspace.check_binding(editor, &agent, true)?.clone();
                let key = (workspace.clone(), agent.clone(), tool.clone());
                let by = editor.user().unwrap_or_default();
                let stored = own.bindings.get(&key).cloned();
                let changed = stored.is_none();
                let binding =
                    stored.unwrap_or_else(|| AgentBinding::new(workspace, agent, tool, by, at));
                own.bindings.insert(key, binding.clone());
                let binding = Some(binding);
                ToolEdited::Binding { binding, changed }
            }
            ToolChange::Unbind { agent, tool } => {
                let workspace = own.tool(editor, &tool)?;
                let workspace = workspace.check_binding(editor, &agent, false)?.clone();
                let binding = own.bindings.remove(&(workspace, agent, tool));
                let changed = binding.is_some();
                ToolEdited::Binding { binding, changed }
            }
        })
    }
}

/// Sorts rows by time of creation and id.
fn sorted<T>(mut rows: Vec<T>, place: impl Fn(&T) -> (Timestamp, String)) -> Vec<T> {
    rows.sort_by_cached_key(place);
    rows
}

impl StoredToolStore for MemoryStore {
    fn edit(&self, edit: ToolEdit) -> StoreFuture<'_, ToolEdited> {
        self.step(move |tables| tables.edit_tools(edit))
    }

    fn repeated<'a>(
        &'a self,
        workspace: &'a Workspace,
        key: &'a RequestKey<ToolEdited>,
    ) -> StoreFuture<'a, Option<String>> {
        self.step(move |tables| tables.requests.find(workspace, key).transpose())
    }

    fn stored_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<StoredTool>> {
        self.step(move |tables| {
            let found = tables.stored_tools.tools.get(id);
            Ok(found
                .filter(|tool| sees(workspace, tool.workspace.as_ref()))
                .cloned())
        })
    }

    fn stored_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a StoredToolFilter,
    ) -> StoreFuture<'a, Vec<StoredTool>> {
        self.step(move |tables| {
            let page = limited(Some(filter.page()?));
            let own = &tables.stored_tools;
            let is_bound = |tool: &StoredTool| {
                filter.agent.as_ref().is_some_and(|agent| {
                    let key = (workspace.clone(), agent.clone(), tool.id.clone());
                    own.bindings.contains_key(&key)
                })
            };
            let rows = own.tools.values().filter(|tool| {
                sees(workspace, tool.workspace.as_ref()) && filter.admits(tool, is_bound(tool))
            });
            let mut rows = sorted(rows.cloned().collect(), StoredTool::place);
            if filter.is_backward() {
                rows.drain(..rows.len().saturating_sub(page));
            } else {
                rows.truncate(page);
            }
            Ok(rows)
        })
    }

    fn function<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<Function>> {
        self.step(move |tables| {
            let found = tables.stored_tools.functions.get(id);
            Ok(found
                .filter(|function| sees(workspace, function.workspace.as_ref()))
                .cloned())
        })
    }

    fn functions<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a FunctionFilter,
    ) -> StoreFuture<'a, Vec<Function>> {
        self.step(move |tables| {
            let rows = tables.stored_tools.functions.values().filter(|function| {
                sees(workspace, function.workspace.as_ref()) && filter.admits(function)
            });
            let mut rows = sorted(rows.cloned().collect(), |function: &Function| {
                (function.created_at, function.id.clone())
            });
            rows.truncate(limited(filter.limit));
            Ok(rows)
        })
    }

    fn function_version<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<FunctionVersion>> {
        self.step(move |tables| {
            let found = tables.stored_tools.versions.get(id);
            Ok(found
                .filter(|version| sees(workspace, version.workspace.as_ref()))
                .cloned())
        })
    }

    fn function_versions<'a>(
        &'a self,
        workspace: &'a Workspace,
        function: &'a str,
    ) -> StoreFuture<'a, Vec<FunctionVersion>> {
        self.step(move |tables| {
            let all = tables.stored_tools.versions.values();
            let own = all.filter(|version| {
                version.function == *function && sees(workspace, version.workspace.as_ref())
            });
            let mut own: Vec<_> = own.cloned().collect();
            own.sort_by_key(|version| version.number);
            Ok(own)
        })
    }

    fn bindings<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a BindingFilter,
    ) -> StoreFuture<'a, Vec<AgentBinding>> {
        self.step(move |tables| {
            let rows = tables.stored_tools.bindings.values();
            let rows = rows.filter(|row| row.workspace == *workspace && filter.admits(row));
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn resolve_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ResolvedTool>> {
        self.step(move |tables| {
            let own = &tables.stored_tools;
            let found = own.tools.get(id);
            let found = found.filter(|tool| sees(workspace, tool.workspace.as_ref()));
            Ok(found.map(|tool| own.resolve(&tables.people, workspace, tool)))
        })
    }

    fn agent_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        agent: &'a str,
    ) -> StoreFuture<'a, Vec<ResolvedTool>> {
        self.step(move |tables| {
            let own = &tables.stored_tools;
            let bound = own.bindings.values();
            let bound = bound.filter(|row| row.workspace == *workspace && row.agent == *agent);
            let tools = bound
                .filter_map(|row| own.tools.get(&row.tool))
                .filter(|tool| tool.enabled && !tool.is_deleted());
            let tools = sorted(tools.cloned().collect(), StoredTool::place);
            let tools = tools.iter();
            Ok(tools
                .map(|tool| own.resolve(&tables.people, workspace, tool))
                .collect())
        })
    }

    fn purge_tools<'a>(
        &'a self,
        scope: Scope<'a>,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Vec<StoredTool>> {
        self.step(move |tables| {
            let own = &mut tables.stored_tools;
            let is_due = |tool: &&StoredTool| {
                let covers = match &tool.workspace {
                    Some(workspace) => scope.covers(workspace),
                    None => scope == Scope::All,
                };
                covers && tool.due().is_some_and(|due| due <= now)
            };
            let mut due: Vec<_> = own.tools.values().filter(is_due).cloned().collect();
            due.sort_by_cached_key(|tool| (tool.due(), tool.id.clone()));
            due.truncate(limited(Some(most)));
            for tool in &due {
                own.tools.remove(&tool.id);
                own.tools_noted
                    .push((tool.workspace.clone(), vec![tool.id.clone()]));
                own.bindings.retain(|(_, _, bound), _| *bound != tool.id);
            }
            Ok(due)
        })
    }
}
