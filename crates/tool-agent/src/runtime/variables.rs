//! Variables of agents and their sub-agents.

use std::collections::{BTreeMap, HashMap, HashSet};

use tool_core::store::seal::VaultError;
use tool_core::store::{ThreadId, VariableField, VariableScope, VariableType};
use tool_core::variables::{Declarations, Value, VariableClash};
use tool_core::{
    Attachments, ExposeSecret as _, History, ToolContext, ToolError, VariableKind, VariableNeed,
};

use super::AgentRuntime;
use super::child::AgentArguments;
use super::entry::{AgentEntry, Immediate};
use super::parent::ParentThread;
use crate::files::ThreadFiles;

/// Collects the variables that each agent declares, together with the variables of the agents that it calls.
pub(super) fn declarations(
    entries: &[AgentEntry],
    names: &HashMap<String, usize>,
) -> Result<Vec<Declarations>, VariableClash> {
    let collect = |at: usize| {
        let mut declared = Declarations::new();
        for at in reachable(at, |at| &entries[at], names) {
            let entry = &entries[at];
            declared.add(&format!("agent `{}`", entry.name()), &entry.variables)?;
        }
        Ok(declared)
    };
    (0..entries.len()).map(collect).collect()
}

/// Returns an agent and the agents that it calls, directly or through others.
fn reachable<'e>(
    first: usize,
    entry: impl Fn(usize) -> &'e AgentEntry,
    names: &HashMap<String, usize>,
) -> Vec<usize> {
    let mut seen = HashSet::from([first]);
    let mut all = vec![first];
    let mut at = 0;
    while let Some(agent) = all.get(at).copied() {
        let entry = entry(agent);
        at += 1;
        let prompts = entry.prompts.iter().map(|tool| &tool.agent);
        let handoffs = entry.handoffs.iter().map(|tool| &tool.agent);
        let agents = entry.subagents.iter().map(|tool| &tool.agent);
        for name in prompts.chain(handoffs).chain(agents) {
            let target = names[name];
            if seen.insert(target) {
                all.push(target);
            }
        }
    }
    all
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
pub(super) fn unavailable(error: VaultError) -> ToolError {
    ToolError::unavailable("the variables of the agent").operator(error.to_string())
}

impl AgentRuntime {
    /// Returns the variables that an agent, the agents that it calls, and the tools of these agents declare.
    fn all_declared(&self, agent: usize, cx: &ToolContext) -> Result<Declarations, ToolError> {
        let mut declared = self.0.agents[agent].declared.clone();
        for at in reachable(agent, |at| self.entry(at), &self.0.names) {
            for tool in self.entry(at).agent.tools(cx).tools() {
                let owner = format!("tool `{}`", tool.name());
                let added = declared.add(&owner, tool.variables());
                added.map_err(|clash| {
                    ToolError::unavailable("the variables of the agent").operator(clash.to_string())
                })?;
            }
        }
        Ok(declared)
    }

    /// Returns the context of a child thread. It has the values of the parent, except values of the parent's turn, scoped variables and variables of
    /// instances, and it has the child's own values.
    pub(super) async fn child_context(
        &self,
        base: &ToolContext,
        (caller, agent): (usize, usize),
        thread: &ThreadId,
    ) -> Result<ToolContext, ToolError> {
        let declared = self.all_declared(agent, base)?;
        // Values that belong to the parent's turn are not passed on.
        let mut cx = base
            .derive()
            .conversation(thread.conversation())
            .agent(self.entry(agent).name())
            .without::<AgentArguments>()
            .without::<Attachments>()
            .without::<History>()
            .without::<ParentThread>()
            .without::<ThreadFiles>();
        for need in declared.iter().filter(|need| need.scoped) {
            cx = cx.without_variable(&need.name);
        }
        // The values of an instance belong to this instance only, so no other child inherits them.
        let immediate = self.entry(caller).subagents.iter();
        let immediate: Vec<_> = immediate
            .filter_map(|tool| tool.immediate.as_ref())
            .collect();
        for name in immediate.iter().flat_map(|immediate| immediate.names()) {
            cx = cx.without_variable(name);
        }
        let is_hidden = |name: &str| {
            let hides = |immediate: &&Immediate| immediate.hides(name);
            immediate.iter().any(hides)
        };
        if let Some(vault) = &self.0.vault {
            let kinds: BTreeMap<&str, VariableKind> = declared
                .iter()
                .map(|need| (&*need.name, need.kind))
                .collect();
            let scopes = [VariableScope::thread(thread)];
            let opened = vault.open_variables(&scopes, kinds.keys().copied());
            for open in opened.await.map_err(unavailable)? {
                let name = open.name.clone();
                let is_secret =
                    kinds.get(&*name) == Some(&VariableKind::Secret) || is_hidden(&name);
                let value = match Value::from(open) {
                    Value::Text(text) if is_secret => Value::Secret(text.into()),
                    value => value,
                };
                cx = cx.variable_value(name, value);
            }
        }
        Ok(cx.build())
    }

    /// Returns the required scoped variables that have no value, or an empty value, in a child thread.
    pub(super) async fn missing_scoped(
        &self,
        base: &ToolContext,
        agent: usize,
        thread: &ThreadId,
    ) -> Result<Vec<VariableNeed>, ToolError> {
        let declared = self.all_declared(agent, base)?;
        let needs = declared.iter().filter(|need| need.scoped && need.required);
        let mut missing: Vec<VariableNeed> = needs.cloned().collect();
        if let Some(vault) = self.0.vault.as_ref().filter(|_| !missing.is_empty()) {
            let scopes = [VariableScope::thread(thread)];
            let names = missing.iter().map(|need| need.name.to_string());
            let opened = vault.open_variables(&scopes, names);
            let opened = opened.await.map_err(unavailable)?;
            missing.retain(|need| {
                let own = opened.iter().find(|open| open.name == need.name);
                own.is_none_or(|open| open.value.expose_secret().is_empty())
            });
        }
        Ok(missing)
    }
}

/// Returns a needed variable as a field of a request for variables.
pub(super) fn field(need: &VariableNeed) -> VariableField {
    let kind = match need.kind {
        VariableKind::Text => VariableType::Text,
        VariableKind::Secret => VariableType::Secret,
    };
    let field = VariableField::new(&*need.name, kind);
    match &need.description {
        Some(description) => field.description(&**description),
        None => field,
    }
}
