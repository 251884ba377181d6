//! Size limits: of one tool, and of a set of tools in one request.

use crate::schema::dialect::{Dialect, Dialects, Spec};
use crate::schema::lower::is_crowded;
use crate::schema::rules::report::{Fact, Path, Report};
use crate::schema::text::{MOST_DEFINITIONS, same};
use crate::schema::{EnumValue, Field, Kind, Schema, Tagging, Union};
use tool_rules::Rule;

/// Maximum number of optional fields that Anthropic accepts in one request.
pub(crate) const MOST_OPTIONALS: usize = 24;
/// Maximum number of unions in one request, and therefore in one tool. Anthropic documents 16, but requests with 16 hang.
pub(crate) const MOST_UNIONS: usize = 15;
/// Maximum number of optional fields of one tool without a warning.
pub(crate) const MOST_UNWARNED_OPTIONALS: usize = 10;
/// Maximum number of unions of one tool without a warning.
pub(crate) const MOST_UNWARNED_UNIONS: usize = 8;
/// Maximum number of tools in one request.
const MOST_TOOLS: usize = 128;
/// Maximum number of strict tools in one request to Anthropic.
const MOST_STRICT_TOOLS: usize = 20;
/// Enums with more values than this have an additional size limit.
const LARGE_ENUM: usize = 250;

/// The size of a schema as a provider counts it. Definitions are inlined, except recursive references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each flag is an independent property of a tree"
)]
pub struct Survey {
    /// Number of fields that may be absent.
    pub optionals: usize,
    /// Number of unions in the schema.
    pub unions: usize,
    /// Maximum nesting depth of objects.
    pub depth: usize,
    /// Number of keys of all objects.
    pub properties: usize,
    /// Number of enum values, tags included.
    pub enum_values: usize,
    /// Number of characters in keys, enum values and names of recursive types. A non-ASCII character counts as its bytes in UTF-8.
    pub characters: usize,
    /// Number of characters in the values of the largest enum with more than 250 values, counted like `characters`.
    pub largest_enum: usize,
    /// Whether the schema has 128-bit integers.
    pub wide_integer: bool,
    /// Whether the schema has externally tagged unions that have variants with content, which are distinguished by the only key of an object.
    pub external: bool,
    /// Whether the schema has untagged unions with several objects.
    pub untagged: bool,
    /// Whether the schema has more recursive types than the maximum number of definitions.
    pub crowded: bool,
}

/// Measures the schema of a tool's arguments.
pub const fn survey(schema: &Schema) -> Survey {
    let mut survey = Survey::NOTHING;
    survey.node(schema, 0);
    // Up to here, `crowded` only means that the schema has a recursive type.
    survey.crowded = survey.crowded && is_crowded(schema);
    survey
}

impl Survey {
    /// The survey of an empty schema.
    pub(super) const NOTHING: Self = Self {
        optionals: 0,
        unions: 0,
        depth: 0,
        properties: 0,
        enum_values: 0,
        characters: 0,
        largest_enum: 0,
        wide_integer: false,
        external: false,
        untagged: false,
        crowded: false,
    };

    const fn node(&mut self, schema: &Schema, depth: usize) {
        match &schema.kind {
            Kind::Integer(integer) => {
                self.wide_integer |=
                    integer.max > u64::MAX as u128 || integer.min < i64::MIN as i128;
            }
            Kind::Optional(inner)
            | Kind::Constrained(inner, _)
            | Kind::Array { items: inner, .. } => self.node(inner, depth),
            Kind::Map(inner) => {
                self.deepen(depth + 1);
                self.node(inner, depth + 1);
            }
            Kind::Object(fields) => self.fields(fields, depth + 1),
            Kind::Union(union) => self.union(union, depth),
            Kind::Enum(values) => self.values(values),
            Kind::IntegerEnum(values) => self.enum_values += values.len(),
            Kind::Ref(name) => {
                self.characters += name.len();
                self.crowded = true;
            }
            _ => {}
        }
    }

    const fn deepen(&mut self, depth: usize) {
        if depth > self.depth {
            self.depth = depth;
        }
    }

    const fn key(&mut self, key: &str) {
        self.properties += 1;
        self.characters += key.len();
    }

    pub(super) const fn fields(&mut self, fields: &[Field], depth: usize) {
        self.deepen(depth);
        let mut at = 0;
        let at_end = fields.len();
        while at < at_end {
            let field = &fields[at];
            if field.input {
                self.properties += 1;
                self.characters += field.name.len();
                if !field.is_required() {
                    self.optionals += 1;
                }
                // Leaves that do not change a count are skipped without a call.
                if !matches!(
                    field.schema.kind,
                    Kind::String | Kind::Boolean | Kind::Number { .. }
                ) {
                    self.node(field.schema, depth);
                }
            }
            at += 1;
        }
    }

    const fn values(&mut self, values: &[EnumValue]) {
        let (mut characters, mut at) = (0, 0);
        let at_end = values.len();
        while at < at_end {
            characters += values[at].value.len();
            at += 1;
        }
        self.enum_values += values.len();
        self.characters += characters;
        if values.len() > LARGE_ENUM && characters > self.largest_enum {
            self.largest_enum = characters;
        }
    }

    const fn union(&mut self, union: &Union, depth: usize) {
        self.unions += 1;
        let (mut objects, mut wrapped, mut at) = (0, false, 0);
        let at_end = union.variants.len();
        while at < at_end {
            let variant = &union.variants[at];
            match union.tagging {
                Tagging::External => {
                    if variant.schema.is_some() {
                        self.key(variant.name);
                        wrapped = true;
                    } else {
                        self.value(variant.name);
                    }
                }
                Tagging::Internal { tag } => {
                    self.key(tag);
                    self.value(variant.name);
                    self.deepen(depth + 1);
                }
                Tagging::Adjacent { tag, content } => {
                    self.key(tag);
                    self.value(variant.name);
                    self.deepen(depth + 1);
                    if variant.schema.is_some() {
                        self.key(content);
                    }
                }
                Tagging::Untagged => {}
            }
            if let Some(schema) = variant.schema {
                if let Kind::Object(_) = schema.kind {
                    objects += 1;
                }
                let inside = matches!(union.tagging, Tagging::External | Tagging::Adjacent { .. });
                self.node(schema, if inside { depth + 1 } else { depth });
            }
            at += 1;
        }
        if wrapped {
            self.deepen(depth + 1);
        }
        self.external |= wrapped;
        self.untagged |= matches!(union.tagging, Tagging::Untagged) && objects > 1;
    }

    const fn value(&mut self, value: &str) {
        self.enum_values += 1;
        self.characters += value.len();
    }
}

/// Checks a tool as a whole: its root, its description and its size.
#[track_caller]
pub const fn check_tool(spec: &Spec) {
    check_limits(spec, &survey(spec.input));
}

/// Does the same as [`check_tool`] with an existing survey.
#[track_caller]
pub const fn check_limits(spec: &Spec, survey: &Survey) {
    if fits(spec, survey) {
        return;
    }
    let mut report = Report::new();
    let path = Path::owner(spec.name);
    whole(&mut report, &path, spec, survey);
    sizes(&mut report, &path, survey, spec.providers);
    report.tell();
}

/// Checks the rules of the tool as a whole, without the sizes: [`check_argument`](super::check_argument) checks the sizes at the
/// parameters.
#[track_caller]
pub const fn check_root(spec: &Spec, survey: &Survey) {
    if fits(spec, survey) {
        return;
    }
    let mut report = Report::new();
    whole(&mut report, &Path::owner(spec.name), spec, survey);
    report.tell();
}

const fn whole(report: &mut Report, path: &Path<'_>, spec: &Spec, survey: &Survey) {
    if !spec.input.is_reported() {
        root(report, path, spec.input);
    }
    if spec.description.is_empty() {
        report.add(path, &Rule::TOOL_DESCRIPTION_MISSING, &[]);
    }
    crowded(report, path, survey);
}

/// Checks the number of recursive types.
pub(super) const fn crowded(report: &mut Report, path: &Path<'_>, survey: &Survey) {
    if survey.crowded {
        report.add(path, &Rule::REF_NAMES, &[Fact::Number(MOST_DEFINITIONS)]);
    }
}

/// Fast path: returns whether the tool meets every rule of the root and the size limits of all providers.
pub(super) const fn fits(spec: &Spec, survey: &Survey) -> bool {
    matches!(spec.input.kind, Kind::Object(_))
        && !spec.description.is_empty()
        && survey.depth <= 10
        && survey.optionals <= MOST_OPTIONALS
        && survey.unions <= MOST_UNIONS
        && survey.properties <= 5_000
        && survey.enum_values <= 1_000
        && survey.characters <= 120_000
        && survey.largest_enum <= 15_000
        && !survey.crowded
}

/// Checks that the root is an object.
pub(super) const fn root(report: &mut Report, path: &Path<'_>, schema: &Schema) {
    match &schema.kind {
        Kind::Object(_) => {}
        Kind::Union(_) | Kind::Enum(_) | Kind::IntegerEnum(_) => {
            report.add(path, &Rule::ROOT_UNION, &[]);
        }
        _ => report.add(path, &Rule::ROOT_NOT_OBJECT, &[]),
    }
}

/// Checks the size limits of the providers.
pub(super) const fn sizes(
    report: &mut Report,
    path: &Path<'_>,
    survey: &Survey,
    providers: Dialects,
) {
    if Rule::LIMIT_OPTIONAL.targets.intersects(providers) {
        above(
            report,
            path,
            &Rule::LIMIT_OPTIONAL,
            survey.optionals,
            MOST_OPTIONALS,
        );
    }
    if Rule::LIMIT_UNION.targets.intersects(providers) {
        above(report, path, &Rule::LIMIT_UNION, survey.unions, MOST_UNIONS);
    }
    if providers.contains(Dialect::OpenAi) {
        above(report, path, &Rule::LIMIT_DEPTH, survey.depth, 10);
        large(report, path, survey.properties, 5_000, "properties");
        large(report, path, survey.enum_values, 1_000, "values of enums");
        large(
            report,
            path,
            survey.characters,
            120_000,
            "characters in keys and values",
        );
        large(
            report,
            path,
            survey.largest_enum,
            15_000,
            "characters in the values of one enum",
        );
    } else if providers.contains(Dialect::Gemini) {
        above(report, path, &Rule::LIMIT_DEPTH, survey.depth, 15);
    }
}

const fn above(report: &mut Report, path: &Path<'_>, rule: &Rule, is: usize, most: usize) {
    if is > most {
        report.add(path, rule, &[Fact::Number(is), Fact::Number(most)]);
    }
}

const fn large(report: &mut Report, path: &Path<'_>, is: usize, most: usize, noun: &str) {
    if is > most {
        report.add(
            path,
            &Rule::LIMIT_SIZE,
            &[Fact::Number(is), Fact::Number(most), Fact::Text(noun)],
        );
    }
}

/// Checks tools that are sent together in one request.
#[track_caller]
pub const fn check_toolset(tools: &[&Spec]) {
    let mut report = Report::new();
    toolset(&mut report, tools);
    report.tell();
}

/// Returns the faults of tools that are sent together in one request, for sets that are chosen at run time. If the report has no room for
/// some of them, the last entry counts these.
pub fn toolset_faults(tools: &[&Spec]) -> Vec<super::Fault> {
    let mut report = Report::new();
    toolset(&mut report, tools);
    report.faults()
}

const fn toolset(report: &mut Report, tools: &[&Spec]) {
    let path = Path::owner("toolset");
    let (mut strict, mut optionals, mut unions, mut at) = (0, 0, 0, 0);
    let at_end = tools.len();
    while at < at_end {
        if Rule::LIMIT_STRICT_TOOLS
            .targets
            .intersects(tools[at].providers)
        {
            let survey = survey(tools[at].input);
            strict += 1;
            optionals += survey.optionals;
            unions += survey.unions;
        }
        let mut other = 0;
        while other < at {
            // Tools that are created at run time have an empty name here; the registry compares their names.
            if !tools[at].name.is_empty() && same(tools[other].name, tools[at].name) {
                report.add(&path, &Rule::TOOL_NAME_CLASH, &[Fact::Text(tools[at].name)]);
            }
            other += 1;
        }
        at += 1;
    }
    above(report, &path, &Rule::LIMIT_TOOLS, tools.len(), MOST_TOOLS);
    above(
        report,
        &path,
        &Rule::LIMIT_STRICT_TOOLS,
        strict,
        MOST_STRICT_TOOLS,
    );
    above(
        report,
        &path,
        &Rule::LIMIT_OPTIONAL_SET,
        optionals,
        MOST_OPTIONALS,
    );
    above(report, &path, &Rule::LIMIT_UNION_SET, unions, MOST_UNIONS);
}

/// Returns whether a tool's name matches `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`.
pub const fn is_tool_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 64 || !bytes[0].is_ascii_alphabetic() {
        return false;
    }
    let mut at = 0;
    let at_end = bytes.len();
    while at < at_end {
        if !matches!(bytes[at], b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-') {
            return false;
        }
        at += 1;
    }
    true
}
