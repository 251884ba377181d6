//! Which schemas a value is held to, one inside the other, and how many steps that takes.
//!
//! A schema may hold one value to many others (`allOf`, `anyOf`, `$ref`). Chains of those take exponential time in the length of the
//! schema, and recursive ones in the depth of the value, so the steps are counted before a value is checked: equal schemas at one place
//! of the value are counted together, which takes linear time.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use tool_core::schema::dynamic::Fault;

use super::{DEEPEST, refused};

/// The most schemas in one.
const MOST_NODES: usize = 10_000;
/// How long a way from schema to schema may be, over references as well: the compiler goes down such a way on the stack.
const LONGEST_WAY: usize = 2_000;
/// How many schemas may hold the same value, one because of the other.
const DEEPEST_HERE: usize = 32;
/// The most steps that a single value without children may take.
const MOST_HERE: u64 = 100_000;

/// Keywords that hold the same value to one schema.
const HERE: [&str; 4] = ["not", "if", "then", "else"];
/// The same for a list of schemas.
const HERE_MANY: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// The same where a key of the value says so.
const HERE_NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];

/// A schema within the whole.
#[derive(Debug, Default)]
struct Node {
    /// Schemas that the same value is held to.
    here: Vec<usize>,
    properties: HashMap<String, usize>,
    /// For keys of a pattern: every key may have it.
    patterns: Vec<usize>,
    /// For keys that nothing names.
    other_keys: Vec<usize>,
    prefix: Vec<usize>,
    /// For items, behind those of the prefix.
    items: Vec<usize>,
    every_item: Vec<usize>,
    /// It looks through its neighbours once more for what they have not seen.
    looks_back: bool,
    /// Schemas that stand in its text.
    inner: Vec<usize>,
}

/// The schemas of one text.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// For each node, all nodes that the same value is held to, with how often.
    closed: Vec<Vec<(usize, u64)>>,
    /// How many steps each place of a value takes at most; `None` where schemas refer back to themselves.
    most: Option<u64>,
    /// How many schemas hold the same value at most, one because of the other.
    depth: usize,
}

struct Builder<'a> {
    whole: &'a Value,
    known: HashMap<*const Value, usize>,
    nodes: Vec<Node>,
    /// What references lead to.
    targets: HashSet<usize>,
    /// Schemas that a reference leads to and that are not read yet.
    waiting: Vec<(&'a Value, usize, String)>,
    /// Schemas by `$anchor`.
    anchors: HashMap<&'a str, &'a Value>,
}

impl Graph {
    /// Reads a schema, or says why no value could be held to it in bounded time.
    pub(super) fn of(whole: &Value) -> Result<Self, Fault> {
        let mut builder = Builder {
            whole,
            known: HashMap::new(),
            nodes: Vec::new(),
            targets: HashSet::new(),
            waiting: Vec::new(),
            anchors: HashMap::new(),
        };
        builder.names(whole, &mut String::new(), 0)?;
        builder.node(whole, &mut String::new(), 0)?;
        while let Some((schema, at, mut pointer)) = builder.waiting.pop() {
            builder.fill(schema, at, &mut pointer, 0)?;
        }
        let mut heights = vec![0; builder.nodes.len()];
        let way = height(&builder.nodes, 0, &mut heights)
            + builder
                .targets
                .iter()
                .map(|target| height(&builder.nodes, *target, &mut heights))
                .sum::<usize>();
        if way > LONGEST_WAY {
            return Err(refused(
                "limit-depth",
                String::new(),
                "too many schemas refer to each other",
            ));
        }
        let mut graph = Self {
            nodes: builder.nodes,
            ..Self::default()
        };
        graph.close()?;
        graph.most = graph.longest();
        Ok(graph)
    }

    /// Counts which nodes hold the same value.
    fn close(&mut self) -> Result<(), Fault> {
        let mut closed: Vec<Option<Vec<(usize, u64)>>> = vec![None; self.nodes.len()];
        let mut depths = vec![1; self.nodes.len()];
        let mut open = vec![false; self.nodes.len()];
        let mut total = 0;
        for root in 0..self.nodes.len() {
            // Each node below is closed before it, and one that is open already refers to itself.
            let mut stack = vec![(root, false)];
            while let Some((at, is_done)) = stack.pop() {
                if closed[at].is_some() {
                    continue;
                }
                if !is_done {
                    if open[at] {
                        return Err(refused(
                            "recursive-type",
                            String::new(),
                            "a part of the schema refers to itself for the same value",
                        ));
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
                    return Err(refused(
                        "limit-size",
                        String::new(),
                        "the choices of the schema are nested in each other too often",
                    ));
                }
                open[at] = false;
                closed[at] = Some(counts.into_iter().collect());
            }
        }
        self.closed = closed.into_iter().map(Option::unwrap_or_default).collect();
        Ok(())
    }

    /// The most steps at one place of a value, where no schema is inside itself.
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

    /// How many schemas hold the same value at most, one because of the other.
    pub(super) const fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a value is checked within so many steps.
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
        // Counting is work as well.
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

/// How many schemas stand inside each other in the text of one.
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

/// How many values a value is made of.
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

    fn below(&self) -> impl Iterator<Item = usize> {
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

impl<'a> Builder<'a> {
    /// Finds what `#name` may refer to, and references out of the schema, also where nothing leads to them.
    fn names(&mut self, value: &'a Value, pointer: &mut String, depth: usize) -> Result<(), Fault> {
        if depth > 2 * DEEPEST {
            return Err(too_deep(pointer.clone()));
        }
        let entries = match value {
            Value::Object(entries) => entries,
            Value::Array(items) => {
                return items
                    .iter()
                    .try_for_each(|value| self.names(value, pointer, depth + 1));
            }
            _ => return Ok(()),
        };
        let text = |key| entries.get(key).and_then(Value::as_str);
        if let Some(name) = text("$anchor") {
            self.anchors.insert(name, value);
        }
        if let Some(id) = text("$id").filter(|_| depth > 0) {
            let Some(name) = id.strip_prefix('#') else {
                return Err(refused(
                    "ref-target",
                    pointer.clone(),
                    "a schema within the schema has an `$id` of its own, which is not supported",
                ));
            };
            self.anchors.insert(name, value);
        }
        if text("$ref").is_some_and(|to| !to.starts_with('#')) {
            return Err(leads_out(pointer.clone()));
        }
        for (key, value) in entries {
            // What stands there is data.
            if !matches!(key.as_str(), "const" | "default" | "enum" | "examples") {
                let length = pointer.len();
                step(pointer, key);
                self.names(value, pointer, depth + 1)?;
                pointer.truncate(length);
            }
        }
        Ok(())
    }

    /// The node of a schema, made where it is new.
    fn node(
        &mut self,
        schema: &'a Value,
        pointer: &mut String,
        depth: usize,
    ) -> Result<usize, Fault> {
        let (at, is_new) = self.reserve(schema)?;
        if is_new {
            self.fill(schema, at, pointer, depth)?;
        }
        Ok(at)
    }

    /// The place of a schema among the nodes, and whether it was not known before.
    fn reserve(&mut self, schema: &'a Value) -> Result<(usize, bool), Fault> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok((*known, false));
        }
        let at = self.nodes.len();
        if at >= MOST_NODES {
            return Err(refused(
                "limit-size",
                String::new(),
                format!("the schema holds more than {MOST_NODES} others"),
            ));
        }
        self.nodes.push(Node::default());
        self.known.insert(std::ptr::from_ref(schema), at);
        Ok((at, true))
    }

    fn fill(
        &mut self,
        schema: &'a Value,
        at: usize,
        pointer: &mut String,
        depth: usize,
    ) -> Result<(), Fault> {
        if depth > DEEPEST {
            return Err(too_deep(pointer.clone()));
        }
        if let Value::Object(entries) = schema {
            let node = self.keywords(entries, pointer, depth)?;
            self.nodes[at] = node;
        }
        Ok(())
    }

    fn below(
        &mut self,
        schema: &'a Value,
        steps: &[&str],
        pointer: &mut String,
        depth: usize,
    ) -> Result<usize, Fault> {
        let length = pointer.len();
        steps.iter().for_each(|name| step(pointer, name));
        let node = self.node(schema, pointer, depth + 1);
        pointer.truncate(length);
        node
    }

    fn keywords(
        &mut self,
        entries: &'a Map<String, Value>,
        pointer: &mut String,
        depth: usize,
    ) -> Result<Node, Fault> {
        let mut node = Node::default();
        let mut referred = None;
        for (key, value) in entries {
            let key = key.as_str();
            match (key, value) {
                ("$ref", Value::String(to)) => {
                    let target = self.target(to, pointer)?;
                    let (next, is_new) = self.reserve(target)?;
                    if is_new {
                        self.waiting
                            .push((target, next, to.trim_start_matches('#').to_owned()));
                    }
                    self.targets.insert(next);
                    referred = Some(next);
                    node.here.push(next);
                }
                ("$dynamicRef" | "$recursiveRef", _) => {
                    return Err(refused(
                        "ref-target",
                        pointer.clone(),
                        format!("`{key}` is not supported, use `$ref`"),
                    ));
                }
                (key, value) if HERE.contains(&key) => {
                    node.here.push(self.below(value, &[key], pointer, depth)?);
                }
                (key, Value::Array(branches)) if HERE_MANY.contains(&key) => {
                    for (at, branch) in branches.iter().enumerate() {
                        let step = at.to_string();
                        node.here
                            .push(self.below(branch, &[key, &step], pointer, depth)?);
                    }
                }
                (key, Value::Object(named)) if HERE_NAMED.contains(&key) => {
                    for (name, value) in named.iter().filter(|(_, value)| !value.is_array()) {
                        node.here
                            .push(self.below(value, &[key, name], pointer, depth)?);
                    }
                }
                ("properties", Value::Object(named)) => {
                    for (name, value) in named {
                        let next = self.below(value, &[key, name], pointer, depth)?;
                        node.properties.insert(name.clone(), next);
                    }
                }
                ("patternProperties", Value::Object(named)) => {
                    for (name, value) in named {
                        node.patterns
                            .push(self.below(value, &[key, name], pointer, depth)?);
                    }
                }
                ("additionalProperties" | "unevaluatedProperties", value) => {
                    node.other_keys
                        .push(self.below(value, &[key], pointer, depth)?);
                    node.looks_back |= key == "unevaluatedProperties";
                }
                // A key is a value of its own, without children.
                ("propertyNames", value) => {
                    node.patterns
                        .push(self.below(value, &[key], pointer, depth)?);
                }
                ("prefixItems" | "items", Value::Array(items)) => {
                    for (at, item) in items.iter().enumerate() {
                        let step = at.to_string();
                        node.prefix
                            .push(self.below(item, &[key, &step], pointer, depth)?);
                    }
                }
                ("items" | "additionalItems", value) => {
                    node.items.push(self.below(value, &[key], pointer, depth)?);
                }
                ("contains" | "unevaluatedItems", value) => {
                    node.every_item
                        .push(self.below(value, &[key], pointer, depth)?);
                    node.looks_back |= key == "unevaluatedItems";
                }
                _ => {}
            }
        }
        // What a reference leads to stands elsewhere in the text.
        let inner = node.below().chain(node.here.iter().copied());
        node.inner = inner.filter(|next| Some(*next) != referred).collect();
        Ok(node)
    }

    /// What a reference refers to, which has to be in the same text.
    fn target(&self, to: &str, pointer: &str) -> Result<&'a Value, Fault> {
        let found = match to.strip_prefix('#') {
            None => return Err(leads_out(pointer.to_owned())),
            Some("") => Some(self.whole),
            Some(path) if path.starts_with('/') => self.whole.pointer(&percent_decoded(path)),
            Some(anchor) => self.anchors.get(anchor).copied(),
        };
        found.ok_or_else(|| {
            refused(
                "ref-target",
                pointer.to_owned(),
                "a reference leads to what is not in the schema",
            )
        })
    }
}

fn step(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

fn leads_out(pointer: String) -> Fault {
    refused(
        "ref-target",
        pointer,
        "a reference leads out of the schema, and nothing is fetched: write the definition under `$defs`",
    )
}

fn too_deep(pointer: String) -> Fault {
    refused(
        "limit-depth",
        pointer,
        format!("more than {DEEPEST} schemas are inside each other"),
    )
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = (*first == b'%').then(|| after.get(..2)).flatten();
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
