//! What stands in brackets.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

use super::{Sink, Writer, quote};

/// How the names of those structs begin that `serde_json` writes in a way of its own: `RawValue`, and its numbers under
/// `arbitrary_precision`.
pub(super) const PRIVATE: &str = "$serde_json::private::";

/// Items or entries.
pub(super) struct Compound<'a> {
    pub(super) out: &'a mut String,
    pub(super) first: bool,
    pub(super) close: &'static str,
}

impl Compound<'_> {
    #[inline]
    fn comma(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.comma();
        value.serialize(Writer(self.out))
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        self.comma();
        quote(self.out, key);
        self.out.push(':');
        value.serialize(Writer(self.out))
    }

    #[inline]
    fn finish(self) {
        self.out.push_str(self.close);
    }
}

macro_rules! items {
    ($($kind:ident $method:ident),*) => {$(
        impl $kind for Compound<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            #[inline]
            fn end(self) -> Result<(), Error> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

items!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        let start = self.out.len();
        key.serialize(Writer(self.out))?;
        match self.out.as_bytes().get(start) {
            Some(b'"') => Ok(()),
            // Numbers and words become text.
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.out.insert(start, '"');
                self.out.push('"');
                Ok(())
            }
            _ => Err(Error::custom("key must be a string")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(':');
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.finish();
        Ok(())
    }
}

impl SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish();
        Ok(())
    }
}

/// A struct, or what `serde_json` disguises as one.
pub(super) enum Record<'a> {
    Plain(Compound<'a>),
    Private(&'static str, &'a mut String),
}

impl SerializeStruct for Record<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        match self {
            Self::Plain(compound) => compound.field(key, value),
            Self::Private(name, out) => {
                let mut plain = serde_json::Serializer::new(Sink(out));
                let mut record = plain.serialize_struct(name, 1)?;
                SerializeStruct::serialize_field(&mut record, key, value)?;
                SerializeStruct::end(record)
            }
        }
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        if let Self::Plain(compound) = self {
            compound.finish();
        }
        Ok(())
    }
}
