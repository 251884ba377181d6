//! A cursor over JSON text: white space, strings, numbers and skipped values.
//!
//! The text is never copied. At a malformed byte or beyond the nesting limit, the cursor stops, and records its offset and a description of the
//! expected text.

use super::bytes::equal;
use crate::json::special;

/// Error that ends a walk. The cursor or the sink contains the reason.
#[derive(Debug)]
pub struct Stop;

/// The position at which a cursor stopped: a malformed byte, a bracket beyond the nesting limit, or text after the arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken {
    /// Byte offset of the position.
    pub(crate) at: usize,
    /// Description of the expected text.
    pub(crate) expected: &'static str,
}

/// The span of a string's contents, without the quotes.
#[derive(Clone, Copy, Debug)]
pub struct Str {
    /// Byte offset of the first byte.
    pub start: usize,
    /// Byte offset after the last byte.
    pub end: usize,
    /// Whether the string has an escape.
    pub escaped: bool,
}

/// The span of a number.
#[derive(Clone, Copy, Debug)]
pub struct Num {
    pub(crate) start: usize,
    /// Byte offset after the last byte.
    pub end: usize,
    /// Whether the number begins with a minus sign.
    pub negative: bool,
    /// The absolute value, if the number has at most 19 digits, and neither a fraction nor an exponent.
    pub small: Option<u64>,
}

/// Nesting limit, as in `serde_json`: a list or object at level 128 is refused, so 127 levels are allowed.
const DEPTH: u8 = 128;

/// A position in JSON text.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    text: &'t str,
    /// Byte offset of the next byte.
    pub at: usize,
    depth: u8,
    pub(crate) broken: Option<Broken>,
}

impl<'t> Cursor<'t> {
    /// Creates a cursor at the start of the text.
    pub const fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            depth: DEPTH,
            broken: None,
        }
    }

    /// Allows one more level of nesting.
    pub(super) const fn deeper(mut self) -> Self {
        self.depth += 1;
        self
    }

    pub(crate) const fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the text of a span; empty if the span is not in the text.
    pub fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    #[inline]
    pub(crate) const fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// Returns the byte under the cursor. At the end it is zero, which is not valid JSON.
    #[inline]
    pub fn peek(&self) -> u8 {
        self.bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Skips white space and returns the byte after it.
    #[inline]
    pub fn space(&mut self) -> u8 {
        let byte = self.peek();
        if byte > b' ' { byte } else { self.space_slow() }
    }

    #[inline(never)]
    fn space_slow(&mut self) -> u8 {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        self.peek()
    }

    /// Records that the byte under the cursor is not the expected text, and returns the error that ends the walk.
    #[cold]
    pub fn broken<T>(&mut self, expected: &'static str) -> Result<T, Stop> {
        self.broken = Some(Broken {
            at: self.at,
            expected,
        });
        Err(Stop)
    }

    /// Passes an opening bracket, and counts the nesting level.
    #[inline]
    pub fn open(&mut self) -> Result<(), Stop> {
        self.depth -= 1;
        if self.depth == 0 {
            self.depth = 1;
            return self.broken("at most 127 levels of nesting");
        }
        self.at += 1;
        Ok(())
    }

    /// Passes a closing bracket, and leaves the nesting level.
    #[inline]
    pub const fn close(&mut self) {
        self.depth += 1;
        self.at += 1;
    }

    /// Passes the colon of a key and moves to the value.
    #[inline]
    pub fn colon(&mut self) -> Result<u8, Stop> {
        if self.space() != b':' {
            return self.broken("`:` after a key");
        }
        self.at += 1;
        Ok(self.space())
    }

    /// Moves from the end of an item to the next item and returns `true`, or to the closing bracket and returns `false`.
    #[inline]
    pub fn another(&mut self, close: u8) -> Result<bool, Stop> {
        let byte = self.space();
        if byte == b',' {
            self.at += 1;
            self.space();
            return Ok(true);
        }
        if byte == close {
            return Ok(false);
        }
        self.no_end(close)
    }

    #[cold]
    fn no_end<T>(&mut self, close: u8) -> Result<T, Stop> {
        self.broken(if close == b'}' {
            "`,` or `}` after a value"
        } else {
            "`,` or `]` after an item"
        })
    }

    /// Passes one of the literals `null`, `true` and `false`.
    #[inline]
    pub(crate) fn word(&mut self, word: &'static str) -> Result<(), Stop> {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            self.broken("a JSON value")
        }
    }

    /// Returns the offset of the closing quote of a string without escapes under the cursor, or `None` if the slow path has to read it.
    #[inline]
    pub(crate) fn quoted(&self) -> Option<usize> {
        let mut at = self.at + 1;
        let mut rest = self.bytes().get(self.at..)?.strip_prefix(b"\"")?;
        while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*chunk);
            let mask = special(word);
            if mask != 0 {
                // `bit` is 8 times the index of the byte, plus 7.
                let bit = mask.trailing_zeros();
                at += (bit >> 3) as usize;
                let quote = word >> (bit & 0x38) & 0xff == u64::from(b'"');
                return quote.then_some(at);
            }
            at += 8;
            rest = after;
        }
        None
    }

    /// Passes a string. The cursor is at its opening quote.
    #[inline(never)]
    pub fn string(&mut self) -> Result<Str, Stop> {
        match self.plain() {
            Some(span) => Ok(span),
            None => self.string_slow(self.at + 1),
        }
    }

    /// Passes a string without escapes, or returns `None` if the slow path has to read it.
    #[inline]
    pub(crate) fn plain(&mut self) -> Option<Str> {
        let start = self.at + 1;
        let end = self.quoted()?;
        self.at = end + 1;
        Some(Str {
            start,
            end,
            escaped: false,
        })
    }

    fn string_slow(&mut self, start: usize) -> Result<Str, Stop> {
        self.at = start;
        let mut escaped = false;
        loop {
            match self.bytes().get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0..=0x1f) => {
                    return self.broken("an escape such as `\\n` for a control character");
                }
                Some(_) => self.at += 1,
                None => return self.broken("a closing quote"),
            }
        }
        let end = self.at;
        self.at += 1;
        Ok(Str {
            start,
            end,
            escaped,
        })
    }

    fn escape(&mut self) -> Result<(), Stop> {
        match self.bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => match self.unit(self.at + 2) {
                Some(0xd800..=0xdbff) => match self.unit(self.at + 8) {
                    Some(0xdc00..=0xdfff)
                        if self.bytes().get(self.at + 6..self.at + 8) == Some(b"\\u") =>
                    {
                        self.at += 12;
                        Ok(())
                    }
                    _ => self.broken("a pair of surrogates, not a single one"),
                },
                Some(0xdc00..=0xdfff) => self.broken("a pair of surrogates, not a single one"),
                Some(_) => {
                    self.at += 6;
                    Ok(())
                }
                None => self.broken("four hexadecimal digits after `\\u`"),
            },
            _ => self.broken("a valid escape such as `\\n`"),
        }
    }

    /// Parses four hexadecimal digits.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes().get(at..at + 4)?;
        digits.iter().try_fold(0, |unit, digit| {
            Some(unit << 4 | char::from(*digit).to_digit(16)?)
        })
    }

    /// Returns the value and the end of a number under the cursor, if the number consists of 1 to 19 digits and does not start with `0`. Returns
    /// `None` if the slow path has to read it.
    #[inline]
    pub(crate) fn counted(&self) -> Option<(u64, usize)> {
        let bytes = self.bytes();
        let mut at = self.at;
        let mut value = 0u64;
        let end = loop {
            let byte = *bytes.get(at)?;
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break byte;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        };
        // Excludes numbers with a fraction or an exponent, numbers that start with a zero (`0` itself, and the invalid `01`), and numbers of twenty
        // or more digits, which may overflow.
        let plain = end != b'.' && end | 0x20 != b'e' && self.peek() != b'0';
        (plain && (1..20).contains(&(at - self.at))).then_some((value, at))
    }

    /// Passes a key and its colon if the key equals `name` and the colon follows at once. `name` must need no escapes.
    ///
    /// The function is not inlined, because it would take registers from the calling loop.
    #[inline(never)]
    pub(crate) fn leap(&mut self, name: &str) -> bool {
        if let Some([b'"', rest @ ..]) = self.bytes().get(self.at..)
            && let Some((key, [b'"', b':', ..])) = rest.split_at_checked(name.len())
            && equal(key, name.as_bytes())
        {
            self.at += name.len() + 3;
            return true;
        }
        false
    }

    /// Passes a number. The cursor is at its first byte.
    #[inline(never)]
    pub fn number(&mut self) -> Result<Num, Stop> {
        let start = self.at;
        let negative = self.peek() == b'-';
        let first = start + usize::from(negative);
        let rest = self.bytes().get(first..).unwrap_or_default();
        let mut value = 0u64;
        let mut digits = 0;
        let mut after = 0;
        for byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                after = *byte;
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        }
        self.at = first + digits;
        if digits == 0 {
            return self.broken("a digit");
        }
        if digits > 1 && rest.first() == Some(&b'0') {
            self.at = first + 1;
            return self.broken("no digit after a leading zero");
        }
        let mut small = (digits < 20).then_some(value);
        if matches!(after, b'.' | b'e' | b'E') {
            self.fraction()?;
            small = None;
        }
        Ok(Num {
            start,
            end: self.at,
            negative,
            small,
        })
    }

    fn fraction(&mut self) -> Result<(), Stop> {
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Stop> {
        if !self.peek().is_ascii_digit() {
            return self.broken("a digit");
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    /// Passes a value of any kind.
    pub fn skip(&mut self) -> Result<(), Stop> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'[' => {
                self.open()?;
                let mut more = self.space() != b']';
                while more {
                    self.skip()?;
                    more = self.another(b']')?;
                }
                self.close();
                Ok(())
            }
            b'{' => {
                self.open()?;
                let mut more = self.space() != b'}';
                while more {
                    self.key()?;
                    self.colon()?;
                    self.skip()?;
                    more = self.another(b'}')?;
                }
                self.close();
                Ok(())
            }
            _ => self.broken("a JSON value"),
        }
    }

    /// Passes the key of an entry, without its colon.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<Str, Stop> {
        if self.peek() != b'"' {
            return self.broken("a key in double quotes");
        }
        self.string()
    }

    /// Fails if anything but white space is left.
    #[inline]
    pub fn end(&mut self) -> Result<(), Stop> {
        self.space();
        if self.at < self.text.len() {
            return self.broken("nothing after the arguments");
        }
        Ok(())
    }
}
