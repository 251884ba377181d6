//! The rules for schemas of tools, as constants.
//!
//! A [`Rule`] is an id, a message, the [`Targets`] that refuse a schema that breaks the rule, and evidence. `tool-schema` and `tool-core` check most
//! rules in const evaluation, the macros check the syntax, and `tool_core::schema::dynamic` checks JSON Schema at run time. They refer to each
//! rule by its constant, so a misspelled rule does not compile.
//!
//! An id may have several messages: one constant for each fault that the rule describes.
//!
//! ```
//! use tool_rules::{Rule, Target};
//!
//! const RULE: Rule = Rule::DUPLICATE_KEY;
//! assert_eq!(RULE.id, "duplicate-key");
//! assert_eq!(RULE.message, "[duplicate-key] two fields have the key `{0}`, rename one");
//! assert_eq!(RULE.text_with(&[&"query"]).to_string(), "two fields have the key `query`, rename one");
//!
//! let openai = Rule::all().filter(|rule| rule.targets.contains(Target::OpenAi));
//! assert!(openai.count() > 20);
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod areas;
mod constraint;
mod derive;
mod dialects;
mod dynamic;
mod import;
mod mcp;
mod rule;
mod schema;
mod tool;
mod types;
mod warning;

pub use dialects::{Dialect, Dialects, Target, Targets};
pub use rule::{Area, Filled, Rule};
