//! The JSON Schema keywords of each kind of node.

use crate::schema::lower::masks::{
    self, ALL, LENGTH, ONLY_JSON_SCHEMA, OPTIONAL_AS_NULL, PROPERTY_ORDERING,
};
use crate::schema::lower::{Peeled, Place, bounds, node};
use crate::schema::text::{Definition, Out, put};
use crate::schema::{
    EnumValue, Field, Format, IntegerValue, Kind, Schema, Tagging, Text, Union, Variant, duration,
};

/// Writes the keys after the description. `described` are the dialects that need a comma first, and `nullable` are the dialects that add null.
pub(super) const fn body(
    out: &mut Out<'_>,
    peeled: &Peeled<'_>,
    nullable: u8,
    described: u8,
    mask: u8,
) {
    let kind = &peeled.base.kind;
    if let Kind::Any | Kind::Refused { .. } | Kind::Ref(_) = kind {
        // No keyword: any value is allowed, including null. The rules refuse `Any` and `Refused` in the arguments of `#[tool]`. A reference to
        // a type that is not in the tree also gets no keyword.
        return;
    }
    put!(out, described, ",");
    if let Kind::Union(union) = kind {
        branches(out, union, nullable, mask);
        return;
    }
    // In arguments, a nullable scalar has a list of two types, and all other kinds, such as an `enum`, use `anyOf` with null. Outputs always use
    // `anyOf`, because several MCP clients mishandle lists of types.
    let scalar = matches!(
        kind,
        Kind::String
            | Kind::Format(_)
            | Kind::Char
            | Kind::Duration
            | Kind::Integer(_)
            | Kind::Number { .. }
            | Kind::Boolean
    );
    if scalar && !out.output {
        plain(out, peeled, nullable, mask);
        return;
    }
    put!(out, nullable, r#""anyOf":[{"#);
    plain(out, peeled, 0, mask);
    put!(out, nullable, r#"},{"type":"null"}]"#);
}

/// Writes a `$ref`. The reference is wrapped in an `anyOf` for the dialects with null (`nullable`) or with a description or default next to
/// it (`beside`).
pub(super) const fn reference(
    out: &mut Out<'_>,
    to: Definition,
    nullable: u8,
    described: u8,
    beside: u8,
    mask: u8,
) {
    let wrapped = nullable | beside;
    put!(out, described, ",");
    put!(out, wrapped, r#""anyOf":[{"#);
    put!(out, mask, r##""$ref":"#/$defs/"##);
    out.put_name(mask, to);
    put!(out, mask, "\"");
    put!(out, nullable, r#"},{"type":"null"}]"#);
    put!(out, wrapped & !nullable, "}]");
}

/// Writes the `type` of a scalar, alone or together with null.
macro_rules! scalar_type {
    ($out:expr, $name:literal, $nullable:expr, $mask:expr) => {{
        put!($out, $nullable, const concat!("\"type\":[\"", $name, "\",\"null\"]"));
        put!($out, $mask & !$nullable, const concat!("\"type\":\"", $name, "\""));
    }};
}

const fn plain(out: &mut Out<'_>, peeled: &Peeled<'_>, nullable: u8, mask: u8) {
    let stated = peeled.bounds.as_ref();
    match &peeled.base.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Duration => {
            text(out, peeled, nullable, mask);
        }
        Kind::Integer(integer) => {
            scalar_type!(out, "integer", nullable, mask);
            bounds::integer(out, integer, stated, mask);
        }
        Kind::Number { .. } => {
            scalar_type!(out, "number", nullable, mask);
            if let Some(stated) = stated {
                bounds::number(out, stated, mask);
            }
        }
        Kind::Boolean => scalar_type!(out, "boolean", nullable, mask),
        Kind::Enum(values) => strings(out, values, mask),
        Kind::IntegerEnum(values) => integers(out, values, mask),
        Kind::Array {
            items,
            unique,
            exactly,
        } => {
            put!(out, mask, r#""type":"array","items":"#);
            node(out, items, Place::ITEM, mask);
            bounds::items(out, stated, *exactly, mask);
            if *unique || matches!(stated, Some(stated) if stated.unique) {
                put!(out, mask & ONLY_JSON_SCHEMA, r#","uniqueItems":true"#);
            }
        }
        Kind::Object(fields) => object(out, None, fields, mask),
        Kind::Map(values) => {
            put!(out, mask, r#""type":"object","additionalProperties":"#);
            node(out, values, Place::ITEM, mask);
        }
        Kind::Null => put!(out, mask, r#""type":"null""#),
        Kind::Tuple(items) => tuple(out, items, mask),
        Kind::Never => put!(out, mask, r#""not":{}"#),
        // `body` and `open_node` have handled these kinds before.
        Kind::Any
        | Kind::Refused { .. }
        | Kind::Ref(_)
        | Kind::Union(_)
        | Kind::Optional(_)
        | Kind::Constrained(..) => {}
    }
}

const fn text(out: &mut Out<'_>, peeled: &Peeled<'_>, nullable: u8, mask: u8) {
    if out.output
        && let Kind::Duration = peeled.base.kind
    {
        // The form in which serde writes `std::time::Duration`.
        put!(
            out,
            mask,
            r#""type":"object","properties":{"secs":{"type":"integer","minimum":0},"nanos":{"type":"integer","minimum":0,"maximum":999999999}},"required":["secs","nanos"],"additionalProperties":false"#,
        );
        return;
    }
    scalar_type!(out, "string", nullable, mask);
    match peeled.base.kind {
        Kind::Format(kind) => format(out, kind, mask),
        Kind::Duration => {
            format(out, Format::Duration, mask);
            put!(out, mask & masks::PATTERN, r#","pattern":""#);
            put!(out, mask & masks::PATTERN, duration::PATTERN);
            put!(out, mask & masks::PATTERN, "\"");
        }
        Kind::Char => put!(out, mask & LENGTH, r#","minLength":1,"maxLength":1"#),
        _ => {}
    }
    if let Some(stated) = &peeled.bounds {
        bounds::string(out, stated, mask);
    }
}

/// Writes the `format` keyword for the dialects that support this format.
pub(super) const fn format(out: &mut Out<'_>, format: Format, mask: u8) {
    if let Format::Ip = format {
        put!(
            out,
            mask & masks::format(format),
            r#","anyOf":[{"format":"ipv4"},{"format":"ipv6"}]"#,
        );
        return;
    }
    let mut stated = mask & masks::format(format);
    if out.output && matches!(format, Format::Uri) {
        stated = mask;
    }
    if stated & out.mask != 0 {
        put!(out, stated, r#","format":""#);
        put!(out, stated, format.name());
        put!(out, stated, "\"");
    }
}

const fn strings(out: &mut Out<'_>, values: &[EnumValue], mask: u8) {
    put!(out, mask, r#""type":"string","enum":["#);
    let mut at = 0;
    let at_end = values.len();
    while at < at_end {
        if at == 0 {
            put!(out, mask, "\"");
        } else {
            put!(out, mask, "\",\"");
        }
        out.put_escaped(mask, values[at].value);
        at += 1;
    }
    if values.is_empty() {
        put!(out, mask, "]");
    } else {
        put!(out, mask, "\"]");
    }
}

const fn integers(out: &mut Out<'_>, values: &[IntegerValue], mask: u8) {
    put!(out, mask, r#""type":"integer","enum":["#);
    let mut at = 0;
    let at_end = values.len();
    while at < at_end {
        if at > 0 {
            put!(out, mask, ",");
        }
        out.put_integer(mask, values[at].value);
        at += 1;
    }
    put!(out, mask, "]");
}

const fn tuple(out: &mut Out<'_>, items: &[&Schema], mask: u8) {
    put!(out, mask, r#""type":"array","prefixItems":["#);
    let mut at = 0;
    let at_end = items.len();
    while at < at_end {
        if at > 0 {
            put!(out, mask, ",");
        }
        node(out, items[at], Place::ITEM, mask);
        at += 1;
    }
    put!(out, mask, r#"],"items":false,"minItems":"#);
    out.put_magnitude(mask, items.len() as u128);
}

/// A tag that is written before the fields: its key and value.
type Tag<'a> = Option<(&'a str, &'a str)>;

/// Writes a closed object.
const fn object(out: &mut Out<'_>, tag: Tag<'_>, fields: &[Field], mask: u8) {
    put!(out, mask, r#""type":"object","properties":{"#);
    let mut first = true;
    if let Some((key, value)) = tag {
        put!(out, mask, "\"");
        put_key(out, key, mask);
        put!(out, mask, r#"":{"type":"string","enum":[""#);
        out.put_escaped(mask, value);
        put!(out, mask, r#""]}"#);
        first = false;
    }
    let mut at = 0;
    let at_end = fields.len();
    while at < at_end {
        let field = &fields[at];
        if let Some(key) = key(out, field) {
            if first {
                put!(out, mask, "\"");
            } else {
                put!(out, mask, ",\"");
            }
            first = false;
            put_key(out, key, mask);
            put!(out, mask, "\":");
            let default = field.default.as_ref();
            node(
                out,
                field.schema,
                Place {
                    doc: field.description,
                    default,
                    referable: true,
                },
                mask,
            );
        }
        at += 1;
    }
    put!(out, mask, r#"},"required":["#);
    keys(out, tag, fields, true, mask);
    put!(out, mask, r#"],"additionalProperties":false"#);
    if !first && mask & PROPERTY_ORDERING & out.mask != 0 && !out.output {
        // Gemini generates the keys in this order.
        put!(out, PROPERTY_ORDERING, r#","propertyOrdering":["#);
        keys(out, tag, fields, false, PROPERTY_ORDERING);
        put!(out, PROPERTY_ORDERING, "]");
    }
}

/// Returns the key of a field in the direction of the walk (arguments or output), if the field exists there.
const fn key(out: &Out<'_>, field: &Field) -> Option<&'static str> {
    if out.output {
        if field.output {
            Some(field.out_name)
        } else {
            None
        }
    } else if field.input {
        Some(field.name)
    } else {
        None
    }
}

/// Writes a key. The rule `property-key` ensures that a key of the arguments needs no escaping.
const fn put_key(out: &mut Out<'_>, key: &str, mask: u8) {
    if out.output || out.foreign_keys {
        out.put_escaped(mask, key);
    } else {
        put!(out, mask, key);
    }
}

/// Writes the keys of an object as a list: all of them, or only the required ones.
const fn keys(out: &mut Out<'_>, tag: Tag<'_>, fields: &[Field], required: bool, mask: u8) {
    let mut begun = 0;
    if let Some((key, _)) = tag {
        put!(out, mask, "\"");
        put_key(out, key, mask);
        put!(out, mask, "\"");
        begun = ALL;
    }
    let mut at = 0;
    let at_end = fields.len();
    while at < at_end {
        let field = &fields[at];
        if let Some(key) = key(out, field) {
            let listed = if !required {
                mask
            } else if out.output {
                if field.may_skip { 0 } else { mask }
            } else if field.is_required() {
                mask
            } else {
                mask & OPTIONAL_AS_NULL
            };
            put!(out, listed & !begun, "\"");
            put!(out, listed & begun, ",\"");
            begun |= listed;
            if listed & out.mask != 0 {
                put_key(out, key, listed);
            }
            put!(out, listed, "\"");
        }
        at += 1;
    }
}

const fn branches(out: &mut Out<'_>, union: &Union, nullable: u8, mask: u8) {
    put!(out, mask, r#""anyOf":["#);
    let (mut first, mut at) = (true, 0);
    if let Tagging::External = union.tagging
        && has_units(union.variants)
    {
        put!(out, mask, "{");
        unit_values(out, union.variants, mask);
        put!(out, mask, "}");
        first = false;
    }
    let at_end = union.variants.len();
    while at < at_end {
        let variant = &union.variants[at];
        if variant.schema.is_some() || !matches!(union.tagging, Tagging::External) {
            if !first {
                put!(out, mask, ",");
            }
            first = false;
            branch(out, union.tagging, variant, mask);
        }
        at += 1;
    }
    put!(out, nullable, r#",{"type":"null"}"#);
    put!(out, mask, "]");
}

const fn has_units(variants: &[Variant]) -> bool {
    let mut at = 0;
    let at_end = variants.len();
    while at < at_end {
        if variants[at].schema.is_none() {
            return true;
        }
        at += 1;
    }
    false
}

/// Writes the unit variants of an externally tagged union as one string enum.
const fn unit_values(out: &mut Out<'_>, variants: &[Variant], mask: u8) {
    let mut description = super::describe::Description::new();
    let mut at = 0;
    let at_end = variants.len();
    while at < at_end {
        let variant = &variants[at];
        if variant.schema.is_none() && !variant.description.is_empty() {
            description.list(out, mask, variant.name, variant.description);
        }
        at += 1;
    }
    description.close(out);
    put!(out, description.opened() & mask, ",");
    put!(out, mask, r#""type":"string","enum":["#);
    let (mut first, mut at) = (true, 0);
    let at_end = variants.len();
    while at < at_end {
        if variants[at].schema.is_none() {
            if first {
                put!(out, mask, "\"");
            } else {
                put!(out, mask, "\",\"");
            }
            first = false;
            out.put_escaped(mask, variants[at].name);
        }
        at += 1;
    }
    put!(out, mask, "\"]");
}

const fn branch(out: &mut Out<'_>, tagging: Tagging, variant: &Variant, mask: u8) {
    let (tag, content) = match tagging {
        Tagging::Untagged => {
            if let Some(schema) = variant.schema {
                let place = Place {
                    doc: variant.description,
                    default: None,
                    referable: true,
                };
                node(out, schema, place, mask);
            } else {
                put!(out, mask, r#"{"type":"null"}"#);
            }
            return;
        }
        Tagging::External => (None, variant.name),
        Tagging::Internal { tag } => {
            internal(out, tag, variant, mask);
            return;
        }
        Tagging::Adjacent { tag, content } => (Some((tag, variant.name)), content),
    };
    begin_branch(out, variant.description, mask);
    match variant.schema {
        Some(schema) => object(out, tag, &[Field::new(content, Text::EMPTY, schema)], mask),
        None => object(out, tag, &[], mask),
    }
    put!(out, mask, "}");
}

const fn internal(out: &mut Out<'_>, tag: &str, variant: &Variant, mask: u8) {
    let fields: &[Field] = match variant.schema {
        Some(Schema {
            kind: Kind::Object(fields),
            ..
        }) => fields,
        _ => &[],
    };
    let doc = match variant.schema {
        Some(schema) if variant.description.is_empty() => schema.description,
        _ => variant.description,
    };
    begin_branch(out, doc, mask);
    object(out, Some((tag, variant.name)), fields, mask);
    put!(out, mask, "}");
}

const fn begin_branch(out: &mut Out<'_>, doc: Text, mask: u8) {
    put!(out, mask, "{");
    if !doc.is_empty() {
        put!(out, mask, r#""description":""#);
        put!(out, mask, doc.as_json());
        put!(out, mask, r#"","#);
    }
}
