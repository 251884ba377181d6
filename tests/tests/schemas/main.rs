//! Dialects, JSON Schemas that are read at run time and the provider rules for them, and results of examples.

mod dialects;
mod dynamic;
mod example_results;
mod non_strict;
mod strict_cases;
