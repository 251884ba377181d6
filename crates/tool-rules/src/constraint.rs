//! Rules for the bounds of a field: ranges, lengths, patterns and formats that the type cannot have.

use crate::dialects::{NONE, OA};
use crate::rule::rules;

rules! { "constraint":
    RANGE_NOT_NUMBER = "constraint", "`range` and `multiple_of` are for numbers, the field has a different type", "the bound cannot hold for the type", NONE;
    RANGE_EMPTY = "constraint", "the range is empty, write the smaller bound first", "no value is in the range", NONE;
    RANGE_NOT_WHOLE = "constraint", "a bound of a whole number is a whole number", "the bound cannot hold for the type", NONE;
    RANGE_OUTSIDE = "constraint", "the bound `{0}` is outside of `{1}`", "the bound cannot hold for the type", NONE;
    MULTIPLE_OF_ZERO = "constraint", "`multiple_of` must be greater than zero", "JSON Schema: the value of `multipleOf` is strictly greater than 0", NONE;
    MULTIPLE_OF_NOT_WHOLE = "constraint", "`multiple_of` of a whole number is a whole number", "the bound cannot hold for the type", NONE;
    LENGTH_OF_LIST = "constraint", "`length` and `pattern` are for text, count a list with `min_items` and `max_items`", "the bound cannot hold for the type", NONE;
    LENGTH_NOT_TEXT = "constraint", "`length` and `pattern` are for text, the field has a different type", "the bound cannot hold for the type", NONE;
    LENGTH_EMPTY = "constraint", "the length is empty, write the smaller bound first", "no text has the length", NONE;
    FORMAT_NOT_TEXT = "constraint", "`format` is for text, the field has a different type", "the bound cannot hold for the type", NONE;
    FORMAT_TWICE = "constraint", "the type has a format already", "a text has one format", NONE;
    FORMAT_AND_PATTERN = "constraint", "the format `{0}` fixes the text already, drop the pattern or the format", "the two would have to agree", NONE;
    ITEMS_FIXED = "constraint", "an array has a fixed number of items already", "the bound cannot hold for the type", NONE;
    ITEMS_NOT_LIST = "constraint", "`min_items`, `max_items` and `unique` are for lists, the field has a different type", "the bound cannot hold for the type", NONE;
    ITEMS_EMPTY = "constraint", "`max_items` is smaller than `min_items`", "no list has the number of items", NONE;
    PATTERN_LOOKAROUND = "pattern-lookaround", "lookahead and lookbehind are not supported: write the allowed texts out as alternatives", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    PATTERN_BACKREFERENCE = "pattern-lookaround", "backreferences are not supported: repeat the part of the pattern itself", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    PATTERN_WORD_BOUNDARY = "pattern-lookaround", "\\b and \\B are not supported: write ^, $ or the class of the neighbouring character", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    PATTERN_SYNTAX = "pattern-syntax", "{0}", "a pattern that does not compile matches nothing", NONE;
    PATTERN_TOO_LARGE = "pattern-syntax", "the pattern is too large: write smaller counts such as {1,64}, or limit the length instead", "a limit of this crate", NONE;
}
