//! The schemas of contracts and of tools.

use std::collections::BTreeSet;

use test_support::Ran;
use tool_contracts::fs::FindFiles;
use tool_contracts::git::GitPush;
use tool_contracts::{Json, NAMES, ToolContract, http, schemas};
use tool_core::{Dialect, ErrorKind, Registry, Tool};
use tool_std::fs::find_files;
use tool_std::git::git_push;
use tool_std::human::ask_user;

/// The contracts of the team tools, which this program does not link. `tool-agent` creates these tools, and its tests compare them with the
/// contracts.
const NOT_LINKED: [&str; 4] = [
    "consult_team",
    "consult_specialist",
    "research_topic",
    "spawn_task",
];

// S2-24, S2-25: each tool has a contract with the same name, arguments and result.
pub(crate) fn each_linked_tool_equals_its_contract_case() -> Ran {
    let registry = Registry::linked().unwrap();
    // The client runs this tool, so it is not linked.
    let client = Registry::builder().dynamic(ask_user()).build().unwrap();
    let all = schemas();
    let mut compared = BTreeSet::new();
    for tool in registry.tools().iter().chain(client.tools()) {
        let contract = all.iter().find(|contract| contract.name == tool.name());
        let contract = contract.unwrap_or_else(|| {
            panic!(
                "`{}` has no contract: add one to `tool-contracts`",
                tool.name()
            )
        });
        contract
            .check(tool)
            .unwrap_or_else(|error| panic!("{error}"));
        compared.insert(tool.name().to_owned());
    }
    let missing: Vec<_> = NAMES
        .iter()
        .filter(|name| !compared.contains(**name) && !NOT_LINKED.contains(name))
        .collect();
    assert!(missing.is_empty(), "no tool has the names {missing:?}");
    Ok(())
}

// S2-26: `#[tool]` generates the name of the tool as a constant, and the contract has the same constant.
pub(crate) fn names_are_constants_case() -> Ran {
    const FIND: &str = <find_files as Tool>::NAME;
    const PUSH: &str = <git_push as Tool>::NAME;
    assert_eq!((FIND, PUSH), (FindFiles::NAME, GitPush::NAME));
    let unique: BTreeSet<_> = NAMES.iter().collect();
    assert_eq!(unique.len(), NAMES.len());
    Ok(())
}

// A doc comment of a tool, a parameter or a field becomes a description, in which a link to a Rust item has no meaning for a model.
pub(crate) fn descriptions_of_tools_contain_no_links_case() -> Ran {
    let registry = Registry::linked().unwrap();
    for tool in registry.tools() {
        let output = tool.output_schema().unwrap_or_default();
        for text in [tool.definition(Dialect::OpenAi), &*output] {
            let links = ["](", "[`", "tool_core::"];
            let found = links.iter().find(|link| text.contains(**link));
            assert!(found.is_none(), "{}: {found:?} in {text}", tool.name());
        }
    }
    Ok(())
}

// S2-24: the result of an HTTP tool, which has no strict schema, is read and written without loss.
pub(crate) fn http_result_is_read_without_loss_case() -> Ran {
    let text = r#"{"status":429,"url":"https://example.com/","headers":[{"name":"a","value":"b"}],"body":{"x":[1,-2,0.5,null]},"truncated":false,"duration_ms":3,"retry_after_seconds":7,"headers_not_sent":["host"],"note":"n"}"#;
    let read: http::Answered = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert!(matches!(read.body, Some(Json::Object(_))));
    // The result has the same keys as the tool's own schema.
    let registry = Registry::linked().unwrap();
    let schema = registry.get("http_get").unwrap().output_schema().unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let keys = |value: &serde_json::Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&value), keys(&schema["properties"]));
    Ok(())
}

// S2-24: each kind of an error has the same name in the crate for clients, and an unknown name is `failed`.
pub(crate) fn error_kinds_have_the_names_of_the_host_case() -> Ran {
    for kind in [
        ErrorKind::UnknownTool,
        ErrorKind::InvalidArguments,
        ErrorKind::Denied,
        ErrorKind::Pending,
        ErrorKind::Failed,
        ErrorKind::TimedOut,
        ErrorKind::Cancelled,
        ErrorKind::Panicked,
        ErrorKind::RateLimited,
        ErrorKind::Interrupted,
        ErrorKind::Unavailable,
    ] {
        let text = format!("\"{}\"", kind.as_str());
        let read: tool_contracts::ErrorKind = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
    let newer: tool_contracts::ErrorKind = serde_json::from_str("\"newer\"").unwrap();
    assert_eq!(newer, tool_contracts::ErrorKind::Failed);
    Ok(())
}
