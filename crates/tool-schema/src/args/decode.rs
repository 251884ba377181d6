//! Decoder from admitted text to a typed value, by serde.
//!
//! `serde_json::from_str` would check every byte again and count lines for its messages. This decoder uses the guard's own cursor, so that guard
//! and decoder agree on the syntax of strings and numbers. When serde buffers a value, a number stays a number, regardless of the features of
//! `serde_json` that other crates enable. Text that is not JSON is an error.

use serde::de::{DeserializeOwned, Deserializer, Error as _, Expected, Unexpected, Visitor};
use serde_json::Error;

use super::bytes;
use super::scan::{Cursor, Num, Str};

mod access;
mod misread;
mod raw;

use access::{Choice, Entries, Items, Unit};
pub use misread::Misread;
use misread::Trail;
pub use raw::raw_value;

/// Decodes a value from text that the guard has admitted.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, Misread> {
    decode_with(text, |decoder| T::deserialize(decoder))
}

/// Decodes a value as [`decode`] does, but with a custom function, such as the function of `#[serde(deserialize_with)]`.
pub(super) fn decode_with<T>(
    text: &str,
    read: impl FnOnce(&mut Decoder<'_>) -> Result<T, Error>,
) -> Result<T, Misread> {
    let mut decoder = Decoder::new(text);
    decoder.cursor.space();
    let read = read(&mut decoder).and_then(|value| decoder.finish().map(|()| value));
    read.map_err(|error| Misread::of(&error, &decoder))
}

/// A serde deserializer over JSON text. Its cursor is at the first byte of a value before the value is read, and after the value's last byte
/// afterwards.
#[derive(Debug)]
pub struct Decoder<'de> {
    cursor: Cursor<'de>,
    /// The path to the value that caused the current error.
    trail: Option<Box<Trail>>,
}

impl<'de> Decoder<'de> {
    const fn new(text: &'de str) -> Self {
        Self {
            // The guard may rewrite a value at the nesting limit as a struct for serde, which needs one more level.
            cursor: Cursor::new(text).deeper(),
            trail: None,
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.cursor.end().or_else(|_| self.fault())
    }

    /// Returns the error for the place where the cursor stopped.
    #[cold]
    fn fault<T>(&self) -> Result<T, Error> {
        Err(match self.cursor.broken {
            Some(broken) => Error::custom(format_args!(
                "expected {} at byte {}",
                broken.expected, broken.at
            )),
            None => Error::custom("the text is not JSON"),
        })
    }

    /// Returns the contents of a string with its escapes unchanged.
    #[inline]
    fn inside(&self, span: Str) -> &'de str {
        self.cursor.slice(span.start, span.end)
    }

    #[inline]
    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.cursor.plain() {
            Some(span) => visitor.visit_borrowed_str(self.inside(span)),
            None => self.string_slow(visitor),
        }
    }

    #[inline(never)]
    fn string_slow<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let span = self.cursor.string().or_else(|_| self.fault())?;
        self.text(span, visitor)
    }

    #[inline]
    fn text<V: Visitor<'de>>(&self, span: Str, visitor: V) -> Result<V::Value, Error> {
        let inside = self.inside(span);
        if span.escaped {
            return visitor.visit_string(bytes::decode(inside).into_owned());
        }
        visitor.visit_borrowed_str(inside)
    }

    #[inline]
    fn word<T>(&mut self, word: &'static str, value: T) -> Result<T, Error> {
        match self.cursor.word(word) {
            Ok(()) => Ok(value),
            Err(_) => self.fault(),
        }
    }

    /// Reads a number like `serde_json`: as the first of `u64`, `i64` and `f64` that can represent it.
    #[inline]
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let number = self.cursor.number().or_else(|_| self.fault())?;
        match number.small {
            Some(value) if !number.negative => visitor.visit_u64(value),
            _ => match self.wide(number)? {
                Wide::Unsigned(value) => visitor.visit_u64(value),
                Wide::Signed(value) => visitor.visit_i64(value),
                Wide::Float(value) => visitor.visit_f64(value),
            },
        }
    }

    /// Parses the text of a number, without the fast path of [`Num::small`].
    #[inline(never)]
    fn wide(&self, number: Num) -> Result<Wide, Error> {
        let text = self.digits(number);
        // An integer cannot keep the sign of minus zero.
        if let Ok(value) = text.parse()
            && value != 0
        {
            return Ok(Wide::Signed(value));
        }
        if let Ok(value) = text.parse() {
            return Ok(Wide::Unsigned(value));
        }
        self.float(number).map(Wide::Float)
    }

    fn digits(&self, number: Num) -> &'de str {
        self.cursor.slice(number.start, number.end)
    }

    /// Parses the nearest float. The guard has refused numbers out of range.
    fn float<F: Float>(&self, number: Num) -> Result<F, Error> {
        let value = self.digits(number).parse().ok().filter(F::finite);
        value.ok_or_else(|| Error::custom("number out of range"))
    }

    #[inline]
    fn open(&mut self, close: u8) -> Result<bool, Error> {
        match self.cursor.open() {
            Ok(()) => Ok(self.cursor.space() != close),
            Err(_) => self.fault(),
        }
    }

    #[inline]
    fn another(&mut self, close: u8) -> Result<bool, Error> {
        self.cursor.another(close).or_else(|_| self.fault())
    }

    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let mut items = Items {
            more: self.open(b']')?,
            index: 0,
            decoder: self,
        };
        let value = visitor.visit_seq(&mut items)?;
        items.close()?;
        Ok(value)
    }

    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let mut entries = Entries {
            more: self.open(b'}')?,
            key: self.cursor.at,
            decoder: self,
        };
        let value = visitor.visit_map(&mut entries)?;
        entries.close()?;
        Ok(value)
    }

    /// Returns the error for a value whose type differs from the requested one.
    #[cold]
    fn mismatch(&mut self, expected: &dyn Expected) -> Error {
        let found = match self.cursor.peek() {
            b'"' => match self.cursor.string() {
                Ok(span) => Unexpected::Str(self.inside(span)),
                Err(_) => Unexpected::Other("a malformed string"),
            },
            b't' => Unexpected::Bool(true),
            b'f' => Unexpected::Bool(false),
            b'n' => Unexpected::Unit,
            b'[' => Unexpected::Seq,
            b'{' => Unexpected::Map,
            b'-' | b'0'..=b'9' => match self.cursor.number().map(|number| self.wide(number)) {
                Ok(Ok(Wide::Unsigned(value))) => Unexpected::Unsigned(value),
                Ok(Ok(Wide::Signed(value))) => Unexpected::Signed(value),
                Ok(Ok(Wide::Float(value))) => Unexpected::Float(value),
                _ => Unexpected::Other("a malformed number"),
            },
            _ => Unexpected::Other("invalid JSON"),
        };
        Error::invalid_type(found, expected)
    }
}

/// A number, in the type that a visitor receives.
enum Wide {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

trait Float: std::str::FromStr {
    fn finite(&self) -> bool;
}

impl Float for f32 {
    fn finite(&self) -> bool {
        self.is_finite()
    }
}

impl Float for f64 {
    fn finite(&self) -> bool {
        self.is_finite()
    }
}

/// Generates the `deserialize_…` methods for values whose first byte identifies their type.
macro_rules! by_first_byte {
    ($($method:ident($($arg:ident: $ty:ty),*) { $($byte:pat => $read:ident),+ })*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($arg: $ty,)* visitor: V) -> Result<V::Value, Error> {
            match self.cursor.peek() {
                $($byte => self.$read(visitor),)+
                _ => Err(self.mismatch(&visitor)),
            }
        }
    )*};
}

/// Generates the `deserialize_…` methods for 128-bit integers and floats. Each method parses the digits as its own type.
macro_rules! by_digits {
    ($($method:ident, $visit:ident, |$self:ident, $number:ident| $read:expr;)*) => {$(
        fn $method<V: Visitor<'de>>($self, visitor: V) -> Result<V::Value, Error> {
            match $self.cursor.peek() {
                b'-' | b'0'..=b'9' => {
                    let $number = $self.cursor.number().or_else(|_| $self.fault())?;
                    visitor.$visit($read?)
                }
                _ => Err($self.mismatch(&visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.cursor.peek() {
            b'"' => self.string(visitor),
            b'-' | b'0'..=b'9' => self.number(visitor),
            b'{' => self.object(visitor),
            b'[' => self.list(visitor),
            b'n' => self.deserialize_unit(visitor),
            _ => self.deserialize_bool(visitor),
        }
    }

    by_first_byte! {
        deserialize_i8() { b'-' | b'0'..=b'9' => number }
        deserialize_i16() { b'-' | b'0'..=b'9' => number }
        deserialize_i32() { b'-' | b'0'..=b'9' => number }
        deserialize_i64() { b'-' | b'0'..=b'9' => number }
        deserialize_u8() { b'-' | b'0'..=b'9' => number }
        deserialize_u16() { b'-' | b'0'..=b'9' => number }
        deserialize_u32() { b'-' | b'0'..=b'9' => number }
        deserialize_u64() { b'-' | b'0'..=b'9' => number }
        deserialize_char() { b'"' => string }
        deserialize_str() { b'"' => string }
        deserialize_string() { b'"' => string }
        deserialize_identifier() { b'"' => string }
        deserialize_bytes() { b'"' => string, b'[' => list }
        deserialize_byte_buf() { b'"' => string, b'[' => list }
        deserialize_seq() { b'[' => list }
        deserialize_tuple(_len: usize) { b'[' => list }
        deserialize_tuple_struct(_name: &'static str, _len: usize) { b'[' => list }
        deserialize_map() { b'{' => object }
        deserialize_struct(_name: &'static str, _fields: &'static [&'static str]) { b'{' => object, b'[' => list }
    }

    by_digits! {
        deserialize_i128, visit_i128, |self, number| self.digits(number).parse().map_err(Error::custom);
        deserialize_u128, visit_u128, |self, number| self.digits(number).parse().map_err(Error::custom);
        deserialize_f32, visit_f32, |self, number| self.float(number);
        deserialize_f64, visit_f64, |self, number| self.float(number);
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = match self.cursor.peek() {
            b't' => self.word("true", true)?,
            b'f' => self.word("false", false)?,
            _ => return Err(self.mismatch(&visitor)),
        };
        visitor.visit_bool(value)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.cursor.peek() == b'n' {
            self.word("null", ())?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.cursor.peek() != b'n' {
            return Err(self.mismatch(&visitor));
        }
        self.word("null", ())?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == raw::TOKEN {
            let start = self.cursor.at;
            self.cursor.skip().or_else(|_| self.fault())?;
            return visitor.visit_map(raw::Raw::new(self.cursor.slice(start, self.cursor.at)));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.cursor.peek() {
            b'"' => visitor.visit_enum(Unit { decoder: self }),
            b'{' => {
                self.open(b'}')?;
                let value = visitor.visit_enum(Choice {
                    key: self.cursor.at,
                    decoder: self,
                })?;
                if self.another(b'}')? {
                    return Err(Error::custom("expected one variant"));
                }
                self.cursor.close();
                Ok(value)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.cursor.skip().or_else(|_| self.fault())?;
        visitor.visit_unit()
    }
}

#[cfg(test)]
mod tests;
