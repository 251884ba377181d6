//! Changes and combinations of toolsets.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::{Overridden, Toolset};
use crate::registry::{Pruned, RegistryError, ToolIndex};
use crate::schema::rules::is_tool_name;
use crate::tool::ToolDef;
use crate::visibility::{Layer, View};

/// Why toolsets could not be changed or combined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsetError {
    /// Two tools would have the same name.
    #[error(
        "`{name}` is in {first} and in {second}: give one toolset a prefix with `prefix()`, or rename one of the tools"
    )]
    Collision {
        /// The name that both tools have.
        name: String,
        /// The first toolset or the search for tools, with the origin of its tool.
        first: String,
        /// The second toolset, with the origin of its tool.
        second: String,
    },
    /// At least one provider does not accept the name.
    #[error(
        "`{name}` is not a tool name: use 1 to 64 letters, digits, `_` and `-`, and a letter first"
    )]
    Name {
        /// The name that is not valid.
        name: String,
    },
    /// [`Toolset::rename`] names a tool that does not exist.
    #[error("there is no tool `{name}` to rename: pass the name that the model sees now")]
    Unknown {
        /// The name that is unknown.
        name: String,
    },
    /// The function of [`Toolset::prepare`] returned a name that was not in its list, for example because it renamed a tool.
    #[error(
        "`{name}` was not in the list of `prepare()`, which can only hide and describe tools: add it with `combine()`, or rename a tool with `rename()`"
    )]
    Added {
        /// The name that was not in the list.
        name: String,
    },
    /// The tools `search_tools` and `call_tool` could not be created.
    #[error(transparent)]
    Search(RegistryError),
    /// The toolsets that were to be combined have different gates.
    #[error(
        "the toolsets have different gates, and every call passes only one of them: combine the toolsets first, then call `through()` once"
    )]
    Gates,
    /// The function of [`Toolset::prepare`] returned a tool twice.
    #[error("`prepare()` lists `{name}` twice: list it once")]
    Twice {
        /// The name that is listed twice.
        name: String,
    },
}

/// A tool as a model will see it, for [`Toolset::prepare`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTool {
    /// The name of the tool.
    pub name: String,
    /// The description of the tool and its use. Examples are appended automatically.
    pub description: String,
}

/// A tool and the code of the layer that hides it; 0 if it is visible.
struct Entry {
    def: ToolDef,
    code: u8,
}

impl Overridden {
    /// Logs a warning for operators, and returns the entry for [`Toolset::overridden`].
    pub(crate) fn logged(dropped: &ToolDef, kept: String) -> Self {
        let overridden = Self {
            name: dropped.wire_name().to_owned(),
            kept,
            dropped: dropped.origin_text(),
        };
        tracing::warn!(
            tool = overridden.name,
            kept = overridden.kept,
            dropped = overridden.dropped,
            "one of the agent's own tools replaced a tool of the same name"
        );
        overridden
    }
}

impl Toolset {
    /// Sets the name of the toolset for errors and logs.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.label = Some(name.into());
        self
    }

    /// Keeps the tools for which `keep` returns true. Other tools are hidden, and calls of them are refused.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// # /// Adds.
    /// # #[tool(read_only)]
    /// # fn add() -> i32 { 1 }
    /// # /// Removes.
    /// # #[tool(destructive)]
    /// # fn remove() -> i32 { 1 }
    /// # fn main() {
    /// let tools = toolset![add, remove].filter(|tool| !tool.hints().destructive);
    /// assert!(tools.names().eq(["add"]));
    /// # }
    /// ```
    #[must_use]
    pub fn filter(self, mut keep: impl FnMut(&ToolDef) -> bool) -> Self {
        let mut entries = self.entries();
        for entry in entries.iter_mut().filter(|entry| entry.code == 0) {
            if !keep(&entry.def) {
                entry.code = Layer::Filter.code();
            }
        }
        self.rebuilt(entries)
    }

    /// Adds a namespace before the names that the model sees: `search` becomes `space__search`.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// # /// Searches.
    /// # #[tool]
    /// # fn search() -> i32 { 1 }
    /// # fn main() -> Result<(), tool_core::ToolsetError> {
    /// let tools = toolset![search].prefix("docs")?;
    /// assert!(tools.names().eq(["docs__search"]));
    /// assert_eq!(tools.get("docs__search").map(|tool| tool.name()), Some("search"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prefix(self, space: &str) -> Result<Self, ToolsetError> {
        self.renamed(|name| Some(format!("{space}__{name}")))
    }

    /// Renames tools, given as pairs of the name that the model sees now and the new name.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// # /// Searches.
    /// # #[tool]
    /// # fn search() -> i32 { 1 }
    /// # fn main() -> Result<(), tool_core::ToolsetError> {
    /// let tools = toolset![search].rename([("search", "find")])?;
    /// assert!(tools.names().eq(["find"]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn rename<'a>(
        self,
        names: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ToolsetError> {
        let names: HashMap<&str, &str> = names.into_iter().collect();
        let known: HashSet<String> = self
            .entries()
            .iter()
            .map(|entry| entry.def.wire_name().to_owned())
            .collect();
        let mut unknown: Vec<&str> = names
            .keys()
            .copied()
            .filter(|name| !known.contains(*name))
            .collect();
        unknown.sort_unstable();
        if let Some(name) = unknown.first() {
            return Err(ToolsetError::Unknown {
                name: (*name).to_owned(),
            });
        }
        self.renamed(|name| names.get(name).map(|name| (*name).to_owned()))
    }

    fn renamed(self, name_of: impl Fn(&str) -> Option<String>) -> Result<Self, ToolsetError> {
        let mut entries = self.entries();
        for entry in &mut entries {
            if let Some(name) = name_of(entry.def.wire_name()) {
                // A hidden tool may have an invalid name.
                if entry.code == 0 && !is_tool_name(&name) {
                    return Err(ToolsetError::Name { name });
                }
                entry.def = entry.def.exposed(name, None);
            }
        }
        let place = self.place();
        check(entries.iter().map(|entry| (place.as_str(), entry)))?;
        Ok(self.rebuilt(entries))
    }

    /// Changes the descriptions of tools for this turn, or hides tools: `change` returns the list to show, and cannot add or rename
    /// tools.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// # /// Searches.
    /// # #[tool]
    /// # fn search() -> i32 { 1 }
    /// # fn main() -> Result<(), tool_core::ToolsetError> {
    /// let tools = toolset![search].prepare(|mut list| {
    ///     for tool in &mut list {
    ///         tool.description.push_str(" Today only the archive is available.");
    ///     }
    ///     list
    /// })?;
    /// assert!(tools.definitions(Dialect::OpenAi).contains("only the archive"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepare(
        self,
        change: impl FnOnce(Vec<ListedTool>) -> Vec<ListedTool>,
    ) -> Result<Self, ToolsetError> {
        let shown = self.tools().map(|def| ListedTool {
            name: def.wire_name().to_owned(),
            description: def.description().to_owned(),
        });
        let mut changed: HashMap<String, String> = HashMap::new();
        for ListedTool { name, description } in change(shown.collect()) {
            if changed.insert(name.clone(), description).is_some() {
                return Err(ToolsetError::Twice { name });
            }
        }
        let mut entries = self.entries();
        for entry in entries.iter_mut().filter(|entry| entry.code == 0) {
            let name = entry.def.wire_name().to_owned();
            match changed.remove(&name) {
                None => entry.code = Layer::Prepare.code(),
                Some(description) if description == entry.def.description() => {}
                Some(description) => entry.def = entry.def.exposed(name, Some(description)),
            }
        }
        match changed.into_keys().min() {
            Some(name) => Err(ToolsetError::Added { name }),
            None => Ok(self.rebuilt(entries)),
        }
    }

    /// Returns the tools of both toolsets. Fails if two visible tools have the same name; the error names both toolsets.
    ///
    /// If one of the toolsets has a gate ([`through`](Toolset::through)), all calls pass it. Fails if they have different gates.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// # /// Searches.
    /// # #[tool]
    /// # fn search() -> i32 { 1 }
    /// # fn main() -> Result<(), tool_core::ToolsetError> {
    /// let (docs, code) = (toolset![search].named("docs"), toolset![search].named("code"));
    /// let error = docs.clone().combine(&code).unwrap_err();
    /// assert!(error.to_string().contains("toolset `docs`"));
    /// let both = docs.combine(&code.prefix("code")?)?;
    /// assert!(both.names().eq(["code__search", "search"]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn combine(self, other: &Self) -> Result<Self, ToolsetError> {
        let (mut entries, others) = (self.entries(), other.entries());
        #[cfg(feature = "host")]
        if let (Some(first), Some(second)) = (&self.gate, &other.gate)
            && !first.is_same(second)
        {
            return Err(ToolsetError::Gates);
        }
        let places = [self.place(), other.place()];
        check(
            entries
                .iter()
                .map(|entry| (places[0].as_str(), entry))
                .chain(others.iter().map(|entry| (places[1].as_str(), entry))),
        )?;
        entries.extend(others);
        Ok(self.merged(other, entries))
    }

    /// Returns the tools of both toolsets, where the agent's own tools have priority. A tool that loses its name is hidden, and
    /// reported by [`overridden`](Toolset::overridden) and in the log.
    ///
    /// All calls, including calls of the agent's own tools, pass the gate of this toolset or, if it has none, the gate of `own`.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// # /// Searches.
    /// # #[tool]
    /// # fn search() -> i32 { 1 }
    /// # mod chief {
    /// #     use tool_core::prelude::*;
    /// #     /// Searches better.
    /// #     #[tool]
    /// #     pub fn search() -> i32 { 2 }
    /// # }
    /// # fn main() {
    /// let everybody = toolset![search];
    /// let chiefs = everybody.with_agent_tools(&toolset![chief::search]);
    /// assert!(chiefs.names().eq(["search"]));
    /// assert_eq!(chiefs.get("search").map(|tool| tool.description()), Some("Searches better."));
    /// assert_eq!(chiefs.overridden()[0].name, "search");
    /// # }
    /// ```
    #[must_use]
    pub fn with_agent_tools(self, own: &Self) -> Self {
        let mut entries = self.entries();
        let mut overridden = [&*self.overridden, &*own.overridden].concat();
        for entry in entries.iter_mut().filter(|entry| entry.code == 0) {
            let at = own.position(entry.def.wire_name());
            if let Some(at) = at.filter(|at| own.shows(*at)) {
                entry.code = Layer::Overridden.code();
                overridden.push(Overridden::logged(&entry.def, own.def(at).origin_text()));
            }
        }
        entries.extend(own.entries());
        let mut both = self.merged(own, entries);
        both.overridden = overridden.into();
        both
    }

    pub(super) fn place(&self) -> String {
        self.label.as_ref().map_or_else(
            || "a toolset".to_owned(),
            |label| format!("toolset `{label}`"),
        )
    }

    fn entries(&self) -> Vec<Entry> {
        let all = self.shelf.tools.iter().chain(self.agents()).enumerate();
        all.filter(|(at, _)| !self.stands_for_others(*at))
            .map(|(at, def)| Entry {
                def: def.clone(),
                code: self.layer(at).map_or(0, Layer::code),
            })
            .collect()
    }

    fn rebuilt(self, entries: Vec<Entry>) -> Self {
        let before = self.view.as_deref();
        let absent = before.map_or_else(BTreeSet::new, |view| view.absent.clone());
        let live = before.map_or_else(Vec::new, |view| view.live.clone());
        let (tools, codes) = shelve(entries, self.shelf.pruned.clone());
        Self {
            view: Some(Arc::new(View::new(&tools, codes, absent, None, live))),
            shelf: tools,
            search: None,
            ..self
        }
    }

    /// Merges two toolsets. The live rules of both apply to all tools of the result, because a turn has one tenant and one agent.
    fn merged(self, other: &Self, entries: Vec<Entry>) -> Self {
        let both = [self.view.as_deref(), other.view.as_deref()];
        let views = || both.into_iter().flatten();
        let absent = views()
            .flat_map(|view| view.absent.iter().cloned())
            .collect();
        let live = views().flat_map(|view| view.live.iter().cloned()).collect();
        let pruned = [&*self.shelf.pruned, &*other.shelf.pruned].concat();
        let (tools, codes) = shelve(entries, pruned);
        Self {
            view: Some(Arc::new(View::new(&tools, codes, absent, None, live))),
            shelf: tools,
            search: None,
            hints: [&*self.hints, &*other.hints].concat().into(),
            // All calls pass the gate of the first toolset or, if it has none, the gate of the second.
            #[cfg(feature = "host")]
            gate: self.gate.or_else(|| other.gate.clone()),
            ..self
        }
    }
}

/// Refuses two visible tools with the same name.
fn check<'a>(entries: impl Iterator<Item = (&'a str, &'a Entry)>) -> Result<(), ToolsetError> {
    let mut seen: HashMap<&str, (&str, &Entry)> = HashMap::new();
    for (place, entry) in entries.filter(|(_, entry)| entry.code == 0) {
        let name = entry.def.wire_name();
        if let Some((first, other)) = seen.insert(name, (place, entry)) {
            return Err(ToolsetError::Collision {
                name: name.to_owned(),
                first: format!("{first} ({})", other.def.origin_text()),
                second: format!("{place} ({})", entry.def.origin_text()),
            });
        }
    }
    Ok(())
}

/// Keeps one tool of each name: the visible tool if there is one, else the first.
fn shelve(mut entries: Vec<Entry>, pruned: Vec<Pruned>) -> (Arc<ToolIndex>, Vec<u8>) {
    entries.sort_by(|a, b| {
        let by_name = a.def.wire_name().cmp(b.def.wire_name());
        by_name.then((a.code != 0).cmp(&(b.code != 0)))
    });
    entries.dedup_by(|later, first| later.def.wire_name() == first.def.wire_name());
    let codes = entries.iter().map(|entry| entry.code).collect();
    // The entries are sorted by unique names, so the index has the same order.
    let mut shelf = ToolIndex::of(entries.into_iter().map(|entry| entry.def).collect());
    shelf.pruned = pruned;
    (Arc::new(shelf), codes)
}
