//! The page `docs/contracts.md`, which maps names of tools in other systems to the tools of this project.

use std::collections::{BTreeMap, BTreeSet};

use test_support::Ran;
use tool_contracts::NAMES;
use tool_core::Registry;
use tool_std as _;

const PAGE: &str = include_str!("../../../../docs/contracts.md");

/// The names of tools in the two other systems.
const SOURCES: [&str; 44] = [
    "memorySearch",
    "conversationSearch",
    "rememberMemory",
    "memoryBlock",
    "consultTeam",
    "consultSpecialist",
    "researchTopic",
    "fetchWebpage",
    "searchWeb",
    "readFileParts",
    "userQuestions",
    "createExecutionPlan",
    "replaceExecutionPlan",
    "submitExecutionNodeResult",
    "getActiveExecutionPlan",
    "resumeExecutionPlanRun",
    "logHelloWorld",
    "searchMemory",
    "saveMemory",
    "searchKnowledge",
    "getKnowledge",
    "writeKnowledge",
    "webSearch",
    "httpRequest",
    "curl",
    "slackPostMessage",
    "hubspotContact",
    "scheduleTask",
    "readSkill",
    "spawnTask",
    "readFile",
    "writeFile",
    "listDirectory",
    "gitCloneRepo",
    "ghIssue",
    "uploadAttachment",
    "fileUpload",
    "verifyDocument",
    "send_message_to_human",
    "mark_room_event_completed",
    "mark_events_completed",
    "compact_room_history",
    "send_outbound_message",
    "send_whatsapp_template",
];

/// Returns the cells of the rows of a table, each with the names in backquotes.
fn rows(table: &str) -> Vec<Vec<Vec<&'static str>>> {
    let (_, after) = PAGE.split_once(table).unwrap();
    let lines = after
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let cell = |cell: &'static str| cell.split('`').skip(1).step_by(2).collect();
    lines
        .map(|line| line.split('|').skip(1).map(cell).collect())
        .collect()
}

// S2-25: the page maps each tool name of the other systems once, and only to tools that exist. A registry finds a tool by its name in the other
// system.
pub(crate) fn each_name_of_other_systems_has_one_row_case() -> Ran {
    let mut listed = Vec::new();
    let mut registry = Registry::builder().with_linked();
    let linked = Registry::linked().unwrap();
    for row in rows("| other names | tool | limits |") {
        let (names, tools) = (&row[0], &row[1]);
        assert!(!names.is_empty() && !tools.is_empty(), "{row:?}");
        listed.extend(names.iter().copied());
        for tool in tools {
            assert!(NAMES.contains(tool), "there is no tool `{tool}`");
        }
        for name in names.iter().filter(|_| tools.len() == 1) {
            if linked.get(tools[0]).is_some() && name != &tools[0] {
                registry = registry.renamed(*name, tools[0]);
            }
        }
    }
    let registry = registry.build().unwrap();
    assert_eq!(
        registry.get_by_alias("readFile").unwrap().name(),
        "read_file"
    );
    listed.extend(rows("| name | reason |").iter().map(|row| row[0][0]));
    let unique: BTreeSet<_> = listed.iter().copied().collect();
    assert_eq!(unique.len(), listed.len(), "{listed:?}");
    assert_eq!(unique, SOURCES.into_iter().collect());
    Ok(())
}

// S1-46, S1-47: the page lists the tools of the categories that rules can hide from an instance.
pub(crate) fn categories_have_the_tools_of_the_page_case() -> Ran {
    let mut linked: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for tool in Registry::linked().unwrap().tools() {
        let tools = linked.entry(tool.category().to_owned()).or_default();
        tools.insert(tool.name().to_owned());
    }
    for category in ["memory", "knowledge"] {
        let table = rows("| category | tools |");
        let row = table.iter().find(|row| row[0] == [category]);
        let listed = row.map(|row| row[1].iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(listed, linked.remove(category), "{category}");
    }
    Ok(())
}
