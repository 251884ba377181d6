//! Rules for the constraints of a field: ranges, lengths, numbers of items, formats and patterns.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "the brackets of a pattern's syntax are not links"
)]

use crate::dialects::{NONE, OA};
use crate::rule::rules;

rules! { "constraint":
    RANGE_NOT_NUMBER = "constraint", "`range` and `multiple_of` are for numbers, the field has a different type", "the type cannot have this constraint", NONE;
    RANGE_EMPTY = "constraint", "the range is empty, write the smaller bound first, and `..=` to include the larger one", "no value is in the range", NONE;
    RANGE_NOT_WHOLE = "constraint", "the bounds must be whole numbers, because the field is a whole number", "the type cannot have this constraint", NONE;
    RANGE_OUTSIDE = "constraint", "the bound `{0}` is outside of `{1}`", "the type cannot have this constraint", NONE;
    MULTIPLE_OF_ZERO = "constraint", "`multiple_of` must be greater than zero", "JSON Schema: the value of `multipleOf` is strictly greater than 0", NONE;
    MULTIPLE_OF_NOT_WHOLE = "constraint", "`multiple_of` must be a whole number, because the field is a whole number", "the type cannot have this constraint", NONE;
    LENGTH_OF_LIST = "constraint", "`length` and `pattern` are for text, limit a list with `min_items` and `max_items`", "the type cannot have this constraint", NONE;
    LENGTH_NOT_TEXT = "constraint", "`length` and `pattern` are for text, the field has a different type", "the type cannot have this constraint", NONE;
    LENGTH_EMPTY = "constraint", "the length is empty, write the smaller bound first", "no text has the length", NONE;
    FORMAT_NOT_TEXT = "constraint", "`format` is for text, the field has a different type", "the type cannot have this constraint", NONE;
    FORMAT_TWICE = "constraint", "the type already has a format, remove `format`", "a text has one format", NONE;
    FORMAT_AND_PATTERN = "constraint", "the format `{0}` fixes the text already, drop the pattern or the format", "the two would have to agree", NONE;
    ITEMS_FIXED = "constraint", "an array already has a fixed number of items, remove `min_items` and `max_items`", "the type cannot have this constraint", NONE;
    ITEMS_NOT_LIST = "constraint", "`min_items`, `max_items` and `unique` are for lists, the field has a different type", "the type cannot have this constraint", NONE;
    ITEMS_EMPTY = "constraint", "`max_items` is smaller than `min_items`", "no list has the number of items", NONE;
    PATTERN_LOOKAROUND = "pattern-lookaround", "lookahead and lookbehind are not supported: write the allowed texts out as alternatives", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    PATTERN_BACKREFERENCE = "pattern-lookaround", "backreferences are not supported: repeat the part of the pattern itself", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    PATTERN_WORD_BOUNDARY = "pattern-lookaround", "\\b and \\B are not supported: write ^, $ or the class of the neighbouring character", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    PATTERN_PROPERTY = "pattern-syntax", "\\p{…} is not supported: write the ranges out, such as [A-Za-z\\u00C0-\\u024F]", "a pattern that does not compile matches nothing", NONE;
    PATTERN_ESCAPE = "pattern-syntax", "unknown escape: write the character itself, or \\\\ for a backslash", "a pattern that does not compile matches nothing", NONE;
    PATTERN_SURROGATE = "pattern-syntax", "a lone surrogate matches no text: write \\u{…} with the character", "a pattern that does not compile matches nothing", NONE;
    PATTERN_CODE_POINT = "pattern-syntax", "\\u{…} is at most \\u{10FFFF}", "a pattern that does not compile matches nothing", NONE;
    PATTERN_HEX = "pattern-syntax", "write \\xHH, \\uHHHH or \\u{H…} with hexadecimal digits", "a pattern that does not compile matches nothing", NONE;
    PATTERN_RANGE_ENDS = "pattern-syntax", "a range in [] needs two characters: write \\- for a literal hyphen", "a pattern that does not compile matches nothing", NONE;
    PATTERN_RANGE_ORDER = "pattern-syntax", "a range in [] needs its lower character first", "a pattern that does not compile matches nothing", NONE;
    PATTERN_CLASS_OPEN = "pattern-syntax", "unclosed [: write \\[ for a literal bracket", "a pattern that does not compile matches nothing", NONE;
    PATTERN_GROUP_CLOSE = "pattern-syntax", "unmatched ): write \\) for a literal parenthesis", "a pattern that does not compile matches nothing", NONE;
    PATTERN_GROUP_OPEN = "pattern-syntax", "unclosed (: write \\( for a literal parenthesis", "a pattern that does not compile matches nothing", NONE;
    PATTERN_BRACKET = "pattern-syntax", "unmatched ] or }: write \\ before a literal one", "a pattern that does not compile matches nothing", NONE;
    PATTERN_REPEAT = "pattern-syntax", "nothing to repeat: write \\ before a literal * + ? or {", "a pattern that does not compile matches nothing", NONE;
    PATTERN_NAMED_GROUP = "pattern-syntax", "named groups are not supported: write (…) or (?:…)", "a pattern that does not compile matches nothing", NONE;
    PATTERN_FLAGS = "pattern-syntax", "flags in a group are not supported: write (?:…)", "a pattern that does not compile matches nothing", NONE;
    PATTERN_COUNT = "pattern-syntax", "write a count as {10}, {10,} or {10,20}, and \\{ for a literal brace", "a pattern that does not compile matches nothing", NONE;
    PATTERN_COUNT_ORDER = "pattern-syntax", "a count {n,m} needs n to be at most m", "a pattern that does not compile matches nothing", NONE;
    PATTERN_TOO_LARGE = "pattern-syntax", "the pattern is too large: write smaller counts such as {1,64}, or limit the length instead", "a limit of this crate", NONE;
}
