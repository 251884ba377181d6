//! The kinds of spoiled variants.

use bfcl_gen::json::{Json, quoted};
use bfcl_gen::shape::{Need, Property, Shape};

use super::RandomChoices;
use super::sites::{Site, around, at, sites};
use super::spell::{escape, escaped, other_type, spaced, swap_case, values};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident),+ $(,)?) => {
        /// The kind of change that spoils a call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind { $($(#[doc = $doc])+ $kind),+ }

        impl Kind {
            /// All kinds, in the order of their declaration.
            pub const ALL: [Self; [$(stringify!($kind)),+].len()] = [$(Self::$kind),+];

            /// Returns a description of the change.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => concat!($($doc),+).trim_ascii()),+ }
            }
        }
    };
}

kinds! {
    /// required key dropped
    RequiredDropped,
    /// optional key dropped
    OptionalDropped,
    /// unknown key added
    UnknownKey,
    /// unknown key added to an inner record
    UnknownKeyInside,
    /// key in different case
    KeyCase,
    /// key written twice
    KeyTwice,
    /// key written twice, once escaped
    KeyTwiceEscaped,
    /// value of a different type
    OtherType,
    /// null at a required key
    NullRequired,
    /// null at an optional key
    NullOptional,
    /// null as an item
    NullItem,
    /// fraction for a whole number
    Fraction,
    /// whole number as 1.0
    PointZero,
    /// whole number as 1e2
    Exponent,
    /// largest or smallest 64-bit number
    EdgeOfWords,
    /// whole number beyond 64 bits
    BeyondWords,
    /// large floating number
    LargeNumber,
    /// number beyond the range of floats (1e400)
    BeyondFloats,
    /// number that JSON cannot represent
    BadNumber,
    /// whole number for a fraction
    WholeForNumber,
    /// text outside the enum
    OutsideEnum,
    /// enum value in different case
    EnumCase,
    /// enum value as a record
    EnumRecord,
    /// number outside the enum
    NumberOutsideEnum,
    /// number as text
    TextForNumber,
    /// boolean as text or number
    TextForFlag,
    /// number for text
    NumberForText,
    /// item for a list
    ItemForList,
    /// text of a list for a list
    TextForList,
    /// list around a value
    ListForItem,
    /// empty list
    EmptyList,
    /// empty text
    EmptyText,
    /// text of a different format
    BadFormat,
    /// list for an inner record
    ListForRecord,
    /// list of values as the arguments
    ListForArguments,
    /// arguments inside a text
    TextForArguments,
    /// null for the arguments
    NullForArguments,
    /// empty text for the arguments
    NoText,
    /// empty record
    EmptyRecord,
    /// keys in reverse order
    OtherOrder,
    /// white space everywhere
    Spaced,
    /// every letter escaped
    Escaped,
    /// half a surrogate pair
    HalfPair,
    /// raw line break in a text
    RawLineBreak,
    /// text cut off
    CutShort,
    /// text after the end
    BehindEnd,
    /// comma before the end
    TrailingComma,
}

/// Replaces the value at a site, and returns the arguments as text.
fn put(gold: &Json, site: &Site<'_>, value: Json) -> Option<String> {
    let mut spoiled = gold.clone();
    *at(&mut spoiled, &site.path)? = value;
    Some(spoiled.to_string())
}

/// Replaces or adds the value of a key, and returns the arguments as text.
fn put_key(gold: &Json, site: &Site<'_>, value: Json) -> Option<String> {
    let mut spoiled = gold.clone();
    let (entries, key) = around(&mut spoiled, &site.path)?;
    match entries.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => entries.push((key.to_owned(), value)),
    }
    Some(spoiled.to_string())
}

fn raw(text: impl Into<String>) -> Json {
    Json::Raw(text.into())
}

/// A call and its sites.
struct Call<'a> {
    gold: &'a Json,
    sites: Vec<Site<'a>>,
}

impl Call<'_> {
    /// Picks one of the sites that have a value and pass `fits`.
    fn pick(
        &self,
        dice: &mut RandomChoices,
        fits: impl Fn(&Site<'_>) -> bool,
    ) -> Option<&Site<'_>> {
        let fitting: Vec<&Site<'_>> = self
            .sites
            .iter()
            .filter(|site| site.present && fits(site))
            .collect();
        dice.one_of(&fitting).copied()
    }

    fn value(&self, site: &Site<'_>) -> Option<Json> {
        at(&mut self.gold.clone(), &site.path).cloned()
    }

    /// Replaces the value at one of the sites that pass `fits`.
    fn replace(
        &self,
        dice: &mut RandomChoices,
        fits: impl Fn(&Site<'_>) -> bool,
        make: impl FnOnce(&Json, &mut RandomChoices) -> Option<Json>,
    ) -> Option<String> {
        let site = self.pick(dice, fits)?;
        let value = make(&self.value(site)?, dice)?;
        put(self.gold, site, value)
    }
}

fn is_required(site: &Site<'_>) -> bool {
    site.need == Some(&Need::Required)
}

fn is_optional(site: &Site<'_>) -> bool {
    site.need.is_some_and(|need| *need != Need::Required)
}

fn is_whole(site: &Site<'_>) -> bool {
    matches!(site.shape, Shape::Whole | Shape::WholeChoice(_))
}

fn is_number(site: &Site<'_>) -> bool {
    matches!(site.shape, Shape::Number)
}

fn is_text(site: &Site<'_>) -> bool {
    matches!(site.shape, Shape::Text { .. })
}

fn is_choice(site: &Site<'_>) -> bool {
    matches!(site.shape, Shape::Choice(_))
}

fn is_flag(site: &Site<'_>) -> bool {
    matches!(site.shape, Shape::Flag)
}

fn is_list(site: &Site<'_>) -> bool {
    matches!(site.shape, Shape::List(_))
}

fn is_record(site: &Site<'_>) -> bool {
    matches!(site.shape, Shape::Record(_))
}

impl Kind {
    /// Returns the text of the spoiled arguments. `None` if the kind does not apply.
    pub(super) fn apply(
        self,
        gold: &Json,
        properties: &[Property],
        dice: &mut RandomChoices,
    ) -> Option<String> {
        let call = Call {
            gold,
            sites: sites(gold, properties),
        };
        self.of_keys(&call, dice)
            .or_else(|| self.of_numbers(&call, dice))
            .or_else(|| self.of_values(&call, dice))
            .or_else(|| self.of_whole(&call, dice))
            .or_else(|| self.of_text(&call, dice))
    }

    /// Applies a kind that changes keys.
    fn of_keys(self, call: &Call<'_>, dice: &mut RandomChoices) -> Option<String> {
        let mut spoiled = call.gold.clone();
        let unknown = || ("unknown_key".to_owned(), Json::Text("new".into()));
        match self {
            Self::RequiredDropped | Self::OptionalDropped => {
                let wanted = self == Self::RequiredDropped;
                let site = call.pick(dice, |site| {
                    if wanted {
                        is_required(site)
                    } else {
                        is_optional(site)
                    }
                })?;
                let (entries, key) = around(&mut spoiled, &site.path)?;
                entries.retain(|(name, _)| name != key);
            }
            Self::UnknownKey => {
                let Json::Record(entries) = &mut spoiled else {
                    return None;
                };
                entries.push(unknown());
            }
            Self::UnknownKeyInside => {
                let site = call.pick(dice, is_record)?;
                let Json::Record(entries) = at(&mut spoiled, &site.path)? else {
                    return None;
                };
                entries.push(unknown());
            }
            Self::KeyCase | Self::KeyTwice | Self::KeyTwiceEscaped => {
                let site = call.pick(dice, |site| site.need.is_some())?;
                return self.of_one_key(call.gold, site);
            }
            _ => return None,
        }
        Some(spoiled.to_string())
    }

    fn of_one_key(self, gold: &Json, site: &Site<'_>) -> Option<String> {
        let mut spoiled = gold.clone();
        let (entries, key) = around(&mut spoiled, &site.path)?;
        let here = entries.iter().position(|(name, _)| name == key)?;
        if self == Self::KeyCase {
            entries[here].0 = swap_case(key);
            return Some(spoiled.to_string());
        }
        let again = entries[here].clone();
        entries.push(again);
        let text = spoiled.to_string();
        if self == Self::KeyTwice {
            return Some(text);
        }
        let plain = quoted(key);
        let escaped = text.rfind(&format!("{plain}:"))?;
        let (before, after) = text.split_at(escaped);
        Some(format!("{before}{}{}", escape(key), &after[plain.len()..]))
    }

    /// Applies a kind that changes numbers.
    fn of_numbers(self, call: &Call<'_>, dice: &mut RandomChoices) -> Option<String> {
        let spell = |fits: fn(&Site<'_>) -> bool, spellings: &[&str], dice: &mut RandomChoices| {
            call.replace(dice, fits, |_, dice| {
                dice.one_of(spellings).map(|text| raw(*text))
            })
        };
        let number = |site: &Site<'_>| is_whole(site) || is_number(site);
        match self {
            Self::Fraction => call.replace(dice, is_whole, |value, dice| {
                let tail = dice.one_of(&[".5", ".25e1", ".0000001", "1e-1"])?;
                Some(raw(format!("{value}{tail}")))
            }),
            Self::PointZero => {
                call.replace(dice, is_whole, |value, _| Some(raw(format!("{value}.0"))))
            }
            Self::Exponent => call.replace(dice, is_whole, |value, _| {
                let text = value.to_string();
                Some(raw(match text.strip_suffix("00") {
                    Some(head) if !matches!(head, "" | "-") => format!("{head}e2"),
                    None if text == "0" => "0e5".into(),
                    _ => format!("{text}0E-1"),
                }))
            }),
            Self::EdgeOfWords => spell(
                is_whole,
                &["9223372036854775807", "-9223372036854775808"],
                dice,
            ),
            Self::BeyondWords => spell(
                is_whole,
                &[
                    "9223372036854775808",
                    "-9223372036854777856",
                    "18446744073709551616",
                    "1e30",
                    "-1E+19",
                ],
                dice,
            ),
            Self::LargeNumber => spell(
                is_number,
                &[
                    "1.7976931348623157e308",
                    "-1e300",
                    "123456789012345678901234567890",
                    "5e-324",
                ],
                dice,
            ),
            Self::BeyondFloats => call.replace(dice, number, |_, dice| {
                dice.one_of(&["1e400", "-1e999"]).map(|text| raw(*text))
            }),
            Self::BadNumber => call.replace(dice, number, |value, dice| {
                let text = value.to_string();
                let spellings = [
                    format!("0{text}"),
                    format!("+{text}"),
                    format!("{text}."),
                    "NaN".into(),
                    "Infinity".into(),
                    "0x10".into(),
                    "1_000".into(),
                ];
                dice.one_of(&spellings).map(raw)
            }),
            Self::WholeForNumber => spell(is_number, &["7", "-0", "0"], dice),
            Self::NumberOutsideEnum => spell(
                |site| matches!(site.shape, Shape::WholeChoice(_)),
                &["0", "-1", "9999", "1000000.0"],
                dice,
            ),
            Self::TextForNumber => {
                call.replace(dice, number, |value, _| Some(Json::Text(value.to_string())))
            }
            _ => None,
        }
    }

    /// Applies a kind that changes other values.
    fn of_values(self, call: &Call<'_>, dice: &mut RandomChoices) -> Option<String> {
        match self {
            Self::OtherType => call.replace(dice, |_| true, other_type),
            Self::NullRequired => call.replace(dice, is_required, |_, _| Some(Json::Null)),
            Self::NullItem => {
                call.replace(dice, |site| site.need.is_none(), |_, _| Some(Json::Null))
            }
            Self::NullOptional => {
                let optional: Vec<&Site<'_>> =
                    call.sites.iter().filter(|site| is_optional(site)).collect();
                put_key(call.gold, dice.one_of(&optional)?, Json::Null)
            }
            Self::OutsideEnum => call.replace(dice, is_choice, |value, dice| {
                let text = value.as_text()?;
                let outside = [format!("{text} "), format!("{text}_2"), "other".into()];
                dice.one_of(&outside).cloned().map(Json::Text)
            }),
            Self::EnumCase => call.replace(dice, is_choice, |value, _| {
                value.as_text().map(swap_case).map(Json::Text)
            }),
            Self::EnumRecord => call.replace(dice, is_choice, |value, _| {
                Some(Json::Record(vec![(value.as_text()?.into(), Json::Null)]))
            }),
            Self::TextForFlag => call.replace(dice, is_flag, |value, dice| {
                let others = [Json::Text(value.to_string()), raw("1"), raw("0")];
                dice.one_of(&others).cloned()
            }),
            Self::NumberForText => call.replace(
                dice,
                |site| is_text(site) || is_choice(site),
                |_, dice| dice.one_of(&["7", "2.5", "-1"]).map(|text| raw(*text)),
            ),
            Self::ItemForList => call.replace(dice, is_list, |value, _| match value {
                Json::List(items) => items.first().cloned(),
                _ => None,
            }),
            Self::TextForList => call.replace(dice, is_list, |value, _| {
                Some(Json::Text(value.to_string()))
            }),
            Self::ListForItem => call.replace(
                dice,
                |_| true,
                |value, _| Some(Json::List(vec![value.clone()])),
            ),
            Self::EmptyList => call.replace(dice, is_list, |_, _| Some(Json::List(Vec::new()))),
            Self::EmptyText => call.replace(
                dice,
                |site| is_text(site) || is_choice(site),
                |_, _| Some(Json::Text(String::new())),
            ),
            Self::BadFormat => call.replace(
                dice,
                |site| matches!(site.shape, Shape::Text { format: Some(_) }),
                |_, dice| {
                    let bad = [
                        "2020-13-01",
                        "2021-02-29",
                        "01/02/2020",
                        "2020-1-1",
                        "today",
                    ];
                    dice.one_of(&bad).map(|text| Json::Text((*text).into()))
                },
            ),
            Self::ListForRecord => call.replace(dice, is_record, |value, _| values(value)),
            _ => None,
        }
    }

    /// Applies a kind that changes the arguments as a whole.
    fn of_whole(self, call: &Call<'_>, _: &mut RandomChoices) -> Option<String> {
        let gold = call.gold;
        Some(match self {
            Self::ListForArguments => values(gold)?.to_string(),
            Self::TextForArguments => quoted(&gold.to_string()),
            Self::NullForArguments => "null".into(),
            Self::NoText => String::new(),
            Self::EmptyRecord => "{}".into(),
            Self::OtherOrder => match gold {
                Json::Record(entries) if entries.len() > 1 => {
                    Json::Record(entries.iter().rev().cloned().collect()).to_string()
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Applies a kind that changes the text.
    fn of_text(self, call: &Call<'_>, dice: &mut RandomChoices) -> Option<String> {
        let text = call.gold.to_string();
        let inside = |raw_text: &str, dice: &mut RandomChoices| {
            call.replace(dice, is_text, |_, _| Some(raw(raw_text)))
        };
        Some(match self {
            Self::Spaced => spaced(call.gold),
            Self::Escaped => escaped(call.gold),
            Self::HalfPair => inside("\"a\\ud83d b\"", dice)?,
            Self::RawLineBreak => inside("\"a\nb\"", dice)?,
            Self::CutShort => {
                let mut end = text.len() - 1;
                if text.len() > 2 && dice.roll().is_multiple_of(2) {
                    end = text.len() / 2;
                }
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text[..end].to_owned()
            }
            Self::BehindEnd => format!("{text}{}", dice.one_of(&["}", "{}", " x", "\u{0}", ","])?),
            Self::TrailingComma => format!("{},}}", text.strip_suffix('}')?),
            _ => return None,
        })
    }
}
