//! `check`.

use serde_json::json;

use crate::support::desk;

// M2
#[test]
fn every_provider_has_a_verdict_on_every_tool() {
    let ran = desk(&["check", "--format", "json"]).succeeds();
    let json = ran.json();
    assert_eq!(json["ok"], true);
    let tools = json["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 8);
    for tool in tools {
        let verdicts = tool["verdicts"].as_array().unwrap();
        assert_eq!(verdicts.len(), 5);
        assert!(
            verdicts
                .iter()
                .all(|verdict| verdict["verdict"] == "accepted"),
            "{tool}"
        );
    }
    let people = desk(&["check", "file_note"]).succeeds().out;
    assert!(people.contains("1 tools, 0 errors"), "{people}");
    desk(&["check", "file_nite"]).fails(2, &["did you mean `file_note`?"]);
    assert_eq!(json["findings"], json!([]));
}
