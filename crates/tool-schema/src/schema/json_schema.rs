//! `schemars::JsonSchema` for types with a strict schema.
//!
//! `#[schema(json_schema)]` implements `JsonSchema` from the strict schema tree, so that the two schemas of a type cannot differ.

use schemars::generate::Contract;
use schemars::{Schema as JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::schema::StrictSchema;
use crate::schema::dialect::{Dialect, output_schema_text, schema_text};

/// Renders the type's schema for `schemars`: for deserialization or for serialization, depending on the generator's contract.
///
/// Definitions of recursive types are moved to the generator.
pub fn json_schema<T: StrictSchema>(generator: &mut SchemaGenerator) -> JsonSchema {
    let text = match generator.contract() {
        Contract::Serialize => output_schema_text(T::SCHEMA),
        // `Contract` is non-exhaustive; default to the schema for deserialization.
        _ => schema_text(T::SCHEMA, Dialect::JsonSchema),
    };
    // The text comes from this crate, so it parses. The fallback is a schema that accepts every value.
    let mut schema = serde_json::from_str(&text).unwrap_or(Value::Bool(true));
    if let Some(Value::Object(definitions)) =
        schema.as_object_mut().and_then(|map| map.remove("$defs"))
    {
        hand_over(&definitions, &mut schema, generator);
    }
    JsonSchema::try_from(schema).unwrap_or_default()
}

/// Moves definitions to the generator and rewrites the references to them.
fn hand_over(
    definitions: &Map<String, Value>,
    schema: &mut Value,
    generator: &mut SchemaGenerator,
) {
    let path = generator
        .settings()
        .definitions_path
        .trim_matches('/')
        .to_owned();
    // If the generator already contains a different type with the name of a definition, all definitions get a number in their names.
    for number in 1.. {
        let rename = |name: &str| match number {
            1 => name.to_owned(),
            _ => format!("{name}-of-{number}"),
        };
        let mut ours = definitions.clone();
        for definition in ours.values_mut() {
            relink(definition, &path, &rename);
        }
        let taken = generator.definitions_mut();
        let fits = ours.iter().all(|(name, definition)| {
            // schemars inserts a placeholder (`false`) while it requests the schema, and replaces the placeholder afterwards.
            let there = taken.get(&rename(name));
            there.is_none_or(|there| *there == Value::Bool(false) || there == definition)
        });
        if fits {
            for (name, definition) in ours {
                taken.entry(rename(&name)).or_insert(definition);
            }
            relink(schema, &path, &rename);
            return;
        }
    }
}

fn relink(node: &mut Value, path: &str, rename: &impl Fn(&str) -> String) {
    match node {
        Value::Object(map) => {
            if let Some(Value::String(to)) = map.get_mut("$ref")
                && let Some(name) = to.strip_prefix("#/$defs/")
            {
                *to = format!("#/{path}/{}", rename(name));
            }
            for value in map.values_mut() {
                relink(value, path, rename);
            }
        }
        Value::Array(items) => {
            for item in items {
                relink(item, path, rename);
            }
        }
        _ => {}
    }
}
