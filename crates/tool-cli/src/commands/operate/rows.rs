//! Rows of the admin API as text.

use serde_json::Value;

use super::printable;
use crate::screen::{BOLD, paint};
use crate::table::Table;

/// A column of a list: its header and the key of its value.
pub(super) type Column = (&'static str, &'static str);

/// Creates a table of the rows.
pub(super) fn table(columns: &[Column], rows: &[Value]) -> Table {
    let mut table = Table::new(columns.iter().map(|(header, _)| header));
    for row in rows {
        table.row(columns.iter().map(|(_, key)| cell(&row[*key])));
    }
    table
}

/// Formats a value as one line.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    printable(&text).replace(['\n', '\t'], " ")
}

/// Formats each field of a row on its own line; objects and arrays are indented JSON.
pub(super) fn fields(row: &Value) -> String {
    let Some(fields) = row.as_object() else {
        return printable(&row.to_string());
    };
    let lines = fields.iter().map(|(key, value)| {
        let text = match value {
            Value::Object(_) | Value::Array(_) => {
                let text = serde_json::to_string_pretty(value).unwrap_or_default();
                printable(&text).replace('\n', "\n  ")
            }
            value => cell(value),
        };
        format!("{} {text}", paint(BOLD, format_args!("{key}:")))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use console::strip_ansi_codes;
    use serde_json::json;

    use super::{fields, table};

    #[test]
    fn control_characters_of_callers_are_escaped() {
        let row = json!({"tool": "a\u{1b}[2Jb", "arguments": {"text": "one\ntwo\u{202e}"}, "reason": null});
        let text = table(
            &[("TOOL", "tool"), ("REASON", "reason")],
            std::slice::from_ref(&row),
        )
        .render(None);
        assert!(text.contains(r"a\u{1b}[2Jb"), "{text}");
        assert!(text.ends_with('-'), "{text}");
        let text = fields(&row);
        let text = strip_ansi_codes(&text);
        assert!(
            text.contains(r"two\u{202e}") && text.contains(r"tool: a\u{1b}[2Jb"),
            "{text}"
        );
    }
}
