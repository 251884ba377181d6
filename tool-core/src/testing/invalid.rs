//! Generator of inputs that break one rule each.

use serde_json::{Map, Value, json};

use super::Random;
use super::valid::{Maker, float, integer_range, integer_value};
use crate::schema::{Constraints, Field, Kind, Schema};
use crate::tool::ToolDef;

/// An input that a tool must refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// JSON text, or text that is not JSON.
    pub input: String,
    /// JSON pointer to the wrong value; empty for the whole input.
    pub pointer: String,
    /// Why the input must be refused.
    pub why: String,
}

/// Returns inputs that break one rule each, for example with a wrong type, a missing or unknown key, a value beyond its bounds, or a text that is cut
/// off. Returns none if no valid input can be generated.
pub fn invalid_inputs(def: &ToolDef) -> Vec<Invalid> {
    let mut spoiler = InvalidInputs {
        maker: Maker {
            random: Random::new(1),
            around: Vec::new(),
        },
        root: Value::Null,
        path: Vec::new(),
        found: Vec::new(),
    };
    let Some(root) = spoiler.full(def.input(), &Constraints::NONE) else {
        return Vec::new();
    };
    spoiler.root = root.clone();
    spoiler.spoil(def.input(), &root, &Constraints::NONE);
    let text = root.to_string();
    spoiler.texts(&text);
    spoiler.found
}

struct InvalidInputs {
    maker: Maker,
    /// A valid input with every optional field.
    root: Value,
    path: Vec<String>,
    found: Vec<Invalid>,
}

impl InvalidInputs {
    /// Returns a value with every field.
    fn full(&mut self, schema: &'static Schema, bounds: &Constraints) -> Option<Value> {
        self.maker.around.push(schema);
        let value = match &schema.kind {
            Kind::Object(fields) => fields
                .iter()
                .filter(|field| field.input)
                .map(|field| {
                    Some((
                        field.name.to_owned(),
                        self.full(field.schema, &Constraints::NONE)?,
                    ))
                })
                .collect::<Option<Map<_, _>>>()
                .map(Value::Object),
            Kind::Optional(inner) => self.full(inner, bounds),
            Kind::Constrained(inner, more) => self.full(inner, &more.under(bounds)),
            _ => self.maker.value(schema, bounds),
        };
        self.maker.around.pop();
        value
    }

    /// Adds the complete input with a different value at the current path.
    fn put(&mut self, value: Value, why: impl Into<String>) {
        let pointer = self.pointer();
        let mut root = self.root.clone();
        if let Some(place) = root.pointer_mut(&pointer) {
            *place = value;
            self.found.push(Invalid {
                input: root.to_string(),
                pointer,
                why: why.into(),
            });
        }
    }

    fn pointer(&self) -> String {
        self.path.iter().fold(String::new(), |mut pointer, key| {
            pointer.push('/');
            pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            pointer
        })
    }

    fn spoil(&mut self, schema: &'static Schema, value: &Value, bounds: &Constraints) {
        match &schema.kind {
            Kind::Constrained(inner, more) => return self.spoil(inner, value, &more.under(bounds)),
            Kind::Optional(inner) if !value.is_null() => return self.spoil(inner, value, bounds),
            // No value is certain to be wrong for these kinds.
            Kind::Optional(_) | Kind::Any | Kind::Ref(_) | Kind::Never | Kind::Refused { .. } => {
                return;
            }
            _ => {}
        }
        for (wrong, name) in [
            (json!(true), "a boolean"),
            (json!(7.25), "a number"),
            (json!("\u{1}wrong\u{1}"), "a text"),
            (json!([[[]]]), "a list"),
            (json!({"\u{1}": {}}), "an object"),
        ] {
            if !may_be(schema, &wrong) {
                self.put(wrong, format!("{name} is at `{}`", self.pointer()));
            }
        }
        match &schema.kind {
            Kind::Object(fields) => self.fields(fields, value),
            Kind::Array {
                items,
                exactly,
                unique,
            } => self.list(items, value, bounds, *exactly, *unique),
            Kind::Integer(integer) => {
                let (min, max) = integer_range(*integer, bounds);
                for beyond in [min - 1, max + 1] {
                    let beyond = integer_value(beyond).unwrap_or_else(|| json!(1e39));
                    self.put(beyond, "a whole number is beyond its range");
                }
                self.put(json!(1.5), "a whole number has a fraction");
                if integer.not_zero && min <= 0 && max >= 0 {
                    self.put(json!(0), "zero is not allowed");
                }
            }
            Kind::Number { .. } => {
                if let Some(min) = bounds.min.map(float) {
                    self.put(
                        json!(min - min.abs().max(1.0)),
                        "a number is below its bound",
                    );
                }
                if let Some(max) = bounds.max.map(float) {
                    self.put(
                        json!(max + max.abs().max(1.0)),
                        "a number is above its bound",
                    );
                }
            }
            Kind::String => self.lengths(bounds),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &'static [Field], value: &Value) {
        let Value::Object(map) = value else { return };
        let mut more = map.clone();
        more.insert("\u{1}unknown".to_owned(), json!(1));
        self.put(Value::Object(more), "a key is unknown");
        for field in fields.iter().filter(|field| field.input) {
            let Some(inner) = map.get(field.name) else {
                continue;
            };
            if field.is_required() {
                let mut less = map.clone();
                less.remove(field.name);
                self.put(Value::Object(less), format!("`{}` is absent", field.name));
            }
            self.path.push(field.name.to_owned());
            if field.is_required() && !may_be(field.schema, &Value::Null) {
                self.put(Value::Null, format!("`{}` is null", field.name));
            }
            self.spoil(field.schema, inner, &Constraints::NONE);
            self.path.pop();
        }
    }

    fn list(
        &mut self,
        items: &'static Schema,
        value: &Value,
        bounds: &Constraints,
        exactly: Option<usize>,
        unique: bool,
    ) {
        let Value::Array(list) = value else { return };
        let item = list
            .first()
            .cloned()
            .or_else(|| self.maker.value(items, &Constraints::NONE));
        let (Some(item), false) = (item, unique || bounds.unique) else {
            return;
        };
        let (min, max) =
            exactly.map_or((bounds.min_items, bounds.max_items), |n| (Some(n), Some(n)));
        if let Some(max) = max.filter(|max| *max < 4_096) {
            self.put(json!(vec![item.clone(); max + 1]), "a list is too long");
        }
        if let Some(min) = min.filter(|min| *min > 0) {
            self.put(json!(vec![item.clone(); min - 1]), "a list is too short");
        }
        if list.is_empty() {
            return;
        }
        self.path.push("0".to_owned());
        self.spoil(items, &item, &Constraints::NONE);
        self.path.pop();
    }

    fn lengths(&mut self, bounds: &Constraints) {
        if let Some(max) = bounds.max_length.filter(|max| *max < 65_536) {
            self.put(json!("é".repeat(max + 1)), "a text is too long");
        }
        if let Some(min) = bounds.min_length.filter(|min| *min > 0) {
            self.put(json!("é".repeat(min - 1)), "a text is too short");
        }
        if let Some(pattern) = bounds
            .pattern
            .filter(|pattern| !pattern.is_match("\u{1}wrong\u{1}"))
        {
            self.put(
                json!("\u{1}wrong\u{1}"),
                format!("a text does not match `{}`", pattern.source()),
            );
        }
        if bounds
            .format
            .is_some_and(|format| !format.matches(b"\x01wrong\x01"))
        {
            self.put(json!("\u{1}wrong\u{1}"), "a text does not match its format");
        }
    }

    /// Adds texts that are cut off, have two values or a repeated key, are not an object, or are not JSON. One text lacks only its last character.
    fn texts(&mut self, text: &str) {
        let mut cuts: Vec<usize> = (1..text.len())
            .filter(|at| text.is_char_boundary(*at))
            .collect();
        let every = (cuts.len() / 16).max(1);
        cuts.retain(|at| at % every == 0 || *at + 1 == text.len());
        let mut note = |input: String, why: &str| {
            self.found.push(Invalid {
                input,
                pointer: String::new(),
                why: why.to_owned(),
            });
        };
        for at in cuts {
            note(text[..at].to_owned(), "the text is cut off");
        }
        note(format!("{text}{text}"), "the text contains two values");
        note(format!("[{text}]"), "the arguments are a list");
        note("\"x\"".to_owned(), "the arguments are a text");
        note("not json".to_owned(), "the text is not JSON");
        if let Some(rest) = text.strip_prefix("{\"") {
            // The first key is repeated, with the same value, before the others.
            if let Ok(Value::Object(map)) = serde_json::from_str(text)
                && let Some((key, value)) = map.iter().next()
            {
                note(
                    format!("{{{}:{value},\"{rest}", Value::from(key.as_str())),
                    "a key is repeated",
                );
            }
        }
    }
}

/// Returns whether the type may accept the value, regardless of the type's bounds.
fn may_be(schema: &Schema, value: &Value) -> bool {
    match &schema.kind {
        Kind::String => value.is_string(),
        Kind::Format(format) => value
            .as_str()
            .is_some_and(|text| format.matches(text.as_bytes())),
        Kind::Integer(_) => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Kind::Number { .. } => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        // An empty list matches every item type.
        Kind::Array { items, .. } => value
            .as_array()
            .is_some_and(|list| list.iter().all(|item| may_be(items, item))),
        Kind::Map(values) => value
            .as_object()
            .is_some_and(|map| map.values().all(|value| may_be(values, value))),
        Kind::Optional(inner) => value.is_null() || may_be(inner, value),
        Kind::Constrained(inner, _) => may_be(inner, value),
        Kind::Null => value.is_null(),
        Kind::Tuple(items) => value
            .as_array()
            .is_some_and(|list| list.len() == items.len()),
        Kind::Any | Kind::Ref(_) => true,
        Kind::Union(union) => union.variants.iter().any(|variant| match variant.schema {
            // Only untagged variants accept their value without a tag.
            Some(schema) if union.tagging == crate::schema::Tagging::Untagged => {
                may_be(schema, value)
            }
            _ => false,
        }),
        Kind::Char
        | Kind::Duration
        | Kind::Enum(_)
        | Kind::IntegerEnum(_)
        | Kind::Object(_)
        | Kind::Never
        | Kind::Refused { .. } => false,
    }
}
