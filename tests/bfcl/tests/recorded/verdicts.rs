//! Comparison of the generator's verdict on a definition, and of the published schemas, with the rule catalogue for raw schemas.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use bfcl as _;
use bfcl_gen::{SAMPLE, plan, sample};
use serde_json::Value;
use tool_core::prelude::*;
use tool_core::schema::dynamic::{Target, judge, read};

const TARGETS: [(Dialect, Target); 5] = [
    (Dialect::OpenAi, Target::OpenAi),
    (Dialect::Anthropic, Target::Anthropic),
    (Dialect::Gemini, Target::Gemini),
    (Dialect::Mcp, Target::Mcp),
    (Dialect::JsonSchema, Target::JsonSchema),
];

/// Rules that refuse a definition although every provider accepts its schema. `enum-case-only` exists because Anthropic does not
/// guarantee the case of enum values.
const NOT_REFUSED: [&str; 1] = ["enum-case-only"];

#[test]
fn every_schema_passes_the_checks_of_its_provider() {
    let toolset = Registry::linked().expect("a registry").open();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for name in toolset.names() {
        let tool = toolset.get(name).expect("a listed tool");
        for (dialect, target) in TARGETS {
            let schema: Value = serde_json::from_str(tool.schema(dialect)).expect("JSON");
            judged += 1;
            for fault in judge(&schema).against(target) {
                wrong.push(format!("{name} {target:?}: {fault}"));
            }
        }
    }
    assert_eq!(judged, 397 * TARGETS.len());
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
}

#[test]
fn untypable_schemas_are_refused_raw_as_well() {
    let definitions = plan::plan(&sample::read(SAMPLE).expect("the sample"));
    for definition in &definitions {
        let schema = definition.function.parameters.to_string();
        let schema: Value = serde_json::from_str(&schema).expect("JSON");
        let name = &definition.function.name;
        let theirs = match read(&schema) {
            Ok(read) => Dialect::ALL
                .into_iter()
                .flat_map(|dialect| read.faults(dialect))
                .collect(),
            Err(faults) => faults,
        };
        match &definition.tool {
            Ok(_) => assert!(theirs.is_empty(), "{name} is a tool, but {theirs:?}"),
            Err(ours) => {
                for fault in ours {
                    assert!(
                        NOT_REFUSED.contains(&fault.rule)
                            || theirs.iter().any(|other| other.rule == fault.rule),
                        "{name}: {fault} is not among {theirs:?}"
                    );
                }
            }
        }
    }
}
