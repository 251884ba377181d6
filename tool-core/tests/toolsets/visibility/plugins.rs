//! Plugins: tools of other publishers.

use tool_core::Plugin;

use super::*;

// S1-12: a plugin for other versions of the engine is reported and not loaded, and the other plugins are loaded.
#[tokio::test]
async fn plugin_loads_only_for_matching_versions() {
    let engine = Plugin::ENGINE;
    let registry = Registry::builder()
        .dynamic(tool("search"))
        .plugin(
            Plugin::new("github", format!("^{engine}"))
                .tool(tool("search"))
                .tool(tool("fetch")),
        )
        .plugin(Plugin::new("future", ">=99").tool(tool("search")))
        .plugin(Plugin::new("broken", "newest").tool(tool("search")))
        .build()
        .unwrap();
    let (tools, cx) = (registry.open(), ToolContext::anonymous());
    assert!(
        tools
            .names()
            .eq(["github__fetch", "github__search", "search"])
    );
    assert_eq!(
        registry.get("github:fetch").unwrap().name(),
        "github:fetch",
        "rules and rows use the id of the tool"
    );
    let result = tools
        .call(ToolCall::new("1", "github__search", "{}"), &cx)
        .await;
    assert_eq!(result.model_text(), "done");
    let explanation = tools.explain("future:search");
    assert_eq!(explanation.layer(), Some(Layer::Engine));
    assert_eq!(
        explanation.to_string(),
        format!(
            "`future:search` [engine]: its plugin was built for a different version of tool-core: update the plugin or tool-core \
             (`requires tool-core >=99, and this is tool-core {engine}`)"
        )
    );
    let broken = tools.explain("broken:search").to_string();
    assert!(
        broken.contains("its range `newest` cannot be read"),
        "{broken}"
    );
    let hidden = tools
        .call(ToolCall::new("2", "future__search", "{}"), &cx)
        .await;
    assert_eq!(hidden.error().unwrap().kind(), ErrorKind::UnknownTool);
}

// S1-12: two plugins whose tools would have the same name are refused, and so is a namespace with characters that a name cannot have.
#[test]
fn plugin_tool_names_are_validated() {
    let plugin = |space: &str| Plugin::new(space, "*").tool(tool("search"));
    let twice = Registry::builder()
        .plugin(plugin("github"))
        .plugin(plugin("github"))
        .build();
    let text = twice.unwrap_err().to_string();
    assert!(
        text.contains("two tools are named `github__search`: in plugin github"),
        "{text}"
    );
    let spaced = Registry::builder().plugin(plugin("git hub")).build();
    assert!(spaced.unwrap_err().to_string().contains("[tool-name]"));
}
