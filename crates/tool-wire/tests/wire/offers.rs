//! Tests of writing tool definitions for requests.

use serde::Serialize;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_wire::{Offer, OfferError, Provider};

use crate::support::{fetch, forecast, search};

fn fields(offer: &Offer) -> String {
    serde_json::to_string(offer).unwrap()
}

const FORECAST: &str = "Returns the weather.";
const EXAMPLES: &str = r#"\n\nExamples:\n- Over a weekend: {\"city\":\"Basel\",\"days\":2}\n- With the default number of days: {\"city\":\"\\\"Bern\\\"\"}"#;

// The tools are strict for every provider. The examples are in a separate field, or in the description if the provider has no such field.
#[test]
fn tools_are_listed_in_the_format_of_each_provider() {
    let tools = toolset![forecast];
    let text = |provider: Provider| fields(&provider.offer(&tools).unwrap());

    let chat = text(Provider::Chat);
    let begin = format!(
        r#"{{"tools":[{{"type":"function","function":{{"name":"forecast","description":"{FORECAST}{EXAMPLES}","strict":true,"parameters":{{"type":"object","properties":{{"city":"#
    );
    assert!(chat.starts_with(&begin), "{chat}");
    assert!(
        chat.ends_with(r#""required":["city","days"],"additionalProperties":false}}}]}"#),
        "{chat}"
    );

    let responses = text(Provider::Responses);
    let flat = chat
        .replacen(r#""function":{"name""#, r#""name""#, 1)
        .replace("}}}]}", "}}]}");
    assert_eq!(responses, flat);

    let anthropic = text(Provider::Anthropic);
    let begin = format!(
        r#"{{"tools":[{{"name":"forecast","description":"{FORECAST}","input_schema":{{"type":"object","#
    );
    assert!(anthropic.starts_with(&begin), "{anthropic}");
    let end =
        r#""strict":true,"input_examples":[{"city":"Basel","days":2},{"city":"\"Bern\""}]}]}"#;
    assert!(anthropic.ends_with(end), "{anthropic}");

    let gemini = text(Provider::Gemini);
    let begin = format!(
        r#"{{"tools":[{{"functionDeclarations":[{{"name":"forecast","description":"{FORECAST}{EXAMPLES}","parametersJsonSchema":{{"#
    );
    assert!(gemini.starts_with(&begin), "{gemini}");
    let end = r#"}]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}}}"#;
    assert!(gemini.ends_with(end), "{gemini}");

    let bedrock = text(Provider::Bedrock);
    let begin = format!(
        r#"{{"toolConfig":{{"tools":[{{"toolSpec":{{"name":"forecast","description":"{FORECAST}{EXAMPLES}","inputSchema":{{"json":{{"#
    );
    assert!(bedrock.starts_with(&begin), "{bedrock}");
    assert!(bedrock.ends_with(r#"}},"strict":true}}]}}"#), "{bedrock}");
    let schema = tools.get("forecast").unwrap().schema(Dialect::Anthropic);
    assert!(bedrock.contains(&format!(r#""inputSchema":{{"json":{schema}}}"#)));
}

// S1-30: the definitions that are sent, or for Responses and Bedrock their schemas, equal the texts that were generated at compile time, byte for
// byte
#[test]
fn offered_definitions_are_the_compiled_ones() {
    let tools = toolset![fetch, forecast, search];
    for (provider, dialect) in [
        (Provider::Chat, Dialect::OpenAi),
        (Provider::Anthropic, Dialect::Anthropic),
        (Provider::Gemini, Dialect::Gemini),
    ] {
        assert_eq!(
            provider.offer(&tools).unwrap().tools(),
            tools.definitions(dialect)
        );
    }
    for provider in Provider::ALL {
        let offer = provider.offer(&tools).unwrap();
        for name in ["forecast", "search"] {
            let schema = tools.get(name).unwrap().schema(provider.dialect());
            assert!(offer.tools().contains(schema), "{provider} {name}");
        }
    }
}

#[test]
fn tool_excluding_the_provider_is_reported() {
    let tools = toolset![fetch, search];
    for provider in Provider::ALL {
        let offer = provider.offer(&tools).unwrap();
        let out = matches!(
            provider,
            Provider::Anthropic | Provider::Gemini | Provider::Bedrock
        );
        assert_eq!(
            offer.left_out(),
            if out { &["fetch"][..] } else { &[] },
            "{provider}"
        );
        assert_eq!(offer.tools().contains("\"fetch\""), !out);
    }
}

#[test]
fn request_without_tools_has_no_tool_fields() {
    for provider in Provider::ALL {
        assert_eq!(fields(&provider.offer(&toolset![]).unwrap()), "{}");
    }
}

// An offer can be flattened into any request struct of a host.
#[test]
fn an_offer_flattens_into_a_request() {
    #[derive(Serialize)]
    struct Request<'a> {
        model: &'static str,
        #[serde(flatten)]
        offer: &'a Offer,
        stream: bool,
    }
    for provider in Provider::ALL {
        let offer = provider.offer(&toolset![search]).unwrap();
        let request = Request {
            model: "m",
            offer: &offer,
            stream: true,
        };
        let text = serde_json::to_string(&request).unwrap();
        let inner = fields(&offer);
        let inner = &inner[1..inner.len() - 1];
        assert_eq!(text, format!(r#"{{"model":"m",{inner},"stream":true}}"#));
    }
}

/// Returns a toolset of `count` dynamic tools.
fn many(count: usize, schema: &Value) -> Toolset {
    let tools = (0..count).map(|at| {
        tool_core::DynamicTool::new(
            format!("tool_{at}"),
            "Does something.",
            schema,
            |_: Value, _| async { Ok::<_, ToolError>(1) },
        )
    });
    let registry = tools.fold(Registry::builder(), tool_core::RegistryBuilder::dynamic);
    registry.build().unwrap().open()
}

fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
}

// M2: exceeding a limit is an error that names the limit; strictness is never dropped silently
#[test]
fn exceeding_a_provider_limit_is_an_error() {
    let tools = many(21, &no_parameters());
    for provider in [Provider::Anthropic, Provider::Bedrock] {
        let error = provider.offer(&tools).unwrap_err();
        assert!(
            error.to_string().contains("[limit-strict-tools]") && error.to_string().contains("21"),
            "{error}"
        );
        let OfferError::Budget { faults, .. } = error else {
            panic!()
        };
        assert_eq!(faults.len(), 1);
        // The host decides which tools may be non-strict.
        let offer = provider.offer_lenient(&tools, ["tool_7"]).unwrap();
        let strict = offer.tools().matches(r#""strict":true"#).count();
        let loose = offer.tools().matches(r#""strict":false"#).count();
        assert_eq!((strict, loose), (20, 1), "{provider}");
    }
    for provider in [Provider::Chat, Provider::Responses, Provider::Gemini] {
        assert!(provider.offer(&tools).is_ok());
        let error = provider.offer(&many(129, &no_parameters())).unwrap_err();
        assert!(
            error.to_string().contains("[limit-tools]") && error.to_string().contains("129"),
            "{error}"
        );
    }
    // Anthropic accepts any number of tools that are not strict.
    let tools = many(129, &no_parameters());
    let names: Vec<String> = tools.names().map(str::to_owned).collect();
    let offer = Provider::Anthropic.offer_lenient(&tools, names.iter().map(String::as_str));
    assert_eq!(
        offer.unwrap().tools().matches(r#""strict":false"#).count(),
        129
    );

    let optionals = json!({"type": "object", "additionalProperties": false, "properties": {
        "a": {"type": ["string", "null"], "description": "A."}, "b": {"type": ["string", "null"], "description": "B."},
        "c": {"type": ["string", "null"], "description": "C."}, "d": {"type": ["string", "null"], "description": "D."},
        "e": {"type": ["string", "null"], "description": "E."}}, "required": ["a", "b", "c", "d", "e"]});
    let error = Provider::Anthropic.offer(&many(5, &optionals)).unwrap_err();
    assert!(error.to_string().contains("[limit-optional"), "{error}");
}

#[test]
fn non_strict_tool_differs_only_in_its_strict_flag() {
    let tools = toolset![forecast, search];
    for provider in [
        Provider::Chat,
        Provider::Responses,
        Provider::Anthropic,
        Provider::Bedrock,
    ] {
        let strict = provider.offer(&tools).unwrap();
        let loose = provider.offer_lenient(&tools, ["forecast"]).unwrap();
        assert_eq!(
            loose
                .tools()
                .replacen(r#""strict":false"#, r#""strict":true"#, 1),
            strict.tools()
        );
        let list: Value = serde_json::from_str(loose.tools()).unwrap();
        let flag = |at: usize| -> &Value {
            let tool = &list[at];
            [
                &tool["strict"],
                &tool["function"]["strict"],
                &tool["toolSpec"]["strict"],
            ]
            .into_iter()
            .find(|flag| !flag.is_null())
            .unwrap()
        };
        assert_eq!(
            (flag(0), flag(1)),
            (&json!(false), &json!(true)),
            "{provider}"
        );
    }
    let gemini = Provider::Gemini
        .offer_lenient(&tools, ["forecast"])
        .unwrap();
    assert!(fields(&gemini).contains(r#""mode":"AUTO""#));
    // STRICT 1.6: the mode is the same for all tools of a request.
    assert!(gemini.non_strict().eq(["forecast", "search"]));
    let unknown = Provider::Chat
        .offer_lenient(&tools, ["forcast"])
        .unwrap_err();
    assert_eq!(unknown, OfferError::NoSuchTool("forcast".to_owned()));
}

// STRICT 1.6: Gemini enforces the schemas of all tools of a request (`VALIDATED`) or of none (`AUTO`). It accepts the names of the remaining tools
// only in its strict mode.
#[test]
fn gemini_enforces_all_schemas_after_a_removal() {
    let first = Provider::Gemini
        .offer_lenient(&toolset![forecast, search], ["forecast"])
        .unwrap();
    assert_eq!(first.non_strict().count(), 2);
    let second = first.next(&toolset![forecast]).unwrap();
    assert!(fields(&second).contains(r#""mode":"VALIDATED""#));
    assert_eq!(second.non_strict().count(), 0);
    // The removed tool returns, so all tools may be called again, without strict mode.
    let third = second.next(&toolset![forecast, search]).unwrap();
    assert!(fields(&third).contains(r#""mode":"AUTO""#));
    assert_eq!(third.non_strict().count(), 2);
}

/// Has `","strict":true,"parameters":` and `","input_schema":` in its description.
#[tool]
async fn quoted() -> u8 {
    0
}

// `offer_lenient` sets the strict flag of a definition, even if the tool's description quotes parts of a definition.
#[test]
fn a_description_may_quote_a_definition() {
    let tools = toolset![quoted];
    for provider in [
        Provider::Chat,
        Provider::Responses,
        Provider::Anthropic,
        Provider::Bedrock,
    ] {
        let loose = provider.offer_lenient(&tools, ["quoted"]).unwrap();
        let list: Value = serde_json::from_str(loose.tools()).unwrap();
        let tool = [&list[0]["function"], &list[0]["toolSpec"], &list[0]]
            .into_iter()
            .find(|tool| tool["name"].is_string())
            .unwrap();
        assert_eq!(tool["strict"], false, "{provider}");
        assert!(
            tool["description"]
                .as_str()
                .unwrap()
                .contains(r#"","strict":true,"parameters":"#)
        );
    }
}

// A renamed tool is offered under its new name, and a dynamic tool is offered like a linked tool.
#[test]
fn renamed_and_dynamic_tools_are_offered() {
    let registry = Registry::builder()
        .tool::<forecast>()
        .dynamic(tool_core::DynamicTool::new(
            "x:shout",
            "Shouts \"loud\".",
            no_parameters(),
            |_: Value, _| async { Ok::<_, ToolError>(1) },
        ))
        .build()
        .unwrap();
    let tools = registry.open().prefix("my").unwrap();
    for provider in Provider::ALL {
        let offer = provider.offer(&tools).unwrap();
        let list: Value = serde_json::from_str(offer.tools()).unwrap();
        let names: Vec<&str> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| {
                [
                    &tool["name"],
                    &tool["function"]["name"],
                    &tool["toolSpec"]["name"],
                ]
                .into_iter()
                .find_map(Value::as_str)
                .unwrap()
            })
            .collect();
        let expected: Vec<&str> = tools.names().collect();
        assert_eq!(names, expected, "{provider}");
    }
}
