//! Rendering of Markdown in a terminal while the text arrives.
//!
//! A written character is never changed, so the text stays in the terminal's scrollback. For this reason, the text after a mark such as `**` is held
//! until the closing mark arrives, for at most [`inline::MOST_HELD`] bytes and at most until the end of the line. If no closing mark has arrived by
//! then, the mark is written as text. A table is held until its end, for at most [`table::MOST_ROWS`] rows, because the widths of its columns depend
//! on every row. The start of a line is held until its kind is known. All other text
//! is written as it arrives.
//!
//! This is not a parser of `CommonMark`: such a parser needs complete paragraphs, because their end can change the meaning of their start
//! (references, underlined headings, emphasis over several lines). Unsupported syntax is written as the model wrote it.

use anstyle::{AnsiColor, Style};

use crate::screen::{BOLD, DIM};

mod inline;
mod spans;
mod table;
#[cfg(test)]
mod tests;

use inline::Part;
pub(super) use spans::Spans;
use table::Table;

const CODE: Style = AnsiColor::Cyan.on_default();

/// Maximum number of bytes of a line that are held until the kind of the line is known. A longer line is a
/// paragraph.
const MOST_OF_LINE: usize = 2_000;

/// Maximum width of the line that `---` draws.
const RULE: usize = 40;

/// Renders the Markdown of one text.
#[derive(Default)]
pub(super) struct Markdown {
    width: usize,
    /// The characters of the line that are not written yet.
    line: String,
    state: State,
    /// The number of `>` at the start of the line.
    quotes: usize,
    /// The number of `>` that still have to be written.
    owed_quotes: usize,
    /// Whether the line is an item of a list whose mark is already written.
    is_item: bool,
    fence: Option<Fence>,
    table: Table,
    /// The prefix of the lines of the table.
    table_prefix: Spans,
    in_list: bool,
    /// Whether the previous line is not blank and not a heading or the end of a block of code; an indented line after it is not code.
    after_text: bool,
    out: Spans,
}

/// The position in a line.
#[derive(Clone, Copy, Default)]
enum State {
    /// The kind of the line is not known yet.
    #[default]
    Start,
    /// Text with marks. The fields are its style and the previous character.
    Inline(Style, Option<char>),
    /// Code, which is written unchanged.
    Code,
}

/// A block of code between two lines of marks.
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    quotes: usize,
}

/// The kind of a line.
enum Kind {
    /// More characters are needed to determine the kind.
    Open,
    Blank,
    /// A quote, whose content begins after this number of bytes.
    Quote(usize),
    Heading {
        level: usize,
        from: usize,
    },
    /// An item of a list, whose content begins after this number of bytes.
    Item(usize),
    Rule,
    FenceStart,
    FenceEnd,
    Row,
    Code,
    Text,
}

impl Markdown {
    /// Sets the number of columns of the terminal.
    pub(super) fn width(&mut self, width: usize) {
        self.width = width;
    }

    /// Adds a piece of the text, and returns the part that can be written.
    pub(super) fn push(&mut self, text: &str) -> Spans {
        for c in text.chars() {
            self.character(c);
        }
        std::mem::take(&mut self.out)
    }

    /// Returns the rest of the text, and begins a new text.
    pub(super) fn finish(&mut self) -> Spans {
        self.end_line();
        self.write_table();
        let out = std::mem::take(&mut self.out);
        *self = Self {
            width: self.width,
            ..Self::default()
        };
        out
    }

    fn character(&mut self, c: char) {
        if c != '\n' {
            self.line.push(c);
            self.advance(false);
            return;
        }
        if self.line.ends_with('\r') {
            self.line.pop();
        }
        if !self.end_line() {
            self.out.add(Style::new(), "\n");
        }
        self.state = State::Start;
        self.quotes = 0;
        self.owed_quotes = 0;
        self.is_item = false;
    }

    /// Writes the rest of the line. Returns whether the line is a row of a table whose rows are held.
    fn end_line(&mut self) -> bool {
        let is_row = self.advance(true);
        self.line.clear();
        is_row
    }

    /// Writes the part of the line whose meaning is known. Returns whether the line is a row.
    fn advance(&mut self, ended: bool) -> bool {
        if matches!(self.state, State::Start) && self.begin_line(ended) {
            return true;
        }
        match self.state {
            State::Start => {}
            State::Code => {
                self.out.add(CODE, &self.line);
                self.line.clear();
            }
            State::Inline(style, before) => {
                let part = Part {
                    text: &self.line,
                    before,
                    ended,
                };
                let written = inline::render(part, style, &mut self.out);
                let last = self.line[..written].chars().next_back();
                self.state = State::Inline(style, last.or(before));
                self.line.drain(..written);
            }
        }
        false
    }

    /// Finds the kind of the line and writes its marks. Returns whether the line is a row.
    fn begin_line(&mut self, ended: bool) -> bool {
        loop {
            let kind = self.kind(ended);
            match kind {
                Kind::Open => return false,
                Kind::Quote(bytes) => {
                    self.line.drain(..bytes);
                    self.quotes += 1;
                    self.owed_quotes += 1;
                    continue;
                }
                Kind::Row => {
                    self.add_row();
                    return true;
                }
                _ => {}
            }
            self.write_table();
            self.write_quotes();
            let is_indented = self.line.starts_with([' ', '\t']);
            let is_blank = matches!(kind, Kind::Blank);
            let starts_block = !self.after_text && !is_blank && !is_indented;
            if starts_block && !self.is_item && self.fence.is_none() {
                self.in_list = matches!(kind, Kind::Item(_));
            }
            self.after_text = !is_blank;
            match kind {
                Kind::Item(bytes) => {
                    self.write_item(bytes);
                    continue;
                }
                Kind::Heading { level, from } => {
                    self.line.drain(..from);
                    let style = if level == 1 { BOLD.underline() } else { BOLD };
                    self.state = State::Inline(style, None);
                    self.after_text = false;
                }
                Kind::Rule => {
                    let width = self.width.min(RULE);
                    self.out.add(DIM, &"─".repeat(width));
                    self.line.clear();
                }
                Kind::FenceStart => {
                    let text = self.line.trim_start();
                    let mark = text.chars().next().unwrap_or('`');
                    self.fence = Some(Fence {
                        mark,
                        length: run(text, mark),
                        indent: self.line.len() - text.len(),
                        quotes: self.quotes,
                    });
                    self.out.add(DIM, &self.line);
                    self.line.clear();
                }
                Kind::FenceEnd => {
                    self.fence = None;
                    self.out.add(DIM, &self.line);
                    self.line.clear();
                    self.after_text = false;
                }
                Kind::Code => self.state = State::Code,
                _ => self.state = State::Inline(Style::new(), None),
            }
            return false;
        }
    }

    fn kind(&mut self, ended: bool) -> Kind {
        let text = self.line.trim_start_matches([' ', '\t']);
        let indent = self.line.len() - text.len();
        let first = text.chars().next();
        let is_long = self.line.len() > MOST_OF_LINE;
        if let Some(fence) = &self.fence {
            let is_quoted = self.quotes >= fence.quotes;
            if is_quoted {
                return fence.kind(&self.line, ended, is_long);
            }
            if first.is_none() && !ended && !is_long {
                return Kind::Open;
            }
            if first != Some('>') {
                // A line outside of the quote ends the code.
                self.fence = None;
            }
        }
        let Some(first) = first else {
            return match (ended, is_long) {
                (true, _) => Kind::Blank,
                (false, false) => Kind::Open,
                (false, true) => Kind::Text,
            };
        };
        let is_first_block = self.fence.is_none() && !self.in_list && !self.after_text;
        if indent >= 4 && is_first_block && !self.is_item && self.quotes == 0 {
            return Kind::Code;
        }
        let kind = match first {
            '>' => quote(text, indent, ended),
            '#' => heading(text, indent, ended),
            '`' | '~' => fence(text, first, ended),
            '|' if self.is_item => Kind::Text,
            '|' if ended => Kind::Row,
            '|' => Kind::Open,
            '-' | '*' | '+' | '_' => rule_or_item(text, first, indent, ended),
            '0'..='9' => numbered(text, indent, ended),
            _ => Kind::Text,
        };
        match kind {
            Kind::Open if is_long => Kind::Text,
            kind => kind,
        }
    }

    fn add_row(&mut self) {
        if self.table.is_empty() {
            let text = self.line.trim_start();
            let indent = " ".repeat(self.line.len() - text.len());
            let mut prefix = Spans::default();
            prefix.add(DIM, &"│ ".repeat(self.quotes));
            prefix.add(Style::new(), &indent);
            self.table_prefix = prefix;
        }
        let is_full = self.table.add(&self.line);
        self.line.clear();
        self.after_text = true;
        if is_full {
            self.write_rows();
        }
    }

    /// Writes the held rows.
    fn write_rows(&mut self) {
        if !self.table.is_empty() {
            let prefix = &self.table_prefix;
            let width = self.width.saturating_sub(prefix.width());
            self.table.write(prefix, width, &mut self.out);
        }
    }

    /// Writes the held rows, and ends the table.
    fn write_table(&mut self) {
        self.write_rows();
        self.table = Table::default();
    }

    fn write_quotes(&mut self) {
        let bars = "│ ".repeat(std::mem::take(&mut self.owed_quotes));
        self.out.add(DIM, &bars);
    }

    fn write_item(&mut self, bytes: usize) {
        let mark = &self.line[..bytes];
        let text = mark.trim_start();
        let plain = Style::new();
        self.out.add(plain, &mark[..mark.len() - text.len()]);
        if text.starts_with(['-', '*', '+']) {
            self.out.add(plain, "• ");
        } else {
            self.out.add(plain, text.trim_end());
            self.out.add(plain, " ");
        }
        self.line.drain(..bytes);
        self.is_item = true;
        self.in_list = true;
    }
}

impl Fence {
    /// Returns the kind of a line inside of this block of code.
    fn kind(&self, line: &str, ended: bool, is_long: bool) -> Kind {
        let text = line.trim_start_matches(' ');
        let length = run(text, self.mark);
        let is_end = text[length..].trim_end_matches(' ').is_empty()
            && line.len() - text.len() <= self.indent + 3;
        match ended {
            true if is_end && length >= self.length => Kind::FenceEnd,
            false if is_end && !is_long => Kind::Open,
            _ => Kind::Code,
        }
    }
}

/// Returns the number of bytes of the run of `c` at the start of the text.
fn run(text: &str, c: char) -> usize {
    text.len() - text.trim_start_matches(c).len()
}

fn quote(text: &str, indent: usize, ended: bool) -> Kind {
    match text[1..].chars().next() {
        None if !ended => Kind::Open,
        Some(' ') => Kind::Quote(indent + 2),
        _ => Kind::Quote(indent + 1),
    }
}

fn heading(text: &str, indent: usize, ended: bool) -> Kind {
    let level = run(text, '#');
    let from = indent + level;
    match text[level..].chars().next() {
        _ if level > 6 => Kind::Text,
        None if !ended => Kind::Open,
        None => Kind::Heading { level, from },
        Some(' ') => Kind::Heading {
            level,
            from: from + 1,
        },
        Some(_) => Kind::Text,
    }
}

fn fence(text: &str, mark: char, ended: bool) -> Kind {
    let length = run(text, mark);
    let rest = &text[length..];
    let may_follow = rest.is_empty() && !ended;
    if (length < 3 && !may_follow) || (mark == '`' && rest.contains('`')) {
        return Kind::Text;
    }
    if ended { Kind::FenceStart } else { Kind::Open }
}

fn rule_or_item(text: &str, mark: char, indent: usize, ended: bool) -> Kind {
    let marks = text.chars().filter(|c| *c == mark).count();
    let is_only_marks = text.chars().all(|c| c == mark || c == ' ');
    if is_only_marks && !ended {
        return Kind::Open;
    }
    if is_only_marks && marks >= 3 && mark != '+' {
        return Kind::Rule;
    }
    if mark == '_' {
        return Kind::Text;
    }
    match text[1..].chars().next() {
        Some(' ') => Kind::Item(indent + 2),
        None => Kind::Item(indent + 1),
        Some(_) => Kind::Text,
    }
}

fn numbered(text: &str, indent: usize, ended: bool) -> Kind {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut rest = text[digits..].chars();
    match (rest.next(), rest.next()) {
        _ if digits > 9 => Kind::Text,
        (None, _) | (Some('.' | ')'), None) if !ended => Kind::Open,
        (Some('.' | ')'), Some(' ')) => Kind::Item(indent + digits + 2),
        _ => Kind::Text,
    }
}
