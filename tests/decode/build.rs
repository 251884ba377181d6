//! Build script that generates random type definitions. Each type is written twice: to `own.rs` with only `StrictSchema`, and to `twin.rs` with
//! serde's derived `Deserialize` too. `cases.rs` lists the types.
//!
//! The seed is fixed, so every build has the same types. Types that a rule refuses at compile time are not generated.
#![allow(
    clippy::expect_used,
    reason = "a build that cannot write its files fails"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

#[path = "src/random.rs"]
mod random;

use random::Random;

/// The number of random types. The generic types, the wide record and the types that are written by hand are not included.
const TYPES: usize = 190;
const SEED: u64 = 0x0dec_0de5;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/random.rs");
    println!("cargo::rerun-if-changed=src/awkward.in");
    let mut made = Maker::new(SEED);
    made.awkward(
        &fs::read_to_string("src/awkward.in")
            .expect("the file of the types that are written by hand is readable"),
    );
    made.wide();
    made.generics();
    for _ in 0..TYPES {
        made.make();
    }
    let out = env::var_os("OUT_DIR").expect("cargo sets `OUT_DIR`");
    let out = Path::new(&out);
    let write = |file: &str, text: String| fs::write(out.join(file), text).expect(file);
    // A line that starts with `own|` or `twin|` is for that file only.
    let both = |mark: &str, derive: &str| {
        let lines = made.text.lines().filter_map(|line| {
            let line = match line.split_once('|') {
                Some(("own" | "twin", _)) => line.strip_prefix(mark)?.strip_prefix('|')?,
                _ => line,
            };
            Some(line.replace('@', derive) + "\n")
        });
        lines.collect::<String>()
    };
    write("own.rs", both("own", "Debug, StrictSchema"));
    write("twin.rs", both("twin", "Debug, Deserialize, StrictSchema"));
    let mut cases = String::from("[\n");
    for case in &made.cases {
        let [own, twin, name] = ["own::", "twin::", ""].map(|module| case.replace("M::", module));
        let _ = writeln!(cases, "    case::<{own}, {twin}>({name:?}),");
    }
    cases.push_str("]\n");
    write("cases.rs", cases);
}

/// The shape of a type's values in JSON, as far as bounds, defaults and untagged unions depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// A text without restrictions.
    Text,
    /// A text in a fixed format.
    Word,
    Signed,
    Unsigned,
    NonZero,
    Float,
    Flag,
    List,
    /// A list that may have bounds.
    Counted,
    Record,
    Other,
}

/// A type that a field may have.
#[derive(Clone, Debug)]
struct Type {
    text: String,
    look: Look,
    optional: bool,
    /// Whether the type implements `Default`.
    default: bool,
    /// The number of nodes in the type's tree.
    weight: usize,
}

/// A type that has been generated.
#[derive(Clone, Debug)]
struct Known {
    ty: Type,
    /// If the record may be flattened, the numbers of the record and of all records that are flattened into it. The names of the fields of a record
    /// end in its number, so an outer record may contain each number only once.
    flat: Option<Vec<usize>>,
    /// Whether the type is a record that serde's derive accepts under an internal tag.
    struct_like: bool,
}

struct Maker {
    random: Random,
    known: Vec<Known>,
    text: String,
    cases: Vec<String>,
    number: usize,
}

/// Names of fields. They remain different if underscores are removed and all letters are lower case.
const FIELDS: [&str; 18] = [
    "a",
    "b2",
    "limit",
    "first_name",
    "r#type",
    "r#match",
    "version_2_b",
    "more_words_still",
    "x",
    "items",
    "min_stars",
    "has_it",
    "_hidden",
    "id",
    "zip",
    "r#move",
    "long_name_of_a_field_that_goes_on",
    "q1",
];
const VARIANTS: [&str; 10] = [
    "Alpha",
    "BetaGamma",
    "HTTPVersion2",
    "D",
    "Epsilon",
    "Zeta1",
    "Eta",
    "ThetaIota",
    "Kappa",
    "Lambda",
];
/// Names of values, some of which need escapes or look like JSON.
const VALUES: [&str; 8] = [
    "own name",
    "é",
    "q\\\"\\\\",
    "null",
    "1",
    "😀",
    "a/b~c",
    "tab\\t",
];
const CASES: [&str; 6] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
];

impl Maker {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            known: Vec::new(),
            text: String::new(),
            cases: Vec::new(),
            number: 0,
        }
    }

    /// Adds the types that are written by hand.
    fn awkward(&mut self, text: &str) {
        for line in text.lines() {
            match line.strip_prefix("case|") {
                Some(case) => self.cases.push(case.trim().to_owned()),
                None => self.line(line),
            }
        }
    }

    /// Adds a record with more fields than a machine word has bits.
    fn wide(&mut self) {
        self.line("#[derive(@)]\npub struct Many {");
        for at in 0..70 {
            let (ty, words) = match at % 5 {
                0 => ("u8", ""),
                1 => ("Option<bool>", ""),
                2 => ("u16", "#[schema(default = 4)]\n    "),
                3 => ("String", ""),
                _ => ("Option<std::time::Duration>", ""),
            };
            self.line(&format!("    /// A field.\n    {words}field_{at}: {ty},"));
        }
        self.line("}");
        self.cases.push("M::Many".to_owned());
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn case(&mut self, text: &str, name: &str) {
        // `M` is a placeholder for the module in a path to the type.
        let whole = text.replace(name, &format!("M::{name}"));
        self.cases.push(whole);
    }

    fn scalar(&mut self) -> Type {
        const TEXTS: [(&str, Look, bool); 9] = [
            ("String", Look::Text, true),
            ("String", Look::Text, true),
            ("Box<str>", Look::Text, true),
            ("std::sync::Arc<str>", Look::Text, true),
            ("std::rc::Rc<str>", Look::Text, true),
            ("std::borrow::Cow<'static, str>", Look::Text, true),
            ("std::path::PathBuf", Look::Text, true),
            ("smol_str::SmolStr", Look::Text, true),
            ("char", Look::Word, true),
        ];
        const NUMBERS: [(&str, Look, bool); 28] = [
            ("i8", Look::Signed, true),
            ("i16", Look::Signed, true),
            ("i32", Look::Signed, true),
            ("i64", Look::Signed, true),
            ("i128", Look::Signed, true),
            ("isize", Look::Signed, true),
            ("u8", Look::Unsigned, true),
            ("u16", Look::Unsigned, true),
            ("u32", Look::Unsigned, true),
            ("u64", Look::Unsigned, true),
            ("u128", Look::Unsigned, true),
            ("usize", Look::Unsigned, true),
            ("std::num::NonZeroI8", Look::NonZero, false),
            ("std::num::NonZeroI16", Look::NonZero, false),
            ("std::num::NonZeroI32", Look::NonZero, false),
            ("std::num::NonZeroI64", Look::NonZero, false),
            ("std::num::NonZeroI128", Look::NonZero, false),
            ("std::num::NonZeroU8", Look::NonZero, false),
            ("std::num::NonZeroU16", Look::NonZero, false),
            ("std::num::NonZeroU32", Look::NonZero, false),
            ("std::num::NonZeroU64", Look::NonZero, false),
            ("std::num::NonZeroU128", Look::NonZero, false),
            ("std::num::Wrapping<u16>", Look::Unsigned, true),
            ("f32", Look::Float, true),
            ("f64", Look::Float, true),
            ("f64", Look::Float, true),
            ("bool", Look::Flag, true),
            ("bool", Look::Flag, true),
        ];
        const REST: [(&str, Look, bool); 14] = [
            ("std::time::Duration", Look::Word, true),
            ("std::time::Duration", Look::Word, true),
            ("uuid::Uuid", Look::Word, true),
            ("chrono::NaiveDate", Look::Word, true),
            ("chrono::DateTime<chrono::Utc>", Look::Word, true),
            ("chrono::DateTime<chrono::FixedOffset>", Look::Word, true),
            ("std::net::IpAddr", Look::Word, false),
            ("std::net::Ipv4Addr", Look::Word, false),
            ("std::net::Ipv6Addr", Look::Word, false),
            ("semver::Version", Look::Word, false),
            ("jiff::Timestamp", Look::Word, true),
            ("jiff::civil::Date", Look::Word, true),
            ("rust_decimal::Decimal", Look::Other, true),
            ("crate::helpers::Even", Look::Other, false),
        ];
        let (text, look, default) = match self.random.below(10) {
            0..3 => self.random.one(&TEXTS),
            3..8 => self.random.one(&NUMBERS),
            _ => self.random.one(&REST),
        };
        Type {
            text: text.to_owned(),
            look,
            optional: false,
            default,
            weight: 1,
        }
    }

    /// Picks an earlier type that is small enough and passes `fits`, if there is one.
    fn earlier(&mut self, most: usize, fits: impl Fn(&Known) -> bool) -> Option<Type> {
        let fitting: Vec<&Type> = self
            .known
            .iter()
            .filter(|known| known.ty.weight <= most && fits(known))
            .map(|known| &known.ty)
            .collect();
        if fitting.is_empty() {
            return None;
        }
        // Prefer the types that were generated last, because they contain more types.
        let at = self
            .random
            .below(fitting.len())
            .max(self.random.below(fitting.len()));
        fitting.get(at).map(|ty| (*ty).clone())
    }

    /// Picks a type that does not admit null.
    fn some(&mut self, depth: usize) -> Type {
        if depth < 3
            && self.random.chance(30)
            && let Some(ty) = self.earlier(24, |known| !known.ty.optional)
        {
            return ty;
        }
        if depth < 3 && self.random.chance(35) {
            return self.around(depth);
        }
        self.scalar()
    }

    fn around(&mut self, depth: usize) -> Type {
        let inner = self.some(depth + 1);
        // A rule refuses a list of `u8`, because it may be bytes.
        let inner = if inner.text.ends_with("U8") || inner.text == "u8" {
            Type {
                text: "u16".to_owned(),
                look: Look::Unsigned,
                default: true,
                ..inner
            }
        } else {
            inner
        };
        let Type {
            text,
            look,
            weight,
            default,
            ..
        } = inner;
        let list = |text: String, look| Type {
            text,
            look,
            optional: false,
            default: true,
            weight: weight + 1,
        };
        match self.random.below(12) {
            0..4 => list(format!("Vec<{text}>"), Look::Counted),
            4 => list(format!("std::collections::VecDeque<{text}>"), Look::Counted),
            5 => {
                let item = self.random.one(&["String", "u16", "i64", "char", "bool"]);
                list(format!("std::collections::BTreeSet<{item}>"), Look::Counted)
            }
            6 => {
                let count = self.random.one(&[1, 2, 3]);
                let whole = list(format!("[{text}; {count}]"), Look::List);
                Type { default, ..whole }
            }
            7 => list(
                format!("std::collections::BTreeMap<String, {text}>"),
                Look::Other,
            ),
            8 => list(format!("indexmap::IndexMap<String, {text}>"), Look::Other),
            9 => list(format!("Box<[{text}]>"), Look::Counted),
            10 => Type {
                text: format!("std::sync::Arc<{text}>"),
                look,
                optional: false,
                default,
                weight,
            },
            _ => Type {
                text: format!("Box<{text}>"),
                look,
                optional: false,
                default,
                weight,
            },
        }
    }

    /// Picks the type of a field.
    fn any(&mut self) -> Type {
        if self.random.chance(25) {
            let Type {
                text, look, weight, ..
            } = self.some(0);
            let text = if self.random.chance(15) {
                format!("Box<Option<{text}>>")
            } else {
                format!("Option<{text}>")
            };
            return Type {
                text,
                look,
                optional: true,
                default: true,
                weight,
            };
        }
        if self.random.chance(8)
            && let Some(ty) = self.earlier(24, |known| known.ty.optional)
        {
            return ty;
        }
        self.some(0)
    }

    /// Picks bounds for values of a shape, and a default within them. The default is empty for lists.
    fn bounds(&mut self, look: Look) -> Option<(&'static str, &'static str)> {
        let choices: &[(&str, &str)] = match look {
            Look::Signed => &[
                ("range = -5..=5", "3"),
                ("range = ..=-1", "-7"),
                ("range = 0..100", "99"),
                ("multiple_of = 5", "10"),
                ("range = -100..=100, multiple_of = 10", "-20"),
            ],
            Look::Unsigned => &[
                ("range = 1..=50", "7"),
                ("range = 2..", "2"),
                ("range = ..=9", "0"),
                ("range = 0..100, multiple_of = 5", "95"),
                ("multiple_of = 3", "0"),
            ],
            Look::NonZero => &[
                ("range = 1..=50", "7"),
                ("range = 2..", "2"),
                ("range = ..10", "9"),
            ],
            Look::Float => &[
                ("range = 0.5..", "0.5"),
                ("range = -1.5..=2.5", "-1.5"),
                ("range = ..1e3", "1e2"),
                ("multiple_of = 0.5", "2.5"),
                ("range = 0..=1", "1"),
            ],
            Look::Text => &[
                ("length = 1..=5", "\"abc\""),
                ("length = 3", "\"äöü\""),
                ("length = ..8", "\"\""),
                ("pattern = \"^[a-z]+$\"", "\"abc\""),
                ("pattern = \"^[0-9]{2,4}$\"", "\"123\""),
                (
                    "length = 2..=3, pattern = \"[a-z]\", allow(pattern-anchors)",
                    "\"abc\"",
                ),
                ("format = \"date\"", "\"2024-02-29\""),
                ("format = \"email\"", "\"a@b.de\""),
                ("format = \"ipv4\"", "\"1.2.3.4\""),
                ("format = \"date-time\"", "\"2024-01-31T08:00:00Z\""),
                ("format = \"duration\"", "\"PT1M30S\""),
                (
                    "format = \"uuid\"",
                    "\"550e8400-e29b-41d4-a716-446655440000\"",
                ),
            ],
            Look::Counted => &[
                ("min_items = 1", ""),
                ("max_items = 2", ""),
                ("min_items = 1, max_items = 3", ""),
                ("unique", ""),
                ("unique, max_items = 3", ""),
            ],
            _ => return None,
        };
        Some(self.random.one(choices))
    }

    /// Picks a default for a type without bounds.
    fn stated(&mut self, ty: &Type) -> Option<&'static str> {
        Some(match ty.look {
            Look::Signed => self.random.one(&["0", "-5", "100"]),
            Look::Unsigned => self.random.one(&["0", "1", "200"]),
            Look::NonZero => "1",
            Look::Float => self.random.one(&["0.5", "1", "-2.5e1", "1.0"]),
            Look::Text => self.random.one(&["\"\"", "\"x\"", "\"q\\\"\\\\é\""]),
            Look::Flag => self.random.one(&["true", "false"]),
            Look::Counted => "[]",
            Look::Word if ty.text.ends_with("Duration") => "\"PT1M30S\"",
            Look::Word if ty.text == "char" => "\"é\"",
            _ => return None,
        })
    }

    fn name(&mut self, letter: char) -> String {
        self.number += 1;
        format!("{letter}{}x", self.number)
    }

    fn head(&mut self, name: &str) {
        let doc = if self.random.chance(50) {
            format!("/// The type {name}.\n")
        } else {
            String::new()
        };
        self.line(&format!("{doc}#[derive(@)]"));
    }

    fn make(&mut self) {
        match self.random.below(100) {
            0..48 => self.structure(),
            48..56 => self.choice(),
            56..60 => self.numbers(),
            60..78 => self.union(),
            78..90 => self.newtype(),
            _ => self.converted(),
        }
    }

    /// Writes the fields of a record. Returns the weight of the record, and the numbers of all records that are flattened into it.
    fn fields(
        &mut self,
        own: &str,
        suffix: &str,
        renames: bool,
        flats: bool,
        out: &mut String,
    ) -> (usize, Vec<usize>) {
        let mut names = FIELDS.to_vec();
        let mut weight = 1;
        let mut inside = Vec::new();
        let count = 1 + self.random.below(7);
        for at in 0..count {
            let name = names.remove(self.random.below(names.len())).to_owned() + suffix;
            if flats && self.random.chance(12) {
                let fitting: Vec<_> = self
                    .known
                    .iter()
                    .filter_map(|known| known.flat.as_ref().map(|flat| (&known.ty, flat)))
                    .filter(|(_, flat)| flat.iter().all(|number| !inside.contains(number)))
                    .collect();
                if !fitting.is_empty() {
                    let (ty, flat) = fitting
                        .get(self.random.below(fitting.len()))
                        .copied()
                        .expect("the list is not empty");
                    let _ = writeln!(out, "    #[serde(flatten)]\n    {name}: {},", ty.text);
                    weight += ty.weight;
                    let flat = flat.clone();
                    inside.extend(flat);
                    continue;
                }
            }
            match self.random.below(100) {
                0..3 => {
                    let _ = writeln!(out, "    #[serde(skip)]\n    {name}: u8,");
                }
                3..5 => {
                    let _ = writeln!(
                        out,
                        "    #[serde(skip, default = \"crate::helpers::ten\")]\n    {name}: u16,"
                    );
                }
                5..8 => {
                    let _ = writeln!(
                        out,
                        "    /// Only sent.\n    #[serde(skip_deserializing)]\n    {name}: Option<String>,"
                    );
                }
                8..10 => {
                    let _ = writeln!(
                        out,
                        "    /// Only sent.\n    #[serde(skip_deserializing, default = \"crate::helpers::ten\")]\n    {name}: u16,"
                    );
                }
                10..19 => {
                    let helped = self.random.one(HELPED);
                    let _ = writeln!(
                        out,
                        "    /// By a fn.\n    {}",
                        helped.replace("NAME", &name)
                    );
                    weight += 2;
                }
                19..25 if !own.is_empty() => {
                    let again = self.random.one(&[
                        "Option<Box<SELF>>",
                        "Vec<SELF>",
                        "Option<Box<Self>>",
                        "Vec<Box<Self>>",
                        "Option<Vec<Self>>",
                    ]);
                    let again = again.replace("SELF", own);
                    let _ = writeln!(out, "    /// Again.\n    {name}: {again},");
                    weight += 2;
                }
                _ => weight += self.field(&name, at, renames, out),
            }
        }
        (weight, inside)
    }

    fn field(&mut self, name: &str, at: usize, renames: bool, out: &mut String) -> usize {
        let ty = self.any();
        let mut words = Vec::new();
        let mut default = None;
        if self.random.chance(35)
            && let Some((bounds, fitting)) = self.bounds(ty.look)
        {
            words.push(bounds.to_owned());
            default = Some(fitting).filter(|fitting| !fitting.is_empty());
        } else {
            default = default.or_else(|| self.stated(&ty));
        }
        let mut serde = Vec::new();
        // An optional type gets a default less often, because it would also replace null.
        let defaulted = self.random.chance(if ty.optional { 8 } else { 22 });
        match default {
            Some(default) if defaulted => {
                words.push(format!("default = {default}"));
                if self.random.chance(30) && ty.default {
                    serde.push("default".to_owned());
                } else if self.random.chance(20) && ty.text == "u16" {
                    serde.push("default = \"crate::helpers::ten\"".to_owned());
                }
            }
            _ if ty.optional && self.random.chance(30) && ty.default => {
                serde.push("default".to_owned());
            }
            _ => {}
        }
        if renames && self.random.chance(12) {
            let number = self.number;
            serde.push(match self.random.below(4) {
                0 => format!("rename = \"Renamed_{number}_{at}\""),
                1 => format!(
                    "rename(deserialize = \"in_{number}_{at}\", serialize = \"out_{number}_{at}\")"
                ),
                2 => format!("rename = \"_{number}_{at}\""),
                _ => format!("rename(serialize = \"gone_{number}_{at}\")"),
            });
        }
        if self.random.chance(3) {
            serde.push("skip_serializing".to_owned());
        }
        let _ = writeln!(out, "    /// A field.");
        if !words.is_empty() {
            let _ = writeln!(out, "    #[schema({})]", words.join(", "));
        }
        if !serde.is_empty() {
            let _ = writeln!(out, "    #[serde({})]", serde.join(", "));
        }
        let _ = writeln!(out, "    {name}: {},", ty.text);
        ty.weight
    }

    fn structure(&mut self) {
        if self.random.chance(12) {
            self.by_default();
            return;
        }
        let name = self.name('R');
        self.head(&name);
        let flat = self.random.chance(45);
        let mut serde = Vec::new();
        if !flat && self.random.chance(35) {
            let case = self.random.one(&CASES);
            serde.push(if self.random.chance(20) {
                format!("rename_all(deserialize = \"{case}\", serialize = \"camelCase\")")
            } else {
                format!("rename_all = \"{case}\"")
            });
        }
        let mut fields = String::new();
        let suffix = if flat {
            format!("_{}", self.number)
        } else {
            String::new()
        };
        let own = if self.random.chance(40) {
            name.clone()
        } else {
            String::new()
        };
        let (weight, mut inside) = self.fields(&own, &suffix, true, true, &mut fields);
        if inside.is_empty() && self.random.chance(10) {
            serde.push("deny_unknown_fields".to_owned());
        }
        if !serde.is_empty() {
            self.line(&format!("#[serde({})]", serde.join(", ")));
        }
        self.line(&format!("pub struct {name} {{\n{fields}}}"));
        inside.push(self.number);
        // A type that contains itself is not flattened, because the name in its reference would refer to the wrong type.
        let flat = (flat && !fields.contains("/// Again.")).then_some(inside);
        self.learn(&name, Look::Record, false, false, weight, flat, true);
    }

    /// Adds a record whose container `Default` fills in absent fields.
    fn by_default(&mut self) {
        const FILLED: [(&str, &str, &str); 9] = [
            ("Option<u8>", "Some(7)", ""),
            ("Option<String>", "Some(String::from(\"preset\"))", ""),
            ("Option<Vec<u16>>", "Some(vec![1])", ""),
            ("Option<f64>", "None", ""),
            ("u16", "77", "10"),
            ("String", "String::from(\"inner\")", "\"stated\""),
            ("bool", "true", "false"),
            ("Vec<String>", "vec![]", "[\"a\"]"),
            (
                "std::time::Duration",
                "std::time::Duration::from_secs(9)",
                "\"PT1S\"",
            ),
        ];
        let name = self.name('D');
        self.head(&name);
        let mut names = FIELDS.to_vec();
        let (mut fields, mut values) = (String::new(), String::new());
        let flat = self.random.chance(50);
        let suffix = if flat {
            format!("_{}", self.number)
        } else {
            String::new()
        };
        for _ in 0..=self.random.below(5) {
            let field = names.remove(self.random.below(names.len())).to_owned() + &suffix;
            let (ty, value, default) = self.random.one(&FILLED);
            let _ = writeln!(fields, "    /// A field.");
            if !default.is_empty() {
                let _ = writeln!(fields, "    #[schema(default = {default})]");
            }
            let _ = writeln!(fields, "    {field}: {ty},");
            let _ = write!(values, "{field}: {value}, ");
        }
        let case = if flat || self.random.chance(60) {
            ""
        } else {
            ", rename_all = \"camelCase\""
        };
        self.line(&format!(
            "#[serde(default{case})]\npub struct {name} {{\n{fields}}}"
        ));
        self.line(&format!(
            "impl Default for {name} {{\n    fn default() -> Self {{\n        Self {{ {values} }}\n    }}\n}}"
        ));
        let inside = vec![self.number];
        self.learn(
            &name,
            Look::Record,
            false,
            true,
            6,
            flat.then_some(inside),
            true,
        );
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "each argument is an independent property of the type"
    )]
    fn learn(
        &mut self,
        name: &str,
        look: Look,
        optional: bool,
        default: bool,
        weight: usize,
        flat: Option<Vec<usize>>,
        struct_like: bool,
    ) {
        let ty = Type {
            text: name.to_owned(),
            look,
            optional,
            default,
            weight,
        };
        self.known.push(Known {
            ty,
            flat,
            struct_like,
        });
        self.case(name, name);
        match self.random.below(24) {
            0 => self.case(&format!("Vec<{name}>"), name),
            1 => self.case(&format!("Option<{name}>"), name),
            2 => self.case(&format!("({name}, u8, Option<{name}>)"), name),
            3 => self.case(&format!("std::collections::BTreeMap<String, {name}>"), name),
            4 => self.case(&format!("[{name}; 2]"), name),
            5 => self.case(&format!("Box<Vec<Option<{name}>>>"), name),
            _ => {}
        }
    }

    /// Picks the names of variants, each with the lines of its attributes. If `keys` is true, the names have the form of keys.
    fn variants(&mut self, count: usize, keys: bool) -> Vec<(String, &'static str)> {
        let mut names = VARIANTS.to_vec();
        let mut values = VALUES.to_vec();
        (0..count)
            .map(|at| {
                let name = names.remove(self.random.below(names.len()));
                let attribute = match self.random.below(10) {
                    0 if keys => format!("    #[serde(rename = \"key_{at}\")]\n"),
                    0 | 1 if !keys => {
                        let value = values.remove(self.random.below(values.len()));
                        format!("    #[serde(rename = \"{value}\")]\n")
                    }
                    2 => format!("    #[schema(allow(variant-alias))]\n    #[serde(alias = \"alias_{at}\")]\n"),
                    _ => String::new(),
                };
                (attribute, name)
            })
            .collect()
    }

    fn choice(&mut self) {
        let name = self.name('E');
        self.head(&name);
        if self.random.chance(50) {
            let case = self.random.one(&[
                "lowercase",
                "camelCase",
                "snake_case",
                "kebab-case",
                "SCREAMING-KEBAB-CASE",
            ]);
            self.line(&format!("#[serde(rename_all = \"{case}\")]"));
        }
        let count = 1 + self.random.below(6);
        let mut variants = String::new();
        for (attribute, variant) in self.variants(count, false) {
            let _ = writeln!(variants, "{attribute}    {variant},");
        }
        if self.random.chance(20) {
            variants.push_str("    #[serde(skip)]\n    Never,\n");
        }
        self.line(&format!("pub enum {name} {{\n{variants}}}"));
        self.learn(&name, Look::Word, false, false, 2, None, false);
    }

    /// Adds an enum with integer values.
    fn numbers(&mut self) {
        let name = self.name('I');
        self.head(&name);
        let (ty, start) = self.random.one(&[
            ("u8", "1"),
            ("i8", "-2"),
            ("u16", "65530"),
            ("i64", "-9007199254740993"),
            ("u32", "0"),
        ]);
        let read = format!("#[serde(try_from = \"{ty}\")]");
        // Either serde converts both types, or serde converts only the twin, and the own type reads the numbers of its variants.
        let mark = if self.random.chance(50) { "twin|" } else { "" };
        self.line(&format!("{mark}{read}\n#[schema(integer)]\n#[repr({ty})]"));
        self.line(&format!("pub enum {name} {{\n    Low = {start},\n    /// The usual.\n    Next,\n    High = 9,\n}}"));
        self.line(&format!(
            "impl TryFrom<{ty}> for {name} {{\n    type Error = String;\n    fn try_from(value: {ty}) -> Result<Self, String> {{\n        \
             [Self::Low, Self::Next, Self::High].into_iter().find(|known| *known as {ty} == value).ok_or_else(|| format!(\"no number {{value}}\"))\n    }}\n}}\n\
             impl Clone for {name} {{ fn clone(&self) -> Self {{ *self }} }}\nimpl Copy for {name} {{}}"
        ));
        self.learn(&name, Look::Other, false, false, 2, None, false);
    }

    fn union(&mut self) {
        if self.random.chance(22) {
            self.untagged();
            return;
        }
        let name = self.name('U');
        self.head(&name);
        let tagging = self.random.below(3);
        let mut serde = match tagging {
            0 => {
                self.line("#[schema(allow(external-tag))]");
                Vec::new()
            }
            1 => vec![format!(
                "tag = \"{}\"",
                self.random.one(&["kind", "tag", "the_type"])
            )],
            _ => {
                let tag = self.random.one(&["t", "kind"]);
                let content = self.random.one(&["c", "value"]);
                vec![format!("tag = \"{tag}\", content = \"{content}\"")]
            }
        };
        if self.random.chance(40) {
            let case = if tagging == 0 {
                self.random.one(&CASES)
            } else {
                self.random.one(&["snake_case", "kebab-case"])
            };
            serde.push(format!("rename_all = \"{case}\""));
        }
        if self.random.chance(30) {
            serde.push(format!(
                "rename_all_fields = \"{}\"",
                self.random.one(&CASES)
            ));
        }
        if !serde.is_empty() {
            self.line(&format!("#[serde({})]", serde.join(", ")));
        }
        let count = 2 + self.random.below(4);
        let mut weight = 1;
        let mut variants = String::new();
        for (at, (attribute, variant)) in self.variants(count, tagging == 0).into_iter().enumerate()
        {
            variants.push_str(&attribute);
            let again = self.random.chance(10);
            match self.random.below(3) {
                // At least one variant contains data, because enums without data are generated elsewhere.
                0 if at > 0 => {
                    let _ = writeln!(variants, "    {variant},");
                }
                1 if tagging == 1 => {
                    let Some(ty) = self.earlier(24, |known| known.struct_like) else {
                        let _ = writeln!(variants, "    {variant} {{}},");
                        continue;
                    };
                    let text = if self.random.chance(20) {
                        format!("Box<{}>", ty.text)
                    } else {
                        ty.text
                    };
                    let _ = writeln!(variants, "    {variant}({text}),");
                    weight += ty.weight;
                }
                1 if again => {
                    let _ = writeln!(variants, "    {variant}(Vec<Self>),");
                    weight += 1;
                }
                1 if self.random.chance(12) => {
                    let _ = writeln!(
                        variants,
                        "    {variant}(#[serde(deserialize_with = \"crate::helpers::doubled::deserialize\")] #[schema(as = String)] u16),"
                    );
                }
                1 => {
                    let ty = self.some(0);
                    let bounds = if self.random.chance(30) {
                        self.bounds(ty.look)
                    } else {
                        None
                    };
                    let bounds = bounds
                        .map_or_else(String::new, |(bounds, _)| format!("#[schema({bounds})] "));
                    let _ = writeln!(variants, "    {variant}({bounds}{}),", ty.text);
                    weight += ty.weight;
                }
                _ => {
                    let mut fields = String::new();
                    let own = if again { name.clone() } else { String::new() };
                    let flats = self.random.chance(30);
                    let (more, _) = self.fields(&own, "", true, flats, &mut fields);
                    let _ = writeln!(variants, "    {variant} {{\n{fields}    }},");
                    weight += more;
                }
            }
        }
        if self.random.chance(10) {
            variants.push_str("    #[serde(skip)]\n    Never(std::cell::Cell<u8>),\n");
        }
        self.line(&format!("pub enum {name} {{\n{variants}}}"));
        self.learn(&name, Look::Other, false, false, weight, None, false);
    }

    /// Adds an untagged union whose variants have different shapes. A list is the first variant, because serde also accepts a list for a duration and
    /// for a record.
    fn untagged(&mut self) {
        let name = self.name('S');
        self.head(&name);
        let mut variants = String::new();
        let mut names = VARIANTS.to_vec();
        let mut weight = 1;
        let mut groups = vec![0, 1, 2, 3, 4, 5];
        let mut chosen: Vec<usize> = (0..2 + self.random.below(4))
            .map(|_| groups.remove(self.random.below(groups.len())))
            .collect();
        chosen.sort_by_key(|group| *group != 3);
        for group in chosen {
            let variant = names.remove(self.random.below(names.len()));
            let ty = match group {
                0 => self
                    .random
                    .one(&[
                        "String",
                        "char",
                        "std::time::Duration",
                        "uuid::Uuid",
                        "Box<str>",
                    ])
                    .to_owned(),
                1 => self
                    .random
                    .one(&[
                        "u8",
                        "i64",
                        "f64",
                        "f32",
                        "std::num::NonZeroU32",
                        "i16",
                        "u64",
                        "u128",
                    ])
                    .to_owned(),
                2 => "bool".to_owned(),
                3 => {
                    let item = self.some(2);
                    let item = if item.text == "u8" {
                        "u16".to_owned()
                    } else {
                        item.text
                    };
                    weight += item.len() / 8;
                    self.random
                        .one(&["Vec<X>", "Vec<Self>", "[X; 2]"])
                        .replace('X', &item)
                }
                4 => {
                    let mut fields = String::new();
                    let (more, _) = self.fields("", "", false, false, &mut fields);
                    let _ = writeln!(
                        variants,
                        "    {variant} {{\n    /// Only here.\n    only_here: u8,\n{fields}    }},"
                    );
                    weight += more;
                    continue;
                }
                _ => {
                    let number = self.number;
                    let _ = writeln!(
                        variants,
                        "    {variant} {{\n    /// Only there.\n    only_there_{number}: i8,\n    /// Again.\n    again: Option<Box<Self>>,\n    }},"
                    );
                    weight += 3;
                    continue;
                }
            };
            let bounds = match (group, self.random.below(4)) {
                (0, 0) if ty == "String" || ty == "Box<str>" => "#[schema(length = 1..=5)] ",
                (1, 0) if ty.starts_with(['u', 'i']) => "#[schema(range = 2..=100)] ",
                _ => "",
            };
            let _ = writeln!(variants, "    {variant}({bounds}{ty}),");
            weight += 1;
        }
        self.line(&format!(
            "#[serde(untagged)]\n#[schema(allow(untagged))]\npub enum {name} {{\n{variants}}}"
        ));
        self.learn(&name, Look::Other, false, false, weight, None, false);
    }

    fn newtype(&mut self) {
        let name = self.name('N');
        self.head(&name);
        if self.random.chance(8) {
            self.line(&format!("pub struct {name}(Vec<Self>);"));
            self.learn(&name, Look::Counted, false, false, 2, None, false);
            return;
        }
        let mut ty = self.any();
        if ty.text == "u8" || ty.text.ends_with("U8") {
            "u32".clone_into(&mut ty.text);
            ty.look = Look::Unsigned;
        }
        let bounds = if self.random.chance(45) {
            self.bounds(ty.look)
        } else {
            None
        };
        let bounds = bounds.map_or_else(String::new, |(bounds, _)| format!("#[schema({bounds})]"));
        let (above, beside) = if self.random.chance(50) {
            (bounds, String::new())
        } else {
            (String::new(), bounds)
        };
        if !above.is_empty() {
            self.line(&above);
        }
        match self.random.below(4) {
            0 => self.line(&format!(
                "#[serde(transparent)]\npub struct {name} {{\n    {beside}\n    inner: {},\n    #[serde(skip)]\n    seen: usize,\n}}",
                ty.text
            )),
            1 => self.line(&format!("#[serde(transparent)]\npub struct {name} {{\n    {beside}\n    inner: {},\n}}", ty.text)),
            _ => self.line(&format!("pub struct {name}({beside} {});", ty.text)),
        }
        self.learn(&name, ty.look, ty.optional, false, ty.weight, None, false);
    }

    /// Adds a type that is converted from a different type.
    fn converted(&mut self) {
        let name = self.name('C');
        self.head(&name);
        match self.random.below(5) {
            0 => {
                self.line(&format!(
                    "#[serde(try_from = \"String\")]\n#[schema(as = String, pattern = \"^[0-9]+$\")]\npub struct {name} {{ ticks: u16 }}\n\
                     impl TryFrom<String> for {name} {{\n    type Error = std::num::ParseIntError;\n    \
                     fn try_from(text: String) -> Result<Self, Self::Error> {{\n        Ok(Self {{ ticks: text.parse()? }})\n    }}\n}}"
                ));
                self.learn(&name, Look::Word, false, false, 2, None, false);
            }
            1 => {
                self.line(&format!(
                    "#[serde(from = \"u32\")]\n#[schema(as = u32)]\npub struct {name}(u64);\n\
                     impl From<u32> for {name} {{\n    fn from(value: u32) -> Self {{\n        Self(u64::from(value) * 2)\n    }}\n}}"
                ));
                self.learn(&name, Look::Other, false, false, 2, None, false);
            }
            2 => {
                self.line(&format!(
                    "#[serde(try_from = \"Vec<u16>\")]\n#[schema(as = Vec<u16>, max_items = 3)]\npub struct {name}(u32);\n\
                     impl TryFrom<Vec<u16>> for {name} {{\n    type Error = String;\n    \
                     fn try_from(list: Vec<u16>) -> Result<Self, String> {{\n        \
                     if list.len() == 2 {{ return Err(\"two are not taken\".to_owned()); }}\n        Ok(Self(list.iter().map(|item| u32::from(*item)).sum()))\n    }}\n}}"
                ));
                self.learn(&name, Look::Other, false, false, 2, None, false);
            }
            3 => {
                self.line(&format!(
                    "#[serde(try_from = \"crate::helpers::Point\")]\n#[schema(as = crate::helpers::Point)]\npub struct {name}(f64);\n\
                     impl TryFrom<crate::helpers::Point> for {name} {{\n    type Error = String;\n    \
                     fn try_from(point: crate::helpers::Point) -> Result<Self, String> {{\n        point.sum().map(Self)\n    }}\n}}"
                ));
                self.learn(&name, Look::Other, false, false, 4, None, false);
            }
            _ => {
                let from = self
                    .earlier(12, |known| !known.ty.optional)
                    .map_or_else(|| "bool".to_owned(), |ty| ty.text);
                self.line(&format!(
                    "#[serde(from = \"{from}\")]\n#[schema(as = {from})]\npub struct {name}(String);\n\
                     impl From<{from}> for {name} {{\n    fn from(value: {from}) -> Self {{\n        Self(format!(\"{{value:?}}\"))\n    }}\n}}"
                ));
                self.learn(&name, Look::Other, false, false, 4, None, false);
            }
        }
    }

    /// Adds the generic types and their uses.
    fn generics(&mut self) {
        self.text.push_str(GENERICS);
        for used in USES {
            let mut whole = used.to_owned();
            for name in NAMES {
                whole = whole.replace(&format!("{name}<"), &format!("M::{name}<"));
            }
            self.cases.push(whole);
            // The rules check a field of a generic type with the whole tree, so the shape of the type does not matter here.
            let optional = used == "Holds<Option<u16>>";
            let struct_like = ["Page", "Pair", "Fixed"]
                .iter()
                .any(|name| used.starts_with(name));
            let ty = Type {
                text: used.to_owned(),
                look: Look::Other,
                optional,
                default: false,
                weight: 6,
            };
            self.known.push(Known {
                ty,
                flat: None,
                struct_like,
            });
        }
        for used in PARAMETERS {
            self.cases.push((*used).to_owned());
        }
    }
}

/// Fields that a function or a type of `src/helpers.rs` reads, or that have the schema of a different type.
const HELPED: &[&str] = &[
    "#[serde(with = \"crate::helpers::doubled\")]\n    #[schema(as = String, pattern = \"^[0-9]+$\")]\n    NAME: u16,",
    "#[serde(deserialize_with = \"crate::helpers::doubled::deserialize\")]\n    #[schema(as = String)]\n    NAME: u16,",
    "#[serde(deserialize_with = \"crate::helpers::doubled::deserialize\")]\n    #[schema(as = String, default = \"44\")]\n    NAME: u16,",
    "#[serde(deserialize_with = \"crate::helpers::maybe\")]\n    #[schema(as = Option<String>)]\n    NAME: String,",
    "#[serde(deserialize_with = \"crate::helpers::maybe\", default)]\n    #[schema(as = Option<String>)]\n    NAME: String,",
    "#[serde(deserialize_with = \"crate::helpers::millis\")]\n    #[schema(as = std::time::Duration)]\n    NAME: u128,",
    "#[serde(deserialize_with = \"crate::helpers::sum\")]\n    #[schema(as = Vec<u16>, max_items = 3)]\n    NAME: u32,",
    "#[serde(with = \"crate::helpers::point\")]\n    #[schema(as = crate::helpers::Point)]\n    NAME: f64,",
    "#[schema(as = u64, range = 1..=255)]\n    NAME: std::num::NonZeroU8,",
    "#[schema(as = f32)]\n    NAME: f64,",
    "#[schema(as = i16)]\n    NAME: f64,",
    "#[schema(as = String, length = 1)]\n    NAME: char,",
    "#[schema(as = Option<String>, format = \"ipv4\")]\n    NAME: Option<std::net::IpAddr>,",
    "NAME: Option<crate::helpers::Even>,",
    "NAME: Vec<crate::helpers::Point>,",
];

/// The definitions of the generic types.
const GENERICS: &str = r#"
#[derive(@)]
pub struct Page<T> {
    /// The items of the list.
    #[schema(max_items = 3)]
    items: Vec<T>,
    /// One more item.
    last: Option<T>,
    /// The next page.
    #[serde(default)]
    next: Option<String>,
}
#[derive(@)]
#[serde(rename_all = "camelCase")]
pub struct Pair<A, B> {
    /// The left side.
    left_side: A,
    /// The right side.
    #[serde(rename = "Right")]
    right_side: B,
    /// The limit of the pair.
    #[schema(default = 10, range = 1..=50)]
    limit: u16,
    #[serde(skip)]
    seen: u8,
}
#[derive(@)]
#[serde(tag = "kind")]
pub enum Outcome<T, E> {
    Done {
        /// The value of the record.
        value: T,
        /// An optional second value.
        other: Option<T>,
    },
    Failed(Pair<E, bool>),
    Nothing,
}
#[derive(@)]
#[serde(tag = "t", content = "c")]
pub enum Either<A, B> {
    Left(A),
    Right(B),
    Both {
        /// The left value.
        a: A,
        /// The right value.
        b: B,
    },
}
#[derive(@)]
#[schema(allow(external-tag))]
pub enum Outside<T> {
    One(T),
    Many(Vec<T>),
    Nothing,
}
#[derive(@)]
#[serde(transparent)]
pub struct Wrapped<T> {
    inner: T,
    #[serde(skip)]
    seen: std::marker::PhantomData<u8>,
}
#[derive(@)]
pub struct Holds<T>(T);
#[derive(@)]
pub struct Fixed<T> {
    /// The two items.
    items: [T; 2],
}
"#;

/// Uses of the generic types.
const USES: [&str; 17] = [
    "Page<u32>",
    "Page<String>",
    "Page<Page<bool>>",
    "Pair<f64, String>",
    "Pair<Page<i8>, char>",
    "Outcome<u64, String>",
    "Outcome<Page<u16>, std::time::Duration>",
    "Either<u32, String>",
    "Either<bool, Page<String>>",
    "Outside<i64>",
    "Outside<std::time::Duration>",
    "Wrapped<u16>",
    "Wrapped<Vec<String>>",
    "Holds<Page<i32>>",
    "Holds<Option<u16>>",
    "Fixed<i16>",
    "Fixed<std::time::Duration>",
];

const NAMES: [&str; 8] = [
    "Page", "Pair", "Outcome", "Either", "Outside", "Wrapped", "Holds", "Fixed",
];

/// Types that are allowed only as type arguments, because no rule checks type arguments.
const PARAMETERS: &[&str] = &[
    "M::Page<(u8, String)>",
    "M::Holds<()>",
    "M::Either<M::Holds<Option<u8>>, M::Maybe>",
    "M::Either<M::MaybeAgain, Vec<M::Maybe>>",
    "M::Outside<M::Maybe>",
    "M::Pair<(), Option<bool>>",
    "M::Either<Option<u16>, ()>",
    "M::Either<Option<std::time::Duration>, serde_json::Value>",
    "M::Outside<Option<bool>>",
    "M::Wrapped<(f32, (bool, char), [u8; 2])>",
    "M::Holds<serde_json::Value>",
    "M::Page<Option<u8>>",
    "M::Outcome<Option<M::Holds<Option<u8>>>, serde_json::Value>",
    "M::Pair<M::Holds<Option<u8>>, M::Wrapped<Option<String>>>",
    "M::Page<u8>",
    "M::Fixed<u8>",
    "M::Pair<serde_json::Value, std::collections::BTreeMap<String, Option<i8>>>",
    "M::Pair<M::Fixed<Option<u8>>, Vec<Option<bool>>>",
];
