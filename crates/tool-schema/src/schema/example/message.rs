//! Messages about values that do not match their schema: "expected …, found …".

use super::Proof;
use crate::schema::rules::{Path, Report, Rule};
use crate::schema::{Constraints, Field, Json, Kind, Schema};

/// Maximum number of choices that a message lists.
const MOST_CHOICES: usize = 12;

impl Proof<'_> {
    /// Begins a line of the report. Returns `false` if the report has no room for the line, or if `quiet` is set, so that only the failure is
    /// recorded.
    const fn begin(&mut self, path: &Path<'_>) -> bool {
        self.failed = true;
        if self.quiet || !self.report.begin(path, self.rule.id) {
            return false;
        }
        if crate::schema::text::same(self.rule.id, Rule::DEFAULT_VALUE.id) {
            self.report.push("the default does not fit: ");
        }
        self.report.push("expected ");
        true
    }

    pub(super) const fn note(&mut self, path: &Path<'_>, expected: &str, found: &str) {
        if self.begin(path) {
            self.report.push(expected);
            self.report.push(", found ");
            self.report.push(found);
            self.report.end();
        }
    }

    pub(super) const fn fault(
        &mut self,
        path: &Path<'_>,
        schema: &Schema,
        bounds: Option<&Constraints>,
        value: &Json,
    ) {
        if self.begin(path) {
            expected(self.report, schema, bounds);
            self.report.push(", found ");
            found(self.report, value);
            self.report.end();
        }
    }

    pub(super) const fn absent(&mut self, path: &Path<'_>, schema: &Schema) {
        if self.begin(path) {
            expected(self.report, schema, None);
            self.report.push(", found nothing");
            self.report.end();
        }
    }

    pub(super) const fn unknown(&mut self, path: &Path<'_>, fields: &[Field], key: &str) {
        if !self.begin(path) {
            return;
        }
        let (mut told, mut at) = (0, 0);
        let at_end = fields.len();
        while at < at_end {
            let field = &fields[at];
            let (present, name) = if self.output {
                (field.output, field.out_name)
            } else {
                (field.input, field.name)
            };
            if present {
                choice(self.report, told, name, "one of the keys ");
                told += 1;
            }
            at += 1;
        }
        if told == 0 {
            self.report.push("no keys");
        }
        self.report.push(", found `");
        self.report.push(key);
        self.report.push("`");
        self.report.end();
    }
}

/// Adds a choice to a list in which `told` choices are already written.
const fn choice(report: &mut Report, told: usize, name: &str, head: &str) {
    if told == MOST_CHOICES {
        report.push(", …");
    }
    if told >= MOST_CHOICES {
        return;
    }
    report.push(if told == 0 { head } else { ", " });
    report.push("`");
    report.push(name);
    report.push("`");
}

const fn expected(report: &mut Report, schema: &Schema, bounds: Option<&Constraints>) {
    match &schema.kind {
        Kind::String => text(report, bounds),
        Kind::Format(format) => report.push(format.article_noun()),
        Kind::Char => report.push("one character"),
        Kind::Duration => report.push("a duration such as `PT1M30S`"),
        Kind::Integer(integer) => {
            report.push("a whole number (`");
            report.push(integer.name);
            report.push("`)");
            range(report, bounds);
        }
        Kind::Number { .. } => {
            report.push("a number");
            range(report, bounds);
        }
        Kind::Boolean => report.push("`true` or `false`"),
        Kind::Enum(values) => {
            let mut at = 0;
            let at_end = values.len();
            while at < at_end {
                choice(report, at, values[at].value, "one of ");
                at += 1;
            }
        }
        Kind::IntegerEnum(_) => report.push("one of the numbers of the enum"),
        Kind::Array {
            unique, exactly, ..
        } => {
            report.push(if *unique {
                "a list without duplicates"
            } else {
                "a list"
            });
            if let Some(count) = exactly {
                report.push(" of ");
                report.push_number(*count);
            }
            items(report, bounds);
        }
        Kind::Tuple(items) => {
            report.push("a list of ");
            report.push_number(items.len());
        }
        Kind::Object(_) | Kind::Map(_) | Kind::Ref(_) => {
            report.push("an object");
            named(report, schema);
        }
        Kind::Union(union) => {
            report.push("a variant of the union");
            named(report, schema);
            let mut at = 0;
            let at_end = union.variants.len();
            while at < at_end {
                choice(report, at, union.variants[at].name, ": ");
                at += 1;
            }
        }
        Kind::Optional(inner) => {
            expected(report, inner, bounds);
            report.push(" or null");
        }
        Kind::Constrained(inner, own) => expected(report, inner, Some(own)),
        Kind::Null => report.push("null"),
        Kind::Any => report.push("anything"),
        Kind::Never | Kind::Refused { .. } => report.push("nothing"),
    }
}

const fn named(report: &mut Report, schema: &Schema) {
    if !schema.name.is_empty() {
        report.push(" `");
        report.push(schema.name);
        report.push("`");
    }
}

const fn text(report: &mut Report, bounds: Option<&Constraints>) {
    let Some(bounds) = bounds else {
        report.push("text");
        return;
    };
    match bounds.format {
        Some(format) => report.push(format.article_noun()),
        None => report.push("text"),
    }
    counted(report, bounds.min_length, bounds.max_length, " characters");
    if let Some(pattern) = bounds.pattern {
        report.push(" that matches `");
        report.push(pattern.source());
        report.push("`");
    }
}

const fn items(report: &mut Report, bounds: Option<&Constraints>) {
    if let Some(bounds) = bounds {
        counted(report, bounds.min_items, bounds.max_items, " items");
        if bounds.unique {
            report.push(" without duplicates");
        }
    }
}

const fn counted(report: &mut Report, least: Option<usize>, most: Option<usize>, noun: &str) {
    if let Some(least) = least {
        report.push(" of at least ");
        report.push_number(least);
    }
    if let Some(most) = most {
        report.push(if least.is_some() {
            " and at most "
        } else {
            " of at most "
        });
        report.push_number(most);
    }
    if least.is_some() || most.is_some() {
        report.push(noun);
    }
}

const fn range(report: &mut Report, bounds: Option<&Constraints>) {
    let Some(bounds) = bounds else { return };
    if let Some(min) = bounds.min {
        report.push(if bounds.exclusive_min {
            " above "
        } else {
            " from "
        });
        report.push(min.text());
    }
    if let Some(max) = bounds.max {
        report.push(if bounds.exclusive_max {
            " below "
        } else {
            " to "
        });
        report.push(max.text());
    }
    if let Some(step) = bounds.multiple_of {
        report.push(" that is a multiple of ");
        report.push(step.text());
    }
}

const fn found(report: &mut Report, value: &Json) {
    match value {
        Json::Null => report.push("null"),
        Json::Boolean(true) => report.push("`true`"),
        Json::Boolean(false) => report.push("`false`"),
        Json::Number(number) => {
            report.push("`");
            report.push(number.text());
            report.push("`");
        }
        Json::String(text) => {
            report.push("`\"");
            report.push(text);
            report.push("\"`");
        }
        Json::Array(items) => {
            report.push("a list of ");
            report.push_number(items.len());
        }
        Json::Object(_) => report.push("an object"),
    }
}
