//! The check of a version's input schema against the operation.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use tool_core::stored::ToolFault;

use super::reader::{Found, Reader, escaped};
use super::{BODY, Operation};

/// Maximum number of schemas that are read for the types of one schema. References can repeat a schema in every alternative of every level.
const MOST_SCHEMAS: u32 = 1_000;

/// The JSON types that a schema admits; `None` if the schema does not restrict them, or only with keywords that are not read, such as `allOf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct Types(Option<BTreeSet<String>>);

impl Types {
    pub(super) fn any() -> Self {
        Self(None)
    }

    /// Reads the types that a schema admits; references are resolved.
    pub(super) fn read<'d>(
        reader: &Reader<'d>,
        schema: &'d Value,
        pointer: &str,
    ) -> Result<Self, ToolFault> {
        Self::at_depth(reader, schema, pointer, 0, &mut { MOST_SCHEMAS })
    }

    fn at_depth<'d>(
        reader: &Reader<'d>,
        schema: &'d Value,
        pointer: &str,
        depth: usize,
        left: &mut u32,
    ) -> Result<Self, ToolFault> {
        if depth > 16 {
            return Err(reader.fault(pointer, "the schema is nested too deeply: flatten it"));
        }
        *left = left.checked_sub(1).ok_or_else(|| {
            reader.fault(pointer, "the schema has too many alternatives: use fewer")
        })?;
        let Found {
            value: schema,
            pointer,
        } = reader.resolve(schema, pointer)?;
        let mut types: Option<BTreeSet<String>> = match schema.get("type") {
            Some(Value::String(one)) => Some(BTreeSet::from([one.clone()])),
            Some(Value::Array(all)) => {
                let all = all.iter().filter_map(Value::as_str);
                Some(all.map(str::to_owned).collect())
            }
            _ => None,
        };
        for word in ["anyOf", "oneOf"] {
            let Some(choices) = schema.get(word).and_then(Value::as_array) else {
                continue;
            };
            if types.is_some() {
                continue;
            }
            let mut union = BTreeSet::new();
            let mut is_known = true;
            for (index, choice) in choices.iter().enumerate() {
                let at = format!("{pointer}/{word}/{index}");
                match Self::at_depth(reader, choice, &at, depth + 1, left)?.0 {
                    Some(own) => union.extend(own),
                    None => is_known = false,
                }
            }
            types = is_known.then_some(union);
        }
        if types.is_none() {
            let values = match (schema.get("enum"), schema.get("const")) {
                (Some(Value::Array(values)), _) => Some(values.iter().collect::<Vec<_>>()),
                (_, Some(value)) => Some(vec![value]),
                _ => None,
            };
            types = values.map(|values| values.into_iter().map(type_of).collect());
        }
        // OpenAPI 3.0 has the keyword `nullable` instead of the type `null`.
        if schema.get("nullable") == Some(&Value::Bool(true))
            && let Some(types) = &mut types
        {
            types.insert("null".to_owned());
        }
        Ok(Self(types))
    }

    pub(in crate::http) fn admits(&self, word: &str) -> bool {
        self.0.as_ref().is_none_or(|types| types.contains(word))
    }

    /// Returns the types of `self` that `wide` does not admit. Every integer is a number, and an optional value may be null. If `self` or
    /// `wide` admits every type, nothing is compared.
    fn beyond(&self, wide: &Self, is_optional: bool) -> Vec<&str> {
        let (Some(own), Some(wide)) = (&self.0, &wide.0) else {
            return Vec::new();
        };
        let is_covered = |word: &&String| {
            wide.contains(*word)
                || *word == "integer" && wide.contains("number")
                || *word == "null" && is_optional
        };
        let beyond = own.iter().filter(|word| !is_covered(word));
        beyond.map(String::as_str).collect()
    }

    fn text(&self) -> String {
        match &self.0 {
            Some(types) => types.iter().cloned().collect::<Vec<_>>().join(" or "),
            None => "any value".to_owned(),
        }
    }
}

fn type_of(value: &Value) -> String {
    let word = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    word.to_owned()
}

/// Returns the reasons why arguments that satisfy the schema could not be sent: arguments that the operation does not have, required parameters that
/// may be missing, and types that the operation does not admit. Also returns a fault if the schema cannot be read. The server checks the rest.
pub(in crate::http) fn judge_input(operation: &Operation, schema: &str) -> Vec<ToolFault> {
    const PLACE: &str = "/input_schema";
    let fault = |pointer: String, text: String| ToolFault { pointer, text };
    let Ok(root) = serde_json::from_str::<Value>(schema) else {
        let text = "the schema is not JSON".to_owned();
        return vec![fault(PLACE.to_owned(), text)];
    };
    let reader = Reader::new(&root, PLACE);
    let empty = Map::new();
    let properties = root.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&empty);
    let mut faults = Vec::new();
    for (name, schema) in properties {
        let at = format!("/properties/{}", escaped(name));
        let (expected, required) = match (operation.parameters.get(name), &operation.body) {
            (Some(parameter), _) => (&parameter.types, parameter.required),
            (None, Some(body)) if name == BODY => (&body.types, body.required),
            _ => {
                let text = match operation.unsupported.get(name) {
                    Some(why) => format!("the operation cannot be called with `{name}`: {why}"),
                    None => format!("the operation has no parameter `{name}`, remove it"),
                };
                faults.push(fault(format!("{PLACE}{at}"), text));
                continue;
            }
        };
        match Types::read(&reader, schema, &at) {
            Err(fault) => faults.push(fault),
            Ok(types) => {
                let beyond = types.beyond(expected, !required);
                if !beyond.is_empty() {
                    let text = format!(
                        "the operation takes {} here, the schema also admits {}",
                        expected.text(),
                        beyond.join(" and ")
                    );
                    faults.push(fault(format!("{PLACE}{at}"), text));
                }
            }
        }
    }
    let needed = root.get("required").and_then(Value::as_array);
    let is_needed = |name: &str| {
        let mut needed = needed.into_iter().flatten();
        properties.contains_key(name) && needed.any(|one| one == name)
    };
    let parameters = operation.parameters.iter();
    let required = parameters
        .filter(|(_, parameter)| parameter.required)
        .map(|(name, _)| name.as_str())
        .chain(
            operation
                .body
                .iter()
                .filter(|body| body.required)
                .map(|_| BODY),
        );
    for name in required.filter(|name| !is_needed(name)) {
        let text =
            format!("the operation requires `{name}`, add it to `properties` and `required`");
        faults.push(fault(format!("{PLACE}/required"), text));
    }
    faults
}
