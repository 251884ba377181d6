//! Conversion of doc comments to description texts.
//!
//! Lines of a paragraph are joined. Paragraphs are separated by an empty line. A list item begins a line. Fenced code keeps its lines. A heading
//! keeps its own line, without its `#` marks. Sections for Rust callers (`# Errors`, `# Panics`, `# Safety`, `# Example`, `# Examples`) are removed:
//! a model does not need them, and every token has a cost. A link to a Rust item becomes the text of the link, because a model cannot follow it, and
//! the definition of such a link is removed. Other links and definitions are kept.

use std::fmt::Write;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, Lit, Meta};

use crate::errors::Errors;
use crate::paths::Paths;
use crate::texts;

/// A description; empty if there is no doc comment.
#[derive(Clone, Default)]
pub(crate) struct Doc {
    /// The text before it is escaped for JSON.
    pub(crate) raw: String,
    /// The text as the content of a JSON string.
    pub(crate) escaped: String,
    /// Whether an error about non-literal text has been reported.
    reported: bool,
}

impl Doc {
    /// Reads the doc comments in `attrs`.
    pub(crate) fn of(attrs: &[Attribute], errors: &Errors) -> Self {
        let mut lines = Vec::new();
        let mut reported = false;
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
            let Meta::NameValue(meta) = &attr.meta else {
                continue; // `#[doc(hidden)]` has no text.
            };
            if let Some(text) = literal_text(&meta.value) {
                add_lines(&text, &mut lines);
            } else {
                errors.at(&meta.value, texts::DOC_NOT_LITERAL);
                reported = true;
            }
        }
        Self {
            reported,
            ..Self::from_raw(describe(&lines))
        }
    }

    /// Creates a description from plain text.
    pub(crate) fn from_raw(raw: String) -> Self {
        let escaped = escape(&raw);
        Self {
            raw,
            escaped,
            reported: false,
        }
    }

    /// Returns whether the doc comment is missing and no error about it has been reported.
    pub(crate) fn is_missing(&self) -> bool {
        self.is_empty() && !self.reported
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Generates `Text::escaped("…")`.
    pub(crate) fn text(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        let escaped = &self.escaped;
        if escaped.is_empty() {
            quote!(#private::Text::EMPTY)
        } else {
            quote!(#private::Text::escaped(#escaped))
        }
    }
}

/// Escapes text as the content of a JSON string.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns the text of a string literal, also if `macro_rules!` wrapped it in an invisible group.
fn literal_text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(expr) => match &expr.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Group(group) => literal_text(&group.expr),
        _ => None,
    }
}

/// Splits one doc attribute into lines, and removes the space after `///` and the `*` column of a block comment.
fn add_lines(text: &str, lines: &mut Vec<String>) {
    let starred = text.contains('\n')
        && text
            .lines()
            .skip(1)
            .filter(|line| !line.trim().is_empty())
            .all(|line| line.trim_start().starts_with('*'));
    for (number, line) in text.lines().enumerate() {
        let line = if starred && number > 0 {
            line.trim_start().strip_prefix('*').unwrap_or("")
        } else {
            line
        };
        lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned());
    }
    if text.is_empty() {
        lines.push(String::new());
    }
}

fn describe(lines: &[String]) -> String {
    let mut out = String::new();
    let mut gap = Gap::None;
    let mut fenced = false;
    let mut left_out = false;
    let mut definitions = Vec::new();
    for line in lines {
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if !fenced && let Some(heading) = heading(trimmed) {
            left_out = matches!(
                heading,
                "Errors" | "Panics" | "Safety" | "Example" | "Examples"
            );
            if !left_out {
                add(&mut out, gap.max(Gap::Line), heading);
                gap = Gap::Line;
            }
            continue;
        }
        if !fenced && let Some((label, target)) = definition(trimmed) {
            let is_item = is_item_path(target);
            // A definition cannot continue a paragraph, so such a line with a single word is text.
            if !is_item || left_out || gap != Gap::Space || target.contains("::") {
                definitions.push((label, is_item));
                if is_item {
                    continue;
                }
            }
        }
        if left_out {
            fenced ^= fence;
            continue;
        }
        if fenced || fence {
            add(&mut out, gap.max(Gap::Line), line);
            gap = Gap::Line;
            fenced ^= fence;
        } else if trimmed.is_empty() {
            gap = Gap::Paragraph;
        } else {
            if is_item(trimmed) {
                gap = gap.max(Gap::Line);
            }
            add(&mut out, gap, trimmed);
            gap = Gap::Space;
        }
    }
    without_item_links(out.trim(), &definitions)
}

/// Returns the label and the target of a link definition, such as ``[`Item`]: path::Item`` or `[page]: https://example.com "title"`.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.strip_prefix('[')?.split_once("]:")?;
    let is_footnote = label.starts_with('^');
    let rest = rest.trim();
    let (target, title) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_title = title.is_empty() || title.trim_start().starts_with(['"', '\'', '(']);
    let bare = target
        .strip_prefix('<')
        .and_then(|path| path.strip_suffix('>'));
    let is_definition =
        !is_footnote && is_title && !target.is_empty() && !label.contains(['[', ']']);
    is_definition.then_some((label, bare.unwrap_or(target)))
}

/// Replaces the links that rustdoc resolves to Rust items by their texts: ``[`Item`]``, ``[`item`](fn@item)`` and `[text](path::Item)`. Code keeps
/// its brackets. `definitions` has the labels that are defined in the text, and whether they refer to an item.
fn without_item_links(text: &str, definitions: &[(&str, bool)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['`', '[']) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        if let Some((label, after)) = item_link(rest, definitions) {
            out.push_str(label);
            rest = after;
        } else {
            let (copied, after) = rest.split_at(code_span(rest).unwrap_or(1));
            out.push_str(copied);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Returns the label of the link to a Rust item at the start of `text`, and the text after the link.
fn item_link<'a>(text: &'a str, definitions: &[(&str, bool)]) -> Option<(&'a str, &'a str)> {
    let label = text.strip_prefix('[')?;
    let end = match code_span(label) {
        Some(end) => end,
        None => label.find(['[', ']', '`'])?,
    };
    let (label, rest) = label.split_at(end);
    let rest = rest.strip_prefix(']')?;
    let target = |open, close| rest.strip_prefix(open)?.split_once(close);
    if let Some((path, after)) = target('(', ')') {
        // A path that ends with `()` contains the closing parenthesis.
        let after = if path.ends_with('(') {
            after.strip_prefix(')')?
        } else {
            after
        };
        return is_item_path(path.trim_end_matches('(')).then_some((label, after));
    }
    let (reference, after) = target('[', ']').unwrap_or(("", rest));
    let name = if reference.is_empty() {
        label
    } else {
        reference
    };
    let defined = definitions
        .iter()
        .find(|(label, _)| label.eq_ignore_ascii_case(name));
    let is_item = match defined {
        Some((_, is_item)) => *is_item,
        None if reference.is_empty() => is_item_path(label.strip_prefix('`')?.strip_suffix('`')?),
        None => is_item_path(reference),
    };
    is_item.then_some((label, after))
}

/// Returns the length of the code span or code block at the start of `text`.
fn code_span(text: &str) -> Option<usize> {
    let fence = text.len() - text.trim_start_matches('`').len();
    let marks = (fence > 0).then(|| &text[..fence])?;
    Some(text[fence..].find(marks)? + 2 * fence)
}

/// Returns whether rustdoc reads the target of a link as a path to an item, such as `Item`, `crate::item()` or `fn@item`, and not as a URL.
fn is_item_path(target: &str) -> bool {
    let path = target.split_once('@').map_or(target, |(_, path)| path);
    let path = path.trim_end_matches("()").trim_end_matches('!');
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    path.strip_prefix("::")
        .unwrap_or(path)
        .split("::")
        .all(is_name)
}

/// The separator between two pieces of text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

fn add(out: &mut String, gap: Gap, text: &str) {
    if !out.is_empty() {
        out.push_str(match gap {
            Gap::None => "",
            Gap::Space => " ",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        });
    }
    out.push_str(text);
}

/// Returns the text of a heading: `# Heading` → `Heading`.
fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let marks = line.len() - rest.len();
    ((1..=6).contains(&marks) && rest.starts_with(' ')).then(|| rest.trim())
}

/// Returns whether a line begins a list item: `- item`, `* item`, `+ item`, `1. item`, `1) item`.
fn is_item(line: &str) -> bool {
    if ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

#[cfg(test)]
mod tests {
    use super::{add_lines, describe, escape};

    fn doc(lines: &[&str]) -> String {
        let mut all = Vec::new();
        for line in lines {
            add_lines(line, &mut all);
        }
        describe(&all)
    }

    #[test]
    fn doc_lines_are_joined_and_paragraphs_are_kept() {
        assert_eq!(doc(&[" One", " line.", "", " Two."]), "One line.\n\nTwo.");
        assert_eq!(doc(&["", " One.", "", "", ""]), "One.");
    }

    #[test]
    fn doc_list_items_and_code_keep_their_lines() {
        assert_eq!(
            doc(&[" One of:", " - a,", "   more a", " - b", "", " End."]),
            "One of:\n- a, more a\n- b\n\nEnd."
        );
        assert_eq!(
            doc(&[" See", " ```", " a", "   b", " ```", " end"]),
            "See\n```\na\n  b\n```\nend"
        );
    }

    #[test]
    fn doc_heading_marks_and_rust_sections_are_removed() {
        assert_eq!(doc(&[" # Title", "", " Body"]), "Title\n\nBody");
        assert_eq!(doc(&[" # Title", " Body"]), "Title\nBody");
        assert_eq!(
            doc(&[
                " Body",
                "",
                " # Errors",
                "",
                " When it fails.",
                "",
                " # Notes",
                " Mind."
            ]),
            "Body\n\nNotes\nMind."
        );
        assert_eq!(
            doc(&[" Body", " # Examples", " ```", " # hidden", " ```"]),
            "Body"
        );
    }

    #[test]
    fn links_to_items_become_their_texts() {
        for (source, text) in [
            ("See [`Item`].", "See `Item`."),
            ("See [`item`](fn@item), and more.", "See `item`, and more."),
            ("See [the item](crate::item()).", "See the item."),
            ("See [`item`](Self::item()).", "See `item`."),
            ("See [the macro][other::item!].", "See the macro."),
            ("[`A`][B] and [`C`](::d::C)", "`A` and `C`"),
        ] {
            assert_eq!(doc(&[source]), text);
        }
        // A link may continue on the next line.
        assert_eq!(doc(&[" See [the", " item](Item)."]), "See the item.");
    }

    #[test]
    fn other_brackets_are_kept() {
        for text in [
            "See [the page](https://example.com/a).",
            "See [`page`](https://example.com/a).",
            "See [the guide](guide.md).",
            "Write `[`, not `]`.",
            "A list such as `[`a`]` or [1, 2] or [`1 + 2`].",
            "Write [a] or [x](y z), [ or `",
            "[`unclosed](item)",
            "Items are `vec![Item](n)`.",
            "```\n[`Item`]\n```",
        ] {
            let lines: Vec<_> = text.split('\n').collect();
            assert_eq!(doc(&lines), text);
        }
    }

    #[test]
    fn definitions_of_links_to_items_are_removed() {
        let link = |definition| doc(&[" See [the item][1].", "", definition, "", " End."]);
        for definition in [
            " [1]: crate::path::Item",
            " [1]: Item",
            " [1]: <fn@crate::item>",
            " [1]: crate::item() \"title\"",
        ] {
            assert_eq!(link(definition), "See the item.\n\nEnd.", "{definition}");
        }
        // In rustdoc, a definition cannot continue a paragraph, but a model has no use for the path.
        let path = "[`Item`]: crate::path::Item";
        assert_eq!(doc(&[" See [`Item`].", path]), "See `Item`.");
        assert_eq!(doc(&[" See [`Item`].", "", path, path]), "See `Item`.");
        assert_eq!(
            doc(&[" [B]: a::B", " [C]: a::C", "", " A [b], a [C][]."]),
            "A b, a C."
        );
        // Definitions often follow the last section, which may be removed.
        assert_eq!(
            doc(&[" A [b].", "", " # Errors", " Never.", "", " [b]: B"]),
            "A b."
        );
    }

    #[test]
    fn definitions_of_urls_and_similar_lines_are_kept() {
        for text in [
            "See [the page].\n\n[the page]: https://example.com/a",
            "See [`page`].\n\n[`page`]: https://example.com/a \"title\"",
            "See [the page][Guide].\n\n[guide]: <guide.md>",
            "[0]: the first item",
            "[^1]: Footnote",
            "```\n[`Item`]: crate::path::Item\n```",
        ] {
            let lines: Vec<_> = text.split('\n').collect();
            assert_eq!(doc(&lines), text);
        }
        assert_eq!(doc(&[" [`Item`]:", " - one"]), "`Item`:\n- one");
        // This line continues a paragraph, so it is not a definition.
        assert_eq!(doc(&[" Modes:", " [fast]: quick"]), "Modes: [fast]: quick");
    }

    #[test]
    fn block_comments_become_descriptions() {
        assert_eq!(doc(&[" One.\n * Two.\n "]), "One. Two.");
        assert_eq!(doc(&["\n One.\n\n Two.\n"]), "One.\n\nTwo.");
    }

    #[test]
    fn descriptions_are_escaped_for_json() {
        assert_eq!(escape("a\"b\\c\nd\u{1}é"), "a\\\"b\\\\c\\nd\\u0001é");
    }
}
