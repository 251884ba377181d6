//! Tests that each change is classified correctly, with pairs that differ in one thing.

use super::schema::{Side, compare};
use super::{Callers, Change, LockedTool, PendingApprovals, changes};

/// Returns whether all changes are compatible; `None` if nothing changed.
fn compatible(side: Side, before: &str, now: &str) -> Option<bool> {
    let changes = compare(before, now, side);
    (!changes.is_empty()).then(|| {
        changes
            .iter()
            .all(|change| change.callers == Callers::Compatible)
    })
}

fn record(properties: &str, required: &str) -> String {
    format!(
        r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
    )
}

/// Pairs of property schemas. The second schema of each pair accepts more values.
const WIDER: [(&str, &str); 14] = [
    (r#"{"type":"integer"}"#, r#"{"type":"number"}"#),
    (r#"{"type":"string"}"#, r#"{"type":["string","null"]}"#),
    (
        r#"{"type":"string","enum":["a"]}"#,
        r#"{"type":"string","enum":["a","b"]}"#,
    ),
    (
        r#"{"type":"string","const":"a"}"#,
        r#"{"type":"string","enum":["a","b"]}"#,
    ),
    (
        r#"{"type":"integer","minimum":2}"#,
        r#"{"type":"integer","minimum":1}"#,
    ),
    (r#"{"type":"integer","maximum":2}"#, r#"{"type":"integer"}"#),
    (
        r#"{"type":"string","maxLength":3}"#,
        r#"{"type":"string","maxLength":9}"#,
    ),
    (
        r#"{"type":"string","pattern":"^a$"}"#,
        r#"{"type":"string"}"#,
    ),
    (
        r#"{"type":"string","format":"date"}"#,
        r#"{"type":"string"}"#,
    ),
    (
        r#"{"type":"integer","multipleOf":6}"#,
        r#"{"type":"integer","multipleOf":3}"#,
    ),
    (
        r#"{"type":"array","items":{"type":"integer"}}"#,
        r#"{"type":"array","items":{"type":"number"}}"#,
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#,
        r#"{"type":"array","items":{"type":"string"}}"#,
    ),
    (
        r#"{"anyOf":[{"type":"string"}]}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
    ),
    (
        r#"{"anyOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}}}]}"#,
        r#"{"anyOf":[{"type":"object","properties":{"kind":{"const":"b"}}},{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"number"}}}]}"#,
    ),
];

// M3: a wider schema breaks readers of outputs, and a narrower schema breaks callers.
#[test]
fn wider_output_and_narrower_input_are_breaking() {
    for (narrow, wide) in WIDER {
        let [narrow, wide] = [narrow, wide].map(|one| record(&format!(r#""a":{one}"#), r#""a""#));
        assert_eq!(
            compatible(Side::Input, &narrow, &wide),
            Some(true),
            "{wide}"
        );
        assert_eq!(
            compatible(Side::Input, &wide, &narrow),
            Some(false),
            "{wide}"
        );
        assert_eq!(
            compatible(Side::Output, &narrow, &wide),
            Some(false),
            "{wide}"
        );
        assert_eq!(
            compatible(Side::Output, &wide, &narrow),
            Some(true),
            "{wide}"
        );
        assert_eq!(compatible(Side::Input, &wide, &wide), None, "{wide}");
    }
}

// M3: added and removed properties are classified for arguments and outputs.
#[test]
fn added_and_removed_properties_are_classified() {
    let (a, b) = (r#""a":{"type":"string"}"#, r#""b":{"type":"string"}"#);
    let ab = format!("{a},{b}");
    let one = record(a, r#""a""#);
    let optional = record(&ab, r#""a""#);
    let required = record(&ab, r#""a","b""#);
    assert_eq!(compatible(Side::Input, &one, &optional), Some(true));
    assert_eq!(compatible(Side::Input, &one, &required), Some(false));
    assert_eq!(compatible(Side::Input, &optional, &one), Some(false));
    assert_eq!(compatible(Side::Input, &optional, &required), Some(false));
    assert_eq!(compatible(Side::Input, &required, &optional), Some(true));
    assert_eq!(compatible(Side::Output, &one, &required), Some(true));
    assert_eq!(compatible(Side::Output, &one, &optional), Some(true));
    assert_eq!(compatible(Side::Output, &required, &one), Some(false));
    assert_eq!(compatible(Side::Output, &required, &optional), Some(false));
    assert_eq!(compatible(Side::Output, &optional, &required), Some(true));
}

// M3: unknown keywords are breaking changes, and changed descriptions are not.
#[test]
fn unknown_keywords_are_breaking_and_descriptions_are_not() {
    let of = |one: &str| record(&format!(r#""a":{one}"#), "");
    let [plain, odd] = [
        r#"{"type":"string"}"#,
        r#"{"type":"string","contentEncoding":"base64"}"#,
    ]
    .map(of);
    for side in [Side::Input, Side::Output] {
        assert_eq!(compatible(side, &plain, &odd), Some(false));
        assert_eq!(compatible(side, &odd, &plain), Some(false));
    }
    let [said, other] = [
        r#"{"type":"string","description":"x"}"#,
        r#"{"type":"string","description":"y"}"#,
    ]
    .map(of);
    for side in [Side::Input, Side::Output] {
        assert_eq!(compatible(side, &said, &other), Some(true));
    }
    let [one, two, none] = [
        r#"{"type":"integer","default":1}"#,
        r#"{"type":"integer","default":2}"#,
        r#"{"type":"integer"}"#,
    ]
    .map(of);
    assert_eq!(compatible(Side::Input, &one, &two), Some(false));
    assert_eq!(compatible(Side::Input, &none, &one), Some(true));
}

// M3: references are followed, and recursive schemas terminate.
#[test]
fn references_are_followed_and_recursion_ends() {
    let tree = |kind: &str| {
        format!(
            r##"{{"type":"object","properties":{{"root":{{"$ref":"#/$defs/Node"}}}},"$defs":{{"Node":{{"type":"object","properties":{{"value":{{"type":"{kind}"}},"next":{{"$ref":"#/$defs/Node"}}}}}}}}}}"##
        )
    };
    assert_eq!(
        compatible(Side::Input, &tree("integer"), &tree("number")),
        Some(true)
    );
    assert_eq!(
        compatible(Side::Input, &tree("number"), &tree("integer")),
        Some(false)
    );
    assert_eq!(
        compatible(Side::Input, &tree("number"), &tree("number")),
        None
    );
}

fn tool() -> LockedTool {
    LockedTool {
        name: "a".into(),
        contract: "1".into(),
        approval: "by_effect".into(),
        input: record("", ""),
        ..LockedTool::default()
    }
}

/// Returns the classification of the only change.
fn class(before: &LockedTool, now: &LockedTool) -> (&'static str, Callers, PendingApprovals) {
    let all = changes(std::slice::from_ref(before), std::slice::from_ref(now));
    assert_eq!(all.len(), 1, "{all:?}");
    let Change {
        part,
        callers,
        approvals,
        ..
    } = &all[0];
    (part, *callers, *approvals)
}

// M3: changes of the parts of a tool are classified for callers and for approvals.
#[test]
fn every_changed_part_is_classified_for_callers_and_approvals() {
    use Callers::{Breaking, Compatible};
    use PendingApprovals::{Hold, Void};
    let base = tool();
    let changed = |change: &dyn Fn(&mut LockedTool)| {
        let mut now = tool();
        change(&mut now);
        now
    };
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    // A change of a part of the contract changes the fingerprint.
    let effect = changed(&|now| {
        now.effects = words(&["write"]);
        now.contract = "2".into();
    });
    assert_eq!(class(&base, &effect), ("effect", Breaking, Void));
    assert_eq!(class(&effect, &base), ("effect", Compatible, Void));
    let read_only = changed(&|now| {
        now.hints = words(&["read_only"]);
        now.contract = "2".into();
    });
    assert_eq!(class(&base, &read_only), ("hint", Compatible, Void));
    assert_eq!(class(&read_only, &base), ("hint", Breaking, Void));
    let text = changed(&|now| {
        now.description = "other".into();
        now.contract = "2".into();
    });
    assert_eq!(class(&base, &text), ("description", Compatible, Void));
    let only = changed(&|now| now.contract = "2".into());
    assert_eq!(class(&base, &only), ("contract", Compatible, Void));
    // These changes keep the fingerprint.
    let asks = changed(&|now| now.approval = "always".into());
    assert_eq!(class(&base, &asks), ("approval", Breaking, Hold));
    assert_eq!(class(&asks, &base), ("approval", Compatible, Hold));
    let secret = changed(&|now| now.secrets = words(&["key"]));
    assert_eq!(class(&base, &secret), ("secret", Breaking, Hold));
    assert_eq!(class(&secret, &base), ("secret", Compatible, Hold));
    let optional = changed(&|now| now.optional_secrets = words(&["key"]));
    assert_eq!(class(&base, &optional), ("secret", Compatible, Hold));
    assert_eq!(class(&optional, &secret), ("secret", Breaking, Hold));
    let category = changed(&|now| now.category = "other".into());
    assert_eq!(class(&base, &category), ("category", Compatible, Hold));
    let offered = changed(&|now| now.providers = words(&["gemini"]));
    assert_eq!(class(&base, &offered), ("provider", Compatible, Hold));
    assert_eq!(class(&offered, &base), ("provider", Breaking, Hold));
    // A tool is removed or added.
    let gone = changes(std::slice::from_ref(&base), &[]);
    assert_eq!((gone[0].callers, gone[0].approvals), (Breaking, Void));
    let new = changes(&[], std::slice::from_ref(&base));
    assert_eq!((new[0].callers, new[0].approvals), (Compatible, Hold));
}
