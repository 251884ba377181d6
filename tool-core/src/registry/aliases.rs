//! Aliases of tools: adds the aliases of the host, checks all aliases, and finds tools by alias.

use std::collections::{BTreeMap, HashMap};

use super::{Fault, Pruned};
use crate::tool::{ToolDef, wire_of};

/// Adds the host's aliases to the tools. Each pair is an earlier name and the present name of the tool. Returns the faults of the pairs.
pub(super) fn state(
    tools: &mut [ToolDef],
    renamed: Vec<(String, String)>,
    pruned: &[Pruned],
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (from, to) in renamed {
        let mut is_known = pruned.iter().any(|pruned| pruned.tool == to);
        for def in tools.iter_mut().filter(|def| def.name() == to) {
            is_known = true;
            if !def.aliases().any(|alias| *alias == *from) {
                *def = def.with_alias(from.clone());
            }
        }
        if !is_known {
            let text = format!(
                "`renamed` states its earlier name `{from}`, but the registry has no such tool: pass the old name first, then the new name"
            );
            faults.push(Fault::Tool { name: to, text });
        }
    }
    faults
}

/// Returns the faults of all aliases: an alias that is not a valid name, is the name of a tool (also of a tool that was left out), or belongs to two
/// tools.
pub(super) fn faults(tools: &[ToolDef], pruned: &[Pruned]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let names: HashMap<&str, &ToolDef> = tools.iter().map(|def| (def.wire_name(), def)).collect();
    let mut seen: HashMap<String, &ToolDef> = HashMap::new();
    for def in tools {
        for alias in def.aliases() {
            let is_stated = def.stated_aliases().iter().any(|stated| stated == alias);
            let (one, some) = if is_stated {
                ("the call of `renamed`", "one of the calls of `renamed`")
            } else {
                ("the alias", "one of the aliases")
            };
            let to = def.name();
            let mut fault = |text| {
                let name = to.to_owned();
                faults.push(Fault::Tool { name, text });
            };
            let Some(wire) = wire_of(alias) else {
                fault(format!(
                    "the earlier name `{alias}` is not a tool name: use 1 to 64 letters, digits, `_` and `-`, and a letter first"
                ));
                continue;
            };
            let is_pruned =
                |pruned: &&Pruned| wire_of(&pruned.tool).is_some_and(|other| other == wire);
            if let Some(other) = names.get(&*wire) {
                fault(format!(
                    "`{alias}` is to be the earlier name of `{to}`, but {} has this name: remove the tool or {one}",
                    other.origin_text()
                ));
            } else if pruned.iter().any(|pruned| is_pruned(&pruned)) {
                fault(format!(
                    "`{alias}` is to be the earlier name of `{to}`, but a tool that was left out has this name: remove the tool or {one}"
                ));
            } else if let Some(other) = seen.insert(wire.into_owned(), def) {
                let other = other.name();
                fault(format!(
                    "`{alias}` is to be the earlier name of `{to}` and of `{other}`: remove {some}"
                ));
            }
        }
    }
    faults
}

/// Returns the earlier names of tools as models saw them, each with the position of its tool. If a toolset has added a namespace to the name of a
/// tool, the earlier names have this namespace, too.
pub(super) fn positions(tools: &[ToolDef]) -> BTreeMap<String, usize> {
    let mut positions = BTreeMap::new();
    for (at, def) in tools.iter().enumerate() {
        for alias in def.aliases() {
            let own = wire_of(def.name());
            let space = own.and_then(|own| def.wire_name().strip_suffix(&*own));
            if let Some(alias) = wire_of(alias) {
                let name = format!("{}{alias}", space.unwrap_or_default());
                positions.entry(name).or_insert(at);
            }
        }
    }
    positions
}
