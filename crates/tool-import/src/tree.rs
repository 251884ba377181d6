//! Conversion of JSON Schemas to shapes.

use std::fmt::{Display, Write as _};

use tool_schema::dynamic;
use tool_schema::rules::Rule;
use tool_schema::{Constraints, Field, Kind, Schema, Tagging, Text};

use super::names;
use super::shape::{Fault, Need, Property, Shape, Variant};
use crate::json::Json;

/// The typed form of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// The parameters of the tool.
    pub parameters: Vec<Property>,
    /// Constraints of the schema that neither a type nor an attribute expresses, and other differences between the schema and the types. The body of
    /// the tool has to check the constraints.
    pub lost: Vec<String>,
}

/// Converts the schema of a tool's arguments.
///
/// # Errors
///
/// Fails if a part of the schema has no Rust type that every provider accepts. The error contains the parts that were found and the rules that they
/// break; parts next to a faulty part may not have been checked.
pub fn typed(schema: &Json) -> Result<Typed, Vec<Fault>> {
    let read = dynamic::read_text(&schema.to_string()).map_err(|faults| {
        let ours = faults.into_iter().map(|fault| Fault {
            rule: fault.rule,
            path: fault.pointer,
            text: fault.text,
        });
        ours.collect::<Vec<_>>()
    })?;
    let mut reader = Reader::default();
    reader
        .lost
        .extend(read.notes().iter().map(ToString::to_string));
    let root = reader.value(read.schema(), "");
    match root {
        Some(Value {
            shape: Shape::Record(parameters),
            ..
        }) if reader.faults.is_empty() => Ok(Typed {
            parameters,
            lost: reader.lost,
        }),
        _ => {
            if reader.faults.is_empty() {
                reader.fault(&Rule::JSON_ROOT_NOT_OBJECT, "", &[]);
            }
            Err(reader.faults)
        }
    }
}

#[derive(Default)]
struct Reader {
    faults: Vec<Fault>,
    lost: Vec<String>,
}

/// A shape, and the attributes of its schema.
struct Value {
    shape: Shape,
    bounds: Vec<String>,
    optional: bool,
    /// The documentation of the enum values, which is appended to the description.
    words: String,
}

impl Reader {
    fn fault(&mut self, rule: &Rule, path: &str, facts: &[&dyn Display]) {
        self.faults.push(Fault::new(rule, path, facts));
    }

    /// Converts a node, or returns `None` if it has reported a fault.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of node")]
    fn value(&mut self, schema: &Schema, path: &str) -> Option<Value> {
        let plain = |shape| {
            Some(Value {
                shape,
                bounds: Vec::new(),
                optional: false,
                words: String::new(),
            })
        };
        let text = |format: Option<&str>| Shape::Text {
            format: format.map(str::to_owned),
        };
        match schema.kind {
            Kind::String | Kind::Char => plain(text(None)),
            Kind::Duration => plain(text(Some("duration"))),
            Kind::Format(format) => plain(text(Some(format.name()))),
            Kind::Integer(_) => plain(Shape::Whole),
            Kind::Number { .. } => plain(Shape::Number),
            Kind::Boolean => plain(Shape::Flag),
            Kind::Enum(values) => {
                let mut words = String::new();
                for value in values.iter().filter(|value| !value.description.is_empty()) {
                    let _ = write!(
                        words,
                        "\n- `{}`: {}",
                        value.value,
                        value.description.unescape()
                    );
                }
                let values = values.iter().map(|value| value.value.to_owned()).collect();
                let value = plain(Shape::Choice(values))?;
                Some(Value { words, ..value })
            }
            Kind::IntegerEnum(values) => {
                let numbers: Option<Vec<i64>> = values
                    .iter()
                    .map(|value| value.value.try_into().ok())
                    .collect();
                let Some(numbers) = numbers else {
                    self.fault(&Rule::IMPORT_INTEGER, path, &[]);
                    return None;
                };
                plain(Shape::WholeChoice(numbers))
            }
            Kind::Array { items, unique, .. } => {
                let items = self.inside(items, &format!("{path}/[]"))?;
                let mut value = plain(Shape::List(Box::new(items)))?;
                if unique {
                    value.bounds.push("unique".to_owned());
                }
                Some(value)
            }
            Kind::Object(fields) => {
                let before = self.faults.len();
                let properties: Vec<Property> = fields
                    .iter()
                    .filter_map(|field| self.property(field, path))
                    .collect();
                (self.faults.len() == before).then_some(())?;
                plain(Shape::Record(properties))
            }
            Kind::Union(union) => {
                let tag = match union.tagging {
                    Tagging::Internal { tag } => Some(tag.to_owned()),
                    _ => None,
                };
                let mut variants = Vec::new();
                for variant in union.variants {
                    let path = format!("{path}/{}", variant.name);
                    let inner = variant.schema.map(|schema| self.inside(schema, &path));
                    variants.push(Variant {
                        // The variant names of an untagged union are numbers, so they are dropped.
                        name: if tag.is_some() {
                            variant.name.to_owned()
                        } else {
                            String::new()
                        },
                        description: variant.description.unescape(),
                        shape: inner.unwrap_or_else(|| Some(Shape::Record(Vec::new())))?,
                    });
                }
                plain(Shape::Union { tag, variants })
            }
            Kind::Optional(inner) => {
                let value = self.value(inner, path)?;
                Some(Value {
                    optional: true,
                    ..value
                })
            }
            Kind::Constrained(inner, bounds) => {
                let mut value = self.value(inner, path)?;
                let facts = self.bounds(bounds, &value.shape, path);
                value.bounds.extend(facts);
                Some(value)
            }
            Kind::Map(_) => {
                self.fault(&Rule::JSON_MAP, path, &[]);
                None
            }
            Kind::Ref(_) => {
                self.fault(&Rule::JSON_RECURSIVE, path, &[]);
                None
            }
            Kind::Tuple(_) => {
                self.fault(&Rule::JSON_PREFIX_ITEMS, path, &[&"prefixItems"]);
                None
            }
            Kind::Any | Kind::Never | Kind::Null | Kind::Refused { .. } => {
                self.fault(&Rule::UNTYPED_VALUE, path, &[]);
                None
            }
        }
    }

    /// Converts a node that is neither a parameter nor a field. No attribute can express its constraints, so they are recorded as lost.
    fn inside(&mut self, schema: &Schema, path: &str) -> Option<Shape> {
        let value = self.value(schema, path)?;
        if value.optional {
            self.fault(&Rule::IMPORT_NULL_ITEM, path, &[]);
            return None;
        }
        self.lost.extend(
            value
                .bounds
                .iter()
                .map(|bound| format!("`{path}`: `{bound}`")),
        );
        if let Shape::Text {
            format: Some(format),
        } = &value.shape
        {
            self.lost.push(format!("`{path}`: format `{format}`"));
            return Some(Shape::Text { format: None });
        }
        Some(value.shape)
    }

    fn property(&mut self, field: &Field, path: &str) -> Option<Property> {
        let path = format!("{path}/{}", field.name);
        if !names::is_key(field.name) {
            self.fault(&Rule::JSON_KEY, &path, &[&field.name]);
        }
        let value = self.value(field.schema, &path)?;
        let default = field
            .default
            .as_ref()
            .and_then(|default| Json::read(default.text).ok());
        let need = match default {
            Some(default) if default != Json::Null => Need::Default(default),
            _ if value.optional => Need::Optional,
            _ => Need::Required,
        };
        let said = if field.description.is_empty() {
            field.schema.description
        } else {
            field.description
        };
        let mut description = plain(said);
        description.push_str(&value.words);
        Some(Property {
            key: field.name.to_owned(),
            description: description.trim().to_owned(),
            shape: value.shape,
            bounds: value.bounds,
            need,
        })
    }

    fn bounds(&mut self, bounds: &Constraints, shape: &Shape, path: &str) -> Vec<String> {
        let mut facts = Vec::new();
        let number = |number: tool_schema::Number| {
            let text = number.text();
            let is_whole = !text.contains(['.', 'e', 'E']);
            match shape {
                Shape::Number if is_whole => format!("{text}.0"),
                _ => text.to_owned(),
            }
        };
        let (mut min, max) = (bounds.min.map(number), bounds.max.map(number));
        if bounds.exclusive_min
            && let Some(above) = min.take()
        {
            match above.parse::<i64>() {
                Ok(above) if *shape == Shape::Whole => {
                    min = above.checked_add(1).map(|min| min.to_string());
                }
                _ => self.lost.push(format!("`{path}`: above {above}")),
            }
        }
        if min.is_some() || max.is_some() {
            let dots = if bounds.exclusive_max || max.is_none() {
                ".."
            } else {
                "..="
            };
            facts.push(format!(
                "range = {}{dots}{}",
                min.unwrap_or_default(),
                max.unwrap_or_default()
            ));
        }
        if let Some(of) = bounds.multiple_of {
            facts.push(format!("multiple_of = {}", number(of)));
        }
        let size = |size: Option<usize>| size.map(|size| size.to_string()).unwrap_or_default();
        if bounds.min_length.is_some() || bounds.max_length.is_some() {
            let dots = if bounds.max_length.is_some() {
                "..="
            } else {
                ".."
            };
            facts.push(format!(
                "length = {}{dots}{}",
                size(bounds.min_length),
                size(bounds.max_length)
            ));
        }
        if let Some(pattern) = bounds.pattern {
            facts.push(format!("pattern = {:?}", pattern.source()));
        }
        if let Some(format) = bounds.format {
            facts.push(format!("format = {:?}", format.name()));
        }
        for (word, size) in [
            ("min_items", bounds.min_items),
            ("max_items", bounds.max_items),
        ] {
            if let Some(size) = size {
                facts.push(format!("{word} = {size}"));
            }
        }
        if bounds.unique {
            facts.push("unique".to_owned());
        }
        facts
    }
}

fn plain(text: Text) -> String {
    text.unescape()
}
