//! `StrictSchema` for types of the `bytes` crate, which are rejected.

use tool_rules::Rule;

use super::{refused, strict};
use crate::schema::{Schema, StrictSchema};

strict! {
    refused(&Rule::BYTES_TYPE) => bytes::Bytes, bytes::BytesMut;
}
