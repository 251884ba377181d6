//! `semver`.

use semver::{Version, VersionReq};

use super::{STRING, by_serde, strict};
use crate::schema::pattern::Pattern;
use crate::schema::{Constraints, Kind, Schema, StrictSchema};

/// Numbers below 10^18, so that each fits its `u64`; identifiers of a pre-release have no leading zeros, those of a build may.
const VERSION: &Pattern = &Pattern::new(
    r"^(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$",
);

/// A star, or comparators with commas between: 64 characters hold no more than the 32 that the crate takes.
const REQUIREMENT: &Pattern = &Pattern::new(
    r"^(\*|(=|>|>=|<|<=|~|\^)? ?(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,2}(, ?(=|>|>=|<|<=|~|\^)? ?(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,2})*)$",
);

strict! {
    Kind::Constrained(STRING, &Constraints { pattern: Some(VERSION), ..Constraints::NONE }) => Version;
    Kind::Constrained(STRING, &Constraints { pattern: Some(REQUIREMENT), max_length: Some(64), ..Constraints::NONE }) => VersionReq;
}

by_serde!(Version, VersionReq);
