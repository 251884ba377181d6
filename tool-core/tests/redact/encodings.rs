//! Redaction of secrets in the spellings of other encoders. `docs/threat-model.md` names the test of each spelling.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::redactor;

const SECRETS: [&str; 6] = [
    "sk-live/4711+ä?&=",
    "-----BEGIN KEY-----\nMIIB\tabc\n-----END KEY-----\n",
    "p\"a\\s/s%w o<r>d~'&amp;",
    "密码🔑密码",
    "~~~???>>>///{}",
    "\u{1}\u{9f}bytes\u{0}ÿ",
];

/// Asserts that each secret is redacted in this spelling, in a whole text and in pieces.
#[track_caller]
fn masked(spell: impl Fn(&str) -> String) {
    for secret in SECRETS {
        let redactor = redactor(&[("key", secret)]);
        let text = spell(secret);
        assert_eq!(
            redactor.redact(&format!("<{text}>")),
            "<[secret:key]>",
            "{text}"
        );
        let mut stream = redactor.stream();
        let mut joined = String::new();
        for piece in format!("<{text}>").chars() {
            joined.push_str(&stream.push(&piece.to_string()));
        }
        joined.push_str(&stream.finish());
        assert_eq!(joined, "<[secret:key]>", "{text} in pieces");
    }
}

fn bytes(secret: &str, separator: &str, write: impl Fn(u8) -> String) -> String {
    let bytes: Vec<String> = secret.bytes().map(write).collect();
    bytes.join(separator)
}

// A secret in named HTML references is redacted.
#[test]
fn html_named_references_are_redacted() {
    let named = |secret: &str| -> String {
        secret
            .chars()
            .map(|character| match character {
                '&' => "&amp;".to_owned(),
                '<' => "&lt;".to_owned(),
                '>' => "&gt;".to_owned(),
                '"' => "&quot;".to_owned(),
                '\'' => "&apos;".to_owned(),
                '/' => "&sol;".to_owned(),
                '+' => "&plus;".to_owned(),
                '=' => "&equals;".to_owned(),
                '?' => "&quest;".to_owned(),
                '{' => "&lcub;".to_owned(),
                '}' => "&rbrace;".to_owned(),
                '\n' => "&NewLine;".to_owned(),
                '\t' => "&Tab;".to_owned(),
                'ä' => "&auml;".to_owned(),
                'ÿ' => "&yuml;".to_owned(),
                other => other.to_string(),
            })
            .collect()
    };
    masked(named);
    // The references are encoded a second time.
    masked(|secret| named(secret).replace('&', "&amp;"));
}

// A secret in numeric HTML references is redacted.
#[test]
fn html_numeric_references_are_redacted() {
    let each = |write: fn(u32) -> String| {
        move |secret: &str| -> String {
            secret
                .chars()
                .filter(|character| *character != '\0')
                .map(|character| write(u32::from(character)))
                .collect()
        }
    };
    for write in [
        (|code| format!("&#{code};")) as fn(u32) -> String,
        |code| format!("&#x{code:x};"),
        |code| format!("&#X{code:X};"),
        |code| format!("&#{code:04};"),
        |code| format!("&#x{code:06x};"),
        |code| format!("&amp;#{code};"),
    ] {
        let spell = each(write);
        for secret in SECRETS.into_iter().filter(|secret| !secret.contains('\0')) {
            let redactor = redactor(&[("key", secret)]);
            assert_eq!(
                redactor.redact(&format!("<{}>", spell(secret))),
                "<[secret:key]>"
            );
        }
    }
    // PHP and most template engines write these references.
    let redactor = redactor(&[("key", "it's <me>")]);
    assert_eq!(redactor.redact("it&#039;s &lt;me&gt;"), "[secret:key]");
    assert_eq!(redactor.redact("it&#39s &LT;me&#62;"), "[secret:key]");
}

// A secret in a JSON array of its bytes is redacted.
#[test]
fn json_arrays_of_bytes_are_redacted() {
    let inside = |text: String| text.trim_matches(['[', ']']).to_owned();
    masked(|secret| inside(serde_json::to_string(secret.as_bytes()).unwrap()));
    masked(|secret| inside(format!("{:?}", secret.as_bytes())));
    masked(|secret| bytes(secret, ",\n      ", |byte| byte.to_string()));
    masked(|secret| bytes(secret, ",\\n  ", |byte| byte.to_string()));
    for secret in SECRETS {
        let redactor = redactor(&[("key", secret)]);
        // The bytes are a part of a longer array.
        let whole = [b"user:", secret.as_bytes(), b"\xff"].concat();
        let payload = json!({ "id": 7, "data": whole, "rest": [115, 51] });
        for text in [
            payload.to_string(),
            serde_json::to_string_pretty(&payload).unwrap(),
        ] {
            let masked: serde_json::Value =
                serde_json::from_str(&redactor.redact_json(&text)).unwrap();
            assert_eq!(
                masked,
                json!({ "id": 7, "data": "[secret:key]", "rest": [115, 51] })
            );
            // The array is text within JSON.
            let text = json!({ "log": format!("got {text}") }).to_string();
            let masked: serde_json::Value =
                serde_json::from_str(&redactor.redact_json(&text)).unwrap();
            assert!(
                masked["log"].as_str().unwrap().contains("[secret:key]"),
                "{masked}"
            );
        }
    }
}

// A secret is redacted if its CRLF line breaks are written as LF, or its LF line breaks as CRLF.
#[test]
fn crlf_for_lf_and_lf_for_crlf_are_redacted() {
    let (lf, crlf) = ("line-1\nline-2\nline-3", "line-1\r\nline-2\r\nline-3");
    for (secret, text) in [(lf, crlf), (crlf, lf), (&format!("{lf}\n"), crlf)] {
        let redactor = redactor(&[("key", secret)]);
        assert_eq!(redactor.redact(&format!("<{text}>")), "<[secret:key]>");
        let json = serde_json::to_string(text).unwrap();
        assert_eq!(redactor.redact(&json), "\"[secret:key]\"");
        assert_eq!(redactor.redact_json(&json), "\"[secret:key]\"");
        let base64 = STANDARD.encode(text);
        assert!(
            redactor.redact(&base64).starts_with("[secret:key]"),
            "{base64}"
        );
    }
}

fn wrapped(text: &str, at: usize, line_break: &str) -> String {
    let chunks = text.as_bytes().chunks(at);
    let lines: Vec<&str> = chunks
        .map(|chunk| std::str::from_utf8(chunk).unwrap())
        .collect();
    lines.join(line_break)
}

// A secret in base64 with line breaks is redacted.
#[test]
fn wrapped_base64_is_redacted() {
    let long = "0123456789-".repeat(20);
    for secret in SECRETS.into_iter().chain([&*long]) {
        let redactor = redactor(&[("key", secret)]);
        for before in 0..70 {
            let text = STANDARD.encode([&vec![b'x'; before], secret.as_bytes(), b"yyy"].concat());
            let head = (before * 8).div_ceil(6);
            let core = &text[head..(before + secret.len()) * 8 / 6];
            for (width, line_break) in [
                (64, "\n"),
                (76, "\r\n"),
                (76, "\n    "),
                (60, "\\n"),
                (76, "\\r\\n"),
            ] {
                let wrapped = wrapped(&text, width, line_break);
                let masked = redactor.redact(&wrapped);
                assert_eq!(masked.matches("[secret:key]").count(), 1, "{wrapped}");
                let flat: String = masked.replace(line_break, "");
                assert!(!flat.contains(core), "{flat}");
                // The characters that consist only of bits of the secret are removed.
                assert!(
                    flat.len() <= text.len() - core.len() + "[secret:key]".len(),
                    "{flat}"
                );
            }
        }
    }
}

// A secret in hex with separators is redacted.
#[test]
fn hex_with_separators_is_redacted() {
    for separator in [":", "-", " ", ":\n    ", "\n"] {
        masked(|secret| bytes(secret, separator, |byte| format!("{byte:02x}")));
        masked(|secret| bytes(secret, separator, |byte| format!("{byte:02X}")));
    }
}

// A secret in Rust escapes is redacted.
#[test]
fn rust_escapes_are_redacted() {
    masked(|secret| secret.escape_default().to_string());
    masked(|secret| secret.escape_debug().to_string());
    masked(|secret| secret.escape_unicode().to_string());
    masked(|secret| secret.as_bytes().escape_ascii().to_string());
}

// A secret in the escapes of C and Python is redacted.
#[test]
fn escapes_of_c_and_python_are_redacted() {
    masked(|secret| bytes(secret, "", |byte| format!("\\x{byte:02x}")));
    masked(|secret| bytes(secret, "", |byte| format!("\\{byte:03o}")));
    masked(|secret| {
        secret
            .chars()
            .map(|c| format!("\\U{:08x}", u32::from(c)))
            .collect()
    });
}

// A secret that is percent-encoded twice or three times is redacted.
#[test]
fn percent_encoding_twice_and_three_times_is_redacted() {
    let percent = |secret: &str| bytes(secret, "", |byte| format!("%{byte:02X}"));
    masked(|secret| percent(secret).replace('%', "%25"));
    masked(|secret| percent(secret).replace('%', "%2525"));
    // In this text, only the characters that require it are encoded.
    let redactor = redactor(&[("key", "a/b+c d")]);
    assert_eq!(
        redactor.redact("?k=a%252Fb%252Bc%2520d&"),
        "?k=[secret:key]&"
    );
}

// Secrets in the spellings that the threat model lists as not found are not redacted.
#[test]
fn documented_unredacted_spellings_are_not_found() {
    let secret = "secret/key";
    let redactor = redactor(&[("key", secret)]);
    let utf16: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for text in [
        secret.chars().rev().collect::<String>(),
        secret.to_uppercase(),
        bytes(secret, "", |byte| format!("={byte:02X}")),
        STANDARD.encode(&utf16),
        STANDARD.encode(STANDARD.encode(secret)),
        bytes(secret, ", ", |byte| format!("0x{byte:02x}")),
        "secret\n/key".to_owned(),
        secret[..secret.len() - 1].to_owned(),
    ] {
        assert_eq!(redactor.redact(&text), text);
    }
}

// Lists of numbers that do not spell a secret are unchanged.
#[test]
fn other_lists_and_references_are_untouched() {
    let redactor = redactor(&[("key", "sk-live/4711")]);
    for text in [
        "[115,107,45,108,105,118,101]",
        "115,107 73:6b:2d:6c",
        "&lt;a&gt; &amp;&amp; &unknown; &#; &#x; &#99999999999; & AT&T",
        "a\\x \\u{ } \\u{1234567} \\400 \\18 %25 %252",
        "line-1\r\nline-2\nc2st\n",
        "1,2,3,4\n5,6,7,8",
    ] {
        assert!(
            matches!(redactor.redact(text), std::borrow::Cow::Borrowed(_)),
            "{text}"
        );
        let json = serde_json::to_string(text).unwrap();
        assert!(
            matches!(redactor.redact_json(&json), std::borrow::Cow::Borrowed(_)),
            "{json}"
        );
    }
}
