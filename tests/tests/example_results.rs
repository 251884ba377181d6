//! Examples, their labels and their results. One tool here is wrong on purpose, so nothing here asks for the linked tools.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use tool_core::{prelude::*, testing};

/// A place.
#[derive(Serialize, schemars::JsonSchema)]
struct Place {
    name: String,
    floors: u8,
}

fn example_tool(label: &'static str) -> Vec<testing::Violation> {
    /// Finds a place.
    #[tool(example("The tower, by its name", { "name": "Eiffel" } => { "name": "Eiffel", "floors": 3 }), example({ "name": "Louvre" }))]
    fn good(
        /// Its name.
        name: String,
    ) -> Result<Place, ToolError> {
        Ok(Place { name, floors: 3 })
    }

    /// Finds a place.
    #[tool(example("The tower. Its name is enough. Nothing else is needed", { "name": "Eiffel" }))]
    fn chatty(
        /// Its name.
        name: String,
    ) -> Result<Place, ToolError> {
        Ok(Place { name, floors: 3 })
    }

    /// Finds a place.
    #[tool(example({ "name": "Eiffel" } => { "name": "Eiffel", "floors": "three" }))]
    fn stale(
        /// Its name.
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

// S1-65
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

// S3-13
#[test]
fn an_example_may_have_a_result_and_it_is_held_to_the_output() {
    assert!(example_tool("good").is_empty());
    let found = example_tool("stale");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].to_string().contains("/floors"), "{}", found[0]);
}
