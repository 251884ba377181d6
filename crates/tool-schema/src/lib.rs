//! Strict JSON Schemas for tools of language models, as values known at compile time.
//!
//! A type that a model can send as an argument implements [`StrictSchema`], whose constant `SCHEMA` is a tree of [`Schema`] nodes.
//! [`rules`] reject schemas that a provider would reject, [`dialect`] writes the JSON text for each provider, and [`dynamic`] reads JSON Schema at
//! run time into the same tree.
//!
//! ```
//! use tool_schema::StrictSchema;
//! use tool_schema::dialect::{Dialect, schema_text};
//! use tool_schema::dynamic::{Target, judge, read_text};
//!
//! let text = r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}"#;
//!
//! // OpenAI's strict mode refuses the text: the object is open, and `days` is not required.
//! let verdicts = judge(&serde_json::from_str(text)?);
//! let rules: Vec<&str> = verdicts.against(Target::OpenAi).map(|fault| fault.rule).collect();
//! assert_eq!(rules, ["open-object", "optional-not-nullable"]);
//!
//! // The tree that is read from the text is written in the dialect of each provider.
//! let schema = read_text(text).unwrap();
//! assert!(schema.text(Dialect::OpenAi).contains(r#""required":["city","days"]"#));
//!
//! // Types have a schema at compile time.
//! assert_eq!(schema_text(bool::SCHEMA, Dialect::Mcp), r#"{"type":"boolean"}"#);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Authors of tools and hosts do not need this crate: `tool-core` re-exports it as `tool_core::schema`, and has the derive macro of
//! [`StrictSchema`].

#![cfg_attr(docsrs, feature(doc_cfg))]

mod args;
mod json;
#[cfg(feature = "lock")]
pub mod lock;
mod schema;
mod types;

pub use args::{Issue, Repair, RepairNote};
pub use schema::pattern::PatternError;
pub use schema::{
    AuditForm, Constraints, EnumValue, Example, Field, Format, Integer, IntegerValue, Json, Kind,
    MapKey, Number, Pattern, Schema, StrictSchema, Tagging, Text, Union, Variant,
};

pub mod dialect {
    //! Provider dialects of JSON Schema, and the texts of schemas in them.

    pub use crate::schema::dialect::{
        Dialect, Dialects, Hints, ToolExample, output_schema_text, schema_text,
    };
}

pub mod dynamic {
    //! Schemas read at run time: from an MCP server, a file or a plugin.

    pub use crate::schema::dynamic::{
        DynSchema, KEPT_LIMIT, NonStrict, SchemaFault, Target, Targets, Verdicts, judge,
        non_strict, read, read_output, read_text,
    };
}

pub mod json_schema {
    //! `schemars::JsonSchema` for types with a strict schema.

    pub use crate::schema::json_schema::json_schema;
}

pub mod rules {
    //! Rules that reject schemas that a provider would reject, for const evaluation and for run time.

    pub use crate::schema::rules::{Fault, Rule, Survey, faults, is_tool_name, survey};
}

/// Items for `tool-core` and the code of its macros, without stability guarantees.
#[doc(hidden)]
pub mod __private0 {
    pub use crate::schema::dialect::{
        HasSpec, Heading, Lowered, Render, RenderSchema, Spec, definition_around, definition_text,
        is_request, measure, measure_schema, schema_key, total, wrapper,
    };
    pub use crate::schema::dynamic::{Doc, adapted, intern, judged};
    pub use crate::schema::example::{check_default, check_example_entry, check_result};
    pub use crate::schema::flatten::{Flat, check_flatten, flat_len, flatten};
    pub use crate::schema::format::samples;
    pub use crate::schema::pattern::sample::sample;
    pub use crate::schema::rules::{
        check_argument, check_as, check_circle, check_constraints, check_field, check_limits,
        check_optional, check_param, check_root, check_tool, check_toolset, check_type,
        check_variant, crosses_optionals, crosses_unions, refuse, takes_wide_integer,
        toolset_faults,
    };
    pub use crate::schema::{MapKey, warn};

    /// `Schema::REPORTED` for generated code.
    pub const REPORTED: &crate::Schema = crate::Schema::REPORTED;

    pub mod args {
        pub use crate::args::{
            Admitted, Cursor, Inexact, Issue, Misread, Repair, RepairNote, Stop, admit, canonical,
            decode, is_same_number, nearest, nearest_doubles, raw_value, read, repaired_object,
            repeated_key, unescape, value, write_number,
        };
    }

    pub mod json {
        pub use crate::json::{Entries, escape, quote};
    }
}
