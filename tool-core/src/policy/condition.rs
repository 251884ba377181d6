//! Conditions of policy rules on a call's arguments.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

use super::glob::Glob;

/// One test of one value in the arguments. A JSON pointer (RFC 6901) selects the value; `""` is the complete document.
///
/// A condition is true, is false, or fails. It fails if the arguments are not JSON, if the place is absent (except for [`exists`](Place::exists)), if
/// the value has a different type (except that [`equals`](Place::equals) and [`one_of`](Place::one_of) can compare every value with null), or if a
/// number is too large to be compared exactly. An allow rule with a failed condition does not allow.
///
/// ```
/// use tool_core::policy::Condition;
///
/// let condition = Condition::new("/path").prefix("/tmp/");
/// assert_eq!(condition.to_string(), "`/path` starts with \"/tmp/\"");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "File", into = "File")]
pub struct Condition {
    pointer: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Equals(Value),
    OneOf(Vec<Value>),
    Less(Number),
    Greater(Number),
    Prefix(String),
    Glob(Glob),
    Exists(bool),
    Len(Length),
}

/// Allowed lengths of a string (in characters), array or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Length {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<usize>,
}

/// A place in the arguments that still needs a test; created by [`Condition::new`].
#[must_use = "call a method that adds the test"]
pub struct Place(String);

impl Condition {
    /// Starts a condition with its place. A method of [`Place`] adds the test.
    #[allow(
        clippy::new_ret_no_self,
        reason = "a place is not a condition until it has a test"
    )]
    pub fn new(pointer: impl Into<String>) -> Place {
        Place(pointer.into())
    }
}

impl Place {
    fn asks(self, test: Test) -> Condition {
        Condition {
            pointer: self.0,
            test,
        }
    }

    /// Tests whether the value equals `value`. Fails if the types differ, unless one of the values is null.
    pub fn equals(self, value: impl Into<Value>) -> Condition {
        self.asks(Test::Equals(value.into()))
    }

    /// Tests whether the value is one of `values`. Fails if the value cannot be compared with any of them.
    pub fn one_of<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Condition {
        self.asks(Test::OneOf(values.into_iter().map(Into::into).collect()))
    }

    /// Tests whether the number is less than `bound`.
    pub fn less(self, bound: impl Into<Number>) -> Condition {
        self.asks(Test::Less(bound.into()))
    }

    /// Tests whether the number is greater than `bound`.
    pub fn greater(self, bound: impl Into<Number>) -> Condition {
        self.asks(Test::Greater(bound.into()))
    }

    /// Tests whether the string starts with `text`.
    pub fn prefix(self, text: impl Into<String>) -> Condition {
        self.asks(Test::Prefix(text.into()))
    }

    /// Tests whether the pattern matches the whole string.
    pub fn glob(self, glob: impl Into<Glob>) -> Condition {
        self.asks(Test::Glob(glob.into()))
    }

    /// Tests whether the place exists (`true`) or does not exist (`false`). A null value exists.
    pub fn exists(self, there: bool) -> Condition {
        self.asks(Test::Exists(there))
    }

    /// Tests whether the number of a string's characters, an array's items or an object's entries is within these inclusive bounds.
    pub fn len(self, min: Option<usize>, max: Option<usize>) -> Condition {
        self.asks(Test::Len(Length { min, max }))
    }
}

/// The result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    Failed,
}

impl From<bool> for Answer {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl Condition {
    /// Describes the fault of the condition itself, if it has one.
    pub(super) fn fault(&self) -> Option<String> {
        let fault = |what: &str| Some(format!("condition at `{}`: {what}", self.pointer));
        if !self.pointer.is_empty() && !self.pointer.starts_with('/') {
            return fault("a JSON pointer starts with `/`, or is empty for the whole document");
        }
        match &self.test {
            Test::OneOf(values) if values.is_empty() => {
                fault("`one_of` is empty, list the allowed values")
            }
            Test::Len(Length {
                min: None,
                max: None,
            }) => fault("`len` has no bound, write `min` or `max`"),
            Test::Len(Length {
                min: Some(min),
                max: Some(max),
            }) if min > max => fault("`len` has a `min` above its `max`, swap them"),
            _ => None,
        }
    }

    pub(super) fn ask(&self, arguments: &Arguments<'_>) -> Answer {
        let Some(root) = arguments.value() else {
            return Answer::Failed;
        };
        let found = root.pointer(&self.pointer);
        if let Test::Exists(there) = self.test {
            return (found.is_some() == there).into();
        }
        let Some(found) = found else {
            return Answer::Failed;
        };
        match (&self.test, found) {
            (Test::Equals(wanted), found) => equal(wanted, found),
            (Test::OneOf(wanted), found) => {
                let mut failed = true;
                for wanted in wanted {
                    match equal(wanted, found) {
                        Answer::Yes => return Answer::Yes,
                        Answer::No => failed = false,
                        Answer::Failed => {}
                    }
                }
                if failed { Answer::Failed } else { Answer::No }
            }
            (Test::Less(bound), Value::Number(found)) => {
                compare(found, bound).map_or(Answer::Failed, |order| order.is_lt().into())
            }
            (Test::Greater(bound), Value::Number(found)) => {
                compare(found, bound).map_or(Answer::Failed, |order| order.is_gt().into())
            }
            (Test::Prefix(wanted), Value::String(found)) => {
                found.starts_with(wanted.as_str()).into()
            }
            (Test::Glob(glob), Value::String(found)) => glob.matches(found).into(),
            (Test::Len(length), Value::String(found)) => length.holds(found.chars().count()),
            (Test::Len(length), Value::Array(found)) => length.holds(found.len()),
            (Test::Len(length), Value::Object(found)) => length.holds(found.len()),
            _ => Answer::Failed,
        }
    }
}

impl Length {
    fn holds(self, len: usize) -> Answer {
        (self.min.is_none_or(|min| len >= min) && self.max.is_none_or(|max| len <= max)).into()
    }
}

/// Compares numbers by value and all other values exactly. Fails if the types differ, unless one of the values is null.
fn equal(wanted: &Value, found: &Value) -> Answer {
    match (wanted, found) {
        (Value::Number(wanted), Value::Number(found)) => {
            compare(found, wanted).map_or(Answer::Failed, |order| order.is_eq().into())
        }
        // An omitted optional argument may be null, so null is comparable with every type and differs from every other value.
        (Value::Null, _) | (_, Value::Null) => (wanted == found).into(),
        (Value::Bool(_), Value::Bool(_)) | (Value::String(_), Value::String(_)) => {
            (wanted == found).into()
        }
        (Value::Array(wanted), Value::Array(found)) => {
            if wanted.len() != found.len() {
                return Answer::No;
            }
            all(wanted
                .iter()
                .zip(found)
                .map(|(wanted, found)| equal(wanted, found)))
        }
        (Value::Object(wanted), Value::Object(found)) => {
            if wanted.len() != found.len() {
                return Answer::No;
            }
            all(wanted.iter().map(|(key, wanted)| {
                found
                    .get(key)
                    .map_or(Answer::No, |found| equal(wanted, found))
            }))
        }
        _ => Answer::Failed,
    }
}

/// Returns `No` if one answer is `No`, else `Failed` if one failed, else `Yes`.
fn all(answers: impl Iterator<Item = Answer>) -> Answer {
    let mut failed = false;
    for answer in answers {
        match answer {
            Answer::No => return Answer::No,
            Answer::Failed => failed = true,
            Answer::Yes => {}
        }
    }
    if failed { Answer::Failed } else { Answer::Yes }
}

/// 2^53. From this value on, an `f64` may represent more than one integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Compares by value; `None` if a number may be an integer that was rounded when it was parsed.
fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    let whole = |n: &Number| {
        n.as_i64()
            .map(i128::from)
            .or_else(|| n.as_u64().map(i128::from))
    };
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (None, None) => exact(a)?.partial_cmp(&exact(b)?),
        (Some(a), None) => Some(against(a, exact(b)?)),
        (None, Some(b)) => Some(against(b, exact(a)?).reverse()),
    }
}

fn exact(n: &Number) -> Option<f64> {
    n.as_f64().filter(|n| n.abs() < EXACT)
}

/// Compares an integer with an `f64` whose absolute value is less than [`EXACT`].
fn against(whole: i128, float: f64) -> Ordering {
    #[expect(clippy::cast_possible_truncation, reason = "it is below 2^53")]
    let floor = float.floor() as i128;
    match whole.cmp(&floor) {
        Ordering::Equal if float.fract() != 0.0 => Ordering::Less,
        order => order,
    }
}

/// A call's arguments, parsed when the first condition needs them.
pub(super) struct Arguments<'a> {
    text: &'a str,
    value: OnceCell<Option<Value>>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            value: OnceCell::new(),
        }
    }

    fn value(&self) -> Option<&Value> {
        self.value
            .get_or_init(|| match self.text.trim_ascii() {
                // The argument guard reads an empty text as an empty object, too.
                "" => Some(Value::Object(serde_json::Map::new())),
                text => serde_json::from_str(text).ok(),
            })
            .as_ref()
    }

    #[cfg(test)]
    pub(super) fn was_read(&self) -> bool {
        self.value.get().is_some()
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = &self.pointer;
        match &self.test {
            Test::Equals(value) => write!(f, "`{pointer}` is {value}"),
            Test::OneOf(values) => {
                write!(f, "`{pointer}` is one of {}", Value::from(values.clone()))
            }
            Test::Less(bound) => write!(f, "`{pointer}` is less than {bound}"),
            Test::Greater(bound) => write!(f, "`{pointer}` is greater than {bound}"),
            Test::Prefix(text) => write!(f, "`{pointer}` starts with {text:?}"),
            Test::Glob(glob) => write!(f, "`{pointer}` matches {:?}", glob.as_str()),
            Test::Exists(true) => write!(f, "`{pointer}` exists"),
            Test::Exists(false) => write!(f, "`{pointer}` does not exist"),
            Test::Len(Length { min, max }) => {
                write!(f, "the length of `{pointer}` is ")?;
                match (min, max) {
                    (Some(min), Some(max)) => write!(f, "{min} to {max}"),
                    (Some(min), None) => write!(f, "at least {min}"),
                    (None, max) => write!(f, "at most {}", max.unwrap_or(usize::MAX)),
                }
            }
        }
    }
}

/// A condition in a file: a pointer and exactly one test.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    pointer: String,
    #[serde(
        default,
        deserialize_with = "stated",
        skip_serializing_if = "Option::is_none"
    )]
    equals: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    less: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greater: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    glob: Option<Glob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    len: Option<Length>,
}

/// Deserializes an explicit null as a value, not as an absent key.
fn stated<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl TryFrom<File> for Condition {
    type Error = String;

    fn try_from(file: File) -> Result<Self, String> {
        let mut tests = [
            file.equals.map(Test::Equals),
            file.one_of.map(Test::OneOf),
            file.less.map(Test::Less),
            file.greater.map(Test::Greater),
            file.prefix.map(Test::Prefix),
            file.glob.map(Test::Glob),
            file.exists.map(Test::Exists),
            file.len.map(Test::Len),
        ]
        .into_iter()
        .flatten();
        match (tests.next(), tests.next()) {
            (Some(test), None) => Ok(Self {
                pointer: file.pointer,
                test,
            }),
            _ => Err(format!(
                "the condition at `{}` needs exactly one of `equals`, `one_of`, `less`, `greater`, `prefix`, `glob`, `exists`, `len`; \
                 write one condition for each test",
                file.pointer
            )),
        }
    }
}

impl From<Condition> for File {
    fn from(condition: Condition) -> Self {
        let mut file = Self {
            pointer: condition.pointer,
            ..Self::default()
        };
        match condition.test {
            Test::Equals(value) => file.equals = Some(value),
            Test::OneOf(values) => file.one_of = Some(values),
            Test::Less(bound) => file.less = Some(bound),
            Test::Greater(bound) => file.greater = Some(bound),
            Test::Prefix(text) => file.prefix = Some(text),
            Test::Glob(glob) => file.glob = Some(glob),
            Test::Exists(there) => file.exists = Some(there),
            Test::Len(length) => file.len = Some(length),
        }
        file
    }
}

#[cfg(test)]
mod tests;
