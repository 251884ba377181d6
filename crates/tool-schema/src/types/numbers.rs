//! `StrictSchema` and `Decode` for numbers and booleans.

use core::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize, Saturating, Wrapping,
};

use super::strict;
use crate::args::read::{Decode, Node, Reader, Unfit};
use crate::schema::{Integer, Kind, Schema, StrictSchema};

strict! {
    Kind::Boolean => bool;
    Kind::Number { single: true } => f32;
    Kind::Number { single: false } => f64;
}

macro_rules! integers {
    ($($primitive:ident, $non_zero:ident;)+) => {
        $(
            #[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::cast_lossless, reason = "`From` is not const; a minimum fits `i128`, a maximum `u128`")]
            impl StrictSchema for $primitive {
                const SCHEMA: &'static Schema = &Schema::new(Kind::Integer(Integer {
                    name: stringify!($primitive),
                    min: $primitive::MIN as i128,
                    max: $primitive::MAX as u128,
                    not_zero: false,
                }));
            }
            #[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::cast_lossless, reason = "`From` is not const; a minimum fits `i128`, a maximum `u128`")]
            impl StrictSchema for $non_zero {
                const SCHEMA: &'static Schema = &Schema::new(Kind::Integer(Integer {
                    name: stringify!($primitive),
                    // If the primitive starts at zero, the smallest non-zero value is one.
                    min: if $primitive::MIN == 0 { 1 } else { $primitive::MIN as i128 },
                    max: $primitive::MAX as u128,
                    not_zero: $primitive::MIN != 0,
                }));
            }
            impl Decode for $primitive {
                #[inline]
                fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                    reader.primitive(node)
                }
            }
            impl Decode for $non_zero {
                #[inline]
                fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                    let number = $primitive::decode(reader, node)?;
                    Self::new(number).map_or_else(|| reader.none(), Ok)
                }
            }
        )+
    };
}

integers! {
    i8, NonZeroI8;
    i16, NonZeroI16;
    i32, NonZeroI32;
    i64, NonZeroI64;
    i128, NonZeroI128;
    isize, NonZeroIsize;
    u8, NonZeroU8;
    u16, NonZeroU16;
    u32, NonZeroU32;
    u64, NonZeroU64;
    u128, NonZeroU128;
    usize, NonZeroUsize;
}

/// serde reads the inner number.
impl<T: StrictSchema> StrictSchema for Wrapping<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

/// serde reads the inner number and clamps values that are out of range; the schema rejects them.
impl<T: StrictSchema> StrictSchema for Saturating<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}
