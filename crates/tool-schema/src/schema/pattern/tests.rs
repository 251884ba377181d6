//! Tables of texts that patterns match and reject. The expected results equal the results of the `regex` crate for the expression translated from
//! ECMA-262, with two exceptions: in `regex`, `.` also matches `\r`, U+2028 and U+2029, and `[]`, `[^]` and `[\b]` are not supported.

use super::PatternError::{Backreference, Lookaround, Syntax, TooLarge, WordBoundary};
use super::{MAX_STEPS, Pattern, Program};

const _: () = assert!(Pattern::new("^a+$").is_match("aaa"));
const _: () = assert!(!Pattern::new("^a+$").is_match("aab"));
const _: () = assert!(Pattern::new(r"^\d{4}-\d{2}-\d{2}$").is_match("2026-01-31"));
const _: () = assert!(Pattern::new("^(?:é|\\u{1F600})+$").is_match("é\u{1F600}"));
const _: () = assert!(Pattern::new("^[a-z]{1,64}$").is_anchored());

/// The maximum nesting of repeated groups: const evaluation must not reach its limit of nested calls.
const DEEP: Pattern =
    Pattern::new("^((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+$");
const _: () = assert!(DEEP.is_match("aa"));

/// A pattern, texts that match, and texts that do not match.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("", &["", "a"], &[]),
    ("a", &["a", "cat"], &["", "b"]),
    ("abc", &["abc", "ababc"], &["ab", "acb"]),
    ("^a", &["a", "ab"], &["", "ba"]),
    ("a$", &["a", "ba"], &["", "ab", "a\n"]),
    ("^$", &[""], &["a", "\n"]),
    ("a|b", &["a", "xb"], &["", "c"]),
    ("^a|b$", &["ax", "xb"], &["xa", "bx"]),
    ("^(a|b)$", &["a", "b"], &["", "ab", "c"]),
    ("^(|a)$", &["", "a"], &["aa"]),
    ("^(?:ab|cd)+$", &["ab", "cdab"], &["", "abc"]),
    ("^(a*)*$", &["", "aaa"], &["b"]),
    ("^((a|b)c?)*$", &["", "abc", "acbc"], &["c", "acc"]),
    ("(a|ab)(c|bcd)$", &["ac", "abcd", "abbcd"], &["abd"]),
    ("(^|,)x", &["x", "a,x"], &["ax", ""]),
    ("x(,|$)", &["x", "x,a"], &["xa"]),
    ("a$b", &[], &["ab", "a", "b"]),
    ("b^a", &[], &["ba", "a"]),
    ("(^a)+", &["a", "aa"], &["ba"]),
    ("^a?b", &["b", "ab"], &["aab", "a"]),
    ("^a*?b$", &["b", "aab"], &["a"]),
    ("^a{2}$", &["aa"], &["a", "aaa"]),
    ("^a{2,}$", &["aa", "aaaa"], &["a"]),
    ("^a{1,3}$", &["a", "aaa"], &["", "aaaa"]),
    ("^a{0}$", &[""], &["a"]),
    ("^(ab){1,2}?$", &["ab", "abab"], &["", "ababab"]),
    ("^(a{2}){2}$", &["aaaa"], &["aa", "aaa", "aaaaa"]),
    ("^(a?){3}$", &["", "aaa"], &["aaaa"]),
    ("^(){9}(){0,9}(){9,}$", &[""], &["a"]),
    ("^[a-z]{3,8}$", &["abc", "abcdefgh"], &["ab", "abcdefghi", "abC", "ab1"]),
    ("^[a-c-e]$", &["b", "-", "e"], &["d"]),
    ("^[-a]$", &["-", "a"], &["b"]),
    ("^[^a-c]$", &["d", "é", "\n"], &["b", "", "dd"]),
    ("^[a^]$", &["^", "a"], &["b"]),
    (r"^[\]\\[]$", &["]", "\\", "["], &["a"]),
    ("^[a&&b]$", &["&", "a", "b"], &["c"]),
    ("[]", &[], &["", "a"]),
    ("^[^]$", &["a", "\n", "é"], &[""]),
    (r"^[\b]$", &["\u{8}"], &["b"]),
    (r"^\d+$", &["019"], &["a", "٣"]),
    (r"^\D$", &["a", "٣"], &["1"]),
    (r"^\w+$", &["aZ_9"], &["-", "é"]),
    (r"^\W$", &["-", "é"], &["a", "_"]),
    (r"^\s$", &[" ", "\t", "\n", "\u{b}", "\u{a0}", "\u{2029}", "\u{3000}", "\u{feff}"],
        &["a", "\u{85}", "\u{200b}"]),
    (r"^\S$", &["a", "\u{85}", "é"], &[" ", "\u{a0}"]),
    (r"^[\d\s]+$", &["1 2\u{a0}"], &["a", "é"]),
    (r"^[^\d\s]+$", &["aé"], &["1", "\u{a0}"]),
    (r"^[\D]$", &["a", "é"], &["1"]),
    (r"^[^\S]$", &[" ", "\u{a0}"], &["a", "é"]),
    (r"^[^\W]$", &["a"], &["-", "é"]),
    (r"^[\s\S]$", &["a", " ", "é", "\u{a0}"], &[""]),
    ("^.$", &["a", "é", "\u{1F600}", "\u{85}"], &["", "\n", "\r", "\u{2028}", "\u{2029}", "ab"]),
    (r"^\x41\u0042\u{43}\cJ\0$", &["ABC\n\0"], &["ABC"]),
    (r"^\uD83D\uDE00$", &["\u{1F600}"], &["\u{1F601}"]),
    (r"^\t\n\v\f\r$", &["\t\n\u{b}\u{c}\r"], &["tnvfr"]),
    (r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$", &["^$\\.*+?()[]{}|/"], &[""]),
    (r"^\-\@\_$", &["-@_"], &["\\-@_"]),
    ("^é?$", &["", "é"], &["e", "éé"]),
    ("^[à-ÿ]+$", &["àéÿ"], &["a", "Ā"]),
    ("^[^à-ÿ]+$", &["aĀ"], &["é"]),
    ("[\u{1F600}-\u{1F64F}]", &["x\u{1F610}"], &["\u{1F650}", "\u{ffff}"]),
    (r"^[^@\s]+@[^@\s]+$", &["ada@example.com"], &["ada", "a@b@c", "a @b"]),
    ("^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$", &["a", "a-b"], &["a-", "-a", ""]),
    ("(a|b)*a(a|b){5}$", &["bbbabbbbb"], &["bbbbbbbbb", "abbbb"]),
];

#[test]
fn patterns_match_and_refuse_the_texts_of_their_rows() {
    for (source, matched, refused) in TABLE {
        let pattern = Pattern::new(source);
        for text in *matched {
            assert!(pattern.is_match(text), "/{source}/ on {text:?}");
        }
        for text in *refused {
            assert!(!pattern.is_match(text), "/{source}/ on {text:?}");
        }
    }
}

#[test]
fn unsupported_pattern_syntax_is_named() {
    let refused = [
        ("a(?=b)", Lookaround),
        ("a(?!b)", Lookaround),
        ("(?<=a)b", Lookaround),
        ("(?<!a)b", Lookaround),
        (r"(a)\1", Backreference),
        (r"(a)\k<n>", Backreference),
        (r"\ba", WordBoundary),
        (r"a\B", WordBoundary),
        ("a{257}", TooLarge),
        ("(abc){0,100}", TooLarge),
        ("a{99999999999}", TooLarge),
    ];
    for (source, error) in refused {
        assert_eq!(Program::parse_str(source).err(), Some(error), "/{source}/");
    }
}

#[test]
fn invalid_patterns_are_refused() {
    let refused = [
        "(?<n>a)",
        "(?P<n>a)",
        "(?i:a)",
        "(?i)a",
        "(?",
        r"\p{L}",
        r"[\p{L}]",
        "*a",
        "a**",
        "a|*",
        "(*)",
        "^*",
        "$+",
        "a{1}{2}",
        "a*??",
        "(",
        "(a",
        ")",
        "a)",
        "[",
        "[a",
        "[a-",
        "[^",
        r"[\",
        "]",
        "}",
        "{",
        "a{",
        "a{1",
        "a{1,",
        "a{,2}",
        "a{x}",
        "a{2,1}",
        "[z-a]",
        r"[\d-z]",
        r"[a-\d]",
        r"\",
        r"\a",
        r"\é",
        r"\00",
        r"\x4",
        r"\xZZ",
        r"\u123",
        r"\u{}",
        r"\u{110000}",
        r"\u{41",
        r"\uD83D",
        r"\uDE00",
        r"\u{D800}",
        r"\uD83D\u0041",
        r"\c1",
        r"\c",
        r"[\1]",
        r"[\B]",
        r"[\k]",
        r"\A",
        r"\z",
    ];
    for source in refused {
        let error = Program::parse_str(source).err();
        assert!(
            matches!(error, Some(Syntax(_))),
            "/{source}/ gives {error:?}"
        );
    }
}

#[test]
fn patterns_beyond_the_limits_are_refused_quickly() {
    assert!(Pattern::new("^[a-z]{1,253}$").is_match("abc"));
    assert!(Program::parse_str(&"a".repeat(MAX_STEPS - 1)).is_ok());
    for source in [
        "a".repeat(MAX_STEPS),
        "(".repeat(100_000),
        "|".repeat(100_000),
        "()".repeat(600),
    ] {
        assert_eq!(Program::parse_str(&source).err(), Some(TooLarge));
    }
    // Compiling these two patterns does not take time proportional to the product of the counts.
    assert!(Program::parse_str("((((((){9999}){9999}){9999}){9999}){9999}){9999}").is_ok());
    assert_eq!(
        Program::parse_str("((((a{9}){9}){9}){9}){9}").err(),
        Some(TooLarge)
    );
    // Matching does not take time exponential in the length of the text.
    assert!(!Pattern::new("^(a?){60}a{60}$").is_match(&"a".repeat(121)));
    assert!(!Pattern::new("^(a+)+$").is_match(&format!("{}b", "a".repeat(10_000))));
}

#[test]
fn anchored_patterns_are_recognized() {
    let anchored = [
        "^$",
        "^a$",
        "^a$|^b$",
        "^(a|b)$",
        "(^a$)",
        "(?:^a|^b)(?:c$|d$)",
        "(^a$)+",
    ];
    for source in anchored {
        assert!(Pattern::new(source).is_anchored(), "/{source}/");
    }
    let not = [
        "", "a", "^a", "a$", "^a|b$", "(^a$)?", "(^a$)*", "^a$|", "(^|b)a$", r"^a\$", "[^]a$",
        "()^a$",
    ];
    for source in not {
        assert!(!Pattern::new(source).is_anchored(), "/{source}/");
    }
}

#[test]
fn pattern_keeps_its_source_and_explains_errors() {
    assert_eq!(Pattern::new("^a$").source(), "^a$");
    for error in [
        Lookaround,
        Backreference,
        WordBoundary,
        TooLarge,
        Syntax(&tool_rules::Rule::PATTERN_ESCAPE),
    ] {
        assert_eq!(error.to_string(), error.text());
        assert!(!error.text().ends_with('.'));
    }
}
