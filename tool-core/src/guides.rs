//! Guides for authors of tools, hosts and operators.
//!
//! Start with [`authors`]. This module exists only in the documentation.

// The guides are files of the repository and link to one another by file name. Link definitions above each guide have priority over the definitions at its end,
// so that the links lead to the pages here.
macro_rules! guide {
    ($name:ident: $file:literal) => {
        #[doc = "[arguments.md]: crate::guides::arguments"]
        #[doc = "[cli.md]: crate::guides::command_line"]
        #[doc = "[host.md]: crate::guides::hosts"]
        #[doc = "[mcp.md]: crate::guides::mcp"]
        #[doc = "[operator.md]: crate::guides::operators"]
        #[doc = "[rules.md]: crate::guides::rules"]
        #[doc = "[telemetry.md]: crate::guides::telemetry"]
        #[doc = "[threat-model.md]: crate::guides::threat_model"]
        #[doc = "[tool-author.md]: crate::guides::authors"]
        #[doc = "[versions.md]: crate::guides::versions"]
        #[doc = ""]
        #[doc = include_str!(concat!("../docs/", $file))]
        pub mod $name {}
    };
}

guide!(authors: "tool-author.md");
guide!(hosts: "host.md");
guide!(operators: "operator.md");
guide!(arguments: "arguments.md");
guide!(mcp: "mcp.md");
guide!(command_line: "cli.md");
guide!(rules: "rules.md");
guide!(telemetry: "telemetry.md");
guide!(threat_model: "threat-model.md");
guide!(versions: "versions.md");
