//! Compiler warnings that depend on const evaluation.
//!
//! `const _: () = <LimitOptional<{ CONDITION }>>::W;` warns if and only if the condition holds: the constant of the `true` impl
//! is deprecated, and its deprecation note is the message.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "a rule's id in brackets is not a link"
)]

macro_rules! items {
    ($($rule:ident, $name:ident, $message:literal, $evidence:literal, $targets:expr;)*) => {$(
        #[doc = $message]
        pub struct $name<const HIT: bool>;
        impl $name<true> {
            /// A use of this constant warns, because the constant is deprecated.
            #[deprecated(note = $message)]
            pub const W: () = ();
        }
        impl $name<false> {
            /// A use of this constant does not warn.
            pub const W: () = ();
        }
    )*};
}

tool_rules::warnings!(items);

use tool_rules::Rule;

use crate::schema::dialect::Spec;
use crate::schema::rules::{
    MOST_OPTIONALS, MOST_UNIONS, MOST_UNWARNED_OPTIONALS, MOST_UNWARNED_UNIONS, Survey,
};
use crate::schema::{Kind, Schema};

/// Returns whether [`LimitOptional`] warns. Above the hard limit it does not warn, because an error is reported instead.
pub const fn many_optionals(spec: &Spec, survey: &Survey) -> bool {
    survey.optionals > MOST_UNWARNED_OPTIONALS
        && survey.optionals <= MOST_OPTIONALS
        && Rule::MANY_OPTIONALS.targets.intersects(spec.providers)
}

/// Returns whether [`LimitUnion`] warns. Above the hard limit it does not warn, because an error is reported instead.
pub const fn many_unions(spec: &Spec, survey: &Survey) -> bool {
    survey.unions > MOST_UNWARNED_UNIONS
        && survey.unions <= MOST_UNIONS
        && Rule::MANY_UNIONS.targets.intersects(spec.providers)
}

/// Returns whether the content of a variant of the union is not an object, so that the tag cannot be one of its keys.
pub const fn holds_a_value(union: &Schema) -> bool {
    let Kind::Union(union) = &union.kind else {
        return false;
    };
    let mut at = 0;
    while at < union.variants.len() {
        if let Some(schema) = union.variants[at].schema
            && !matches!(schema.kind, Kind::Object(_))
            && !schema.is_reported()
        {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns whether several variants of the union are objects, so that only their keys distinguish them.
pub const fn has_records(union: &Schema) -> bool {
    let Kind::Union(union) = &union.kind else {
        return false;
    };
    let (mut records, mut at) = (0, 0);
    while at < union.variants.len() {
        if let Some(schema) = union.variants[at].schema
            && matches!(schema.kind, Kind::Object(_))
        {
            records += 1;
        }
        at += 1;
    }
    records > 1
}
