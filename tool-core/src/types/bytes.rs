//! `StrictSchema` for types of the `bytes` crate, which are rejected.

use super::{refused, strict};
use crate::schema::{Schema, StrictSchema};

strict! {
    refused(
        "bytes",
        "bytes have no JSON form that models write reliably, take base64 text as a `String` and decode it",
    ) => bytes::Bytes, bytes::BytesMut;
}
