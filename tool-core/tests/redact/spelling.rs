//! Redaction of each spelling, written by independent encoders.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::redactor;

const SECRETS: [&str; 5] = [
    "sk-live/4711+ä?&=",
    "-----BEGIN KEY-----\nMIIB\tabc\r\n-----END KEY-----\n",
    "p\"a\\s/s%w o\u{8}r\u{c}d~",
    "密码🔑密码",
    "~~~???>>>///",
];

// M8: the secret is redacted in plain text and in hex.
#[test]
fn literal_and_hex_spellings_are_redacted() {
    for secret in SECRETS {
        let redactor = redactor(&[("key", secret)]);
        assert_eq!(redactor.redact(&format!("<{secret}>")), "<[secret:key]>");
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(redactor.redact(&format!("<{hex}>")), "<[secret:key]>");
        let hex = hex.to_uppercase();
        assert_eq!(redactor.redact(&format!("<{hex}>")), "<[secret:key]>");
    }
}

// M8: the secret is redacted in JSON strings.
#[test]
fn json_escaped_spellings_are_redacted() {
    for secret in SECRETS {
        let redactor = redactor(&[("key", secret)]);
        let json = serde_json::to_string(secret).unwrap();
        assert_eq!(redactor.redact(&json), "\"[secret:key]\"");
        let slashes = json.replace('/', "\\/");
        assert_eq!(redactor.redact(&slashes), "\"[secret:key]\"");
        let lower: String = secret
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        assert_eq!(redactor.redact(&lower), "[secret:key]");
        let upper: String = secret
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04X}"))
            .collect();
        assert_eq!(redactor.redact(&upper), "[secret:key]");
    }
}

// M8: the percent-encoded secret is redacted.
#[test]
fn percent_encoded_spellings_are_redacted() {
    for secret in SECRETS {
        let redactor = redactor(&[("key", secret)]);
        let all: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(redactor.redact(&all), "[secret:key]");
        assert_eq!(redactor.redact(&all.to_lowercase()), "[secret:key]");
        let form = url_form(secret);
        assert_eq!(
            redactor.redact(&format!("?a={form}&b=1")),
            "?a=[secret:key]&b=1"
        );
    }
}

/// Encodes a text in the way in which a browser encodes a field of a form.
fn url_form(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b' ' => "+".to_owned(),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

// M8: base64 at every alignment leaves no bit of the secret.
#[test]
fn base64_spellings_are_redacted_at_every_alignment() {
    for secret in SECRETS {
        let redactor = redactor(&[("key", secret)]);
        for (engine, name) in [
            (&STANDARD, "standard"),
            (&STANDARD_NO_PAD, "standard without padding"),
            (&URL_SAFE, "url"),
            (&URL_SAFE_NO_PAD, "url without padding"),
        ] {
            for before in 0..6 {
                for after in 0..6 {
                    let bytes = [
                        &b"user:pass"[..before],
                        secret.as_bytes(),
                        &b"\xffafter"[..after],
                    ]
                    .concat();
                    let text = engine.encode(&bytes);
                    // These characters contain no bits of the secret.
                    let head = before * 8 / 6;
                    let tail = ((before + secret.len()) * 8).div_ceil(6);
                    let expected = format!("{}[secret:key]{}", &text[..head], &text[tail..]);
                    assert_eq!(
                        redactor.redact(&text),
                        expected,
                        "{name}, {before} before, {after} after"
                    );
                }
            }
        }
    }
}

// M8: nested spellings are redacted: a key in base64, in the query of an address, in JSON.
#[test]
fn nested_spellings_are_redacted() {
    let secret = "~~~???>>>///ab";
    let redactor = redactor(&[("key", secret)]);
    let base64 = STANDARD.encode(secret);
    assert!(base64.contains('+') || base64.contains('/'));
    let tail = &base64[secret.len() * 8 / 6 + 1..];
    let query = url_form(base64.trim_end_matches('='));
    assert_eq!(redactor.redact(&format!("?k={query}")), "?k=[secret:key]");
    let json = serde_json::to_string(&base64).unwrap().replace('/', "\\/");
    assert_eq!(redactor.redact(&json), format!("\"[secret:key]{tail}\""));

    let inner = serde_json::json!({"k": secret}).to_string();
    let outer = serde_json::json!({"text": inner, "more": serde_json::to_string(&inner).unwrap()})
        .to_string();
    let masked = redactor.redact_json(&outer);
    let outer: serde_json::Value = serde_json::from_str(&masked).unwrap();
    assert_eq!(outer["text"], r#"{"k":"[secret:key]"}"#);
    assert_eq!(outer["more"], r#""{\"k\":\"[secret:key]\"}""#);
}

// M8: text that looks like the start of an escape does not hide the secret after it.
#[test]
fn text_like_an_escape_start_does_not_hide_a_secret() {
    let redactor = redactor(&[("key", "ab12cd34")]);
    assert_eq!(redactor.redact("%ab12cd34"), "%[secret:key]");
    assert_eq!(redactor.redact("%ab%31%32cd34"), "%[secret:key]");
    assert_eq!(redactor.redact("%2%61b12cd34"), "%2[secret:key]");
    assert_eq!(redactor.redact(r"\\u0061b12cd34"), r"\[secret:key]");
    assert_eq!(redactor.redact(r"\u00ab12cd34"), r"\u00[secret:key]");
    assert_eq!(
        redactor.redact(r"\ud83d\u0061b12cd34"),
        r"\ud83d[secret:key]"
    );
}

// M8: a secret of backslashes, which can be read in exponentially many ways, is redacted in bounded time.
#[test]
fn secret_of_backslashes_is_redacted_in_bounded_time() {
    let secret = "\\".repeat(60);
    let redactor = redactor(&[("key", &secret)]);
    assert_eq!(redactor.redact(&"\\".repeat(59)).len(), 59);
    assert_eq!(redactor.redact(&"\\".repeat(100)), "[secret:key]");
    assert_eq!(redactor.redact(&"\\".repeat(120)), "[secret:key]");
}

// M8: a complete spelling is redacted while a second spelling that may overlap it is still incomplete.
#[test]
fn placeholder_is_delayed_while_a_spelling_may_continue() {
    let redactor = redactor(&[("key", "a ++ %")]);
    let text = "61202b2b2025\\u0061 ++ %";
    let mut stream = redactor.stream();
    let mut joined: String = text
        .chars()
        .map(|piece| stream.push(&piece.to_string()))
        .collect();
    joined.push_str(&stream.finish());
    assert_eq!(joined, redactor.redact(text));
    assert_eq!(joined, "[secret:key][secret:key]");
}

// M8: two secrets that share a character of one base64 text are replaced by one placeholder.
#[test]
fn adjacent_secrets_in_base64_share_a_placeholder() {
    let redactor = redactor(&[("user", "user-42"), ("pass", "pass-word")]);
    let text = STANDARD_NO_PAD.encode("user-42pass-word");
    assert_eq!(redactor.redact(&text), "[secret:user]");
    let mut stream = redactor.stream();
    let mut joined = stream.push(&text[..10]);
    joined.push_str(&stream.push(&text[10..]));
    joined.push_str(&stream.finish());
    assert_eq!(joined, "[secret:user]");
}

// M8: escapes in JSON text inside a JSON string are decoded.
#[test]
fn nested_json_escapes_are_decoded() {
    let redactor = redactor(&[("key", "line-1\nline-2")]);
    let inner = serde_json::json!(["line-1\nline-2"]).to_string();
    let outer = serde_json::to_string(&inner).unwrap();
    assert_eq!(redactor.redact_json(&outer), r#""[\"[secret:key]\"]""#);
}

// M8: more secrets than the fast search supports are redacted.
#[test]
fn many_secrets_are_all_found() {
    let secrets: Vec<(String, String)> = (0..40)
        .map(|n| (format!("key_{n}"), format!("value-{n:02}")))
        .collect();
    let named: Vec<(&str, &str)> = secrets
        .iter()
        .map(|(name, secret)| (name.as_str(), secret.as_str()))
        .collect();
    let redactor = redactor(&named);
    let text: String = named
        .iter()
        .map(|(_, secret)| format!("<{secret}>"))
        .collect();
    let masked: String = named
        .iter()
        .map(|(name, _)| format!("<[secret:{name}]>"))
        .collect();
    assert_eq!(redactor.redact(&text), masked);
    let mut stream = redactor.stream();
    let mut joined: String = text
        .chars()
        .map(|piece| stream.push(&piece.to_string()))
        .collect();
    joined.push_str(&stream.finish());
    assert_eq!(joined, masked);
    assert!(matches!(
        redactor.redact("value-4 value-40"),
        std::borrow::Cow::Borrowed(_)
    ));
}
