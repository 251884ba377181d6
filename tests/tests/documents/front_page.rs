//! Entry points of the documentation: aliases, and links to `#[tool]` and the guides.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tool_tests::sources::each_source;

/// The folders of sources that are searched for aliases.
const SOURCES: [&str; 5] = [
    "crates/tool-schema/src",
    "crates/tool-store/src",
    "tool-core/src",
    "crates/tool-mcp/src",
    "crates/tool-wire/src",
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Collects the names of every `doc(alias(…))` below a folder.
fn gather(folder: &Path, aliases: &mut BTreeSet<String>) {
    each_source(folder, &mut |path| {
        let text = fs::read_to_string(path).unwrap();
        for list in text.split("doc(alias(").skip(1) {
            let list = list.split("))]").next().unwrap();
            aliases.extend(list.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    });
}

// Terms of other libraries are aliases of items.
#[test]
fn terms_of_other_libraries_are_doc_aliases() {
    let mut aliases = BTreeSet::new();
    for folder in SOURCES {
        gather(&root().join(folder), &mut aliases);
    }
    for word in [
        "function calling",
        "tool_call",
        "tool_result",
        "json schema",
        "structured output",
        "FastMCP",
        "mcp server",
        "mcp client",
        "RunContext",
        "dependency injection",
        "human in the loop",
        "guardrail",
        "agent loop",
        "elicitation",
        "rate limit",
        "idempotency",
        "useChat",
        "generator",
        "image",
    ] {
        assert!(aliases.contains(word), "no item has the alias `{word}`");
    }
}

// The first link on the front page is to `#[tool]`. The page links to each guide except `telemetry`, and names the crates that users add.
#[test]
fn first_link_of_the_front_page_is_the_tool_attribute() {
    let text = fs::read_to_string(root().join("tool-core/src/lib.rs")).unwrap();
    let page: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .collect();
    let page = page.join("\n");
    let first = page.split("](").nth(1).unwrap();
    assert!(
        first.starts_with("macro@tool)"),
        "the first link is {first}"
    );
    let guides = fs::read_to_string(root().join("tool-core/src/guides.rs")).unwrap();
    let guides = guides.split("guide!(").skip(1);
    let mut names: Vec<&str> = guides
        .map(|guide| guide.split(':').next().unwrap())
        .collect();
    names.retain(|name| *name != "telemetry"); // only the operators' guide links to this guide
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("](guides::{name})")), "{name}");
    }
    for name in [
        "tool-mcp",
        "tool-cli",
        "tool-std",
        "tool-store",
        "tool-code",
        "tool-isolate",
        "tool-wire",
    ] {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

// The guide declares host values with `host_value!`. The guide and the example share state between readers and
// writers with `Reads` and `Writes`.
#[test]
fn guides_and_examples_declare_host_values_with_the_macro_and_share_state() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    for (page, form) in [
        ("docs/tool-author.md", "host_value!("),
        ("docs/tool-author.md", "&Reads<"),
        ("docs/tool-author.md", "&Writes<"),
        ("examples/shared_state.rs", "&Reads<"),
        ("examples/shared_state.rs", "&Writes<"),
    ] {
        assert!(read(page).contains(form), "{page} lacks `{form}`");
    }
    assert!(!read("examples/shared_state.rs").contains("impl FromContext"));
}
