//! Test kit that checks every tool of a crate.
//!
//! One line in a crate of tools checks all its linked tools:
//!
//! ```no_run
//! #[test]
//! fn tools_pass_the_test_kit() {
//!     tool_core::assert_tools!();
//! }
//! # fn main() {}
//! ```
//!
//! For each tool, the kit checks the schema text of every provider that gets the tool, as if the schema were of unknown origin. It generates inputs
//! that match the tool's types and bounds, which must be accepted and decoded, and inputs that break one rule each, which must be refused. The
//! examples must match the schema, and are decoded. The kit does not run the bodies of tools, so bodies need separate tests.

use std::fmt;

use serde_json::Value;

use crate::args::Repair;
use crate::context::ToolContext;
use crate::registry::Registry;
use crate::run;
use crate::schema::Text;
use crate::schema::dialect::Dialect;
use crate::schema::dynamic::{self, Target};
use crate::tool::{ToolDef, result_faults};

mod invalid;
mod random;
mod valid;

pub use invalid::{Invalid, invalid_inputs};
pub use random::Random;
pub use valid::valid_inputs;

/// Maximum number of valid inputs that are generated for each tool.
const INPUTS: usize = 64;

/// A fault that the test kit has found in a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The name of the tool.
    pub tool: String,
    /// Description of the fault.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.tool, self.text)
    }
}

/// Checks every linked tool with the test kit; fails if no tool is linked. See [`testing`](crate::testing).
#[doc(alias("test kit", "fuzz"))]
#[macro_export]
macro_rules! assert_tools {
    () => {
        $crate::testing::assert_kept(&$crate::testing::linked(), &$crate::testing::violations)
    };
}

/// Checks the schema texts of every linked tool for every provider that it is offered to.
///
/// # Panics
///
/// Panics if no tool is linked, if the registry cannot be built, or if a provider would refuse a schema.
#[track_caller]
pub fn assert_strict_all() {
    assert_kept(&linked(), &strict_violations);
}

/// Returns every linked tool.
///
/// # Panics
///
/// Panics if no tool is linked, or if the registry cannot be built.
#[track_caller]
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn linked() -> Vec<ToolDef> {
    match Registry::linked() {
        Ok(registry) => registry.tools().to_vec(),
        Err(error) => panic!("{error}"),
    }
}

/// Checks these tools with `judge`.
///
/// # Panics
///
/// Panics if `tools` is empty or `judge` finds a violation. The message lists all violations.
#[track_caller]
pub fn assert_kept(tools: &[ToolDef], judge: &dyn Fn(&ToolDef) -> Vec<Violation>) {
    assert!(!tools.is_empty(), "there is no tool to test");
    let found: Vec<String> = tools
        .iter()
        .flat_map(judge)
        .map(|violation| violation.to_string())
        .collect();
    assert!(
        found.is_empty(),
        "{} violations in {} tools:\n{}",
        found.len(),
        tools.len(),
        found.join("\n")
    );
}

/// Returns all violations that the kit finds in a tool.
pub fn violations(def: &ToolDef) -> Vec<Violation> {
    let mut all = strict_violations(def);
    all.extend(valid_violations(def));
    all.extend(invalid_violations(def));
    all.extend(example_violations(def));
    all
}

fn violation(def: &ToolDef, text: String) -> Violation {
    Violation {
        tool: def.name().to_owned(),
        text,
    }
}

/// Returns a violation for each fault for which a provider would refuse the schema that it is sent, and for each definition that is not JSON.
pub fn strict_violations(def: &ToolDef) -> Vec<Violation> {
    let mut found = Vec::new();
    for dialect in Dialect::ALL
        .into_iter()
        .filter(|dialect| def.providers().contains(*dialect))
    {
        let name = dialect.name();
        let definition: Result<Value, _> = serde_json::from_str(def.definition(dialect));
        let schema: Result<Value, _> = serde_json::from_str(def.schema(dialect));
        match (definition, schema) {
            (Ok(_), Ok(schema)) => {
                let verdicts = dynamic::judge(&schema);
                let faults = verdicts.against(Target::from(dialect));
                found
                    .extend(faults.map(|fault| {
                        violation(def, format!("{name} refuses its schema: {fault}"))
                    }));
            }
            (Err(error), _) | (_, Err(error)) => found.push(violation(
                def,
                format!("its definition for {name} is not JSON: {error}"),
            )),
        }
    }
    found
}

/// Returns a violation for each generated input that matches the types and is refused.
pub fn valid_violations(def: &ToolDef) -> Vec<Violation> {
    let inputs = valid_inputs(def, 0, INPUTS);
    let refused = inputs.iter().filter_map(|input| {
        let why = read(def, &input.to_string()).err()?;
        Some(violation(
            def,
            format!("refuses {input}, which fits its types: {why}"),
        ))
    });
    refused.collect()
}

/// Returns a violation for each input that breaks one rule and is accepted.
pub fn invalid_violations(def: &ToolDef) -> Vec<Violation> {
    let taken = invalid_inputs(def)
        .into_iter()
        .filter(|invalid| def.admit(&invalid.input, Repair::Off).is_ok());
    taken
        .map(|invalid| {
            violation(
                def,
                format!("accepts {}, though {}", invalid.input, invalid.why),
            )
        })
        .collect()
}

/// Maximum number of characters of the label of an example.
const LABEL_LIMIT: usize = 100;

/// Returns a violation for each example that the tool would refuse, each result that does not match its output schema, and each label that is more
/// than one short sentence. Top-level arguments that an example leaves out are filled in.
pub fn example_violations(def: &ToolDef) -> Vec<Violation> {
    let base = valid_inputs(def, 0, 1).pop();
    let mut found: Vec<Violation> = result_faults(def)
        .into_iter()
        .map(|text| violation(def, text))
        .collect();
    for example in def.examples() {
        let text = example.input.text;
        if let Some(label) = example.label.map(Text::unescape)
            && (label.chars().count() > LABEL_LIMIT
                || label.contains('\n')
                || label.trim_end_matches('.').contains(". "))
        {
            let why = format!(
                "the label of its example {text} must be one sentence of at most {LABEL_LIMIT} characters"
            );
            found.push(violation(def, why));
        }
        let input = match (serde_json::from_str::<Value>(text), &base) {
            (Ok(Value::Object(said)), Some(Value::Object(base))) => {
                let mut input = base.clone();
                input.extend(said);
                Value::Object(input)
            }
            (Ok(input), _) => input,
            (Err(error), _) => {
                found.push(violation(
                    def,
                    format!("its example {text} is not JSON: {error}"),
                ));
                continue;
            }
        };
        if let Err(why) = read(def, &input.to_string()) {
            found.push(violation(def, format!("refuses its example {text}: {why}")));
        }
    }
    found
}

/// Validates and decodes arguments, but does not run the tool.
fn read(def: &ToolDef, text: &str) -> Result<(), String> {
    let admitted = def
        .admit(text, Repair::Off)
        .map_err(|issues| crate::ToolError::invalid_arguments(issues).model_text())?;
    run::decode(def, &admitted.text, ToolContext::anonymous())
        .map_err(|error| error.operator_text())
}
