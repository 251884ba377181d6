//! `StrictSchema` for types of the `semver` crate.

use semver::{Version, VersionReq};

use super::{STRING, by_serde, strict};
use crate::schema::pattern::Pattern;
use crate::schema::{Constraints, Kind, Schema, StrictSchema};

/// Matches versions whose numbers are below 10^18, so that each number fits in a `u64`. Numeric pre-release identifiers have no leading zeros; build
/// identifiers may have leading zeros.
const VERSION: &Pattern = &Pattern::new(
    r"^(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$",
);

/// Matches `*`, or comparators separated by commas. The limit of 64 characters allows at most 32 comparators, the
/// limit of the crate.
const REQUIREMENT: &Pattern = &Pattern::new(
    r"^(\*|(=|>|>=|<|<=|~|\^)? ?(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,2}(, ?(=|>|>=|<|<=|~|\^)? ?(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,2})*)$",
);

strict! {
    Kind::Constrained(STRING, &Constraints { pattern: Some(VERSION), ..Constraints::NONE }) => Version;
    Kind::Constrained(STRING, &Constraints { pattern: Some(REQUIREMENT), max_length: Some(64), ..Constraints::NONE }) => VersionReq;
}

by_serde!(Version, VersionReq);
