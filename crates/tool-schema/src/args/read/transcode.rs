//! `Deserialize` for types with [`Decode`]: writes the input as JSON text and reads the text.

use std::fmt::{self, Write as _};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::super::bytes::encode;
use super::{Decode, from_text};
use crate::schema::StrictSchema;

/// Reads a value from any self-describing format, by the same rules as arguments.
///
/// # Errors
///
/// Fails if the input cannot be written as JSON text, or the value does not match its schema. The error lists the faults, up to a limit.
pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: StrictSchema + Decode,
    D: Deserializer<'de>,
{
    let Text(text) = Text::deserialize(from)?;
    let issues = match from_text::<T>(&text) {
        Ok(read) => return Ok(read.value),
        Err(unread) => unread.issues,
    };
    let mut told = String::from("the value does not match its schema");
    for (number, issue) in issues.iter().enumerate() {
        let place = if issue.pointer.is_empty() {
            "the value"
        } else {
            &issue.pointer
        };
        let _ = write!(
            told,
            "{} {place}: expected {}, found {}",
            if number == 0 { ":" } else { ";" },
            issue.expected,
            issue.found
        );
    }
    Err(D::Error::custom(told))
}

/// JSON text that was written from any self-describing format.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut text = String::new();
        from.deserialize_any(Writer(&mut text))?;
        Ok(Self(text))
    }
}

/// Appends the next value to a JSON text.
struct Writer<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

macro_rules! displayed {
    ($($method:ident: $type:ty),+) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<(), E> {
            let _ = write!(self.0, "{value}");
            Ok(())
        }
    )+};
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    displayed!(visit_bool: bool, visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128);

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if !value.is_finite() {
            return Err(E::custom("JSON has only finite numbers"));
        }
        let _ = write!(self.0, "{value:?}");
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.0.push_str(&encode(value));
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.push_str("null");
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push('[');
        let empty = self.0.len();
        loop {
            let before = self.0.len();
            if before > empty {
                self.0.push(',');
            }
            if items.next_element_seed(Writer(self.0))?.is_none() {
                self.0.truncate(before);
                break;
            }
        }
        self.0.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.0.push('{');
        let empty = self.0.len();
        while let Some(key) = entries.next_key::<String>()? {
            if self.0.len() > empty {
                self.0.push(',');
            }
            self.0.push_str(&encode(&key));
            self.0.push(':');
            entries.next_value_seed(Writer(self.0))?;
        }
        self.0.push('}');
        Ok(())
    }
}
