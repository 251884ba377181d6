//! Checks of `$ref`: invalid targets and recursion.

use tool_rules::Rule;

use super::{DEEPEST, push_steps};
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::fault::SchemaFault;

/// A reference and its location.
struct Link<'a> {
    /// The root or the definition that contains the reference.
    from: String,
    to: &'a str,
    pointer: String,
    /// Whether a property that is not required is on the path from `from` to the reference.
    optional: bool,
}

pub(super) fn faults(root: &Doc) -> Vec<SchemaFault> {
    let mut links = Vec::new();
    let mut gather = Gather {
        pointer: String::new(),
        links: &mut links,
    };
    gather.node(root, "#", false);
    let mut faults = Vec::new();
    for link in &links {
        let target = link.to.strip_prefix('#').and_then(|path| root.at(path));
        if target.is_none() {
            faults.push(refused(&Rule::JSON_REF_MISSING, link));
        } else if link.to != "#" && definition(link.to).is_none() {
            faults.push(refused(&Rule::JSON_REF_NOT_DEFINITION, link));
        }
    }
    if let Some(link) = links.iter().find(|link| returns(link, &links, false)) {
        faults.push(refused(&Rule::JSON_RECURSIVE, link));
    }
    if let Some(link) = links.iter().find(|link| returns(link, &links, true)) {
        faults.push(refused(&Rule::JSON_RECURSIVE_REQUIRED, link));
    }
    faults
}

/// Creates a fault at a reference; the reference's target replaces the placeholder in the rule's text.
fn refused(rule: &Rule, link: &Link<'_>) -> SchemaFault {
    SchemaFault::new(rule, &link.pointer, rule.targets, &[&link.to])
}

/// Returns the reference if its target is a definition and not a node inside of one.
fn definition(to: &str) -> Option<&str> {
    ["#/$defs/", "#/definitions/"]
        .iter()
        .any(|prefix| {
            to.strip_prefix(prefix)
                .is_some_and(|name| !name.contains('/'))
        })
        .then_some(to)
}

/// Returns whether following the links from `start` leads back to the root or definition that contains `start`; with `required_only`,
/// through required properties only.
fn returns(start: &Link<'_>, links: &[Link<'_>], required_only: bool) -> bool {
    if required_only && start.optional {
        return false;
    }
    let mut seen = vec![start.to];
    let mut next = 0;
    while next < seen.len() {
        let here = seen[next];
        if here == start.from {
            return true;
        }
        for link in links {
            if link.from == here && !(required_only && link.optional) && !seen.contains(&link.to) {
                seen.push(link.to);
            }
        }
        next += 1;
    }
    false
}

struct Gather<'a, 'l> {
    /// JSON pointer of the current node.
    pointer: String,
    links: &'l mut Vec<Link<'a>>,
}

impl<'a> Gather<'a, '_> {
    fn node(&mut self, node: &'a Doc, from: &str, optional: bool) {
        if self.pointer.len() > 64 * DEEPEST {
            return;
        }
        if let Some(to) = node.get("$ref").and_then(Doc::as_str) {
            self.links.push(Link {
                from: from.to_owned(),
                to,
                pointer: self.pointer.clone(),
                optional,
            });
        }
        let required = node.get("required").map(Doc::items).unwrap_or_default();
        for (key, value) in node.entries() {
            match key.as_str() {
                "properties" => {
                    for (name, child) in value.entries() {
                        let needed = required.iter().any(|item| item.as_str() == Some(name));
                        self.below(&[key, name], |gather| {
                            gather.node(child, from, optional || !needed);
                        });
                    }
                }
                "$defs" | "definitions" => {
                    for (name, child) in value.entries() {
                        self.below(&[key, name], |gather| {
                            let holder = format!("#{}", gather.pointer);
                            gather.node(child, &holder, false);
                        });
                    }
                }
                "enum" | "const" | "default" | "examples" => {}
                _ => match value {
                    Doc::Object(_) => {
                        self.below(&[key], |gather| gather.node(value, from, optional));
                    }
                    Doc::Array(items) => {
                        let nodes = (0_usize..).zip(items);
                        // Items that are not objects, or are empty, contain no reference.
                        for (index, child) in nodes.filter(|(_, item)| !item.entries().is_empty()) {
                            self.below(&[key, &index.to_string()], |gather| {
                                gather.node(child, from, optional);
                            });
                        }
                    }
                    _ => {}
                },
            }
        }
    }

    fn below(&mut self, steps: &[&str], visit: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        push_steps(&mut self.pointer, steps);
        visit(self);
        self.pointer.truncate(length);
    }
}
