//! Writer for a tool's output as JSON text. It writes the same bytes as `serde_json`, except for infinite floats and NaN: JSON cannot represent
//! them, and the schema of the output does not allow the `null` that `serde_json` writes, so this writer returns an error.
//!
//! `serde_json` checks strings byte by byte and starts with 128 bytes. This writer checks sixteen bytes at once, and the caller passes
//! the capacity that the text will need. Numbers are formatted by the same crates as in `serde_json`, and its raw values are copied.

use std::fmt::{self, Display, Write as _};

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;
use serde_json::value::RawValue;

use crate::args::raw_value;
use crate::json::{escape, quote};

mod compound;
mod place;

use compound::{Compound, PRIVATE};

/// Initial capacity if the caller passes 0. `serde_json` starts with the same capacity.
const ROOM: usize = 128;

/// Error text for a float that is infinite or not a number. No other error has this text.
const NOT_FINITE: &str = "a float that is infinite or not a number";

/// Error of an output that cannot be written as JSON.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// A float at this JSON pointer is infinite or not a number.
    NotFinite(String),
    /// The type's own `Serialize` failed, or a key of a map is not a string, a number or a boolean.
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

/// Returns the text if it was written completely.
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
    /// Whether the next string is JSON already, so that it is copied without quotes.
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

    /// Begins the object `{"variant":` of an externally tagged enum.
    fn variant(&mut self, variant: &str) {
        self.out.push('{');
        quote(self.out, variant);
        self.out.push(':');
    }
}

/// Writes the output of `Display` as the content of a JSON string, without quotes.
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
