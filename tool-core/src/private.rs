//! Items that generated code and the other crates of the workspace use. They have no stability promises: they change together with this
//! module.

#[cfg(feature = "stream")]
pub use async_stream;
pub use linkme;
pub use schemars;
pub use secrecy;
pub use serde;
pub use serde_json;

pub use crate::args::{canonical, read, repaired_object};
#[cfg(feature = "host")]
pub use crate::context::next_identity;
pub use crate::context::{FromSecret, FromVariable};
pub use crate::effect::{Declared, Effect};
pub use crate::json::Entries;
pub use crate::output::{IntoOutput, Returned, Step};
pub use crate::registry::{Link, TOOLS};
pub use crate::run::blocking;
pub use crate::schema::dialect::{Dialect, Dialects, Hints, ToolExample};
pub use crate::schema::json_schema::json_schema;
pub use crate::schema::rules::{Survey, survey};
pub use crate::schema::{
    AuditForm, Constraints, EnumValue, Example, Field, Format, Integer, IntegerValue, Json, Kind,
    Number, Pattern, Schema, StrictSchema, Tagging, Text, Union, Variant,
};
pub use crate::stream::{OutputSlot, Tried, generator, no_stream};
pub use crate::tool::{
    Approval, DecodeError, Entry, Finished, Job, Listed, NotBegun, Origin, Pass, SecretKind,
    SecretNeed, Start, StaticDef, Ticket, VariableKind, VariableNeed, check_secrets,
    check_variables, listed, start,
};
pub use std::borrow::Cow;
pub use std::error::Error as StdError;
pub use std::option::Option;
pub use std::result::Result;
pub use std::string::String;
pub use std::time::Duration;
#[cfg(feature = "stream")]
pub use tool_macros::tool_stream_inner;
pub use tool_schema::__private0::{
    Flat, HasSpec, Lowered, MapKey, REPORTED, Render, RenderSchema, Spec, check_argument, check_as,
    check_circle, check_constraints, check_default, check_example_entry, check_field,
    check_flatten, check_limits, check_optional, check_param, check_root, check_tool,
    check_toolset, check_type, check_variant, crosses_optionals, crosses_unions, flat_len, flatten,
    measure, measure_schema, takes_wide_integer, warn,
};

pub use crate::context::{FromContext, ToolContext};
pub use crate::error::{SHOWN_ERRORS, ShownError, ToolError};
pub use crate::output::ModelOutput;
pub use crate::tool::Tool;
pub use crate::tool::ToolDef;
use crate::toolset::Toolset;
pub use core::future::Future;
pub use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use tool_macros::{beside, tool};

mod approval;
pub mod asks;
pub mod circle;
mod facts;
mod faulty;
mod keys;
mod list;
pub mod probe;
mod record;
#[cfg(feature = "host")]
mod requests;

pub use approval::{NoPredicate, PredicateOf, predicate, predicate_path};
pub use asks::{Param, Returns, StreamOf};
pub use facts::{Facts, check_read_only, check_stated_result, krate, text};
pub use faulty::{FAULTY_DEF, FAULTY_SPEC, faulty_run};
pub use keys::{UnwritableKey, Written, WrittenMap, WrittenValue, check_output_keys};
pub use list::{
    CloneList, DebugList, EqList, List, WriteList, clone_record, debug_record, eq_record,
    write_record, write_transparent,
};
pub use record::Record;
#[cfg(feature = "host")]
pub use requests::{approval_row, in_reading_order, may_be_non_strict, request_faults};

/// Creates a host parameter with `FromContext::from_context` of its type. The effect of the type is a part of the tool's effect.
///
/// The fn has no bound of its own, so that rustc reports a type that lacks the trait once, at the user's type.
pub fn host<T>(
    cx: &ToolContext,
    take: fn(&ToolContext) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    cx.extract(take)
}

/// Creates a declared secret with `FromSecret::from_secret` of its type.
pub fn secret<T>(
    cx: &ToolContext,
    key: &str,
    take: fn(Option<&secrecy::SecretString>, &str) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    take(cx.secret(key), key)
}

/// Creates a declared variable with `FromVariable::from_variable` of its type.
pub fn variable<T>(
    cx: &ToolContext,
    name: &str,
    take: fn(Option<&str>, &str) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    take(cx.variable(name), name)
}

/// Checks `N` tools that are sent in the same request.
///
/// # Panics
///
/// Panics in const evaluation if a provider would refuse the tools. The message lists every fault.
#[track_caller]
pub const fn check_listed<const N: usize>(tools: &[Listed]) {
    if N == 0 {
        return;
    }
    let mut specs = [tools[0].spec; N];
    let mut at = 0;
    while at < N {
        specs[at] = tools[at].spec;
        at += 1;
    }
    check_toolset(&specs);
}

/// Builds the toolset of `toolset![…]`, whose names were compared at compile time.
pub fn toolset_of(tools: &[Listed]) -> Toolset {
    Toolset::of(tools.iter().map(|tool| (tool.def)()).collect())
}
