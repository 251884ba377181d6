//! Writer for a tool's output as JSON text. It writes the bytes that `serde_json` writes, except for floats that JSON has no number for:
//! `serde_json` writes `null` for them, which the schema of the output does not allow; here they are errors.
//!
//! `serde_json` checks strings byte by byte and starts with 128 bytes. This writer checks sixteen bytes at once, and the caller passes
//! the capacity that the text will need. Numbers are formatted by the same crates as in `serde_json`, and its raw values are copied.

use std::fmt::{self, Display, Write as _};

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;
use serde_json::value::RawValue;

use crate::args::{raw_value, special};

mod compound;
mod place;

use compound::{Compound, PRIVATE};

/// Initial capacity if the caller knows none, as in `serde_json`.
const ROOM: usize = 128;

/// Error text for a float that is infinite or not a number. No other error has it.
const NOT_FINITE: &str = "a float that is infinite or not a number";

/// Why an output cannot be written.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// A float at this JSON pointer is infinite or not a number.
    NotFinite(String),
    /// The type's own `Serialize` failed, or a key of a map is not text.
    Other(Error),
}

/// Writes `value` into a text with an initial capacity of `room` bytes.
pub(crate) fn write<T: Serialize + ?Sized>(
    value: &T,
    room: usize,
) -> Result<Box<RawValue>, Unwritten> {
    let mut out = String::with_capacity(if room == 0 { ROOM } else { room });
    let written = value.serialize(Writer::new(&mut out));
    whole(out, written)
}

/// Returns the text if it was written to its end.
fn whole(out: String, written: Result<(), Error>) -> Result<Box<RawValue>, Unwritten> {
    match written {
        Ok(()) => raw_value(out).map_err(Unwritten::Other),
        Err(error) => Err(unwritten(&out, error)),
    }
}

#[cold]
fn unwritten(out: &str, error: Error) -> Unwritten {
    if error.to_string() == NOT_FINITE {
        return Unwritten::NotFinite(place::after(out));
    }
    Unwritten::Other(error)
}

struct Writer<'a> {
    out: &'a mut String,
    /// Whether a text is JSON already.
    raw: bool,
}

impl<'a> Writer<'a> {
    const fn new(out: &'a mut String) -> Self {
        Self { out, raw: false }
    }

    #[inline]
    fn compound(self, open: &'static str, close: &'static str) -> Compound<'a> {
        self.out.push_str(open);
        Compound {
            out: self.out,
            first: true,
            raw: false,
            close,
        }
    }

    /// Writes `{"variant":`.
    fn variant(&mut self, variant: &str) {
        self.out.push('{');
        quote(self.out, variant);
        self.out.push(':');
    }
}

/// Writes text as a JSON string.
#[inline]
pub(crate) fn quote(out: &mut String, text: &str) {
    out.push('"');
    escape(out, text);
    out.push('"');
}

/// Writes text as the inside of a JSON string.
#[inline]
fn escape(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        escape_slow(out, text);
    }
}

#[cold]
fn escape_slow(out: &mut String, text: &str) {
    let mut found = first_special(text.as_bytes());
    let mut rest = text;
    while let Some((plain, special)) = found.and_then(|at| rest.split_at_checked(at)) {
        out.push_str(plain);
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            // A control character has two hex digits, and writing into a `String` does not fail.
            Some(control) => drop(write!(out, "\\u{:04x}", u32::from(control))),
            None => {}
        }
        rest = chars.as_str();
        found = first_special(rest.as_bytes());
    }
    out.push_str(rest);
}

/// Whether no byte needs an escape. It checks all bytes, sixteen at once, which takes half the time of finding the first one.
#[inline]
pub(crate) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mask = if let Some(last) = bytes.last_chunk::<16>() {
        // The last sixteen bytes may overlap with the chunks before them.
        let (chunks, _) = bytes.as_chunks::<16>();
        chunks
            .iter()
            .fold(both(last), |mask, chunk| mask | both(chunk))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        special(u64::from_le_bytes(*first)) | special(u64::from_le_bytes(*last))
    } else {
        special(few(bytes))
    };
    mask == 0
}

/// Combines the results of [`special`] for both halves.
#[inline]
fn both(chunk: &[u8; 16]) -> u64 {
    let (halves, _) = chunk.as_chunks::<8>();
    halves
        .iter()
        .fold(0, |mask, half| mask | special(u64::from_le_bytes(*half)))
}

/// Returns the index of the first byte that needs an escape.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let mask = special(u64::from_le_bytes(*chunk));
        if mask != 0 {
            return Some(bytes.len() - rest.len() + (mask.trailing_zeros() >> 3) as usize);
        }
        rest = after;
    }
    if rest.is_empty() {
        return None;
    }
    // The last eight bytes, which may include bytes that are known to be plain, or all bytes if there are fewer.
    let (before, word) = match bytes.last_chunk::<8>() {
        Some(chunk) => (bytes.len() - 8, u64::from_le_bytes(*chunk)),
        None => (0, few(bytes)),
    };
    let mask = special(word);
    (mask != 0).then(|| before + (mask.trailing_zeros() >> 3) as usize)
}

/// Returns up to seven bytes as a word, padded with bytes that need no escape.
#[inline]
fn few(bytes: &[u8]) -> u64 {
    const FILL: u8 = u8::MAX;
    match *bytes {
        [] => u64::MAX,
        [a] => u64::from_le_bytes([a, FILL, FILL, FILL, FILL, FILL, FILL, FILL]),
        [a, b] => u64::from_le_bytes([a, b, FILL, FILL, FILL, FILL, FILL, FILL]),
        [a, b, c] => u64::from_le_bytes([a, b, c, FILL, FILL, FILL, FILL, FILL]),
        [a, b, c, d, ..] => {
            let last = bytes.last_chunk::<4>().copied().unwrap_or_default();
            let low = u64::from(u32::from_le_bytes([a, b, c, d]));
            let high = u64::from(u32::from_le_bytes(last));
            let bits = 8 * (bytes.len() & 7);
            low | high << (bits - 32) | u64::MAX << bits
        }
    }
}

/// Writes the output of `Display` as the inside of a JSON string.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(self.0, text);
        Ok(())
    }
}

macro_rules! whole {
    ($($method:ident: $ty:ty),*) => {$(
        #[inline]
        fn $method(self, value: $ty) -> Result<(), Error> {
            self.out.push_str(itoa::Buffer::new().format(value));
            Ok(())
        }
    )*};
}

macro_rules! float {
    ($($method:ident: $ty:ty),*) => {$(
        #[inline]
        fn $method(self, value: $ty) -> Result<(), Error> {
            if value.is_finite() {
                self.out.push_str(zmij::Buffer::new().format_finite(value));
                Ok(())
            } else {
                Err(Error::custom(NOT_FINITE))
            }
        }
    )*};
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    whole! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128, serialize_u8: u8,
        serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128
    }

    float! { serialize_f32: f32, serialize_f64: f64 }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        quote(self.out, value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.raw {
            self.out.push_str(value);
        } else {
            quote(self.out, value);
        }
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.out.push('"');
        write!(Escaped(self.out), "{value}").map_err(Error::custom)?;
        self.out.push('"');
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant);
        value.serialize(Writer::new(self.out))?;
        self.out.push('}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.compound("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.compound("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.compound("[", "]"))
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        self.variant(variant);
        Ok(self.compound("[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.compound("{", "}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        if name.starts_with(PRIVATE) {
            return Ok(Compound {
                raw: true,
                ..self.compound("", "")
            });
        }
        Ok(self.compound("{", "}"))
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        self.variant(variant);
        Ok(self.compound("{", "}}"))
    }
}

#[cfg(test)]
mod tests;
