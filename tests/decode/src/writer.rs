//! A writer of random JSON texts, most of which match a schema.

use std::fmt::Write as _;

use tool_core::schema::{Constraints, Field, Format, Kind, Schema, Tagging, Variant};

use crate::random::Random;

/// Writes one JSON text for a schema.
#[derive(Debug)]
pub(crate) struct Writer<'r> {
    random: &'r mut Random,
    out: String,
    scope: Vec<&'static Schema>,
    /// The number of open brackets.
    level: usize,
    style: Style,
}

/// The settings of the writer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// The probability that a value, a key or a count is wrong, in 1/1,000.
    pub(crate) wrong: usize,
    /// The probability of optional white space, of an escape, and of a different spelling of a number, in percent.
    pub(crate) odd: usize,
    /// The probability that the keys of a record are shuffled, in percent.
    pub(crate) shuffled: usize,
    /// The probability that an optional value is absent, in percent.
    pub(crate) absent: usize,
    /// The depth that recursive types reach. If the depth is `None`, a small default applies.
    pub(crate) deep: Option<usize>,
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "rust",
    "abc",
    "abcdefgh",
    "5",
    "123",
    "9999",
    "true",
    "äöü",
    "😀",
    "q\"\\/",
    "tab\t\u{0}\u{1f}",
    "a b",
    "1.2.3.4",
    "::1",
    "a@b.de",
    "2024-02-29",
    "2023-02-29",
    "08:00:00Z",
    "2024-01-31T08:00:00Z",
    "2024-01-31T08:00:60+01:00",
    "550e8400-e29b-41d4-a716-446655440000",
    "PT1M30S",
    "PT0.5S",
    "P1Y",
    "P2W",
    "PT",
    "1.0.0",
    "1.5",
    "300",
    "é",
    "\u{e000}\u{fffd}",
    "api.example.com",
    "null",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "9",
    "10",
    "-1",
    "-2",
    "-5",
    "-7",
    "-20",
    "55",
    "95",
    "99",
    "100",
    "127",
    "128",
    "255",
    "256",
    "-128",
    "-129",
    "32767",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728",
    "340282366920938463463374607431768211455",
    "340282366920938463463374607431768211456",
];
const FLOATS: &[&str] = &[
    "0.5",
    "1.5",
    "2.5",
    "-1.5",
    "-0.5",
    "0.1",
    "3.14159",
    "-0.0",
    "1e-7",
    "1E2",
    "16777217",
    "0.30000000000000004",
    "1e38",
    "1e39",
    "3.4028236e38",
    "1e308",
    "1e309",
    "-1e400",
    "5e-324",
    "1e-400",
    "123456789.125",
    "0.000001",
    "1e16",
    "9007199254740993",
];
/// Texts that are not JSON numbers, and numbers that hardly any type admits.
const STRANGE: &[&str] = &[
    "-",
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "0x10",
    "NaN",
    "-Infinity",
    "1_000",
    "--1",
    "00",
    "-01",
    "1e999999999999999999999",
];
const WILD: &[&str] = &[
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "[1]",
    "[null]",
    "{\"a\":1}",
    "[\"a\",\"a\"]",
    "{\"a\":null,\"b\":2}",
    "\"\"",
    "\"a\"",
    "0",
    "-1",
    "1.5",
    "nul",
    "tru",
    "[[]]",
    "{\"a\":1,\"a\":1}",
];
const KEYS: &[&str] = &[
    "a",
    "b",
    "kind",
    "t",
    "c",
    "value",
    "min_stars",
    "c d",
    "é",
    "q\"\\",
    "a/b~c",
    "",
    "alias_1",
    "Type",
    "rouge",
];

impl<'r> Writer<'r> {
    pub(crate) const fn new(random: &'r mut Random, style: Style) -> Self {
        Self {
            random,
            out: String::new(),
            scope: Vec::new(),
            level: 0,
            style,
        }
    }

    pub(crate) fn write(mut self, schema: &'static Schema) -> String {
        self.space();
        self.value(schema, &Constraints::NONE);
        self.space();
        self.out
    }

    fn wrong(&mut self) -> bool {
        self.random.below(1000) < self.style.wrong
    }

    fn odd(&mut self) -> bool {
        self.random.chance(self.style.odd)
    }

    /// Returns whether the text is so long or deep that only required parts are added.
    fn is_full(&self) -> bool {
        self.out.len() > 6000 || self.level > self.style.deep.unwrap_or(9)
    }

    fn space(&mut self) {
        if self.odd() {
            let space = self
                .random
                .one(&[" ", "\n", "\t", "\r\n", "    ", " \n\t\r "]);
            self.out.push_str(space);
        }
    }

    fn string(&mut self, text: &str) {
        let escapes = self.odd();
        self.out.push('"');
        for character in text.chars() {
            if escapes && self.random.chance(30) {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    let _ = if self.random.chance(50) {
                        write!(self.out, "\\u{unit:04x}")
                    } else {
                        write!(self.out, "\\u{unit:04X}")
                    };
                }
                continue;
            }
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '/' if escapes => self.out.push_str("\\/"),
                '\t' if escapes => self.out.push_str("\\t"),
                control if control < ' ' => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(control));
                }
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    fn wild(&mut self) {
        match self.random.below(10) {
            0 => {
                let text = self.random.one(STRANGE);
                self.out.push_str(text);
            }
            1 => {
                let text = self.random.one(NUMBERS);
                self.out.push_str(text);
            }
            2 => {
                let text = self.random.one(TEXTS);
                self.string(text);
            }
            3 => {
                let count = self.random.one(&[1, 2, 100, 126, 127, 128, 129, 200]);
                let (open, close) = self.random.one(&[("[", "]"), ("{\"a\":", "}"), ("[", "")]);
                self.out.push_str(&open.repeat(count));
                self.out.push('1');
                self.out.push_str(&close.repeat(count));
            }
            4..7 => self.out.push_str("null"),
            _ => {
                let text = self.random.one(WILD);
                self.out.push_str(text);
            }
        }
    }

    fn value(&mut self, schema: &'static Schema, bounds: &Constraints) {
        if self.wrong() {
            self.wild();
            return;
        }
        let named = !schema.name.is_empty();
        if named {
            self.scope.push(schema);
        }
        self.shape(schema, bounds);
        if named {
            self.scope.pop();
        }
    }

    #[allow(clippy::too_many_lines, reason = "the match has an arm for each kind")]
    fn shape(&mut self, schema: &'static Schema, bounds: &Constraints) {
        match &schema.kind {
            Kind::String => self.text(bounds),
            Kind::Format(format) => self.formatted(*format),
            Kind::Char => {
                let text = self.random.one(&["a", "é", "😀", "\"", "\u{0}", "5"]);
                self.string(text);
            }
            Kind::Duration => {
                let text = self.random.one(&[
                    "PT1M30S",
                    "PT0S",
                    "P1D",
                    "P2W",
                    "PT0.5S",
                    "PT1H",
                    "P1DT2H",
                    "PT1.000000001S",
                    "PT99999999999S",
                ]);
                self.string(text);
            }
            Kind::Integer(integer) => {
                let fits = |text: &str| {
                    let value: Result<i128, _> = text.parse();
                    let above = text.parse::<u128>();
                    value.map_or_else(
                        |_| above.is_ok_and(|value| value <= integer.max),
                        |value| {
                            value >= integer.min
                                && (value < 0 || value.unsigned_abs() <= integer.max)
                                && !(integer.not_zero && value == 0)
                        },
                    ) && within(text, bounds)
                };
                self.whole(fits);
            }
            Kind::IntegerEnum(values) => {
                let texts: Vec<String> =
                    values.iter().map(|value| value.value.to_string()).collect();
                let text = self.random.below(texts.len());
                let text = texts.get(text).map_or("0", String::as_str).to_owned();
                self.spelled(&text);
            }
            Kind::Number { .. } => {
                let wide = self.random.chance(30);
                let pool = if wide { NUMBERS } else { FLOATS };
                let fitting: Vec<&str> = pool
                    .iter()
                    .copied()
                    .filter(|text| within(text, bounds))
                    .collect();
                let text = if fitting.is_empty() {
                    "1"
                } else {
                    self.random.one(&fitting)
                };
                self.out.push_str(text);
            }
            Kind::Boolean => {
                let text = self.random.one(&["true", "false"]);
                self.out.push_str(text);
            }
            Kind::Enum(values) => {
                let text = self.random.one(values).value;
                self.string(text);
            }
            Kind::Null => self.out.push_str("null"),
            Kind::Any | Kind::Never | Kind::Refused { .. } => self.wild(),
            Kind::Optional(inner) => {
                let absent = if self.style.deep.is_some() {
                    0
                } else {
                    self.style.absent
                };
                if self.is_full() || self.random.chance(absent) {
                    self.out.push_str("null");
                } else {
                    self.value(inner, bounds);
                }
            }
            Kind::Constrained(inner, own) => self.value(inner, &own.under(bounds)),
            Kind::Ref(name) => {
                let at = self.scope.iter().rposition(|known| {
                    known.name == *name
                        && known.module == schema.module
                        && !matches!(known.kind, Kind::Ref(_))
                });
                let Some((at, known)) = at.and_then(|at| Some((at, *self.scope.get(at)?))) else {
                    self.wild();
                    return;
                };
                let inside = self.scope.split_off(at);
                self.value(known, bounds);
                self.scope.extend(inside);
            }
            Kind::Array {
                items,
                unique,
                exactly,
            } => {
                let least = bounds.min_items.unwrap_or(0);
                let most = bounds.max_items.unwrap_or(4).max(least);
                let mut count =
                    exactly.unwrap_or_else(|| least + self.random.below(most - least + 1));
                if self.wrong() {
                    count = self.random.below(6);
                }
                if self.is_full() {
                    count = least;
                } else if self.style.deep.is_some() && exactly.is_none() {
                    count = count.clamp(1, 2);
                }
                let twice = self.wrong();
                self.items(&vec![*items; count], twice, *unique || bounds.unique);
            }
            Kind::Tuple(items) => {
                let mut items = items.to_vec();
                if self.wrong() {
                    items.pop();
                }
                if self.wrong() {
                    items.extend(items.first().copied());
                }
                self.items(&items, false, false);
            }
            Kind::Map(values) => {
                let count = if self.is_full() {
                    0
                } else {
                    self.random.below(4)
                };
                let mut members: Vec<(String, Member)> = Vec::new();
                for at in 0..count {
                    let key = self.random.one(KEYS);
                    let key = if self.wrong() {
                        key.to_owned()
                    } else {
                        format!("{key}{at}")
                    };
                    members.push((key, Member::Value(values)));
                }
                self.members(members);
            }
            Kind::Object(fields) => self.record(fields, None),
            Kind::Union(union) => self.union(union.tagging, union.variants, bounds),
        }
    }

    fn union(&mut self, tagging: Tagging, variants: &'static [Variant], bounds: &Constraints) {
        let variant = self.random.one(variants);
        match (tagging, variant.schema) {
            (Tagging::External, None) => self.string(variant.name),
            (Tagging::External, Some(schema)) => {
                self.members(vec![(variant.name.to_owned(), Member::Value(schema))]);
            }
            (Tagging::Internal { tag }, None) => self.record(&[], Some((tag, variant.name))),
            (Tagging::Internal { tag }, Some(schema)) => {
                let mut schema = schema;
                loop {
                    match &schema.kind {
                        Kind::Object(fields) => {
                            let named = !schema.name.is_empty();
                            if named {
                                self.scope.push(schema);
                            }
                            self.record(fields, Some((tag, variant.name)));
                            if named {
                                self.scope.pop();
                            }
                            return;
                        }
                        Kind::Constrained(inner, _) => schema = inner,
                        Kind::Ref(name) => {
                            let known = self.scope.iter().rev().find(|known| {
                                known.name == *name && matches!(known.kind, Kind::Object(_))
                            });
                            match known {
                                Some(known) => schema = known,
                                None => return self.wild(),
                            }
                        }
                        _ => return self.wild(),
                    }
                }
            }
            (Tagging::Adjacent { tag, content }, schema) => {
                let mut members = vec![(tag.to_owned(), Member::Text(variant.name))];
                if let Some(schema) = schema
                    && !(schema.is_optional() && self.random.chance(30))
                {
                    members.push((content.to_owned(), Member::Value(schema)));
                }
                self.members(members);
            }
            (Tagging::Untagged, None) => self.out.push_str("null"),
            (Tagging::Untagged, Some(schema)) => self.value(schema, bounds),
        }
    }

    fn text(&mut self, bounds: &Constraints) {
        if let Some(format) = bounds.format {
            return self.formatted(format);
        }
        let fits = |text: &&str| {
            let count = text.chars().count();
            bounds.min_length.is_none_or(|least| count >= least)
                && bounds.max_length.is_none_or(|most| count <= most)
                && bounds.pattern.is_none_or(|pattern| pattern.is_match(text))
        };
        let fitting: Vec<&str> = TEXTS.iter().copied().filter(fits).collect();
        let text = if fitting.is_empty() || self.wrong() {
            self.random.one(TEXTS)
        } else {
            self.random.one(&fitting)
        };
        self.string(text);
    }

    fn formatted(&mut self, format: Format) {
        let fitting: Vec<&str> = TEXTS
            .iter()
            .copied()
            .filter(|text| format.matches(text.as_bytes()))
            .collect();
        let text = if fitting.is_empty() || self.wrong() {
            self.random.one(TEXTS)
        } else {
            self.random.one(&fitting)
        };
        self.string(text);
    }

    fn whole(&mut self, fits: impl Fn(&str) -> bool) {
        let fitting: Vec<&str> = NUMBERS.iter().copied().filter(|text| fits(text)).collect();
        let text = if fitting.is_empty() || self.wrong() {
            self.random.one(NUMBERS)
        } else {
            self.random.one(&fitting)
        };
        self.spelled(text);
    }

    /// Writes a whole number, sometimes in a different spelling.
    fn spelled(&mut self, text: &str) {
        if !self.odd() {
            self.out.push_str(text);
            return;
        }
        let _ = match self.random.below(7) {
            0 => write!(self.out, "{text}.0"),
            1 => write!(self.out, "{text}e0"),
            2 => write!(self.out, "{text}0e-1"),
            3 => write!(self.out, "{text}00E-2"),
            4 => write!(self.out, "{text}.000e+00"),
            5 if text == "0" => write!(self.out, "-0"),
            6 if text.ends_with('0') && text.len() > 1 => {
                write!(self.out, "{}e1", text.trim_end_matches('0'))
            }
            _ => write!(self.out, "{text}"),
        };
    }

    fn items(&mut self, items: &[&'static Schema], twice: bool, unique: bool) {
        self.out.push('[');
        self.level += 1;
        let mut written: Vec<String> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.space();
            let start = self.out.len();
            self.value(item, &Constraints::NONE);
            let own = self.out.get(start..).unwrap_or_default().to_owned();
            if unique && !twice && written.contains(&own) {
                // Remove a duplicate item with its comma.
                self.out.truncate(start);
                self.out.truncate(self.out.trim_end().len());
                if at > 0 {
                    self.out.pop();
                }
                break;
            }
            written.push(own);
            self.space();
        }
        self.level -= 1;
        self.out.push(']');
    }

    fn record(&mut self, fields: &'static [Field], tag: Option<(&str, &'static str)>) {
        let mut members = Vec::new();
        if let Some((tag, name)) = tag {
            members.push((tag.to_owned(), Member::Text(name)));
        }
        for field in fields {
            if !field.input && !self.wrong() {
                continue;
            }
            let may_lack = !field.is_required();
            if may_lack && self.random.chance(self.style.absent) || self.wrong() {
                continue;
            }
            let member = if field.default.is_some() && self.random.chance(self.style.absent) {
                Member::Json("null")
            } else {
                Member::Value(field.schema)
            };
            members.push((field.name.to_owned(), member));
        }
        self.members(members);
    }

    fn members(&mut self, mut members: Vec<(String, Member)>) {
        if self.wrong() {
            let key = self.random.one(KEYS);
            members.push((key.to_owned(), Member::Json("1")));
        }
        if self.wrong() && !members.is_empty() {
            let twice = self.random.below(members.len());
            members.extend(members.get(twice).cloned());
        }
        if self.wrong() && !members.is_empty() {
            members.remove(self.random.below(members.len()));
        }
        if self.random.chance(self.style.shuffled) {
            for at in (1..members.len()).rev() {
                members.swap(at, self.random.below(at + 1));
            }
        }
        self.out.push('{');
        self.level += 1;
        self.space();
        for (at, (key, member)) in members.into_iter().enumerate() {
            if at > 0 {
                self.out.push(',');
                self.space();
            }
            self.string(&key);
            self.space();
            self.out.push(':');
            self.space();
            match member {
                Member::Value(schema) => self.value(schema, &Constraints::NONE),
                Member::Text(_) if self.wrong() => self.wild(),
                Member::Text(text) => self.string(text),
                Member::Json(text) => self.out.push_str(text),
            }
            self.space();
        }
        self.level -= 1;
        self.out.push('}');
    }
}

/// The form in which the value of a key is written.
#[derive(Clone, Copy, Debug)]
enum Member {
    Value(&'static Schema),
    Text(&'static str),
    Json(&'static str),
}

/// Returns whether a number is within the bounds, approximately.
fn within(text: &str, bounds: &Constraints) -> bool {
    let Ok(value) = text.parse::<f64>() else {
        return false;
    };
    let number = |bound: Option<tool_core::schema::Number>| {
        bound.and_then(|bound| bound.text().parse::<f64>().ok())
    };
    number(bounds.min).is_none_or(|min| value > min || value >= min && !bounds.exclusive_min)
        && number(bounds.max).is_none_or(|max| value < max || value <= max && !bounds.exclusive_max)
        && number(bounds.multiple_of).is_none_or(|of| value % of == 0.0)
}
