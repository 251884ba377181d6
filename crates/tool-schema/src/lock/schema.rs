//! Comparison of two JSON Schemas: the changes, and whether each change is compatible for callers.
//!
//! A change that accepts more values is compatible for arguments and breaking for outputs. Objects in outputs
//! may get more keys, because readers ignore unknown keys. Changes of keywords that this module does not know are breaking.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Callers;
use super::node::{became, choices, name, reference, requires, tag, types, values};

/// The direction of the values that a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Arguments of the tool.
    Input,
    /// Output of the tool.
    Output,
}

/// A change of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) place: String,
    pub(super) callers: Callers,
    pub(super) text: String,
}

/// How the set of accepted values changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Wider,
    Narrower,
    /// Some values were added and some removed, or the effect of the change is unknown.
    Other,
    /// The set of values did not change.
    Same,
}

/// Compares the texts of two schemas.
pub(super) fn compare(before: &str, now: &str, side: Side) -> Vec<Changed> {
    let (Ok(before), Ok(now)) = (serde_json::from_str(before), serde_json::from_str(now)) else {
        return vec![Changed {
            place: String::new(),
            callers: Callers::Breaking,
            text: "a schema is not JSON, create the lock file again".to_owned(),
        }];
    };
    let mut comparison = Comparison {
        side,
        roots: [&before, &now],
        seen: BTreeSet::new(),
        changes: Vec::new(),
    };
    comparison.node(&before, &now, "");
    comparison.changes
}

struct Comparison<'a> {
    side: Side,
    roots: [&'a Value; 2],
    /// Pairs of references that were already compared.
    seen: BTreeSet<(String, String)>,
    changes: Vec<Changed>,
}

/// Keywords that do not restrict values. The descriptions and the defaults are compared all the same.
const WORDS: [&str; 9] = [
    "description",
    "title",
    "default",
    "examples",
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "$comment",
];

/// Keywords that are compared individually.
const KNOWN: [&str; 21] = [
    "type",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "multipleOf",
    "pattern",
    "format",
    "uniqueItems",
];

impl<'a> Comparison<'a> {
    fn add(&mut self, place: &str, way: Way, text: impl Into<String>) {
        let compatible = match self.side {
            Side::Input => matches!(way, Way::Wider | Way::Same),
            Side::Output => matches!(way, Way::Narrower | Way::Same),
        };
        self.say(place, compatible, text);
    }

    fn say(&mut self, place: &str, compatible: bool, text: impl Into<String>) {
        self.changes.push(Changed {
            place: place.to_owned(),
            callers: if compatible {
                Callers::Compatible
            } else {
                Callers::Breaking
            },
            text: text.into(),
        });
    }

    fn node(&mut self, before: &'a Value, now: &'a Value, place: &str) {
        let refs = [reference(before), reference(now)];
        if let [Some(was), Some(is)] = refs
            && !self.seen.insert((was.to_owned(), is.to_owned()))
        {
            return;
        }
        let (Some(was), Some(is)) = (self.resolved(0, before), self.resolved(1, now)) else {
            if before != now {
                self.add(
                    place,
                    Way::Other,
                    "the schema changed, or it cannot be read",
                );
            }
            return;
        };
        if was == is && refs == [None, None] {
            return;
        }
        let text = |node: &Map<String, Value>| node.get("description").cloned();
        if text(was) != text(is) {
            self.add(place, Way::Same, "its description changed");
        }
        self.types(was, is, place);
        self.values(was, is, place);
        self.bounds(was, is, place);
        self.texts(was, is, place);
        self.choices(was, is, place);
        self.record(was, is, place);
        self.list(was, is, place);
        self.default(was, is, place);
        self.rest(was, is, place);
    }

    /// Resolves the references of a node, and returns its keywords.
    fn resolved(&self, root: usize, mut node: &'a Value) -> Option<&'a Map<String, Value>> {
        for _ in 0..16 {
            let Some(target) = reference(node) else {
                return node.as_object();
            };
            node = self.roots[root].pointer(target.strip_prefix('#')?)?;
        }
        None
    }

    fn types(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, place: &str) {
        let (before, now) = (types(was), types(is));
        if before == now {
            return;
        }
        let told = |types: &Option<BTreeSet<&str>>| match types {
            None => "anything".to_owned(),
            Some(types) => types.iter().copied().collect::<Vec<_>>().join(" or "),
        };
        let text = format!("{} became {}", told(&before), told(&now));
        // Every integer is a number.
        let covers =
            |wide: &Option<BTreeSet<&str>>, narrow: &Option<BTreeSet<&str>>| match (wide, narrow) {
                (None, _) => true,
                (_, None) => false,
                (Some(wide), Some(narrow)) => narrow.iter().all(|one| {
                    wide.contains(one) || (*one == "integer" && wide.contains("number"))
                }),
            };
        self.add(
            place,
            way(covers(&now, &before), covers(&before, &now)),
            text,
        );
    }

    fn values(&mut self, was: &'a Map<String, Value>, is: &'a Map<String, Value>, place: &str) {
        let (before, now) = (values(was), values(is));
        match (before, now) {
            (Some(before), Some(now)) => {
                let came: Vec<_> = now.iter().filter(|value| !before.contains(value)).collect();
                let went: Vec<_> = before.iter().filter(|value| !now.contains(value)).collect();
                for value in came {
                    self.add(place, Way::Wider, format!("the value {value} is new"));
                }
                for value in went {
                    self.add(
                        place,
                        Way::Narrower,
                        format!("the value {value} was removed"),
                    );
                }
            }
            (Some(_), None) => {
                self.add(
                    place,
                    Way::Wider,
                    "it is not restricted to an enum any more",
                );
            }
            (None, Some(_)) => self.add(place, Way::Narrower, "it is restricted to an enum now"),
            (None, None) => {}
        }
    }

    fn bounds(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, place: &str) {
        let lower = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
        let upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
        for (keyword, is_lower) in lower
            .map(|word| (word, true))
            .into_iter()
            .chain(upper.map(|word| (word, false)))
        {
            let (before, now) = (was.get(keyword), is.get(keyword));
            if before == now {
                continue;
            }
            let number = |value: Option<&Value>| value.and_then(Value::as_f64);
            let way = match (number(before), number(now)) {
                (Some(_), None) => Way::Wider,
                (Some(before), Some(now)) if (now < before) == is_lower => Way::Wider,
                _ => Way::Narrower,
            };
            self.add(place, way, became(keyword, before, now));
        }
        let (before, now) = (was.get("multipleOf"), is.get("multipleOf"));
        if before != now {
            let way = match (before.and_then(Value::as_f64), now.and_then(Value::as_f64)) {
                (None, _) => Way::Narrower,
                (_, None) => Way::Wider,
                (Some(before), Some(now)) if before % now == 0.0 => Way::Wider,
                (Some(before), Some(now)) if now % before == 0.0 => Way::Narrower,
                _ => Way::Other,
            };
            self.add(place, way, became("multipleOf", before, now));
        }
        let unique =
            |node: &Map<String, Value>| node.get("uniqueItems") == Some(&Value::Bool(true));
        match (unique(was), unique(is)) {
            (true, false) => self.add(place, Way::Wider, "items may repeat now"),
            (false, true) => self.add(place, Way::Narrower, "items may not repeat any more"),
            _ => {}
        }
    }

    fn texts(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, place: &str) {
        for keyword in ["pattern", "format"] {
            let (before, now) = (was.get(keyword), is.get(keyword));
            let way = match (before, now) {
                _ if before == now => continue,
                (None, _) => Way::Narrower,
                (_, None) => Way::Wider,
                _ => Way::Other,
            };
            self.add(place, way, became(keyword, before, now));
        }
    }

    fn choices(&mut self, was: &'a Map<String, Value>, is: &'a Map<String, Value>, place: &str) {
        let (before, now) = match (choices(was), choices(is)) {
            (None, None) => return,
            (Some(before), Some(now)) => (before, now),
            (Some(_), None) => {
                return self.add(place, Way::Other, "it is not a union any more");
            }
            (None, Some(_)) => {
                return self.add(place, Way::Other, "it is a union now");
            }
        };
        let mut left: Vec<&Value> = now.iter().collect();
        let mut lost = Vec::new();
        for shape in before {
            // A variant is compared with an equal variant, otherwise with a variant of the same tag, otherwise with a variant of the same type.
            let at = left
                .iter()
                .position(|other| *other == shape)
                .or_else(|| {
                    left.iter()
                        .position(|other| tag(other).is_some() && tag(other) == tag(shape))
                })
                .or_else(|| {
                    let plain = |shape: &Value| {
                        tag(shape)
                            .is_none()
                            .then(|| shape.get("type").cloned())
                            .flatten()
                    };
                    left.iter()
                        .position(|other| plain(other).is_some() && plain(other) == plain(shape))
                });
            match at {
                Some(at) => {
                    let other = left.remove(at);
                    let place = match tag(shape) {
                        Some(tag) => format!("{place}/{tag}"),
                        None => place.to_owned(),
                    };
                    self.node(shape, other, &place);
                }
                None => lost.push(shape),
            }
        }
        for shape in lost {
            self.add(
                place,
                Way::Narrower,
                format!("the variant {} was removed", name(shape)),
            );
        }
        for shape in left {
            self.add(
                place,
                Way::Wider,
                format!("the variant {} is new", name(shape)),
            );
        }
    }

    fn record(&mut self, was: &'a Map<String, Value>, is: &'a Map<String, Value>, place: &str) {
        let empty = Map::new();
        let entries =
            |node: &'a Map<String, Value>| node.get("properties").and_then(Value::as_object);
        let (before, now) = (entries(was), entries(is));
        let has = |entries: Option<&Map<String, Value>>, key: &str| {
            entries.unwrap_or(&empty).contains_key(key)
        };
        let input = self.side == Side::Input;
        for (key, old) in before.into_iter().flatten() {
            let place = format!("{place}/{key}");
            let (needed_before, needed_now) = (requires(was, key), requires(is, key));
            let Some(new) = now.and_then(|now| now.get(key)) else {
                self.say(&place, false, "it was removed");
                continue;
            };
            if needed_before && !needed_now {
                self.say(&place, input, "it is optional now");
            } else if !needed_before && needed_now {
                self.say(&place, !input, "it is required now");
            }
            self.node(old, new, &place);
        }
        for key in now
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
            .filter(|key| !has(before, key))
        {
            let place = format!("{place}/{key}");
            match (input, requires(is, key)) {
                (true, true) => self.say(&place, false, "it is new and required"),
                (true, false) => self.say(&place, true, "it is new and optional"),
                (false, _) => self.say(&place, true, "it is new"),
            }
        }
        match (
            was.get("additionalProperties"),
            is.get("additionalProperties"),
        ) {
            (before, now) if before == now => {}
            (Some(Value::Bool(false)), _) => {
                self.add(place, Way::Wider, "it allows other keys now");
            }
            (_, Some(Value::Bool(false))) => {
                self.add(
                    place,
                    Way::Narrower,
                    "it does not allow other keys any more",
                );
            }
            (Some(before), Some(now)) if before.is_object() && now.is_object() => {
                self.node(before, now, &format!("{place}/*"));
            }
            (_, Some(now)) if now.is_object() => {
                self.add(place, Way::Narrower, "other keys have a schema now");
            }
            _ => self.add(place, Way::Wider, "other keys may have any value now"),
        }
    }

    fn list(&mut self, was: &'a Map<String, Value>, is: &'a Map<String, Value>, place: &str) {
        match (was.get("items"), is.get("items")) {
            (Some(before), Some(now)) => self.node(before, now, &format!("{place}/[]")),
            (Some(_), None) => self.add(place, Way::Wider, "its items may have any value now"),
            (None, Some(_)) => self.add(place, Way::Narrower, "its items have a schema now"),
            (None, None) => {}
        }
    }

    /// Compares the defaults. A different default changes the meaning of calls that omit the value.
    fn default(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, place: &str) {
        let (before, now) = (was.get("default"), is.get("default"));
        if before != now {
            let compatible = before.is_none() || now.is_none() || self.side == Side::Output;
            self.say(place, compatible, became("default", before, now));
        }
    }

    /// Compares all other keywords: the keywords that may restrict values and are not compared individually.
    fn rest(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, place: &str) {
        let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        for key in keys {
            let compared = WORDS.contains(&&**key) || KNOWN.contains(&&**key) || key == "$ref";
            if !compared && was.get(key) != is.get(key) {
                self.add(place, Way::Other, became(key, was.get(key), is.get(key)));
            }
        }
    }
}

fn way(wider: bool, narrower: bool) -> Way {
    match (wider, narrower) {
        (true, true) => Way::Same,
        (true, false) => Way::Wider,
        (false, true) => Way::Narrower,
        (false, false) => Way::Other,
    }
}
