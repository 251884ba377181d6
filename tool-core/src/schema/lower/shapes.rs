//! The keywords of each kind of node.

use crate::schema::lower::masks::{self, ALL, GEMINI, LENGTH, ONLY_JSON_SCHEMA, OPENAI};
use crate::schema::lower::{Peeled, Place, bounds, node};
use crate::schema::text::Out;
use crate::schema::{
    EnumValue, Field, Format, IntegerValue, Kind, Schema, Tagging, Text, Union, Variant,
};

/// Keys after the description: `described` are the dialects that need a comma first, `nullable` those that add null.
pub(super) const fn body(
    out: &mut Out<'_>,
    peeled: &Peeled<'_>,
    nullable: u8,
    described: u8,
    mask: u8,
) {
    let kind = &peeled.base.kind;
    if let Kind::Any | Kind::Refused { .. } = kind {
        // No keyword: only what we send may be anything, and anything includes null.
        return;
    }
    out.put(described, ",");
    if let Kind::Union(union) = kind {
        branches(out, union, nullable, mask);
        return;
    }
    // A plain scalar may have two types. What we send, and whatever has an `enum`, keeps null apart: Anthropic and several MCP
    // clients trip over lists of types.
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
    out.put(nullable, r#""anyOf":[{"#);
    plain(out, peeled, 0, mask);
    out.put(nullable, r#"},{"type":"null"}]"#);
}

/// A `$ref`; alone in its node unless null or a description (`described`) stands beside it (`beside`: or a default).
pub(super) const fn reference(
    out: &mut Out<'_>,
    name: &str,
    nullable: u8,
    described: u8,
    beside: u8,
    mask: u8,
) {
    let wrapped = nullable | beside;
    out.put(described, ",");
    out.put(wrapped, r#""anyOf":[{"#);
    out.put(mask, r##""$ref":"#/$defs/"##);
    out.put_escaped(mask, name);
    out.put(mask, "\"");
    out.put(nullable, r#"},{"type":"null"}]"#);
    out.put(wrapped & !nullable, "}]");
}

const fn scalar_type(out: &mut Out<'_>, name: &str, nullable: u8, mask: u8) {
    out.put(nullable, r#""type":[""#);
    out.put(mask & !nullable, r#""type":""#);
    out.put(mask, name);
    out.put(nullable, r#"","null"]"#);
    out.put(mask & !nullable, "\"");
}

const fn plain(out: &mut Out<'_>, peeled: &Peeled<'_>, nullable: u8, mask: u8) {
    let stated = peeled.bounds.as_ref();
    match &peeled.base.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Duration => {
            text(out, peeled, nullable, mask);
        }
        Kind::Integer(integer) => {
            scalar_type(out, "integer", nullable, mask);
            bounds::integer(out, integer, stated, mask);
        }
        Kind::Number { .. } => {
            scalar_type(out, "number", nullable, mask);
            if let Some(stated) = stated {
                bounds::number(out, stated, mask);
            }
        }
        Kind::Boolean => scalar_type(out, "boolean", nullable, mask),
        Kind::Enum(values) => strings(out, values, mask),
        Kind::IntegerEnum(values) => integers(out, values, mask),
        Kind::Array {
            items,
            unique,
            exactly,
        } => {
            out.put(mask, r#""type":"array","items":"#);
            node(out, items, Place::ITEM, mask);
            bounds::items(out, stated, *exactly, mask);
            if *unique || matches!(stated, Some(stated) if stated.unique) {
                out.put(mask & ONLY_JSON_SCHEMA, r#","uniqueItems":true"#);
            }
        }
        Kind::Object(fields) => object(out, None, fields, mask),
        Kind::Map(values) => {
            out.put(mask, r#""type":"object","additionalProperties":"#);
            node(out, values, Place::ITEM, mask);
        }
        Kind::Null => out.put(mask, r#""type":"null""#),
        Kind::Tuple(items) => tuple(out, items, mask),
        Kind::Never => out.put(mask, r#""not":{}"#),
        // Told before: `body` and `open_node`.
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
        // How serde writes `std::time::Duration`.
        out.put(
            mask,
            r#""type":"object","properties":{"secs":{"type":"integer","minimum":0},"nanos":{"type":"integer","minimum":0,"maximum":999999999}},"required":["secs","nanos"],"additionalProperties":false"#,
        );
        return;
    }
    scalar_type(out, "string", nullable, mask);
    match peeled.base.kind {
        Kind::Format(kind) => format(out, kind, mask),
        Kind::Duration => format(out, Format::Duration, mask),
        Kind::Char => out.put(mask & LENGTH, r#","minLength":1,"maxLength":1"#),
        _ => {}
    }
    if let Some(stated) = &peeled.bounds {
        bounds::string(out, stated, mask);
    }
}

/// The `format` keyword where the dialect has it for this format.
pub(super) const fn format(out: &mut Out<'_>, format: Format, mask: u8) {
    if let Format::Ip = format {
        out.put(
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
        out.put(stated, r#","format":""#);
        out.put(stated, format.name());
        out.put(stated, "\"");
    }
}

const fn strings(out: &mut Out<'_>, values: &[EnumValue], mask: u8) {
    out.put(mask, r#""type":"string","enum":["#);
    let mut at = 0;
    while at < values.len() {
        out.put(mask, if at == 0 { "\"" } else { "\",\"" });
        out.put_escaped(mask, values[at].value);
        at += 1;
    }
    out.put(mask, if values.is_empty() { "]" } else { "\"]" });
}

const fn integers(out: &mut Out<'_>, values: &[IntegerValue], mask: u8) {
    out.put(mask, r#""type":"integer","enum":["#);
    let mut at = 0;
    while at < values.len() {
        if at > 0 {
            out.put(mask, ",");
        }
        out.put_integer(mask, values[at].value);
        at += 1;
    }
    out.put(mask, "]");
}

const fn tuple(out: &mut Out<'_>, items: &[&Schema], mask: u8) {
    out.put(mask, r#""type":"array","prefixItems":["#);
    let mut at = 0;
    while at < items.len() {
        if at > 0 {
            out.put(mask, ",");
        }
        node(out, items[at], Place::ITEM, mask);
        at += 1;
    }
    out.put(mask, r#"],"items":false,"minItems":"#);
    out.put_magnitude(mask, items.len() as u128);
}

/// A tag that stands before the fields: key and value.
type Tag<'a> = Option<(&'a str, &'a str)>;

/// A closed record.
const fn object(out: &mut Out<'_>, tag: Tag<'_>, fields: &[Field], mask: u8) {
    out.put(mask, r#""type":"object","properties":{"#);
    let mut first = true;
    if let Some((key, value)) = tag {
        out.put(mask, "\"");
        put_key(out, key, mask);
        out.put(mask, r#"":{"type":"string","enum":[""#);
        out.put_escaped(mask, value);
        out.put(mask, r#""]}"#);
        first = false;
    }
    let mut at = 0;
    while at < fields.len() {
        let field = &fields[at];
        if is_present(out, field) {
            out.put(mask, if first { "\"" } else { ",\"" });
            first = false;
            put_key(out, key(out, field), mask);
            out.put(mask, "\":");
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
    out.put(mask, r#"},"required":["#);
    keys(out, tag, fields, true, mask);
    out.put(mask, r#"],"additionalProperties":false"#);
    if !first && mask & GEMINI & out.mask != 0 && !out.output {
        // Gemini answers in this order.
        out.put(GEMINI, r#","propertyOrdering":["#);
        keys(out, tag, fields, false, GEMINI);
        out.put(GEMINI, "]");
    }
}

const fn is_present(out: &Out<'_>, field: &Field) -> bool {
    if out.output {
        field.output
    } else {
        field.input
    }
}

const fn key(out: &Out<'_>, field: &Field) -> &'static str {
    if out.output {
        field.out_name
    } else {
        field.name
    }
}

/// A key: the rule `property-key` leaves nothing to escape in what a model sends.
const fn put_key(out: &mut Out<'_>, key: &str, mask: u8) {
    if out.output || out.foreign_keys {
        out.put_escaped(mask, key);
    } else {
        out.put(mask, key);
    }
}

/// The keys of a record as a list: all of them, or those that must be there.
const fn keys(out: &mut Out<'_>, tag: Tag<'_>, fields: &[Field], required: bool, mask: u8) {
    let mut begun = 0;
    if let Some((key, _)) = tag {
        out.put(mask, "\"");
        put_key(out, key, mask);
        out.put(mask, "\"");
        begun = ALL;
    }
    let mut at = 0;
    while at < fields.len() {
        let field = &fields[at];
        if is_present(out, field) {
            let listed = if !required {
                mask
            } else if out.output {
                if field.may_skip { 0 } else { mask }
            } else if field.is_required() {
                mask
            } else {
                mask & OPENAI
            };
            out.put(listed & !begun, "\"");
            out.put(listed & begun, ",\"");
            begun |= listed;
            if listed & out.mask != 0 {
                put_key(out, key(out, field), listed);
            }
            out.put(listed, "\"");
        }
        at += 1;
    }
}

const fn branches(out: &mut Out<'_>, union: &Union, nullable: u8, mask: u8) {
    out.put(mask, r#""anyOf":["#);
    let (mut first, mut at) = (true, 0);
    if let Tagging::External = union.tagging
        && has_units(union.variants)
    {
        out.put(mask, "{");
        unit_values(out, union.variants, mask);
        out.put(mask, "}");
        first = false;
    }
    while at < union.variants.len() {
        let variant = &union.variants[at];
        if variant.schema.is_some() || !matches!(union.tagging, Tagging::External) {
            if !first {
                out.put(mask, ",");
            }
            first = false;
            branch(out, union.tagging, variant, mask);
        }
        at += 1;
    }
    out.put(nullable, r#",{"type":"null"}"#);
    out.put(mask, "]");
}

const fn has_units(variants: &[Variant]) -> bool {
    let mut at = 0;
    while at < variants.len() {
        if variants[at].schema.is_none() {
            return true;
        }
        at += 1;
    }
    false
}

/// The unit variants of an externally tagged union are one string enum.
const fn unit_values(out: &mut Out<'_>, variants: &[Variant], mask: u8) {
    let mut description = super::describe::Description::new();
    let mut at = 0;
    while at < variants.len() {
        let variant = &variants[at];
        if variant.schema.is_none() && !variant.description.is_empty() {
            description.list(out, mask, variant.name, variant.description);
        }
        at += 1;
    }
    description.close(out);
    out.put(description.opened() & mask, ",");
    out.put(mask, r#""type":"string","enum":["#);
    let (mut first, mut at) = (true, 0);
    while at < variants.len() {
        if variants[at].schema.is_none() {
            out.put(mask, if first { "\"" } else { "\",\"" });
            first = false;
            out.put_escaped(mask, variants[at].name);
        }
        at += 1;
    }
    out.put(mask, "\"]");
}

const fn branch(out: &mut Out<'_>, tagging: Tagging, variant: &Variant, mask: u8) {
    let (tag, content) = match tagging {
        Tagging::Untagged => {
            match variant.schema {
                Some(schema) => node(
                    out,
                    schema,
                    Place {
                        doc: variant.description,
                        default: None,
                        referable: true,
                    },
                    mask,
                ),
                None => out.put(mask, r#"{"type":"null"}"#),
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
    out.put(mask, "}");
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
    out.put(mask, "}");
}

const fn begin_branch(out: &mut Out<'_>, doc: Text, mask: u8) {
    out.put(mask, "{");
    if !doc.is_empty() {
        out.put(mask, r#""description":""#);
        out.put(mask, doc.as_json());
        out.put(mask, r#"","#);
    }
}
