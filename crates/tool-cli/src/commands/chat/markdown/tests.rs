//! Tests of streaming Markdown.

use anstyle::{AnsiColor, Style};

use super::inline::MOST_HELD;
use super::{Markdown, Spans};
use crate::screen::{BOLD, DIM};

const WIDTH: usize = 60;

const PLAIN: Style = Style::new();
const CODE: Style = AnsiColor::Cyan.on_default();

fn markdown() -> Markdown {
    let mut markdown = Markdown::default();
    markdown.width(WIDTH);
    markdown
}

fn render(pieces: &[&str]) -> Spans {
    let mut markdown = markdown();
    let mut out = Spans::default();
    for piece in pieces {
        out.extend(markdown.push(piece));
    }
    out.extend(markdown.finish());
    out
}

fn plain(text: &str) -> String {
    render(&[text]).plain()
}

/// Asserts that the text is rendered as these pieces.
#[track_caller]
fn assert_pieces(text: &str, expected: &[(Style, &str)]) {
    let spans = render(&[text]);
    let pieces: Vec<(Style, &str)> = spans.pieces().iter().map(|(s, t)| (*s, &**t)).collect();
    assert_eq!(pieces, expected, "{text:?}");
}

#[test]
fn emphasis_and_code_have_styles() {
    assert_pieces(
        "plain *text*.",
        &[(PLAIN, "plain "), (PLAIN.italic(), "text"), (PLAIN, ".")],
    );
    assert_pieces(
        "**bold** and __bold__",
        &[(BOLD, "bold"), (PLAIN, " and "), (BOLD, "bold")],
    );
    assert_pieces("***both***", &[(BOLD.italic(), "both")]);
    assert_pieces(
        "**a *b* c**",
        &[(BOLD, "a "), (BOLD.italic(), "b"), (BOLD, " c")],
    );
    assert_pieces("**a *b***", &[(BOLD, "a "), (BOLD.italic(), "b")]);
    assert_pieces("*a **b***", &[(PLAIN.italic(), "a "), (BOLD.italic(), "b")]);
    assert_pieces(
        "~~old~~ new",
        &[(PLAIN.strikethrough(), "old"), (PLAIN, " new")],
    );
    assert_pieces(
        "run `ls *`, ``a`b``",
        &[
            (PLAIN, "run "),
            (CODE, "ls *"),
            (PLAIN, ", "),
            (CODE, "a`b"),
        ],
    );
    assert_pieces(
        "**`code`:** x",
        &[(CODE.bold(), "code"), (BOLD, ":"), (PLAIN, " x")],
    );
}

// Marks that do not begin an emphasis are text, and no character is lost.
#[test]
fn marks_without_an_end_are_text() {
    for text in [
        "2 * 3 * 4",
        "2 *3",
        "snake_case_name and __init",
        "a ** b",
        "`open",
        "``open`",
        "[a] and [b](c",
        "[",
        "!",
        "a! b",
        "![a",
        "~one~",
        "~",
        "****four****",
        "C:\\dir",
        "\\",
        "*a\nb*",
        "#hash",
        "####### seven",
        "1.5 and 12",
        "2024",
        "-5",
        "+",
        "|",
        "| one row |",
        "<b>html</b>",
        "a\n\n\nb\n",
        "",
        "\n",
        "_",
        "**",
    ] {
        let expected = if text == "+" { "• " } else { text };
        let out = plain(text);
        let out = if text.starts_with('|') {
            out.trim_end()
        } else {
            &out
        };
        assert_eq!(out, expected);
    }
    assert_eq!(plain("\\*not\\* \\`code\\`"), "*not* `code`");
}

#[test]
fn links_show_their_address() {
    assert_pieces(
        "see [the *docs*](https://a.example/x_(y) \"Title\").",
        &[
            (PLAIN, "see "),
            (PLAIN.underline(), "the "),
            (PLAIN.underline().italic(), "docs"),
            (DIM, " (https://a.example/x_(y))"),
            (PLAIN, "."),
        ],
    );
    assert_pieces(
        "[https://a.example](https://a.example)",
        &[(PLAIN.underline(), "https://a.example")],
    );
    assert_pieces(
        "![chart](c.png)",
        &[(PLAIN.underline(), "chart"), (DIM, " (c.png)")],
    );
}

#[test]
fn headings_lists_quotes_and_rules_are_rendered() {
    assert_pieces(
        "# One\n## Two *x*\n",
        &[
            (BOLD.underline(), "One"),
            (PLAIN, "\n"),
            (BOLD, "Two "),
            (BOLD.italic(), "x"),
            (PLAIN, "\n"),
        ],
    );
    assert_eq!(
        plain("- a\n  - b\n* c\n+ d\n10. e\n2) f"),
        "• a\n  • b\n• c\n• d\n10. e\n2) f"
    );
    assert_eq!(plain("> a\n> > b\n>\n> - c\n"), "│ a\n│ │ b\n│ \n│ • c\n");
    assert_eq!(
        plain("a\n\n---\n* * *\n"),
        format!("a\n\n{0}\n{0}\n", "─".repeat(40))
    );
    assert_eq!(
        plain("**bold** first\n- [ ] task"),
        "bold first\n• [ ] task"
    );
}

// Code is written as the model wrote it: without escapes, emphasis or other blocks.
#[test]
fn code_is_written_as_it_is() {
    let text =
        "```rust\nlet a = *b * c_d_e; // \\n `x`\n# not a heading\n\n- | ~~~\n``\n```\nafter *x*";
    let spans = render(&[text]);
    assert_eq!(spans.plain(), text.replace("*x*", "x"));
    assert_eq!(spans.pieces()[0], (DIM, "```rust".to_owned()));
    assert_eq!(
        spans.pieces()[2],
        (CODE, "let a = *b * c_d_e; // \\n `x`".to_owned())
    );
    assert_eq!(
        plain("1. a\n   ```\n   *b*\n   ```\n   *c*"),
        "1. a\n   ```\n   *b*\n   ```\n   c"
    );
    assert_eq!(
        plain("> ```\n> *b*\n> ```\n> *c*\n"),
        "│ ```\n│ *b*\n│ ```\n│ c\n"
    );
    assert_eq!(plain("> ```\n> *b*\n*c*"), "│ ```\n│ *b*\nc");
    assert_eq!(plain("~~~\n```\n*b*\n~~~~\n*c*"), "~~~\n```\n*b*\n~~~~\nc");
    assert_eq!(
        plain("a\n\n    *b*\n\n- c\n\n    *d*"),
        "a\n\n    *b*\n\n• c\n\n    d"
    );
}

#[test]
fn tables_have_columns() {
    let text =
        "| Name | Pages |\n|:-----|------:|\n| *Odyssey* | 541 |\n| `a|b` | 7 |\n| only |\n\nafter";
    assert_eq!(
        plain(text),
        "Name    │ Pages\n────────┼──────\nOdyssey │   541\na|b     │     7\nonly    │      \n\nafter"
    );
    // Wide characters have two columns.
    assert_eq!(
        plain("|a|b|\n|-|-|\n|書|x|\n|yz|x|"),
        "a  │ b\n───┼──\n書 │ x\nyz │ x\n"
    );
    assert_eq!(
        plain("> | a | b |\n> |---|---|\n> | c | d |\n"),
        "│ a │ b\n│ ──┼──\n│ c │ d\n"
    );
    assert_eq!(plain("| a |\nb"), "| a |\nb");
}

// A table that is wider than the terminal has one line for each cell.
#[test]
fn wide_tables_are_records() {
    let long = "x".repeat(WIDTH);
    let text = format!("| Name | Text |\n|---|---|\n| a | {long} |\n| b | c |\n");
    assert_eq!(
        plain(&text),
        format!("Name: a\nText: {long}\n\nName: b\nText: c\n")
    );
}

/// Texts with every kind of block and mark, including incomplete ones.
fn samples() -> Vec<String> {
    let row = "| a | **b** |\n";
    vec![
        "# Title\n\nA *b* **c** `d` [e](f) ~~g~~ \\* h_i_j.\n\n- x\n  - **y**\n\n1. z\n".to_owned(),
        "> q *r*\n> > s\n\n```rs\nlet a = \"*\";\n```\n\n---\nend **open".to_owned(),
        "| a | b |\n|---|:--|\n| c | `d|e` |\n\nf\r\n***g** h* **i*\n".to_owned(),
        "  *a **b* c** `` d ` e ``\n~~~\n~~\n~~~\n![i](j) !k [l] [m](n".to_owned(),
        "書 **書** é\n- \n* * *\n12345678901. x\n    code\n\n    code\n\t*x*".to_owned(),
        format!(
            "**{}\n*{}* b",
            "a ".repeat(MOST_HELD),
            "c".repeat(MOST_HELD)
        ),
        format!(
            "| x | y |\n|---|---|\n{}| a | long cell |\n\nend",
            row.repeat(120)
        ),
    ]
}

// S2-33: the division of a stream into pieces does not change the rendered text.
#[test]
fn division_into_pieces_does_not_change_the_output() {
    for text in samples() {
        let whole = render(&[&text]);
        // The long texts are cut at fewer positions.
        let step = 1 + text.len() / 50;
        let cuts = (0..=text.len()).step_by(step);
        let cuts = cuts.filter(|at| text.is_char_boundary(*at));
        for cut in cuts {
            assert_eq!(render(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(|piece| &**piece).collect();
        assert_eq!(render(&pieces), whole);
    }
}

// A paragraph is shown while it arrives: only text after a mark is held, and not beyond the limit.
#[test]
fn text_does_not_wait_for_the_end() {
    let mut markdown = markdown();
    assert_eq!(markdown.push("Hello, wor").plain(), "Hello, wor");
    assert_eq!(markdown.push("ld and **im").plain(), "ld and ");
    assert_eq!(markdown.push("portant** text").plain(), "important text");
    assert_eq!(markdown.push("\n```\nlet a").plain(), "\n```\nlet a");
    assert_eq!(markdown.push(" = 1;\n```\n2 *").plain(), " = 1;\n```\n2 ");
    assert_eq!(markdown.push(" 3 and `").plain(), "* 3 and ");
    let out = markdown.push(&"x".repeat(MOST_HELD));
    assert_eq!(out.plain(), format!("`{}", "x".repeat(MOST_HELD)));
}

// Text with thousands of unclosed marks is rendered in little time, because each mark holds a limited number
// of characters.
#[test]
fn marks_without_an_end_are_fast() {
    for mark in [
        "*a ", "**a ", "_a ", "[", "`", "`a``b", "![", "*a **b ", "~~a ", "> ", "- ", "#", "\\",
    ] {
        let text = mark.repeat(1_500);
        let out = plain(&text);
        assert!(out.len() >= text.len() / 2, "{mark}");
    }
}
