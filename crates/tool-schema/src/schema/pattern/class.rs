//! Parser for the characters, escapes and classes of a pattern.

use super::PatternError::{self, Backreference, Syntax, TooLarge, WordBoundary};
use super::attempt;
use super::parse::Parser;
use super::run::{MAX_RANGES, MAX_SETS, NEGATED, NON_SPACES, SPACES, Set, decode};
use tool_rules::Rule;

/// The result for a class escape such as `\d`, which is not a single character.
pub(super) const CLASS_ESCAPE: u32 = u32::MAX;

/// The ASCII characters of `\d`, `\w` and `\s`, one bit per character.
const DIGITS: u128 = 0x3FF << b'0';
const WORD: u128 = DIGITS | 1 << b'_' | LETTERS << b'a' | LETTERS << b'A';
const LETTERS: u128 = (1 << 26) - 1;
const BLANKS: u128 = 1 << b' ' | 0b1_1111 << b'\t';

/// The last code point of Unicode.
const LAST_CHARACTER: u32 = 0x10_FFFF;

impl Parser<'_> {
    /// Parses a character or an escape. A class escape is added to `set`, and `CLASS_ESCAPE` is returned.
    pub(super) const fn character(
        &mut self,
        set: &mut Set,
        in_class: bool,
    ) -> Result<u32, PatternError> {
        if self.source[self.at] != b'\\' {
            let (character, width) = decode(self.source, self.at);
            self.at += width;
            return Ok(character);
        }
        let escaped = self.peek(1);
        self.at += 2;
        Ok(match escaped {
            b'd' | b'D' | b'w' | b'W' | b's' | b'S' => {
                attempt!(self.add_class_escape(set, escaped));
                CLASS_ESCAPE
            }
            b'b' if in_class => 0x08,
            b'b' | b'B' if !in_class => return Err(WordBoundary),
            b'1'..=b'9' | b'k' if !in_class => return Err(Backreference),
            b'p' | b'P' => {
                return Err(Syntax(&Rule::PATTERN_PROPERTY));
            }
            b't' => 0x09,
            b'n' => 0x0A,
            b'v' => 0x0B,
            b'f' => 0x0C,
            b'r' => 0x0D,
            b'0' if !self.peek(0).is_ascii_digit() => 0,
            b'c' if self.peek(0).is_ascii_alphabetic() => {
                self.at += 1;
                (self.source[self.at - 1] % 32) as u32
            }
            b'x' => attempt!(self.hex(2)),
            b'u' => attempt!(self.unicode_escape()),
            b' '..=b'~' if !escaped.is_ascii_alphanumeric() => escaped as u32,
            _ => {
                return Err(Syntax(&Rule::PATTERN_ESCAPE));
            }
        })
    }

    /// Parses `\uHHHH` or `\u{…}` after its `u`. Two escaped surrogates encode one character.
    const fn unicode_escape(&mut self) -> Result<u32, PatternError> {
        if self.peek(0) != b'{' {
            let lead = attempt!(self.hex(4));
            if lead < 0xD800 || lead > 0xDFFF {
                return Ok(lead);
            }
            if lead > 0xDBFF || self.peek(0) != b'\\' || self.peek(1) != b'u' {
                return Err(Syntax(&Rule::PATTERN_SURROGATE));
            }
            self.at += 2;
            let trail = attempt!(self.hex(4));
            if trail < 0xDC00 || trail > 0xDFFF {
                return Err(Syntax(&Rule::PATTERN_SURROGATE));
            }
            return Ok(0x1_0000 + ((lead - 0xD800) << 10) + (trail - 0xDC00));
        }
        self.at += 1;
        let mut character = attempt!(self.hex(1));
        while self.peek(0) != b'}' {
            character = character << 4 | attempt!(self.hex(1));
            if character > LAST_CHARACTER {
                return Err(Syntax(&Rule::PATTERN_CODE_POINT));
            }
        }
        self.at += 1;
        if 0xD800 <= character && character <= 0xDFFF {
            return Err(Syntax(&Rule::PATTERN_SURROGATE));
        }
        Ok(character)
    }

    const fn hex(&mut self, digits: usize) -> Result<u32, PatternError> {
        let mut number = 0;
        let mut left = digits;
        while left > 0 {
            let digit = match self.peek(0) {
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'a'..=b'f' => digit - b'a' + 10,
                digit @ b'A'..=b'F' => digit - b'A' + 10,
                _ => {
                    return Err(Syntax(&Rule::PATTERN_HEX));
                }
            };
            number = number << 4 | digit as u32;
            self.at += 1;
            left -= 1;
        }
        Ok(number)
    }

    /// Parses `[…]` and returns the index of its set.
    pub(super) const fn class(&mut self) -> Result<u8, PatternError> {
        self.at += 1;
        let negated = self.peek(0) == b'^';
        if negated {
            self.at += 1;
        }
        let mut set = self.open_set();
        loop {
            let low = match self.class_character(&mut set) {
                Ok(Some(character)) => character,
                Ok(None) => return self.close_set(set, negated),
                Err(error) => return Err(error),
            };
            let mut high = low;
            if self.peek(0) == b'-' && self.peek(1) != b']' {
                self.at += 1;
                high = match self.class_character(&mut set) {
                    Ok(Some(character)) => character,
                    Ok(None) => low,
                    Err(error) => return Err(error),
                };
                if low == CLASS_ESCAPE || high == CLASS_ESCAPE {
                    return Err(Syntax(&Rule::PATTERN_RANGE_ENDS));
                }
                if low > high {
                    return Err(Syntax(&Rule::PATTERN_RANGE_ORDER));
                }
            }
            if low != CLASS_ESCAPE {
                attempt!(self.add_range(&mut set, low, high));
            }
        }
    }

    /// Parses the next character of a class; returns `None` at its end.
    const fn class_character(&mut self, set: &mut Set) -> Result<Option<u32>, PatternError> {
        if self.at >= self.source.len() {
            return Err(Syntax(&Rule::PATTERN_CLASS_OPEN));
        }
        if self.source[self.at] == b']' {
            self.at += 1;
            return Ok(None);
        }
        match self.character(set, true) {
            Ok(character) => Ok(Some(character)),
            Err(error) => Err(error),
        }
    }

    /// Creates an empty set. Its ranges come after the ranges of all other sets.
    pub(super) const fn open_set(&self) -> Set {
        Set {
            ascii: 0,
            first: self.program.range_count,
            count: 0,
            flags: 0,
        }
    }

    pub(super) const fn add_range(
        &mut self,
        set: &mut Set,
        low: u32,
        high: u32,
    ) -> Result<(), PatternError> {
        if low < 128 {
            let top = if high < 128 { high } else { 127 };
            set.ascii |= (u128::MAX >> (127 - (top - low))) << low;
        }
        if high >= 128 {
            if self.program.range_count as usize == MAX_RANGES {
                return Err(TooLarge);
            }
            let low = if low < 128 { 128 } else { low };
            self.program.ranges[self.program.range_count as usize] = (low, high);
            self.program.range_count += 1;
            set.count += 1;
        }
        Ok(())
    }

    /// Adds `\d \D \w \W \s \S` to a set: digits and word characters are ASCII, white space is defined by ECMA-262.
    const fn add_class_escape(&mut self, set: &mut Set, escape: u8) -> Result<(), PatternError> {
        match escape {
            b'd' => set.ascii |= DIGITS,
            b'w' => set.ascii |= WORD,
            b's' => {
                set.ascii |= BLANKS;
                set.flags |= SPACES;
            }
            b'S' => {
                set.ascii |= !BLANKS;
                set.flags |= NON_SPACES;
            }
            _ => {
                set.ascii |= if escape == b'D' { !DIGITS } else { !WORD };
                return self.add_range(set, 128, LAST_CHARACTER);
            }
        }
        Ok(())
    }

    /// Stores `set` unless an equal set is stored already, and returns the index.
    pub(super) const fn close_set(
        &mut self,
        mut set: Set,
        negated: bool,
    ) -> Result<u8, PatternError> {
        if negated {
            set.ascii = !set.ascii;
            set.flags |= NEGATED;
        }
        let mut number = 0;
        while number < self.program.set_count {
            if self.is_same_set(&self.program.sets[number as usize], &set) {
                self.program.range_count = set.first;
                return Ok(number);
            }
            number += 1;
        }
        if number as usize == MAX_SETS {
            return Err(TooLarge);
        }
        self.program.sets[number as usize] = set;
        self.program.set_count += 1;
        Ok(number)
    }

    const fn is_same_set(&self, one: &Set, two: &Set) -> bool {
        if one.ascii != two.ascii || one.flags != two.flags || one.count != two.count {
            return false;
        }
        let mut index = 0;
        while index < one.count {
            let left = self.program.ranges[(one.first + index) as usize];
            let right = self.program.ranges[(two.first + index) as usize];
            if left.0 != right.0 || left.1 != right.1 {
                return false;
            }
            index += 1;
        }
        true
    }
}
