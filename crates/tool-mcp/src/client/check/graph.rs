//! Graph of the subschemas that apply to a value, and the number of steps that a validation takes.
//!
//! A schema may apply many other schemas to one value (`allOf`, `anyOf`, `$ref`). Validation can take exponential time in the length of a chain of
//! such schemas, and in the depth of the value if schemas are recursive, so the steps are counted before a value is validated. Occurrences of the
//! same subschema at one place of the value are counted together, so that counting itself does not take exponential time.

use std::collections::HashMap;

use serde_json::Value;
use tool_core::schema::dynamic::SchemaFault;
use tool_core::schema::rules::Rule;

use super::read::{MOST_NODES, Schemas, schemas};
use super::refused;

/// Limit for the path from schema to schema along which the compiler recurses, references included. The sum of the nesting depths of the root and of
/// each target of a reference is an upper bound of the length of this path.
const LONGEST_WAY: usize = 2_000;
/// Maximum length of a chain of schemas that apply to the same value because each schema refers to the next schema.
const DEEPEST_HERE: usize = 32;
/// Maximum number of steps for a single value without children.
const MOST_HERE: u64 = 100_000;

/// A subschema, with the subschemas that it contains or refers to.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Subschemas that apply to the same value.
    pub(super) here: Vec<usize>,
    pub(super) properties: HashMap<String, usize>,
    /// Subschemas of `patternProperties` and `propertyNames`; each may apply to any key.
    pub(super) patterns: Vec<usize>,
    /// Subschemas for keys that are not named in `properties`.
    pub(super) other_keys: Vec<usize>,
    pub(super) prefix: Vec<usize>,
    /// Subschemas for the items after the items of `prefix`.
    pub(super) items: Vec<usize>,
    pub(super) every_item: Vec<usize>,
    /// Whether the schema evaluates its siblings again to find unevaluated parts.
    pub(super) looks_back: bool,
    /// Subschemas that are nested in the text of this subschema.
    pub(super) inner: Vec<usize>,
}

/// All subschemas of one schema.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// For each node, all nodes that apply to the same value, and the number of times that each applies.
    closed: Vec<Vec<(usize, u64)>>,
    /// Maximum number of steps at each place of a value; `None` if the schema is recursive.
    most: Option<u64>,
    /// Maximum depth of schemas that apply to the same value.
    depth: usize,
}

impl Graph {
    /// Reads a schema, or returns the reason why the schema is invalid or its validation would not take bounded time.
    pub(super) fn of(whole: &Value) -> Result<Self, SchemaFault> {
        let Schemas { nodes, targets } = schemas(whole)?;
        let mut heights = vec![0; nodes.len()];
        let way = height(&nodes, 0, &mut heights)
            + targets
                .iter()
                .map(|target| height(&nodes, *target, &mut heights))
                .sum::<usize>();
        if way > LONGEST_WAY {
            return Err(refused(&Rule::MCP_REFERENCES, String::new(), &[]));
        }
        let mut graph = Self {
            nodes,
            ..Self::default()
        };
        graph.close()?;
        graph.most = graph.longest();
        Ok(graph)
    }

    /// Computes the nodes that apply to the same value as each node.
    fn close(&mut self) -> Result<(), SchemaFault> {
        let mut closed: Vec<Option<Vec<(usize, u64)>>> = vec![None; self.nodes.len()];
        let mut depths = vec![1; self.nodes.len()];
        let mut open = vec![false; self.nodes.len()];
        let mut total = 0;
        for root in 0..self.nodes.len() {
            // All nodes below a node are closed before the node itself. A node that is reached while it is still open refers to itself.
            let mut stack = vec![(root, false)];
            while let Some((at, is_done)) = stack.pop() {
                if closed[at].is_some() {
                    continue;
                }
                if !is_done {
                    if open[at] {
                        return Err(refused(&Rule::MCP_RECURSIVE, String::new(), &[]));
                    }
                    open[at] = true;
                    stack.push((at, true));
                    stack.extend(self.nodes[at].here.iter().map(|next| (*next, false)));
                    continue;
                }
                let mut counts = HashMap::from([(at, 1_u64)]);
                let times = if self.nodes[at].looks_back { 2 } else { 1 };
                for next in &self.nodes[at].here {
                    for (node, count) in closed[*next].iter().flatten() {
                        let held = counts.entry(*node).or_default();
                        *held = held.saturating_add(count.saturating_mul(times));
                    }
                }
                let below = self.nodes[at].here.iter().map(|next| depths[*next]).max();
                depths[at] = 1 + below.unwrap_or(0);
                self.depth = self.depth.max(depths[at]);
                total += counts.len();
                let steps = counts
                    .values()
                    .fold(0_u64, |all, count| all.saturating_add(*count));
                if steps > MOST_HERE || total > 100 * MOST_NODES || self.depth > DEEPEST_HERE {
                    return Err(refused(&Rule::MCP_CHOICES, String::new(), &[]));
                }
                open[at] = false;
                closed[at] = Some(counts.into_iter().collect());
            }
        }
        self.closed = closed.into_iter().map(Option::unwrap_or_default).collect();
        Ok(())
    }

    /// Returns the maximum number of steps at one place of a value, or `None` if a schema contains itself.
    fn longest(&self) -> Option<u64> {
        let mut most: Vec<Option<u64>> = vec![None; self.nodes.len()];
        let mut open = vec![false; self.nodes.len()];
        let mut stack = vec![(0, false)];
        while let Some((at, is_done)) = stack.pop() {
            if most[at].is_some() {
                continue;
            }
            let below = || {
                let nodes = self.closed[at].iter();
                nodes.flat_map(|(node, count)| self.nodes[*node].below().map(|next| (next, *count)))
            };
            if is_done {
                let here: u64 = self.closed[at].iter().map(|(_, count)| *count).sum();
                let below = below().fold(0_u64, |all, (next, count)| {
                    all.saturating_add(count.saturating_mul(most[next].unwrap_or(u64::MAX)))
                });
                most[at] = Some(here.saturating_add(below));
                open[at] = false;
                continue;
            }
            if open[at] {
                return None;
            }
            open[at] = true;
            stack.push((at, true));
            stack.extend(below().map(|(next, _)| (next, false)));
        }
        most.first().copied().flatten()
    }

    /// Returns the maximum depth of schemas that apply to the same value.
    pub(super) const fn depth(&self) -> usize {
        self.depth
    }

    /// Returns whether the validation of a value takes at most `steps` steps.
    pub(super) fn ends(&self, value: &Value, steps: u64) -> bool {
        if let Some(most) = self.most
            && most.saturating_mul(places(value)) <= steps
        {
            return true;
        }
        let mut left = steps;
        self.count(&[(0, 1)], value, &mut left)
    }

    fn count(&self, held: &[(usize, u64)], value: &Value, left: &mut u64) -> bool {
        let mut here = HashMap::<usize, u64>::new();
        for (node, times) in held {
            for (node, count) in &self.closed[*node] {
                let held = here.entry(*node).or_default();
                *held = held.saturating_add(count.saturating_mul(*times));
            }
        }
        let cost = here
            .values()
            .fold(0_u64, |all, count| all.saturating_add(*count));
        // Counting takes time as well, so it uses up steps.
        let Some(rest) = left.checked_sub(cost.max(held.len() as u64 + 1)) else {
            return false;
        };
        *left = rest;
        match value {
            Value::Object(entries) => entries.iter().all(|(key, value)| {
                let below = here.iter().flat_map(|(node, count)| {
                    self.nodes[*node].of_key(key).map(|next| (next, *count))
                });
                let below: Vec<_> = below.collect();
                below.is_empty() || self.count(&below, value, left)
            }),
            Value::Array(items) => items.iter().enumerate().all(|(at, item)| {
                let below = here.iter().flat_map(|(node, count)| {
                    self.nodes[*node].of_item(at).map(|next| (next, *count))
                });
                let below: Vec<_> = below.collect();
                below.is_empty() || self.count(&below, item, left)
            }),
            _ => true,
        }
    }
}

/// Returns the nesting depth of a subschema's text.
fn height(nodes: &[Node], at: usize, known: &mut [usize]) -> usize {
    if known[at] == 0 {
        let inner = nodes[at].inner.iter();
        known[at] = 1 + inner
            .map(|next| height(nodes, *next, known))
            .max()
            .unwrap_or(0);
    }
    known[at]
}

/// Returns the number of values within a value, including the value itself.
fn places(value: &Value) -> u64 {
    match value {
        Value::Object(entries) => 1 + entries.values().map(places).sum::<u64>(),
        Value::Array(items) => 1 + items.iter().map(places).sum::<u64>(),
        _ => 1,
    }
}

impl Node {
    fn of_key<'a>(&'a self, key: &str) -> impl Iterator<Item = usize> + 'a {
        let named = self.properties.get(key).copied();
        let other: &[usize] = if named.is_some() {
            &[]
        } else {
            &self.other_keys
        };
        named
            .into_iter()
            .chain(self.patterns.iter().copied())
            .chain(other.iter().copied())
    }

    fn of_item(&self, at: usize) -> impl Iterator<Item = usize> {
        let first = self.prefix.get(at).copied();
        let items: &[usize] = if first.is_some() { &[] } else { &self.items };
        first
            .into_iter()
            .chain(items.iter().copied())
            .chain(self.every_item.iter().copied())
    }

    pub(super) fn below(&self) -> impl Iterator<Item = usize> {
        let lists = [
            &self.patterns,
            &self.other_keys,
            &self.prefix,
            &self.items,
            &self.every_item,
        ];
        self.properties
            .values()
            .copied()
            .chain(lists.into_iter().flatten().copied())
    }
}
