//! Detection of the other derives on an item.
//!
//! rustc passes the item to a derive without its `#[derive(…)]`, so only the source file shows whether serde's derive or the user's
//! own code reads a type. Without a source file (an item that another macro generated), nothing is known and nothing is refused.

use std::cell::OnceCell;

/// The other derives on an item, read when they are needed.
pub(crate) struct OtherDerives {
    names: OnceCell<Vec<String>>,
    /// Whether `#[schema(deserialize)]` reads the type as well.
    is_read: bool,
}

impl OtherDerives {
    /// Creates a list that is read from the source file when it is needed. `is_read` is whether the derive itself generates a `Deserialize`.
    pub(crate) fn of(is_read: bool) -> Self {
        Self {
            names: OnceCell::new(),
            is_read,
        }
    }

    /// Returns whether the type also has a derive of this name, as far as that is known.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names
            .get_or_init(siblings)
            .iter()
            .any(|found| found == name)
    }

    /// Returns whether the type derives `Serialize` and has neither a derived `Deserialize` nor `#[schema(deserialize)]`.
    pub(crate) fn is_only_written(&self) -> bool {
        !self.is_read && self.has("Serialize") && !self.has("Deserialize")
    }
}

/// Returns the names in the `#[derive(…)]` lists of the item, by their last segment; empty if they are not known.
fn siblings() -> Vec<String> {
    if !proc_macro::is_available() {
        return Vec::new();
    }
    let own = proc_macro::Span::call_site();
    let text = own
        .local_file()
        .and_then(|file| std::fs::read_to_string(file).ok());
    text.map(|text| around(&text, own.line(), own.column()))
        .unwrap_or_default()
}

/// Returns the names in the list around a position, and in the lists directly above and below. Lines and columns count from one.
fn around(text: &str, line: usize, column: usize) -> Vec<String> {
    let start = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum::<usize>();
    let inside = text.get(start..).unwrap_or_default();
    let at = start
        + inside
            .char_indices()
            .nth(column.saturating_sub(1))
            .map_or(0, |(at, _)| at);
    let Some((before, list, after)) = list_around(text, at) else {
        return Vec::new();
    };
    let mut names = names(list);
    let mut above = before.trim_end();
    while let Some(line) = above.lines().next_back()
        && is_attribute(line)
    {
        names.extend(derived(line));
        above = above.strip_suffix(line).unwrap_or_default().trim_end();
    }
    let mut below = after.lines();
    if below.next().is_some_and(|line| line.trim() == ")]") {
        for line in below.take_while(|line| is_attribute(line)) {
            names.extend(derived(line));
        }
    }
    names
}

/// Returns whether a line consists of an attribute or a comment, so that the item continues.
fn is_attribute(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#[") && line.ends_with(']') || line.starts_with("//")
}

/// Returns the names of `#[derive(A, B)]` on one line.
fn derived(line: &str) -> Vec<String> {
    let list = line.trim().strip_prefix("#[derive(");
    list.and_then(|list| list.split_once(')'))
        .map(|(list, _)| names(list))
        .unwrap_or_default()
}

/// Returns the source before the attribute, the text between the parentheses around a position, and the text
/// after it; `None` if the parentheses do not belong to `derive(…)`.
fn list_around(text: &str, at: usize) -> Option<(&str, &str, &str)> {
    let open = text.get(..at)?.rfind('(')?;
    let head = text.get(..open)?.trim_end();
    let before = head.strip_suffix("derive")?;
    let close = at + text.get(at..)?.find(')')?;
    let before = before.trim_end().strip_suffix('[').unwrap_or(before);
    let before = before.trim_end().strip_suffix('#').unwrap_or(before);
    Some((before, text.get(open + 1..close)?, text.get(close..)?))
}

/// Splits `serde::Deserialize, Clone` into `Deserialize` and `Clone`.
fn names(list: &str) -> Vec<String> {
    let code: String = list
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    code.split(',')
        .filter_map(|path| path.rsplit("::").next())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::around;

    /// Returns the names around the first `StrictSchema`.
    fn found(text: &str) -> Vec<String> {
        let at = text.find("StrictSchema").unwrap_or_default();
        let line = text[..at].matches('\n').count() + 1;
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        around(text, line, text[start..at].chars().count() + 1)
    }

    // Serde's derive next to `#[schema(integer)]` is found.
    #[test]
    fn derives_of_the_same_item_are_found() {
        let one = "use x;\n\n/// Ä.\n#[derive(Clone, serde::Deserialize, StrictSchema)]\n#[repr(u8)]\nenum E { A }";
        assert_eq!(found(one), ["Clone", "Deserialize", "StrictSchema"]);
        let lines =
            "#[derive(\n    Clone, // why\n    StrictSchema,\n    Deserialize,\n)]\nenum E { A }";
        assert_eq!(found(lines), ["Clone", "StrictSchema", "Deserialize"]);
        let below = "#[derive(StrictSchema)]\n// Both.\n#[derive(Deserialize)]\n#[schema(integer)]\nenum E { A }";
        assert_eq!(found(below), ["StrictSchema", "Deserialize"]);
        let above = "#[derive(Copy)]\nstruct Other;\n\n#[derive(Deserialize)]\n#[schema(integer)]\n#[derive(StrictSchema)]\nenum E { A }";
        assert_eq!(found(above), ["StrictSchema", "Deserialize"]);
    }

    #[test]
    fn derives_of_other_readers_and_items_are_ignored() {
        let repr = "#[derive(Deserialize)]\nstruct Other;\n#[derive(Deserialize_repr, StrictSchema)]\nenum E { A }";
        assert_eq!(found(repr), ["Deserialize_repr", "StrictSchema"]);
        let line = "#[derive(Deserialize)] struct Other;\n#[derive(StrictSchema)] enum E { A }\n#[derive(Deserialize)]\nstruct Next;";
        assert_eq!(found(line), ["StrictSchema"]);
        assert!(around("", 3, 9).is_empty());
        assert!(found("StrictSchema").is_empty());
    }
}
