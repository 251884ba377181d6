//! Tests that numbers in arguments and results of a server's tools stay exact.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_mcp::client::mcp_tools;

use crate::support::{Listed, open};

/// Returns pseudo-random bits (xorshift).
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

// The server receives and returns a double with the same bits as in the arguments.
#[tokio::test]
async fn doubles_keep_their_last_bit_both_ways() {
    let numbers = json!({"type": "array", "items": {"type": "number"}});
    let strict = json!({"type": "object", "properties": {"values": numbers}, "required": ["values"], "additionalProperties": false});
    let mut loose = strict.clone();
    loose["properties"]["more"] = json!({});
    let served = json!({"tools": [
        {"name": "strict", "description": "Gives back.", "inputSchema": strict},
        {"name": "loose", "description": "Gives back.", "inputSchema": loose},
    ]});
    let listed = Listed::start(&served).await;
    let tools = open(&mcp_tools(&listed.client).allow_non_strict().await.unwrap());

    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut written: Vec<String> = vec![
        "122.416294033786585".into(),
        "0.1000000000000000055511151231257827".into(),
        "-122.41629403378658".into(),
        "5e-324".into(),
        "1.7976931348623157e308".into(),
        "0.30000000000000004".into(),
        "9007199254740993".into(),
    ];
    while written.len() < 6000 {
        let double = f64::from_bits(random(&mut state));
        if double.is_finite() {
            written.push(format!("{double:?}"));
        }
        // Like coordinates, these numbers have up to 18 digits. The fraction is a random double between 1 and 2, minus 1.
        let fraction = f64::from_bits((0x3ff << 52) | (random(&mut state) >> 12)) - 1.0;
        written.push(format!("{:?}", fraction * 360.0 - 180.0));
        written.push(format!("{:.15}", fraction * 360.0));
        written.push(format!("{fraction:.17}"));
    }
    for name in ["strict", "loose"] {
        let arguments = format!(r#"{{"values":[{}]}}"#, written.join(","));
        let call = ToolCall::new("c", name, arguments);
        let result = tools.call(call, &ToolContext::anonymous()).await;
        let output = result
            .output()
            .unwrap_or_else(|| panic!("{:?}", result.error()));
        // The text of the result is the line that the server read.
        let line = result.model_text();
        let (_, values) = line.split_once(r#""values":["#).unwrap();
        let (sent, _) = values.split_once(']').unwrap();
        let (_, values) = output.get().split_once('[').unwrap();
        let (back, _) = values.split_once(']').unwrap();
        let doubles = |text: &str| {
            text.split(',')
                .map(|digits| digits.trim().parse::<f64>().unwrap().to_bits())
                .collect::<Vec<_>>()
        };
        let expected: Vec<u64> = written
            .iter()
            .map(|digits| digits.parse::<f64>().unwrap().to_bits())
            .collect();
        // The first numbers are compared one by one, so that a failure names the number.
        for (at, digits) in written.iter().enumerate() {
            assert_eq!(
                doubles(sent)[at..=at],
                expected[at..=at],
                "{digits} was sent as a different number"
            );
            assert_eq!(
                doubles(back)[at..=at],
                expected[at..=at],
                "the server returned a different number than {digits}"
            );
            if at > 50 {
                break;
            }
        }
        assert!(
            doubles(sent) == expected && doubles(back) == expected,
            "{name}"
        );
    }
    // Integers that a double cannot represent are exact or refused, never rounded.
    let exact = ToolCall::new(
        "c",
        "loose",
        r#"{"values":[9007199254740993,18446744073709551615]}"#,
    );
    let exact = tools.call(exact, &ToolContext::anonymous()).await;
    let sent: Value = serde_json::from_str(exact.output().unwrap().get()).unwrap();
    assert_eq!(sent["values"], json!([9_007_199_254_740_993_u64, u64::MAX]));
    for digits in ["12345678901234567890123", "100000000000000000.9", "1e999"] {
        let long = ToolCall::new("c", "loose", format!(r#"{{"values":[{digits}]}}"#));
        let long = tools.call(long, &ToolContext::anonymous()).await;
        let issues = long.error().unwrap().issues();
        assert_eq!(issues[0].pointer, "/values/0", "{digits}");
    }
}
