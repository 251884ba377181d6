//! Property tests: a stream produces the same reply, wherever it is split.

use proptest::prelude::*;
use tool_wire::Provider;

use crate::support::{recorded, streamed};

/// Returns the recorded stream with different line endings.
fn lines(body: &str, end: &str) -> String {
    body.replace("\r\n", "\n").replace('\n', end)
}

proptest! {
    // The bytes are split anywhere, even within a character and between \r and \n.
    #[test]
    fn any_split_gives_the_same_reply(
        provider in prop::sample::select(&[Provider::Chat, Provider::Responses, Provider::Anthropic, Provider::Gemini][..]),
        end in prop::sample::select(&["\n", "\r\n", "\r"][..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let body = lines(recorded(provider).1, end);
        let expected = streamed(provider, recorded(provider).1).unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let mut stream = provider.stream();
        for pair in cuts.windows(2) {
            stream.feed(&body.as_bytes()[pair[0]..pair[1]]).unwrap();
        }
        let reply = stream.finish().unwrap();
        prop_assert_eq!(reply.message(), expected.message());
        prop_assert_eq!(reply.stop(), expected.stop());
    }

    // The provider splits the arguments anywhere.
    #[test]
    fn any_cut_of_the_arguments_gives_the_same_call(
        arguments in r#"\{"[a-z]{1,4}":("[^"\\\x00-\x1f]{0,20}"|-?[0-9]{1,30}(\.[0-9]{1,9})?)(,"[a-z]":true){0,3}\}"#,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let places: Vec<usize> = arguments.char_indices().map(|(at, _)| at).chain([arguments.len()]).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| places[cut.index(places.len())]).collect();
        cuts.extend([0, arguments.len()]);
        cuts.sort_unstable();
        let pieces: Vec<String> = cuts.windows(2).map(|pair| serde_json::Value::from(&arguments[pair[0]..pair[1]]).to_string()).collect();
        let events = |begin: &str, piece: &dyn Fn(&str) -> String, end: &[&str]| {
            let mut events = vec![begin.to_owned()];
            events.extend(pieces.iter().map(|text| piece(text)));
            events.extend(end.iter().map(|event| (*event).to_owned()));
            events
        };
        let streams = [
            (Provider::Chat, events(
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"t","arguments":""}}]}}]}"#,
                &|text| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":{text}}}}}]}}}}]}}"#),
                &[r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#, "[DONE]"],
            )),
            (Provider::Anthropic, events(
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":{}}}"#,
                &|text| format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{text}}}}}"#),
                &[r#"{"type":"content_block_stop","index":0}"#, r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#],
            )),
            (Provider::Bedrock, events(
                r#"{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c","name":"t"}}}}"#,
                &|text| format!(r#"{{"contentBlockDelta":{{"contentBlockIndex":0,"delta":{{"toolUse":{{"input":{text}}}}}}}}}"#),
                &[r#"{"contentBlockStop":{"contentBlockIndex":0}}"#, r#"{"messageStop":{"stopReason":"tool_use"}}"#],
            )),
        ];
        for (provider, events) in streams {
            let mut stream = provider.stream();
            for event in &events {
                stream.event(event).unwrap();
            }
            let reply = stream.finish().unwrap();
            prop_assert_eq!(&reply.calls()[0].arguments, &arguments, "{}", provider);
        }
    }
}
