//! Writer of a schema tree as JSON text in every dialect.
//!
//! Every difference between the dialects is a set of dialects ([`masks`]). The same walk counts the bytes for all dialects or
//! writes their text.

mod bounds;
mod describe;
pub(super) mod frame;
mod masks;
mod shapes;
#[cfg(test)]
mod tests;

use crate::schema::dialect::Spec;
use crate::schema::lower::describe::Description;
use crate::schema::lower::masks::{
    ALL, ANNOTATIONS, INPUT_EXAMPLES, ONLY_JSON_SCHEMA, OPTIONAL_AS_NULL, SCHEMA_KEYS,
    STRICT_AFTER, STRICT_BEFORE, TITLE, WRAPPED,
};
use crate::schema::text::{Definition, Out, put, same};
use crate::schema::{Constraints, Example, Json, Kind, Schema, Text};

/// Writes a whole definition; returns the start and the end of the schema within the definition.
pub(super) const fn definition(out: &mut Out<'_>, spec: &Spec) -> (usize, usize) {
    let place = definition_once(out, spec);
    if !out.has_news() {
        return place;
    }
    out.rewind();
    definition_once(out, spec)
}

const fn definition_once(out: &mut Out<'_>, spec: &Spec) -> (usize, usize) {
    put!(out, WRAPPED, r#"{"type":"function","function":{"name":""#);
    put!(out, ALL & !WRAPPED, r#"{"name":""#);
    put!(out, ALL, spec.name);
    if let Some(title) = spec.title {
        put!(out, TITLE, r#"","title":""#);
        put!(out, TITLE, title.as_json());
    }
    put!(out, ALL, r#"","description":""#);
    put!(out, ALL, spec.description.as_json());
    let formal = example_prose(out, spec);
    put!(out, STRICT_BEFORE, r#"","strict":true"#);
    put!(out, ALL & !STRICT_BEFORE, "\"");
    let mut key = 0;
    while key < SCHEMA_KEYS.len() {
        put!(out, SCHEMA_KEYS[key].0, SCHEMA_KEYS[key].1);
        key += 1;
    }
    let start = out.position();
    root_once(out, spec.input);
    let end = out.position();
    put!(out, WRAPPED, "}");
    put!(out, STRICT_AFTER, r#","strict":true"#);
    if formal {
        example_inputs(out, spec);
    }
    let hints = spec.hints;
    put!(out, ANNOTATIONS, r#","annotations":{"readOnlyHint":"#);
    put!(out, ANNOTATIONS, boolean(hints.read_only));
    put!(out, ANNOTATIONS, r#","destructiveHint":"#);
    put!(out, ANNOTATIONS, boolean(hints.destructive));
    put!(out, ANNOTATIONS, r#","idempotentHint":"#);
    put!(out, ANNOTATIONS, boolean(hints.idempotent));
    put!(out, ANNOTATIONS, r#","openWorldHint":"#);
    put!(out, ANNOTATIONS, boolean(hints.open_world));
    put!(out, ANNOTATIONS, "}");
    put!(out, ALL, "}");
    (start, end)
}

const fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// Writes the examples that belong in the description, and returns whether some belong in `input_examples`.
///
/// Anthropic rejects a request whose `input_examples` do not match the schema. So an example that omits a required argument, or
/// contains null, is written to the description in the Anthropic dialect, too.
const fn example_prose(out: &mut Out<'_>, spec: &Spec) -> bool {
    let (mut begun, mut formal, mut at) = (0, false, 0);
    let at_end = spec.examples.len();
    while at < at_end {
        let example = &spec.examples[at];
        let mut mask = ALL;
        if is_formal(spec.input, example.input.value) {
            formal = true;
            mask &= !INPUT_EXAMPLES;
        }
        put!(out, mask & !begun, r"\n\nExamples:");
        begun |= mask;
        put!(out, mask, r"\n- ");
        if let Some(label) = example.label {
            put!(out, mask, label.as_json());
            put!(out, mask, ": ");
        }
        out.put_escaped(mask, example.input.text);
        if let Some(result) = example.result {
            put!(out, mask, " → ");
            out.put_escaped(mask, result.text);
        }
        at += 1;
    }
    formal
}

const fn example_inputs(out: &mut Out<'_>, spec: &Spec) {
    put!(out, INPUT_EXAMPLES, r#","input_examples":["#);
    let (mut first, mut at) = (true, 0);
    let at_end = spec.examples.len();
    while at < at_end {
        let example = &spec.examples[at].input;
        if is_formal(spec.input, example.value) {
            if !first {
                put!(out, INPUT_EXAMPLES, ",");
            }
            first = false;
            put!(out, INPUT_EXAMPLES, example.text);
        }
        at += 1;
    }
    put!(out, INPUT_EXAMPLES, "]");
}

/// Returns whether an example is also valid for the schema of the Anthropic dialect: it omits no required argument and contains no null.
const fn is_formal(input: &Schema, value: &Json) -> bool {
    let (Kind::Object(fields), Json::Object(entries)) = (&input.kind, value) else {
        return false;
    };
    let (mut required, mut at) = (0, 0);
    let at_end = fields.len();
    while at < at_end {
        if fields[at].input && fields[at].is_required() {
            required += 1;
            let mut entry = 0;
            let entry_end = entries.len();
            while entry < entry_end {
                if same(entries[entry].0, fields[at].name) {
                    required -= 1;
                    break;
                }
                entry += 1;
            }
        }
        at += 1;
    }
    required == 0 && !holds_null(value)
}

const fn holds_null(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => {
            let mut at = 0;
            let at_end = items.len();
            while at < at_end {
                if holds_null(&items[at]) {
                    return true;
                }
                at += 1;
            }
            false
        }
        Json::Object(entries) => {
            let mut at = 0;
            let at_end = entries.len();
            while at < at_end {
                if holds_null(&entries[at].1) {
                    return true;
                }
                at += 1;
            }
            false
        }
        Json::Boolean(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Returns whether the tree refers to more recursive types than `MOST_DEFINITIONS`, the maximum number of definitions.
pub(super) const fn is_crowded(schema: &Schema) -> bool {
    let mut out = Out::count(ALL);
    root_once(&mut out, schema);
    out.crowded
}

/// Writes a complete schema, in one or two walks.
pub(super) const fn root(out: &mut Out<'_>, schema: &Schema) {
    root_once(out, schema);
    if out.has_news() {
        out.rewind();
        root_once(out, schema);
    }
}

/// Writes a schema in one walk. The first walk finds the types that a `Ref` refers to. Only a tree with such types is walked again, and only the
/// second walk writes `$defs`.
const fn root_once(out: &mut Out<'_>, schema: &Schema) {
    let mask = out.mask;
    // The root itself is never a `$ref`, because providers require an object there.
    open_node(out, schema, Place::ROOT, mask);
    if out.settled == 0 {
        let mut at = 0;
        while let Some(learnt) = out.learnt(at) {
            if find(schema, learnt).is_some() {
                at += 1;
            } else {
                out.forget(at);
            }
        }
    } else {
        put!(out, mask, r#","$defs":{"#);
        let mut at = 0;
        while let Some(definition) = out.learnt(at) {
            if let Some(target) = find(schema, definition) {
                put!(out, mask, if at == 0 { "\"" } else { ",\"" });
                out.put_name(mask, definition);
                put!(out, mask, "\":");
                open_node(out, target, Place::ROOT, mask);
                put!(out, mask, "}");
            }
            at += 1;
        }
        put!(out, mask, "}");
    }
    put!(out, mask, "}");
}

/// Returns the node of the type that a definition names, if the tree contains it.
const fn find(schema: &Schema, of: Definition) -> Option<&Schema> {
    if schema.is_type(of.name, of.module) {
        return Some(schema);
    }
    match &schema.kind {
        Kind::Optional(inner)
        | Kind::Constrained(inner, _)
        | Kind::Array { items: inner, .. }
        | Kind::Map(inner) => find(inner, of),
        Kind::Object(fields) => {
            let mut at = 0;
            let at_end = fields.len();
            while at < at_end {
                if let Some(found) = find(fields[at].schema, of) {
                    return Some(found);
                }
                at += 1;
            }
            None
        }
        Kind::Union(union) => {
            let mut at = 0;
            let at_end = union.variants.len();
            while at < at_end {
                if let Some(schema) = union.variants[at].schema
                    && let Some(found) = find(schema, of)
                {
                    return Some(found);
                }
                at += 1;
            }
            None
        }
        Kind::Tuple(items) => {
            let mut at = 0;
            let at_end = items.len();
            while at < at_end {
                if let Some(found) = find(items[at], of) {
                    return Some(found);
                }
                at += 1;
            }
            None
        }
        _ => None,
    }
}

/// Documentation and default that the enclosing field or variant adds to a node.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Documentation of the field or variant.
    doc: Text,
    /// Explicit default of the field.
    default: Option<&'a Example>,
    /// Whether the node may be written as a `$ref` to a definition.
    referable: bool,
}

impl Place<'_> {
    const ROOT: Self = Self {
        doc: Text::EMPTY,
        default: None,
        referable: false,
    };
    const ITEM: Self = Self {
        doc: Text::EMPTY,
        default: None,
        referable: true,
    };
}

/// Writes a node with its braces, as the value of a key or as an item.
const fn node(out: &mut Out<'_>, schema: &Schema, place: Place<'_>, mask: u8) {
    open_node(out, schema, place, mask);
    put!(out, mask, "}");
}

/// A node without the `Optional` and `Constrained` nodes around it, with their documentation, nullability and bounds.
struct Peeled<'a> {
    base: &'a Schema,
    /// Documentation of the outermost of these types that has any.
    doc: Text,
    optional: bool,
    bounds: Option<Constraints>,
}

const fn peel(schema: &Schema) -> Peeled<'_> {
    let mut peeled = Peeled {
        base: schema,
        doc: schema.description,
        optional: false,
        bounds: None,
    };
    loop {
        match &peeled.base.kind {
            Kind::Optional(inner) => {
                peeled.base = inner;
                peeled.optional = true;
            }
            Kind::Constrained(inner, bounds) => {
                peeled.base = inner;
                peeled.bounds = Some(match &peeled.bounds {
                    None => **bounds,
                    Some(outer) => bounds.under(outer),
                });
            }
            _ => return peeled,
        }
        if peeled.doc.is_empty() {
            peeled.doc = peeled.base.description;
        }
    }
}

/// Writes a node without its closing brace.
const fn open_node(out: &mut Out<'_>, schema: &Schema, place: Place<'_>, mask: u8) {
    let mut peeled = peel(schema);
    if out.output {
        // The output is not checked against the bounds of the arguments, so its schema does not state these bounds.
        peeled.bounds = None;
    }
    let referred = match &peeled.base.kind {
        Kind::Ref(name) => {
            out.learn(name, peeled.base.module);
            out.definition(name, peeled.base.module)
        }
        _ if place.referable && out.settled > 0 => {
            out.definition(peeled.base.name, peeled.base.module)
        }
        _ => None,
    };
    put!(out, mask, "{");
    let mut description = Description::new();
    description.tell(out, mask, place.doc);
    if referred.is_none() && !same(place.doc.as_json(), peeled.doc.as_json()) {
        description.tell(out, mask, peeled.doc);
    }
    describe::prose(out, &mut description, &peeled, place.default, mask);
    description.close(out);
    let described = description.opened() & mask;
    let nullable = if out.output {
        if peeled.optional { mask } else { 0 }
    } else if peeled.optional || place.default.is_some() {
        mask & OPTIONAL_AS_NULL
    } else {
        0
    };
    match referred {
        Some(definition) => {
            let beside = if place.default.is_some() {
                mask
            } else {
                described
            };
            shapes::reference(out, definition, nullable, described, beside, mask);
        }
        None => shapes::body(out, &peeled, nullable, described, mask),
    }
    if let Some(default) = place.default
        && !out.output
    {
        put!(out, mask & ONLY_JSON_SCHEMA, r#","default":"#);
        put!(out, mask & ONLY_JSON_SCHEMA, default.text);
    }
}
