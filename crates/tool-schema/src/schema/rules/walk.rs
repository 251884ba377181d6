//! Rules for the nodes of a schema, and the walk that checks them.

use crate::schema::dialect::Dialects;
use crate::schema::rules::overlap;
use crate::schema::rules::report::{Fact, Path, Report};
use crate::schema::text::same;
use crate::schema::{EnumValue, Field, Format, IntegerValue, Kind, Schema, Tagging, Union};
use tool_rules::Rule;

/// A walk over the nodes of one field, parameter or type.
pub(super) struct Walk<'r> {
    pub(super) report: &'r mut Report,
    /// Dialects whose own rules are checked as well, also inside types that their derive has already checked.
    pub(super) providers: Dialects,
    /// Whether the walk is inside a type whose derive has already reported its faults.
    pub(super) told: bool,
}

impl Walk<'_> {
    const fn fault(&mut self, path: &Path<'_>, rule: &Rule) {
        self.report.add(path, rule, &[]);
    }

    const fn fault_of(&mut self, path: &Path<'_>, rule: &Rule, fact: &str) {
        self.report.add(path, rule, &[Fact::Text(fact)]);
    }

    /// Checks a node and everything below it.
    pub(super) const fn node(&mut self, path: &Path<'_>, schema: &Schema) {
        let told = self.told;
        if schema.checked {
            if self.providers.is_empty() {
                return;
            }
            self.told = true;
        }
        match &schema.kind {
            // Common leaves come first, because every step of const evaluation takes time.
            Kind::String
            | Kind::Integer(_)
            | Kind::Number { .. }
            | Kind::Boolean
            | Kind::Char
            | Kind::Duration => {}
            Kind::Optional(inner) => self.optional(&path.at(schema), inner),
            Kind::Constrained(inner, bounds) => {
                if let Some(format) = bounds.format {
                    self.format(path, format);
                }
                self.node(&path.at(schema), inner);
            }
            Kind::Object(fields) => {
                if !self.told {
                    self.keys(path, None, fields);
                }
                self.fields(&path.at(schema), fields);
            }
            Kind::Array { items, exactly, .. } => self.array(&path.at(schema), items, *exactly),
            Kind::Union(union) => self.union(&path.at(schema), schema, union),
            Kind::Enum(_) | Kind::IntegerEnum(_) => self.whole(path, schema),
            Kind::Map(values) => self.map(&path.at(schema), values),
            Kind::Ref(name) => self.reference(path, name, schema.module),
            Kind::Format(format) => self.format(path, *format),
            Kind::Any | Kind::Null | Kind::Tuple(_) | Kind::Never | Kind::Refused { .. } => {
                self.refused(path, &schema.kind);
            }
        }
        self.told = told;
    }

    /// Reports a kind that the arguments of a tool must not contain.
    const fn refused(&mut self, path: &Path<'_>, kind: &Kind) {
        if self.told {
            return;
        }
        match kind {
            Kind::Any => self.fault(path, &Rule::UNTYPED_VALUE),
            Kind::Null => self.fault(path, &Rule::UNIT_TYPE),
            Kind::Tuple(_) => self.fault(path, &Rule::TUPLE),
            Kind::Never => self.fault(path, &Rule::ENUM_EMPTY),
            Kind::Refused { rule, text } => self.report.add_worded(path, rule, text),
            _ => {}
        }
    }

    const fn fields(&mut self, path: &Path<'_>, fields: &[Field]) {
        let mut at = 0;
        let at_end = fields.len();
        while at < at_end {
            if fields[at].input {
                self.node(&path.field(fields[at].name), fields[at].schema);
            }
            at += 1;
        }
    }

    const fn optional(&mut self, path: &Path<'_>, inner: &Schema) {
        if !self.told && (inner.is_optional() || matches!(inner.kind, Kind::Null)) {
            self.fault(path, &Rule::NULL_AMBIGUITY);
            return;
        }
        self.node(path, inner);
    }

    const fn array(&mut self, path: &Path<'_>, items: &Schema, exactly: Option<usize>) {
        if !self.told {
            if let Some(0) = exactly {
                self.fault(path, &Rule::ARRAY_NO_ITEMS);
            }
            if items.is_optional() {
                self.fault(&path.items(), &Rule::NULL_ITEM);
            }
            if let Kind::Integer(integer) = &items.kind
                && same(integer.name, "u8")
            {
                self.fault(path, &Rule::BYTES);
            }
        }
        self.node(&path.items(), items);
    }

    const fn map(&mut self, path: &Path<'_>, values: &Schema) {
        if Rule::MAP_TYPE.targets.intersects(self.providers) {
            self.fault(path, &Rule::MAP_TYPE);
        }
        if !self.told && values.is_optional() {
            self.fault(&path.values(), &Rule::NULL_ITEM);
        }
        self.node(&path.values(), values);
    }

    const fn reference(&mut self, path: &Path<'_>, name: &str, module: &str) {
        if self.providers.is_empty() {
            return;
        }
        if Rule::RECURSIVE_TYPE.targets.intersects(self.providers) {
            self.fault(path, &Rule::RECURSIVE_TYPE);
        } else if path.enclosing(name, module).is_none() {
            self.fault_of(path, &Rule::REF_TARGET, name);
        }
    }

    const fn format(&mut self, path: &Path<'_>, format: Format) {
        match format {
            Format::Uri if !self.told => self.fault(path, &Rule::FORMAT_URI),
            Format::Unknown(name) if !self.told => self.fault_of(path, &Rule::FORMAT_UNKNOWN, name),
            _ => {}
        }
    }

    const fn union(&mut self, path: &Path<'_>, schema: &Schema, union: &Union) {
        self.whole(path, schema);
        let mut at = 0;
        let at_end = union.variants.len();
        while at < at_end {
            let variant = &union.variants[at];
            if let Some(schema) = variant.schema {
                // The keys of this object are checked together with the union's tag.
                if let Kind::Object(fields) = &schema.kind
                    && !schema.checked
                {
                    self.fields(&path.field(variant.name).at(schema), fields);
                } else {
                    self.node(&path.field(variant.name), schema);
                }
            }
            at += 1;
        }
    }

    /// Checks a type as a whole, without the types of its fields.
    pub(super) const fn whole(&mut self, path: &Path<'_>, schema: &Schema) {
        if self.told {
            return;
        }
        match &schema.kind {
            Kind::Object(fields) => self.keys(path, None, fields),
            Kind::Enum(values) => self.values(path, values),
            Kind::IntegerEnum(values) => self.numbers(path, values),
            Kind::Union(union) => self.variants(path, union),
            Kind::Never => self.fault(path, &Rule::ENUM_EMPTY),
            _ => {}
        }
    }

    /// Checks a type that is only serialized.
    pub(super) const fn written(&mut self, path: &Path<'_>, schema: &Schema) {
        if let Kind::Union(union) = &schema.kind {
            let mut at = 0;
            while at < union.variants.len() {
                self.written_variant(path, union, at);
                at += 1;
            }
        }
    }

    /// Checks a variant that is only serialized: serde can add an internal tag only to an object.
    pub(super) const fn written_variant(&mut self, path: &Path<'_>, union: &Union, at: usize) {
        let variant = &union.variants[at];
        if let (Tagging::Internal { .. }, Some(inner)) = (&union.tagging, variant.schema)
            && !matches!(inner.kind, Kind::Object(_))
        {
            self.fault_of(path, &Rule::TAGGED_NEWTYPE, variant.name);
        }
    }

    /// Checks that the keys of an object are well-formed and occur once.
    const fn keys(&mut self, path: &Path<'_>, tag: Option<&str>, fields: &[Field]) {
        let mut at = 0;
        let at_end = fields.len();
        while at < at_end {
            let key = fields[at].name;
            if fields[at].input {
                if !is_key(key) {
                    self.fault_of(path, &Rule::PROPERTY_KEY, key);
                }
                let mut twice = matches!(tag, Some(tag) if same(tag, key));
                let mut other = 0;
                while other < at {
                    twice |= fields[other].input && same(fields[other].name, key);
                    other += 1;
                }
                if twice {
                    self.fault_of(path, &Rule::DUPLICATE_KEY, key);
                }
            }
            at += 1;
        }
    }

    const fn values(&mut self, path: &Path<'_>, values: &[EnumValue]) {
        if values.is_empty() {
            self.fault(path, &Rule::ENUM_EMPTY);
        }
        let mut at = 0;
        let at_end = values.len();
        while at < at_end {
            if values[at].value.is_empty() {
                self.fault(path, &Rule::ENUM_EMPTY_STRING);
            }
            let mut other = 0;
            while other < at {
                self.distinct(path, values[other].value, values[at].value);
                other += 1;
            }
            at += 1;
        }
    }

    const fn distinct(&mut self, path: &Path<'_>, left: &str, right: &str) {
        // The lengths usually differ, and comparing them is cheap.
        if left.len() == right.len() && left.eq_ignore_ascii_case(right) {
            if same(left, right) {
                self.fault_of(path, &Rule::ENUM_DUPLICATE, left);
            } else {
                self.report.add(
                    path,
                    &Rule::ENUM_CASE_ONLY,
                    &[Fact::Text(left), Fact::Text(right)],
                );
            }
        }
    }

    const fn numbers(&mut self, path: &Path<'_>, values: &[IntegerValue]) {
        if values.is_empty() {
            self.fault(path, &Rule::ENUM_EMPTY);
        }
        let mut at = 0;
        let at_end = values.len();
        while at < at_end {
            let mut other = 0;
            while other < at {
                if values[other].value == values[at].value {
                    self.fault_of(path, &Rule::ENUM_DUPLICATE, values[at].name);
                }
                other += 1;
            }
            at += 1;
        }
    }

    const fn variants(&mut self, path: &Path<'_>, union: &Union) {
        if union.variants.is_empty() {
            self.fault(path, &Rule::ENUM_EMPTY);
        }
        self.tags(path, union.tagging);
        let mut at = 0;
        let at_end = union.variants.len();
        while at < at_end {
            self.variant_at(path, union, at);
            at += 1;
        }
    }

    /// Checks one variant, alone and against the variants before it.
    pub(super) const fn variant_at(&mut self, path: &Path<'_>, union: &Union, at: usize) {
        let untagged = matches!(union.tagging, Tagging::Untagged);
        let variant = &union.variants[at];
        if let Some(schema) = variant.schema {
            if schema.is_optional() {
                self.fault(&path.field(variant.name), &Rule::NULL_AMBIGUITY);
            }
            self.variant(path, union, at, schema);
        } else if untagged {
            self.fault(&path.field(variant.name), &Rule::NULL_AMBIGUITY);
        }
        if let Tagging::External = union.tagging
            && variant.schema.is_some()
            && !is_key(variant.name)
        {
            self.fault_of(path, &Rule::PROPERTY_KEY, variant.name);
        }
        let mut other = 0;
        let mut overlaps = false;
        while other < at {
            let earlier = &union.variants[other];
            if !untagged {
                self.distinct(path, earlier.name, variant.name);
            } else if let (Some(left), Some(right)) = (earlier.schema, variant.schema)
                && !overlaps
                && !overlap::disjoint(left, right)
            {
                // The first overlap is enough, because a tag resolves all overlaps.
                overlaps = true;
                self.report.add(
                    path,
                    &Rule::UNION_OVERLAP,
                    &[
                        Fact::Text(earlier.name),
                        Fact::Text(variant.name),
                        Fact::Text(tag_to_write(union)),
                    ],
                );
            }
            other += 1;
        }
        if !untagged && variant.name.is_empty() {
            self.fault(path, &Rule::ENUM_EMPTY_STRING);
        }
    }

    /// Checks the keys of the tag and the content.
    const fn tags(&mut self, path: &Path<'_>, tagging: Tagging) {
        let (tag, content) = match tagging {
            Tagging::External | Tagging::Untagged => return,
            Tagging::Internal { tag } => (tag, None),
            Tagging::Adjacent { tag, content } => (tag, Some(content)),
        };
        if !is_key(tag) {
            self.fault_of(path, &Rule::PROPERTY_KEY, tag);
        }
        if let Some(content) = content {
            if !is_key(content) {
                self.fault_of(path, &Rule::PROPERTY_KEY, content);
            }
            if same(tag, content) {
                self.fault_of(path, &Rule::DUPLICATE_KEY, tag);
            }
        }
    }

    /// Checks the content of a variant against the rules of its union.
    const fn variant(&mut self, path: &Path<'_>, union: &Union, at: usize, schema: &Schema) {
        let name = union.variants[at].name;
        let Kind::Object(fields) = &schema.kind else {
            // The attribute `content` applies to all variants, so the fault is reported only at the first variant whose content is not an object.
            if let Tagging::Internal { .. } = union.tagging
                && !holds_a_value(union, at)
                && !schema.is_reported()
            {
                self.fault_of(path, &Rule::TAGGED_NEWTYPE, name);
            }
            return;
        };
        if let Tagging::Internal { tag } = union.tagging {
            self.keys(&path.field(name), Some(tag), fields);
        } else if !schema.checked {
            self.keys(&path.field(name), None, fields);
        }
    }
}

/// Returns whether the content of one of the first `count` variants is not an object.
const fn holds_a_value(union: &Union, count: usize) -> bool {
    let mut at = 0;
    while at < count {
        if let Some(schema) = union.variants[at].schema
            && !matches!(schema.kind, Kind::Object(_))
        {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns the attribute that distinguishes the variants: a tag next to the fields, or a tag and a content key if a variant is
/// not an object.
pub(crate) const fn tag_to_write(union: &Union) -> &'static str {
    if holds_a_value(union, union.variants.len()) {
        "`#[serde(tag = \"kind\", content = \"value\")]`"
    } else {
        "`#[serde(tag = \"kind\")]`"
    }
}

/// Returns whether a key matches `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`.
pub(super) const fn is_key(key: &str) -> bool {
    let bytes = key.as_bytes();
    if bytes.is_empty() || bytes.len() > 64 || bytes[0].is_ascii_digit() {
        return false;
    }
    let mut at = 0;
    let at_end = bytes.len();
    while at < at_end {
        if !matches!(bytes[at], b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') {
            return false;
        }
        at += 1;
    }
    true
}
