//! Second implementation of JSON Schema output, based on `serde_json::Value`. It does not call the code that writes the dialects.

use serde_json::{Map, Value, json};

use crate::schema::{Constraints, Field, Kind, Schema, Tagging, Union};

pub(super) fn lower(
    schema: &Schema,
    bounds: Option<Constraints>,
    defs: &mut Map<String, Value>,
) -> Value {
    if !schema.name.is_empty() && bounds.is_none() {
        if !defs.contains_key(schema.name) {
            defs.insert(schema.name.to_owned(), Value::Bool(true));
            let body = lower_kind(schema, None, defs);
            defs.insert(schema.name.to_owned(), body);
        }
        return json!({ "$ref": format!("#/$defs/{}", schema.name) });
    }
    lower_kind(schema, bounds, defs)
}

fn lower_kind(
    schema: &Schema,
    bounds: Option<Constraints>,
    defs: &mut Map<String, Value>,
) -> Value {
    let mut out = match &schema.kind {
        Kind::String => json!({ "type": "string" }),
        Kind::Format(format) => json!({ "type": "string", "format": format.name() }),
        Kind::Char => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
        Kind::Duration => {
            json!({ "type": "string", "format": "duration", "not": { "pattern": "^P[^T]*[YM]|[0-9]{10}" } })
        }
        Kind::Integer(integer) => {
            let (min, max): (Value, Value) = (
                i64::try_from(integer.min).unwrap().into(),
                u64::try_from(integer.max).unwrap().into(),
            );
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Kind::Number { .. } => json!({ "type": "number" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Null => json!({ "type": "null" }),
        Kind::Enum(values) => {
            json!({ "enum": values.iter().map(|value| value.value).collect::<Vec<_>>() })
        }
        Kind::IntegerEnum(values) => {
            let values: Vec<i64> = values
                .iter()
                .map(|value| value.value.try_into().unwrap())
                .collect();
            json!({ "enum": values })
        }
        Kind::Array {
            items,
            unique,
            exactly,
        } => {
            let mut out = json!({ "type": "array", "items": lower(items, None, defs), "uniqueItems": unique });
            if let Some(exactly) = exactly {
                out["minItems"] = (*exactly).into();
                out["maxItems"] = (*exactly).into();
            }
            out
        }
        Kind::Object(fields) => record_schema(fields, None, defs),
        Kind::Map(values) => {
            json!({ "type": "object", "additionalProperties": lower(values, None, defs) })
        }
        Kind::Tuple(items) => {
            let prefix: Vec<Value> = items.iter().map(|item| lower(item, None, defs)).collect();
            json!({ "type": "array", "minItems": prefix.len(), "maxItems": prefix.len(), "prefixItems": prefix })
        }
        Kind::Ref(name) => json!({ "$ref": format!("#/$defs/{name}") }),
        Kind::Any => json!({}),
        Kind::Never | Kind::Refused { .. } => json!(false),
        Kind::Optional(inner) => {
            return json!({ "anyOf": [lower(inner, bounds, defs), { "type": "null" }] });
        }
        Kind::Constrained(inner, own) => {
            let merged = bounds.map_or(**own, |outer| own.under(&outer));
            return lower(inner, Some(merged), defs);
        }
        Kind::Union(union) => union_schema(union, defs),
    };
    if let Some(bounds) = bounds {
        bound(&mut out, &bounds);
    }
    out
}

fn bound(out: &mut Value, bounds: &Constraints) {
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            // The bounds of the type are already in `out`; keep the narrower of the two bounds.
            let old = out[key].as_f64();
            let narrower = match (old, value.as_f64()) {
                (Some(old), Some(new)) => {
                    if key == "minimum" {
                        new > old
                    } else {
                        new < old
                    }
                }
                _ => true,
            };
            if narrower {
                out[key] = value;
            }
        }
    };
    let number = |number: Option<crate::schema::Number>| {
        number.map(|number| serde_json::from_str(number.text()).unwrap())
    };
    set(
        if bounds.exclusive_min {
            "exclusiveMinimum"
        } else {
            "minimum"
        },
        number(bounds.min),
    );
    set(
        if bounds.exclusive_max {
            "exclusiveMaximum"
        } else {
            "maximum"
        },
        number(bounds.max),
    );
    set("multipleOf", number(bounds.multiple_of));
    set("minLength", bounds.min_length.map(Into::into));
    set("maxLength", bounds.max_length.map(Into::into));
    set("minItems", bounds.min_items.map(Into::into));
    set("maxItems", bounds.max_items.map(Into::into));
}

fn record_schema(
    fields: &[Field],
    tag: Option<(&str, &str)>,
    defs: &mut Map<String, Value>,
) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some((tag, name)) = tag {
        properties.insert(tag.to_owned(), json!({ "const": name }));
        required.push(tag);
    }
    for field in fields {
        let mut schema = lower(field.schema, None, defs);
        if field.default.is_some() {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        } else if !field.schema.is_optional() {
            required.push(field.name);
        }
        properties.insert(field.name.to_owned(), schema);
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn union_schema(union: &Union, defs: &mut Map<String, Value>) -> Value {
    let variants: Vec<Value> = union
        .variants
        .iter()
        .map(|variant| match (union.tagging, variant.schema) {
            (Tagging::External, None) => json!({ "const": variant.name }),
            (Tagging::External, Some(schema)) => record_schema(
                &[Field::new(variant.name, crate::schema::Text::EMPTY, schema)],
                None,
                defs,
            ),
            (Tagging::Internal { tag }, schema) => {
                let fields = match schema.map(|schema| &schema.kind) {
                    Some(Kind::Object(fields)) => fields,
                    _ => &[][..],
                };
                record_schema(fields, Some((tag, variant.name)), defs)
            }
            (Tagging::Adjacent { tag, .. }, None) => {
                record_schema(&[], Some((tag, variant.name)), defs)
            }
            (Tagging::Adjacent { tag, content }, Some(schema)) => {
                let fields = [Field::new(content, crate::schema::Text::EMPTY, schema)];
                record_schema(&fields, Some((tag, variant.name)), defs)
            }
            (Tagging::Untagged, None) => json!({ "type": "null" }),
            (Tagging::Untagged, Some(schema)) => lower(schema, None, defs),
        })
        .collect();
    json!({ "anyOf": variants })
}
