use futures::FutureExt as _;
use tool_core::prelude::*;

pub mod menu {
    use super::*;

    /// An entry of a menu.
    #[derive(Debug, Serialize, Deserialize, StrictSchema)]
    #[schema(json_schema)]
    pub struct Node {
        /// The text of the entry.
        pub label: String,
        /// The entries of the submenu.
        pub below: Vec<Node>,
    }
}

pub mod tree {
    use super::*;

    /// A node of a tree.
    #[derive(Debug, Serialize, Deserialize, StrictSchema)]
    #[schema(json_schema)]
    pub struct Node {
        /// The weight of the node.
        pub weight: u32,
        /// The children of the node.
        pub kids: Vec<Box<Self>>,
        /// The menu that the node opens.
        pub menu: Option<super::menu::Node>,
    }

    /// The record `Branch` of this test.
    #[derive(Debug, Serialize, Deserialize, StrictSchema)]
    pub struct Branch {
        /// The nodes of the branch.
        pub nodes: Vec<super::forest::Node>,
    }
}

pub mod forest {
    use super::*;

    /// A node of a forest. It contains a `Fork`, which refers to the node by its path.
    #[derive(Debug, Serialize, Deserialize, StrictSchema)]
    pub struct Node {
        /// The field `name` of `Node`.
        pub name: String,
        /// The branches of the node.
        pub branches: Vec<Fork>,
    }

    /// The record `Fork` of this test.
    #[derive(Debug, Serialize, Deserialize, StrictSchema)]
    pub struct Fork {
        /// The node of the forest.
        #[schema(recursive)]
        pub back: Option<Box<crate::forest::Node>>,
        /// The field `menu` of `Fork`.
        pub menu: Option<super::menu::Node>,
    }
}

/// The tool `plant` of this test.
#[tool(providers(openai, json_schema))]
pub async fn plant(
    /// The argument `tree` of the tool.
    tree: tree::Node,
    /// The argument `branch` of the tool.
    branch: tree::Branch,
    /// The argument `menu` of the tool.
    menu: menu::Node,
) -> Result<String, ToolError> {
    Ok(format!("{tree:?} {branch:?} {menu:?}"))
}

fn main() {
    let tools = toolset![plant];
    let text = tools.get("plant").unwrap().schema(Dialect::JsonSchema);
    let schema: serde_json::Value = serde_json::from_str(text).unwrap();
    let defs = schema["$defs"].as_object().unwrap();
    let keys = |name: &str| {
        let properties = defs[name]["properties"].as_object().unwrap();
        properties.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(defs.len(), 3);
    assert_eq!(keys("Node"), ["kids", "menu", "weight"]);
    assert_eq!(keys("Node-2"), ["below", "label"]);
    assert_eq!(keys("Node-3"), ["branches", "name"]);
    let to = |pointer: &str| {
        let node = schema.pointer(pointer).unwrap();
        node["$ref"].as_str().or(node["anyOf"][0]["$ref"].as_str()).unwrap()
    };
    assert_eq!(to("/properties/tree"), "#/$defs/Node");
    assert_eq!(to("/properties/menu"), "#/$defs/Node-2");
    assert_eq!(to("/properties/branch/properties/nodes/items"), "#/$defs/Node-3");
    assert_eq!(to("/$defs/Node/properties/kids/items"), "#/$defs/Node");
    assert_eq!(to("/$defs/Node-2/properties/below/items"), "#/$defs/Node-2");

    let both = schemars::schema_for!((tree::Node, menu::Node));
    let both = both.as_value();
    let menu = both.pointer("/$defs/Node2/properties/below/items").unwrap();
    let menu = menu["$ref"].as_str().unwrap().replace('#', "");
    assert!(both.pointer(&menu).unwrap()["properties"]["label"].is_object(), "{both}");

    let call = |arguments: &str| {
        let cx = ToolContext::builder().build();
        tools.call(ToolCall::new("1", "plant", arguments), &cx).now_or_never().unwrap()
    };
    let good = call(
        r#"{"tree":{"weight":1,"kids":[{"weight":2,"kids":[]}],"menu":{"label":"a","below":[]}},
            "branch":{"nodes":[{"name":"n","branches":[{"back":{"name":"m","branches":[]}}]}]},
            "menu":{"label":"b","below":[{"label":"c","below":[]}]}}"#,
    );
    assert!(!good.is_error(), "{good:?}");
    let bad = call(
        r#"{"tree":{"weight":1,"kids":[{"label":"a","below":[]}]},"branch":{"nodes":[]},"menu":{"label":"b","below":[]}}"#,
    );
    assert!(bad.is_error(), "{bad:?}");
}
