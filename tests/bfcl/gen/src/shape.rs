//! Conversion of JSON Schemas to shapes of Rust types, and the strict-mode rules that a schema violates.

use tool_import::names;
pub use tool_import::shape::{Fault, Need, Property, Shape};

use crate::json::Json;

/// Keywords that this module reads, or that do not restrict values.
const KNOWN: [&str; 8] = [
    "type",
    "description",
    "properties",
    "required",
    "items",
    "enum",
    "format",
    "default",
];

/// Formats that every strict mode supports or can describe.
const FORMATS: [&str; 9] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// The largest number of optional properties of a tool.
const MOST_OPTIONAL: usize = 24;

/// The deepest nesting of records.
const DEEPEST: usize = 10;

/// Reads the parameters of a function. Returns the properties of the root, or every fault.
pub fn of_parameters(schema: &Json) -> Result<Vec<Property>, Vec<Fault>> {
    let mut reader = Reader::default();
    let shape = reader.shape(schema, "");
    if reader.optional > MOST_OPTIONAL {
        let text = format!(
            "{} optional properties, at most {MOST_OPTIONAL}",
            reader.optional
        );
        reader.fault("limit-optional", "", text);
    }
    match shape {
        Some(Shape::Record(properties)) if reader.faults.is_empty() => Ok(properties),
        _ => {
            if reader.faults.is_empty() {
                reader.fault("root-not-object", "", "the root is not an object".into());
            }
            Err(reader.faults)
        }
    }
}

#[derive(Default)]
struct Reader {
    faults: Vec<Fault>,
    optional: usize,
    depth: usize,
}

impl Reader {
    fn fault(&mut self, rule: &'static str, path: &str, text: String) {
        self.faults.push(Fault {
            rule,
            path: path.to_owned(),
            text,
        });
    }

    /// Returns the shape of a node, or `None` if a fault was recorded.
    fn shape(&mut self, node: &Json, path: &str) -> Option<Shape> {
        if let Json::Record(entries) = node {
            for (key, _) in entries {
                if !KNOWN.contains(&key.as_str()) {
                    self.fault("unknown-keyword", path, format!("keyword `{key}`"));
                }
            }
        }
        let Some(kind) = node.get("type").and_then(Json::as_text) else {
            self.fault("untyped-value", path, "any value at all".into());
            return None;
        };
        match (kind, node.get("enum")) {
            ("string", Some(Json::List(values))) => self.choice(values, path),
            ("integer", Some(Json::List(values))) => self.whole_choice(values, path),
            (_, Some(_)) => {
                self.fault("enum-complex", path, format!("an enum of type `{kind}`"));
                None
            }
            ("string", None) => self.text(node, path),
            ("integer", None) => Some(Shape::Whole),
            ("number", None) => Some(Shape::Number),
            ("boolean", None) => Some(Shape::Flag),
            ("array", None) => {
                let Some(items) = node.get("items") else {
                    self.fault("array-no-items", path, "a list without an item type".into());
                    return None;
                };
                let items = self.shape(items, &format!("{path}[]"))?;
                Some(Shape::List(Box::new(items)))
            }
            ("object", None) => self.record(node, path),
            (other, None) => {
                self.fault("untyped-value", path, format!("type `{other}`"));
                None
            }
        }
    }

    fn text(&mut self, node: &Json, path: &str) -> Option<Shape> {
        let format = node.get("format").and_then(Json::as_text);
        match format {
            Some("uri") => {
                self.fault("format-uri", path, "format `uri`".into());
                None
            }
            Some(name) if !FORMATS.contains(&name) => {
                self.fault("format-unknown", path, format!("format `{name}`"));
                None
            }
            _ => Some(Shape::Text {
                format: format.map(str::to_owned),
            }),
        }
    }

    fn choice(&mut self, values: &[Json], path: &str) -> Option<Shape> {
        let texts: Vec<&str> = values.iter().filter_map(Json::as_text).collect();
        let before = self.faults.len();
        if texts.is_empty() {
            self.fault("enum-empty", path, "no text in the enum".into());
        } else if texts.len() < values.len() {
            self.fault("enum-mixed", path, "values of several types".into());
        }
        if texts.contains(&"") {
            self.fault("enum-empty-string", path, "the value `\"\"`".into());
        }
        for (at, text) in texts.iter().enumerate() {
            if let Some(other) = texts[..at]
                .iter()
                .find(|other| other.eq_ignore_ascii_case(text))
            {
                let text = format!("`{other}` and `{text}` differ only in case");
                self.fault("enum-case-only", path, text);
            }
        }
        (self.faults.len() == before)
            .then(|| Shape::Choice(texts.into_iter().map(str::to_owned).collect()))
    }

    fn whole_choice(&mut self, values: &[Json], path: &str) -> Option<Shape> {
        let numbers: Option<Vec<i64>> = values
            .iter()
            .map(|value| match value {
                Json::Number(text) => text.parse().ok(),
                _ => None,
            })
            .collect();
        let Some(numbers) = numbers else {
            self.fault("enum-mixed", path, "values of several types".into());
            return None;
        };
        Some(Shape::WholeChoice(numbers))
    }

    fn record(&mut self, node: &Json, path: &str) -> Option<Shape> {
        let Some(Json::Record(entries)) = node.get("properties") else {
            self.fault("map-type", path, "an object without properties".into());
            return None;
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            self.fault("limit-depth", path, format!("more than {DEEPEST} levels"));
        }
        let required: Vec<&str> = match node.get("required") {
            Some(Json::List(keys)) => keys.iter().filter_map(Json::as_text).collect(),
            _ => Vec::new(),
        };
        let before = self.faults.len();
        let properties: Vec<Property> = entries
            .iter()
            .filter_map(|(key, value)| self.property(key, value, &required, path))
            .collect();
        self.depth -= 1;
        (self.faults.len() == before).then_some(Shape::Record(properties))
    }

    fn property(
        &mut self,
        key: &str,
        node: &Json,
        required: &[&str],
        parent: &str,
    ) -> Option<Property> {
        let path = if parent.is_empty() {
            key.to_owned()
        } else {
            format!("{parent}.{key}")
        };
        if !names::is_key(key) {
            self.fault("property-key", &path, format!("the key `{key}`"));
        }
        let shape = self.shape(node, &path)?;
        let need = if required.contains(&key) {
            // A default of a required key has no effect, because the call must have the key.
            Need::Required
        } else {
            self.optional += 1;
            match node.get("default") {
                Some(value) if admits(&shape, value) => Need::Default(value.clone()),
                _ => Need::Optional,
            }
        };
        let description = node.get("description").and_then(Json::as_text);
        Some(Property {
            key: key.to_owned(),
            description: description.unwrap_or_default().trim().to_owned(),
            shape,
            bounds: Vec::new(),
            need,
        })
    }
}

/// Returns whether a default is valid for its own schema. Many defaults in the sample are invalid (`null`, `"false"`) and are left out.
fn admits(shape: &Shape, value: &Json) -> bool {
    match (shape, value) {
        (Shape::Text { format: None }, Json::Text(_))
        | (Shape::Number, Json::Number(_))
        | (Shape::Flag, Json::Flag(_)) => true,
        (Shape::Choice(values), Json::Text(text)) => values.contains(text),
        (Shape::Whole, Json::Number(text)) => text.parse::<i64>().is_ok(),
        (Shape::WholeChoice(values), Json::Number(text)) => {
            text.parse().is_ok_and(|number| values.contains(&number))
        }
        (Shape::List(items), Json::List(values)) => values.iter().all(|value| admits(items, value)),
        (Shape::Record(properties), Json::Record(entries)) => {
            entries.iter().all(|(key, value)| {
                properties
                    .iter()
                    .any(|property| property.key == *key && admits(&property.shape, value))
            }) && properties.iter().all(|property| {
                property.need != Need::Required || value.get(&property.key).is_some()
            })
        }
        _ => false,
    }
}
