//! Facts about tools that visibility needs, collected once for a registry.

use std::collections::HashMap;

use crate::tool::ToolDef;

/// Facts about all tools. Tools that layers can distinguish only by name share a kind, so that a turn checks each kind once.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) kinds: Vec<Kind>,
    /// The kind of each tool.
    pub(crate) of: Box<[u32]>,
    /// Keys of secrets that at least one tool requires.
    pub(crate) secrets: Vec<String>,
    /// The names of all tools in order, concatenated, so that a comparison with a long list stays in the cache.
    names: String,
    /// The end of each name in `names`.
    ends: Box<[usize]>,
}

/// The properties of a tool that layers check, except its name.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub(crate) category: String,
    pub(crate) harness: bool,
    /// The positions of the required secrets in [`Facts::secrets`].
    pub(crate) secrets: Vec<usize>,
}

impl Facts {
    pub(crate) fn of(tools: &[ToolDef]) -> Self {
        let mut secrets: Vec<String> = Vec::new();
        let mut keys: HashMap<&str, usize> = HashMap::new();
        let mut known: HashMap<(&str, bool, Vec<usize>), u32> = HashMap::new();
        let mut kinds = Vec::new();
        let of = tools
            .iter()
            .map(|def| {
                let needed = def.secrets().iter().filter(|need| !need.optional);
                let mut needed: Vec<usize> = needed
                    .map(|need| {
                        *keys.entry(&need.key).or_insert_with(|| {
                            secrets.push(need.key.clone().into_owned());
                            secrets.len() - 1
                        })
                    })
                    .collect();
                needed.sort_unstable();
                *known
                    .entry((def.category(), def.is_harness(), needed.clone()))
                    .or_insert_with(|| {
                        kinds.push(Kind {
                            category: def.category().to_owned(),
                            harness: def.is_harness(),
                            secrets: needed,
                        });
                        u32::try_from(kinds.len() - 1).unwrap_or(u32::MAX)
                    })
            })
            .collect();
        let mut names = String::new();
        let ends = tools.iter().map(|def| {
            names.push_str(def.wire_name());
            names.len()
        });
        let ends = ends.collect();
        Self {
            kinds,
            of,
            secrets,
            names,
            ends,
        }
    }

    /// Returns the tools' names, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let name = &self.names[start..*end];
            start = *end;
            name
        })
    }
}
