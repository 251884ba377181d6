//! Emphasis, code spans and links within a line.

use anstyle::Style;

use super::run;
use super::spans::Spans;
use crate::screen::{DIM, NAME};

/// Maximum number of bytes that are held until an emphasis, a code span or a link ends. After that, its first mark is text.
pub(super) const MOST_HELD: usize = 400;

/// Maximum depth of nested emphasis. Deeper marks are text.
const MOST_DEPTH: u8 = 3;

/// A part of a line and its context.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// The character before the text; `None` at the start of a line.
    pub(super) before: Option<char>,
    /// Whether the text is complete. Otherwise, more characters of the line may follow.
    pub(super) ended: bool,
}

/// The mark at the start of a text.
#[derive(Clone, Copy)]
enum Mark<'a> {
    /// This number of bytes at the start is text.
    Text(usize),
    /// The next characters decide.
    Open,
    Code {
        bytes: usize,
        content: &'a str,
    },
    Emphasis {
        bytes: usize,
        content: &'a str,
        style: fn(Style) -> Style,
    },
    Link {
        bytes: usize,
        label: &'a str,
        url: &'a str,
    },
}

/// The search for the end of a mark.
enum Search {
    Found(usize),
    Absent,
    /// The end may be in later characters.
    Open,
}

/// Adds the text to `out` up to the first mark whose end is not known, and returns the number of bytes that were added.
pub(super) fn render(part: Part<'_>, style: Style, out: &mut Spans) -> usize {
    let text = part.text;
    let (mut at, mut from) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = Part {
            text: &text[at..],
            before: text[..at].chars().next_back().or(part.before),
            ended: part.ended,
        };
        let mark = match c {
            '\\' => match rest.text[1..].chars().next() {
                None if !part.ended => break,
                Some(escaped) if escaped.is_ascii_punctuation() => {
                    out.add(style, &text[from..at]);
                    from = at + 1;
                    Mark::Text(2)
                }
                _ => Mark::Text(1),
            },
            '`' => code(rest),
            '*' | '_' | '~' => emphasis(rest, c, 0),
            '[' => link(rest, 0),
            '!' if rest.text.len() == 1 && !part.ended => Mark::Open,
            '!' if rest.text[1..].starts_with('[') => link(rest, 1),
            _ => Mark::Text(c.len_utf8()),
        };
        if let Mark::Text(bytes) = mark {
            at += bytes;
            continue;
        }
        if matches!(mark, Mark::Open) {
            if rest.text.len() <= MOST_HELD {
                break;
            }
            at += run(rest.text, c);
            continue;
        }
        out.add(style, &text[from..at]);
        at += add(mark, style, out);
        from = at;
    }
    out.add(style, &text[from..at]);
    at
}

/// Adds the content of a complete code span, emphasis or link, and returns the number of bytes that it has in the text.
fn add(mark: Mark<'_>, style: Style, out: &mut Spans) -> usize {
    let inside = |text, before| Part {
        text,
        before,
        ended: true,
    };
    match mark {
        Mark::Open => 0,
        Mark::Text(bytes) => bytes,
        Mark::Code { bytes, content } => {
            out.add(style.fg_color(NAME.get_fg_color()), content);
            bytes
        }
        Mark::Emphasis {
            bytes,
            content,
            style: change,
        } => {
            render(inside(content, None), change(style), out);
            bytes
        }
        Mark::Link { bytes, label, url } => {
            render(inside(label, None), style.underline(), out);
            // The address is visible, because the label may name a different one.
            if url != label {
                let space = if label.is_empty() { "" } else { " " };
                out.add(DIM, &format!("{space}({url})"));
            }
            bytes
        }
    }
}

/// Reads the code span at the start of the text.
fn code(part: Part<'_>) -> Mark<'_> {
    let text = part.text;
    let ticks = run(text, '`');
    let mut at = ticks;
    while let Some(next) = text[at..].find('`') {
        let start = at + next;
        let length = run(&text[start..], '`');
        at = start + length;
        if at == text.len() && !part.ended {
            return Mark::Open;
        }
        if length == ticks {
            let content = &text[ticks..start];
            let padded = content.strip_prefix(' ').and_then(|c| c.strip_suffix(' '));
            let content = match padded {
                Some(inner) if !inner.trim().is_empty() => inner,
                _ => content,
            };
            return Mark::Code { bytes: at, content };
        }
    }
    if part.ended {
        Mark::Text(ticks)
    } else {
        Mark::Open
    }
}

/// Reads the emphasis at the start of the text, whose marks are runs of `c`.
fn emphasis(part: Part<'_>, c: char, depth: u8) -> Mark<'_> {
    let marks = run(part.text, c);
    if marks == part.text.len() && !part.ended {
        return Mark::Open;
    }
    let style: fn(Style) -> Style = match (c, marks) {
        ('~', 2) => Style::strikethrough,
        ('*' | '_', 1) => Style::italic,
        ('*' | '_', 2) => Style::bold,
        ('*' | '_', 3) => |style| style.bold().italic(),
        _ => return Mark::Text(marks),
    };
    let after = part.text[marks..].chars().next();
    if !sides(part.before, after, c).opens {
        return Mark::Text(marks);
    }
    match end_of(part, c, marks, depth) {
        Search::Found(end) => Mark::Emphasis {
            bytes: end + marks,
            content: &part.text[marks..end],
            style,
        },
        Search::Absent => Mark::Text(marks),
        Search::Open => Mark::Open,
    }
}

/// Finds the run of marks that ends the emphasis that starts with `marks` bytes of the text.
fn end_of(part: Part<'_>, c: char, marks: usize, depth: u8) -> Search {
    let text = part.text;
    let mut at = marks;
    // The lengths of marks for which no end was found. They are not searched again, because that would take exponential time.
    let mut absent = [false; 4];
    while let Some(next) = text[at..].chars().next() {
        let rest = Part {
            text: &text[at..],
            before: text[..at].chars().next_back(),
            ended: part.ended,
        };
        match next {
            '\\' => {
                let escaped = text[at + 1..].chars().next();
                at += 1 + escaped.map_or(0, char::len_utf8);
            }
            '`' => match code(rest) {
                Mark::Code { bytes, .. } | Mark::Text(bytes) => at += bytes,
                _ => return Search::Open,
            },
            _ if next == c => {
                let length = run(rest.text, c);
                if length == rest.text.len() && !part.ended {
                    return Search::Open;
                }
                let sides = sides(rest.before, rest.text[length..].chars().next(), c);
                if sides.closes && length == marks {
                    return Search::Found(at);
                }
                let is_absent = absent.get(length).is_none_or(|absent| *absent);
                if sides.opens && depth < MOST_DEPTH && !is_absent {
                    match emphasis(rest, c, depth + 1) {
                        Mark::Emphasis { bytes, .. } => {
                            at += bytes;
                            continue;
                        }
                        Mark::Open => return Search::Open,
                        _ => absent[length] = true,
                    }
                }
                if sides.closes && length > marks {
                    return Search::Found(at);
                }
                at += length;
            }
            _ => at += next.len_utf8(),
        }
    }
    if part.ended {
        Search::Absent
    } else {
        Search::Open
    }
}

/// Whether a run of marks can begin and can end an emphasis.
struct Sides {
    opens: bool,
    closes: bool,
}

/// Applies the rules of `CommonMark` for delimiter runs.
fn sides(before: Option<char>, after: Option<char>, c: char) -> Sides {
    let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let mark = |c: Option<char>| c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace());
    let left = !blank(after) && (!mark(after) || blank(before) || mark(before));
    let right = !blank(before) && (!mark(before) || blank(after) || mark(after));
    if c == '_' {
        return Sides {
            opens: left && (!right || mark(before)),
            closes: right && (!left || mark(after)),
        };
    }
    Sides {
        opens: left,
        closes: right,
    }
}

/// Reads the link `[label](url)` after `skipped` bytes of the text; an image has one byte before it.
fn link(part: Part<'_>, skipped: usize) -> Mark<'_> {
    let text = &part.text[skipped..];
    let open = if part.ended {
        Mark::Text(skipped + 1)
    } else {
        Mark::Open
    };
    let Some(close) = closing(text, '[', ']') else {
        return open;
    };
    let target = &text[close + 1..];
    if target.is_empty() {
        return open;
    }
    if !target.starts_with('(') {
        return Mark::Text(skipped + 1);
    }
    let Some(end) = closing(target, '(', ')') else {
        return open;
    };
    let url = target[1..end].split_whitespace().next();
    let url = url.unwrap_or_default();
    Mark::Link {
        bytes: skipped + close + 1 + end + 1,
        label: &text[1..close],
        url: url
            .strip_prefix('<')
            .and_then(|url| url.strip_suffix('>'))
            .unwrap_or(url),
    }
}

/// Returns the position of the bracket that closes the first one.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            _ if c == open => depth += 1,
            _ if c == close && depth == 1 => return Some(at),
            _ if c == close => depth -= 1,
            _ => {}
        }
    }
    None
}
