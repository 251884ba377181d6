//! Any JSON value, without a JSON library.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Any JSON value. The keys of objects are sorted.
///
/// ```
/// use tool_contracts::Json;
///
/// let value: Json = serde_json::from_str(r#"{"b":[1,-1,0.5],"a":null}"#)?;
/// let Json::Object(object) = &value else { panic!("an object") };
/// assert_eq!(object["a"], Json::Null);
/// assert_eq!(serde_json::to_string(&value)?, r#"{"a":null,"b":[1,-1,0.5]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// A number with a fraction or an exponent, or an integer beyond 64 bits.
    Float(f64),
    /// A string, with its escapes decoded.
    Text(String),
    /// An array of values, in order.
    List(Vec<Json>),
    /// An object, whose keys are sorted.
    Object(BTreeMap<String, Json>),
}
