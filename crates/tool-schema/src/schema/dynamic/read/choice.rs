//! Reader of `anyOf`, `oneOf` and lists of types.

use tool_rules::Rule;

use super::{Reader, quiet};
use crate::schema::Format;
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::node::{Absence, NUMBER, Node, Owned, Property, STRING};

impl Reader<'_> {
    /// Reads a choice. Keywords next to it that restrict values are rejected, except `type`, which is ignored.
    pub(super) fn choice_of(&mut self, doc: &Doc, keyword: &str, branches: &[Doc]) -> Node {
        let beside = doc
            .entries()
            .iter()
            .find(|(key, _)| key != keyword && key != "type" && !quiet(key));
        if let Some((key, _)) = beside {
            return self.fault(&Rule::JSON_CHOICE_NOT_ALONE, &[key, &keyword]);
        }
        let mut nodes = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            nodes.push(self.below(&[keyword, &index.to_string()], |reader| {
                reader.node(branch, false)
            }));
        }
        self.combine(nodes)
    }

    /// Combines several alternative nodes into one.
    pub(super) fn combine(&mut self, nodes: Vec<Node>) -> Node {
        let mut nullable = false;
        let mut variants: Vec<Node> = Vec::new();
        for node in nodes {
            let node = match node.kind {
                Owned::Optional(inner) => {
                    nullable = true;
                    *inner
                }
                _ => node,
            };
            match node.kind {
                Owned::Null => nullable = true,
                Owned::Never => {}
                Owned::Untagged(inner) => variants.extend(inner),
                _ if variants.contains(&node) => {}
                _ => variants.push(node),
            }
        }
        let node = match variants.len() {
            0 if nullable => Node::new(Owned::Null),
            0 => Node::new(Owned::Never),
            _ => self.told_apart(variants),
        };
        if nullable { node.optional() } else { node }
    }

    fn told_apart(&mut self, variants: Vec<Node>) -> Node {
        if variants.iter().any(|variant| variant.kind == Owned::Any) {
            return Node::new(Owned::Any);
        }
        let mut variants = self.folded(variants);
        if variants.len() == 1 {
            return variants.remove(0);
        }
        if let Some((tag, values)) = common_tag(&variants) {
            let variants = variants
                .into_iter()
                .zip(values)
                .map(|(variant, value)| (value, untag(variant, &tag)))
                .collect();
            return Node::new(Owned::Tagged { tag, variants });
        }
        for (index, a) in variants.iter().enumerate() {
            if let Some(b) = variants[index + 1..].iter().position(|b| !disjoint(a, b)) {
                let other = index + 1 + b;
                return self.fault(&Rule::JSON_UNION_OVERLAP, &[&index, &other]);
            }
        }
        Node::new(Owned::Untagged(variants))
    }

    /// Merges all string variants into one, and all number variants into one.
    fn folded(&mut self, variants: Vec<Node>) -> Vec<Node> {
        let mut folded: Vec<Node> = Vec::new();
        for variant in variants {
            let class = variant.classes();
            let held = folded
                .iter_mut()
                .find(|held| (class == STRING || class == NUMBER) && held.classes() == class);
            match held {
                None => folded.push(listing(variant)),
                Some(held) => {
                    if !join(held, listing(variant)) {
                        self.note(&Rule::JSON_UNION_MERGED, &[]);
                    }
                }
            }
        }
        folded
    }
}

/// Moves the description of a one-value enum to its value, so that several such enums can be merged into one.
fn listing(mut node: Node) -> Node {
    if let Owned::Enum(values) = &mut node.kind
        && let [(_, words)] = values.as_mut_slice()
        && words.is_empty()
    {
        *words = core::mem::take(&mut node.description);
    }
    if let Owned::IntegerEnum(values) = &mut node.kind
        && let [(_, words)] = values.as_mut_slice()
        && words.is_empty()
    {
        *words = core::mem::take(&mut node.description);
    }
    node
}

/// Widens `held` to accept `other` as well; returns `false` if that loses a constraint.
fn join(held: &mut Node, other: Node) -> bool {
    match (&mut held.kind, other.kind) {
        (Owned::Enum(values), Owned::Enum(more)) => {
            for value in more {
                if !values.iter().any(|(held, _)| *held == value.0) {
                    values.push(value);
                }
            }
            true
        }
        (Owned::IntegerEnum(values), Owned::IntegerEnum(more)) => {
            for value in more {
                if !values.iter().any(|(held, _)| *held == value.0) {
                    values.push(value);
                }
            }
            true
        }
        (Owned::Number, Owned::Integer { .. }) => true,
        (Owned::Format(ours), Owned::Format(theirs)) if is_ip(*ours) && is_ip(theirs) => {
            *ours = Format::Ip;
            true
        }
        (_, theirs) => {
            let whole =
                |kind: &Owned| matches!(kind, Owned::Integer { .. } | Owned::IntegerEnum(_));
            let lossless = matches!(held.kind, Owned::Integer { .. }) && theirs == Owned::Number;
            held.kind = if held.classes() == STRING {
                Owned::String
            } else if whole(&held.bare().kind) && whole(&Node::new(theirs).bare().kind) {
                Owned::Integer { not_zero: false }
            } else {
                Owned::Number
            };
            lossless
        }
    }
}

/// Returns whether a format is an IP address. Only this union of formats has a name: [`Format::Ip`].
const fn is_ip(format: Format) -> bool {
    matches!(format, Format::Ipv4 | Format::Ipv6 | Format::Ip)
}

/// Finds the tag of several objects and its value in each: a required property with a single value that differs between them.
fn common_tag(variants: &[Node]) -> Option<(String, Vec<String>)> {
    let properties = |variant: &Node| match &variant.kind {
        // A recursive definition is not changed, because its references would lead to an object without the tag.
        Owned::Object(properties) if !refers_to_itself(variant) => Some(properties.clone()),
        _ => None,
    };
    let all: Option<Vec<Vec<Property>>> = variants.iter().map(properties).collect();
    let all = all?;
    for candidate in all.first()? {
        let values: Option<Vec<String>> = all
            .iter()
            .map(|properties| {
                let property = properties
                    .iter()
                    .find(|property| property.name == candidate.name)?;
                match &property.node.kind {
                    Owned::Enum(values) if property.default.is_none() && values.len() == 1 => {
                        Some(values[0].0.clone())
                    }
                    _ => None,
                }
            })
            .collect();
        if let Some(values) = values {
            let distinct = (1..values.len()).all(|at| !values[..at].contains(&values[at]));
            if distinct {
                return Some((candidate.name.clone(), values));
            }
        }
    }
    None
}

fn refers_to_itself(node: &Node) -> bool {
    node.name.as_ref().is_some_and(|name| holds_ref(node, name))
}

fn holds_ref(node: &Node, name: &str) -> bool {
    match &node.kind {
        Owned::Ref(to) => to == name,
        Owned::Optional(inner)
        | Owned::Constrained(inner, _)
        | Owned::Map(inner)
        | Owned::Array { items: inner, .. } => holds_ref(inner, name),
        Owned::Object(properties) => properties
            .iter()
            .any(|property| holds_ref(&property.node, name)),
        Owned::Tagged { variants, .. } => {
            variants.iter().any(|(_, variant)| holds_ref(variant, name))
        }
        Owned::Untagged(nodes) | Owned::Tuple(nodes) => {
            nodes.iter().any(|node| holds_ref(node, name))
        }
        _ => false,
    }
}

fn untag(mut variant: Node, tag: &str) -> Node {
    if let Owned::Object(properties) = &mut variant.kind {
        properties.retain(|property| property.name != tag);
    }
    variant
}

/// Returns whether it is certain that no value matches both nodes.
fn disjoint(a: &Node, b: &Node) -> bool {
    if a.classes() & b.classes() == 0 {
        return true;
    }
    let (Owned::Object(ours), Owned::Object(theirs)) = (&a.kind, &b.kind) else {
        return false;
    };
    lacks(ours, theirs)
        || lacks(theirs, ours)
        || ours.iter().any(|property| {
            theirs.iter().any(|other| {
                property.name == other.name
                    && is_needed(property)
                    && is_needed(other)
                    && listed_apart(&property.node, &other.node)
            })
        })
}

/// Returns whether an object requires a property that the other object does not have. Both objects are closed.
fn lacks(ours: &[Property], theirs: &[Property]) -> bool {
    ours.iter().any(|property| {
        is_needed(property) && !theirs.iter().any(|other| other.name == property.name)
    })
}

fn is_needed(property: &Property) -> bool {
    property.absence != Absence::LeftOut
        && property.default.is_none()
        && !matches!(property.node.kind, Owned::Optional(_))
}

fn listed_apart(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (Owned::Enum(ours), Owned::Enum(theirs)) => !ours
            .iter()
            .any(|(value, _)| theirs.iter().any(|(other, _)| other == value)),
        _ => a.classes() & b.classes() == 0,
    }
}
