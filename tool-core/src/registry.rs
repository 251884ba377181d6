//! The registry of tools: linked tools and tools that were added one by one, sorted by their unique names.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::policy::{Compiled, Policy};
use crate::schema::dialect::Dialect;
use crate::tool::{DynamicDef, DynamicTool, Tool, ToolDef, wire_of};

mod aliases;
#[cfg(feature = "host")]
mod boot;
mod facts;
mod hash;
mod link;
mod listing;
#[cfg(feature = "host")]
mod plugin;
mod policies;

pub(crate) use facts::Facts;
use hash::BuildNameHasher;
use listing::Listing;

#[cfg(feature = "host")]
pub use boot::BootError;
pub use link::{Link, TOOLS};
pub(crate) use listing::join;
#[cfg(feature = "host")]
pub use plugin::Plugin;

/// All tools of a program. It is built once at start-up and is immutable afterwards.
///
/// There are two equivalent ways to add tools: every `#[tool]` of every linked crate ([`Registry::linked`]), and tools that are added one by one
/// ([`Registry::builder`]).
#[derive(Clone, Debug)]
#[doc(alias("inventory", "plugin registry", "ToolRegistry"))]
pub struct Registry(Arc<ToolIndex>);

/// The tools by position and by name.
#[derive(Debug, Default)]
pub(crate) struct ToolIndex {
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) index: HashMap<Name, usize, BuildNameHasher>,
    /// The earlier names of tools, as models saw them, each with the position of the tool.
    pub(crate) aliases: BTreeMap<String, usize>,
    /// The expected length of each tool's output, see [`ToolIndex::room`].
    rooms: Box<[AtomicUsize]>,
    /// Facts about the tools, collected when they are first needed.
    facts: OnceLock<Facts>,
    /// The compiled rules of the last policy that was used.
    compiled: Mutex<Option<Arc<Compiled>>>,
    /// Tools that were left out of the registry.
    pub(crate) pruned: Vec<Pruned>,
    /// The own names of tools that are enabled for every instance.
    pub(crate) globals: BTreeSet<String>,
    /// The definitions of all tools, see [`ToolIndex::listing`].
    listings: [Listing; Dialect::COUNT],
}

/// A tool that was left out, and the reason.
#[derive(Clone, Debug)]
pub(crate) struct Pruned {
    pub(crate) tool: String,
    pub(crate) lack: Missing,
    /// The variable that is missing, or the reason why the plugin was refused.
    pub(crate) detail: String,
}

/// The requirement that a tool does not meet, so that it is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Missing {
    /// An environment variable that the tool needs.
    Variable,
    /// A plugin whose range of versions can be parsed and includes this version of the crate.
    #[cfg(feature = "host")]
    Version,
}

/// Maximum capacity in bytes that is reserved for an output. The buffer of a longer output grows, so that memory is not reserved needlessly.
const MOST_ROOM: usize = 1 << 16;

/// The name by which a model calls a tool, as a hash key without a copy of the text.
#[derive(Clone, Debug)]
pub(crate) struct Name(ToolDef);

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.0.wire_name()
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.wire_name().hash(state);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.0.wire_name() == other.0.wire_name()
    }
}

impl Eq for Name {}

impl ToolIndex {
    /// Sorts and indexes the tools. Of several tools with the same name, the index finds only one.
    #[expect(
        clippy::mutable_key_type,
        reason = "a definition can be initialized later, but its name never changes"
    )]
    pub(crate) fn of(mut tools: Vec<ToolDef>) -> Self {
        tools.sort_unstable_by(|a, b| a.wire_name().cmp(b.wire_name()));
        let mut index = HashMap::with_capacity_and_hasher(tools.len(), BuildNameHasher::default());
        for (at, def) in tools.iter().enumerate() {
            index.entry(Name(def.clone())).or_insert(at);
        }
        let rooms = tools.iter().map(|_| AtomicUsize::new(0)).collect();
        let aliases = aliases::positions(&tools);
        Self {
            tools,
            index,
            aliases,
            rooms,
            facts: OnceLock::new(),
            compiled: Mutex::default(),
            pruned: Vec::new(),
            globals: BTreeSet::new(),
            listings: Default::default(),
        }
    }

    /// Returns the capacity for the next output of the tool at a position, estimated from the lengths of its earlier outputs, so that outputs of a
    /// constant length are written without a reallocation. Returns zero if no length is known.
    pub(crate) fn room(&self, at: usize) -> usize {
        self.rooms
            .get(at)
            .map_or(0, |room| room.load(Ordering::Relaxed))
    }

    /// Records the length of an output. A longer output raises the capacity at once, up to [`MOST_ROOM`]. A shorter output lowers it by at most an
    /// eighth, rounded up.
    pub(crate) fn wrote(&self, at: usize, bytes: usize) {
        let Some(room) = self.rooms.get(at) else {
            return;
        };
        let before = room.load(Ordering::Relaxed);
        let after = bytes.max(before - before.div_ceil(8)).min(MOST_ROOM);
        // The value is stored only if it changed, so that threads that call the same tool share the cache line for reading.
        if after != before {
            room.store(after, Ordering::Relaxed);
        }
    }

    pub(crate) fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::of(&self.tools))
    }

    /// Returns the rules of a policy, compiled for these tools.
    pub(crate) fn compiled(&self, policy: &Policy) -> Arc<Compiled> {
        let mut slot = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some(compiled) if compiled.is_of(policy) => Arc::clone(compiled),
            _ => Arc::clone(slot.insert(Compiled::of(policy, &self.tools))),
        }
    }

    /// Returns whether a tool with this own name is registered or was left out.
    fn knows(&self, name: &str) -> bool {
        let has_tool = self.tools.iter().any(|def| def.name() == name);
        has_tool || self.pruned.iter().any(|pruned| pruned.tool == name)
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Returns the position of the tool that has this alias; `None` if there is none, or if a tool has this name now.
    pub(crate) fn aliased(&self, alias: &str) -> Option<usize> {
        if self.aliases.is_empty() || self.index.contains_key(alias) {
            return None;
        }
        self.aliases.get(alias).copied()
    }
}

impl Registry {
    /// Returns every `#[tool]` of every crate that is linked into this program. Fails if there is none, and in the same cases as
    /// [`build`](RegistryBuilder::build).
    ///
    /// A crate that the source code does not mention is not linked, and its tools are silently missing; `use my_pack as _;` is enough to link it.
    pub fn linked() -> Result<Self, RegistryError> {
        let registry = Self::builder().with_linked().build()?;
        if registry.is_empty() {
            return Err(RegistryError(vec![Fault::Empty]));
        }
        Ok(registry)
    }

    /// Returns a builder for a registry of tools that are added one by one.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    pub(crate) fn shelf(&self) -> &Arc<ToolIndex> {
        &self.0
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.0.tools.len()
    }

    /// Returns whether the registry has no tools.
    pub fn is_empty(&self) -> bool {
        self.0.tools.is_empty()
    }

    /// Returns the tool with this name.
    pub fn get(&self, name: &str) -> Option<&ToolDef> {
        let wire = wire_of(name)?;
        self.0.position(&wire).map(|at| &self.0.tools[at])
    }

    /// Returns the tool that has this alias, so that an earlier name in a file or a row can be replaced by the present one.
    ///
    /// ```
    /// use tool_core::prelude::*;
    ///
    /// /// Sends a message to the user.
    /// #[tool(alias = "send_mail")]
    /// fn send_message() -> &'static str {
    ///     "sent"
    /// }
    ///
    /// # fn main() -> Result<(), tool_core::RegistryError> {
    /// let registry = Registry::builder().tool::<send_message>().build()?;
    /// assert!(registry.get("send_mail").is_none());
    /// assert_eq!(registry.get_by_alias("send_mail").map(|tool| tool.name()), Some("send_message"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_by_alias(&self, alias: &str) -> Option<&ToolDef> {
        let wire = wire_of(alias)?;
        self.0.aliased(&wire).map(|at| &self.0.tools[at])
    }

    /// Returns every tool, sorted by name.
    pub fn tools(&self) -> &[ToolDef] {
        &self.0.tools
    }
}

/// Builder of a [`Registry`], from linked tools and tools that are added one by one.
#[derive(Default)]
#[must_use]
pub struct RegistryBuilder {
    tools: Vec<ToolDef>,
    faults: Vec<Fault>,
    env: Vec<(String, String)>,
    secrets: Vec<(String, String)>,
    pruned: Vec<Pruned>,
    globals: BTreeSet<String>,
    renamed: Vec<(String, String)>,
}

impl RegistryBuilder {
    /// Adds an alias to a tool that the host cannot change, with the same effect as `#[tool(alias = "…")]`. `from` is the earlier name, `to` the present one.
    ///
    /// An enablement store moves the rows of the earlier name to the tool when the program boots, and skills that require the earlier name require
    /// the tool. Allow and deny lists, policies, switches, limits and approvals that contain the earlier name apply to the tool. New calls must use
    /// the present name.
    ///
    /// [`build`](Self::build) fails if there is no tool `to`, if `from` is not a valid name, if a tool has the name `from`, or if two tools have the
    /// alias `from`. A tool that is left out counts as a tool here.
    pub fn renamed(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.renamed.push((from.into(), to.into()));
        self
    }

    /// Enables a tool for every instance: an enablement store gives each instance a row of the source `global`, which no operator can remove.
    /// [`build`](Self::build) fails if the program has no tool of this name, neither registered nor left out.
    pub fn global(mut self, tool: impl Into<String>) -> Self {
        self.globals.insert(tool.into());
        self
    }

    /// Leaves a tool out, with a warning, if an environment variable is not set when the registry is built. Use this for tools that read the variable
    /// themselves. A tool that you can change should declare a secret or a variable instead.
    pub fn required_env(mut self, tool: impl Into<String>, variable: impl Into<String>) -> Self {
        self.env.push((tool.into(), variable.into()));
        self
    }

    /// Makes a secret required for a tool that does not require it. In a turn without the secret, the tool is then hidden
    /// instead of failing. Has no effect if there is no such tool.
    pub fn required_secret(mut self, tool: impl Into<String>, key: impl Into<String>) -> Self {
        self.secrets.push((tool.into(), key.into()));
        self
    }

    /// Adds a tool by its argument struct.
    pub fn tool<T: Tool>(self) -> Self {
        self.def(T::DEF)
    }

    /// Adds a tool by its definition.
    pub fn def(mut self, def: ToolDef) -> Self {
        self.tools.push(def);
        self
    }

    /// Adds a tool that is created at run time.
    pub fn dynamic(mut self, tool: DynamicTool) -> Self {
        match tool.judge() {
            Ok(def) => self.tools.push(ToolDef::dynamic(Arc::new(def))),
            Err(RegistryError(faults)) => self.faults.extend(faults),
        }
        self
    }

    /// Adds every linked tool.
    pub fn with_linked(mut self) -> Self {
        self.tools.extend(link::defs());
        self
    }

    /// Builds the registry. Fails if two tools have the same name, if a tool or an alias has a fault, or if a call of `global` or `renamed` is invalid.
    pub fn build(mut self) -> Result<Registry, RegistryError> {
        self.pruned.extend(prune(&mut self.tools, self.env));
        for (tool, key) in &self.secrets {
            for def in self.tools.iter_mut().filter(|def| def.name() == tool) {
                *def = def.requiring(key);
            }
        }
        let stated = aliases::state(&mut self.tools, self.renamed, &self.pruned);
        let mut sorted = ToolIndex::of(self.tools);
        sorted.pruned = self.pruned;
        for name in &self.globals {
            if !sorted.knows(name) {
                self.faults.push(Fault::Tool {
                    name: name.clone(),
                    text: "`global` enables it for every instance, but the registry has no such tool: pass the name of a tool to `global`".to_owned(),
                });
            }
        }
        self.faults.extend(stated);
        self.faults
            .extend(aliases::faults(&sorted.tools, &sorted.pruned));
        sorted.globals = self.globals;
        for pair in sorted.tools.windows(2) {
            if pair[0].wire_name() == pair[1].wire_name() {
                self.faults.push(Fault::Duplicate {
                    name: pair[0].wire_name().to_owned(),
                    origins: [pair[0].origin_text(), pair[1].origin_text()],
                });
            }
        }
        for tool in &sorted.tools {
            if let Some(text) = crate::tool::fault_of(tool.secrets(), tool.variables()) {
                self.faults.push(Fault::Tool {
                    name: tool.name().to_owned(),
                    text,
                });
            }
            self.faults
                .extend(
                    crate::tool::result_faults(tool)
                        .into_iter()
                        .map(|text| Fault::Tool {
                            name: tool.name().to_owned(),
                            text,
                        }),
                );
        }
        if !self.faults.is_empty() {
            return Err(RegistryError(self.faults));
        }
        Ok(Registry(Arc::new(sorted)))
    }
}

/// Removes the tools that lack an environment variable, and warns once for each.
fn prune(tools: &mut Vec<ToolDef>, env: Vec<(String, String)>) -> Vec<Pruned> {
    let lacking = env
        .into_iter()
        .filter(|(_, variable)| std::env::var_os(variable).is_none());
    let mut pruned = Vec::new();
    for (tool, variable) in lacking {
        let before = tools.len();
        tools.retain(|def| def.name() != tool);
        if tools.len() < before {
            tracing::warn!(
                tool,
                variable,
                "the tool is left out because an environment variable is not set"
            );
            pruned.push(Pruned {
                tool,
                lack: Missing::Variable,
                detail: variable,
            });
        }
    }
    pruned
}

impl DynamicTool {
    /// Checks the tool as [`RegistryBuilder::dynamic`] does, and returns its definition.
    pub(crate) fn judge(self) -> Result<DynamicDef, RegistryError> {
        let name = self.def.name.clone();
        let fault = |text| Fault::Tool {
            name: name.clone(),
            text,
        };
        self.into_def()
            .map_err(|faults| RegistryError(faults.into_iter().map(fault).collect()))
    }
}

/// Error of building a registry. It displays every fault on its own line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryError(Vec<Fault>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    Empty,
    Duplicate { name: String, origins: [String; 2] },
    Tool { name: String, text: String },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "\n" })?;
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "no tool is linked: the linker leaves out a crate that the source code does not mention, write `use my_pack as _;` in the program's root",
            ),
            Self::Duplicate { name, origins: [first, second] } => write!(
                f,
                "two tools are named `{name}`: in {first}, and in {second}; rename one with `#[tool(name = \"…\")]`"
            ),
            Self::Tool { name, text } => write!(f, "tool `{name}`: {text}"),
        }
    }
}

impl std::error::Error for RegistryError {}

#[cfg(test)]
mod tests;
