//! Tests that generated code compiles without warnings under strict lints and with shadowed names.
#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    unused_lifetimes,
    single_use_lifetimes,
    rust_2018_idioms,
    non_local_definitions,
    clippy::pedantic,
    clippy::absolute_paths,
    clippy::allow_attributes_without_reason
)]
#![allow(dead_code, reason = "the types only need to compile")]

use serde::Serialize;
use tool_core::__private0::IntoOutput;

mod shadowed {
    //! This module shadows names of the prelude and of crates.
    use ::std::string::String as Text;
    use ::tool_core::StrictSchema as Derive;

    struct Option;
    struct Some;
    struct None;
    struct Result;
    struct Ok;
    struct Vec;
    struct String;
    struct Box;
    trait StrictSchema {}
    trait Serialize {}
    mod core {}
    mod std {}
    mod serde {}
    mod tool_core {}

    #[derive(Derive)]
    #[schema(json_schema)]
    pub(crate) struct Record<T> {
        /// The kind of the record.
        #[schema(range = 1.., allow(variant-alias), default = 2)]
        #[serde(alias = "b")]
        pub(crate) r#type: u8,
        /// The field `item` of `Record`.
        pub(crate) item: T,
        /// The text of the record.
        #[schema(pattern = "^a$", length = 1..=2)]
        pub(crate) text: Text,
    }

    #[derive(Derive)]
    #[schema(json_schema, allow(external-tag))]
    pub(crate) enum Choice {
        /// The variant `A` of `Choice`.
        A {
            /// The field `x` of `A`.
            x: u8,
        },
        /// The variant `B` of `Choice`.
        B(u8),
        /// The variant `C` of `Choice`.
        C,
    }
}

mod renamed {
    //! This module uses the core crate under a different path.
    pub(crate) use tool_core as sdk;

    #[derive(sdk::StrictSchema)]
    #[schema(crate = crate::lints::renamed::sdk)]
    pub(crate) struct Record {
        /// The numbers of the record.
        #[schema(default = [1])]
        pub(crate) numbers: Vec<u16>,
    }
}

/// A type with a lower-case name that contains itself.
#[allow(non_camel_case_types, reason = "the test is about the name")]
#[derive(tool_core::StrictSchema, Serialize)]
pub struct node {
    /// The nodes inside this node.
    pub kids: Vec<Self>,
}

/// A type that is no longer in use.
#[deprecated]
#[derive(tool_core::StrictSchema)]
pub struct Old {
    /// The numbers of the record.
    #[deprecated]
    pub numbers: Vec<u16>,
    /// A field that the compiler leaves out.
    #[cfg(any())]
    pub off: NotThere,
    /// A field that the compiler keeps.
    #[cfg(not(any()))]
    pub on: u8,
}

/// A type without `Serialize`. It compiles, although no tool can return it.
#[derive(tool_core::StrictSchema)]
pub struct Quiet {
    /// The field `number` of `Quiet`.
    pub number: u16,
}

/// Compiles if a tool may return a `T`.
fn may_be_returned<T: IntoOutput>() {}

// S0-07: generated code compiles under strict lints and with shadowed names.
#[test]
fn generated_code_compiles_under_strict_lints() {
    use tool_core::StrictSchema;

    /// A record that is declared in a fn.
    #[derive(StrictSchema, Serialize)]
    struct Local {
        /// The inner enum.
        inner: Option<Inner>,
    }

    /// An enum that is declared in a fn.
    #[derive(StrictSchema, Serialize)]
    enum Inner {
        A,
    }

    may_be_returned::<Local>();
    may_be_returned::<node>();
    for name in [
        Local::SCHEMA.name,
        Quiet::SCHEMA.name,
        <node as StrictSchema>::SCHEMA.name,
        shadowed::Record::<Inner>::SCHEMA.name,
        shadowed::Choice::SCHEMA.name,
        renamed::Record::SCHEMA.name,
    ] {
        assert!(!name.is_empty());
    }
}
