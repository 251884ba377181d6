//! `url`.

use super::{by_serde, format, strict};
use crate::schema::{Format, Schema, StrictSchema};

// Has a schema so that the rule `format-uri` can refuse it in its own words.
strict! {
    format(Format::Uri) => url::Url;
}

by_serde!(url::Url);
