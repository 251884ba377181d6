//! Examples of tools, their labels and their results. One tool is invalid on purpose, so tests of this program must not use the registry of linked
//! tools.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use tool_core::{prelude::*, testing};

/// The output type of the tools.
#[derive(Serialize, schemars::JsonSchema)]
struct Place {
    name: String,
    floors: u8,
}

fn example_tool(label: &'static str) -> Vec<testing::Violation> {
    /// Finds a place, for this test.
    #[tool(example("The tower, by its name", { "name": "Eiffel" } => { "name": "Eiffel", "floors": 3 }), example({ "name": "Louvre" }))]
    fn good(
        /// The argument `name` of the tool.
        name: String,
    ) -> Result<Place, ToolError> {
        Ok(Place { name, floors: 3 })
    }

    /// Finds a place, for this test.
    #[tool(example("The tower. Its name is enough. Nothing else is needed", { "name": "Eiffel" }))]
    fn chatty(
        /// The argument `name` of the tool.
        name: String,
    ) -> Result<Place, ToolError> {
        Ok(Place { name, floors: 3 })
    }

    /// Finds a place, for this test.
    #[tool(example({ "name": "Eiffel" } => { "name": "Eiffel", "floors": "three" }))]
    fn stale(
        /// The argument `name` of the tool.
        name: String,
    ) -> Result<Place, ToolError> {
        Ok(Place { name, floors: 3 })
    }

    match label {
        "good" => testing::example_violations(&<good as Tool>::DEF),
        "chatty" => testing::example_violations(&<chatty as Tool>::DEF),
        _ => {
            let refused = Registry::builder()
                .tool::<stale>()
                .build()
                .expect_err("a stale result is refused");
            assert!(
                refused.to_string().contains("tool `stale`")
                    && refused.to_string().contains("/floors"),
                "{refused}"
            );
            testing::example_violations(&<stale as Tool>::DEF)
        }
    }
}

// S1-65: the label of an example is one short sentence.
#[test]
fn a_label_is_one_short_sentence() {
    assert!(example_tool("good").is_empty());
    let found = example_tool("chatty");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].to_string().contains("one sentence"),
        "{}",
        found[0]
    );
}

/// Returns the findings about the label of a tool's only example.
macro_rules! label_findings {
    ($name:ident, $label:tt) => {{
        /// Finds a place.
        #[tool(example($label, { "name": "Eiffel" }))]
        fn $name(
            /// The argument `name` of the tool.
            name: String,
        ) -> String {
            name
        }
        let found = testing::example_violations(&<$name as Tool>::DEF);
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    }};
}

// S1-65: a label that is longer than 100 characters, one line or one sentence is reported.
#[test]
fn label_with_too_many_characters_lines_or_sentences_is_reported() {
    for found in [
        label_findings!(bare, "The tower"),
        label_findings!(ended, "The tower."),
        label_findings!(dotted, "Version 1.5 of it"),
        // This label has exactly 100 characters and 200 bytes.
        label_findings!(
            longest,
            "ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää"
        ),
    ] {
        assert_eq!(found, [""; 0]);
    }
    for found in [
        label_findings!(two, "The tower. It is high"),
        label_findings!(two_ended, "The tower. It is high."),
        label_findings!(lines, "The tower\nof Paris"),
        label_findings!(
            too_long,
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        ),
    ] {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("one sentence of at most 100 characters"),
            "{found:?}"
        );
    }
}

// S3-13: an example may have a result. The result must match the output schema.
#[test]
fn example_result_must_fit_the_output_schema() {
    assert!(example_tool("good").is_empty());
    let found = example_tool("stale");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].to_string().contains("/floors"), "{}", found[0]);
}
