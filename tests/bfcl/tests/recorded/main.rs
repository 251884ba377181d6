//! Comparison of the recorded calls with `jsonschema`, and of their definitions with the rule catalogue.

mod real_input;
mod verdicts;
