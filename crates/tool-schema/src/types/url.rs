//! `StrictSchema` for the type of the `url` crate.

use super::{by_serde, format, strict};
use crate::schema::{Format, Schema, StrictSchema};

// The type has a schema so that the rule `format-uri` can reject it with its own message.
strict! {
    format(Format::Uri) => url::Url;
}

by_serde!(url::Url);
