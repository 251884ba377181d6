//! The recorded calls and their definitions, against jsonschema and against the rules.

mod real_input;
mod verdicts;
