//! Tests that a provider's prompt cache stays valid while tools are added and removed.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::{DynamicTool, ErrorKind, Rules};
use tool_wire::{Offer, Provider};

use crate::support::{forecast, search};

/// Sends a mail.
#[tool]
async fn send_mail(
    /// The recipient of the mail.
    to: String,
) -> String {
    to
}

/// Returns a request as a host sends it.
fn request(provider: Provider, offer: &Offer, messages: &[Box<RawValue>]) -> String {
    #[derive(Serialize)]
    struct Request<'a> {
        #[serde(flatten)]
        offer: &'a Offer,
        system: &'static str,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        messages: &'a [Box<RawValue>],
    }
    let _ = provider;
    let request = Request {
        offer,
        system: "Be brief.",
        messages,
    };
    serde_json::to_string(&request).unwrap()
}

/// Returns the list of tools of a request, which comes first in a provider's cache.
fn list(offer: &Offer) -> Value {
    let fields = serde_json::to_value(offer).unwrap();
    if fields["toolConfig"]["tools"].is_array() {
        return fields["toolConfig"]["tools"].clone();
    }
    fields["tools"].clone()
}

fn registry() -> Registry {
    Registry::builder()
        .tool::<forecast>()
        .tool::<search>()
        .tool::<send_mail>()
        .build()
        .unwrap()
}

// M11: while a tool is disabled and enabled again during a conversation, the list and every earlier message stay the same byte for byte
#[tokio::test]
async fn tool_list_and_messages_are_stable_while_a_tool_is_disabled() {
    let (registry, cx) = (registry(), ToolContext::anonymous());
    for provider in Provider::ALL {
        let all = registry.toolset(&cx, &Rules::default());
        let less = registry.toolset(&cx, &Rules::default().deny(["send_mail"]));
        let mut messages = vec![provider.user("Hello")];
        let first = provider.offer(&all).unwrap();
        let one = request(provider, &first, &messages);

        let second = first.next(&less).unwrap();
        messages.extend(second.change().map(ToOwned::to_owned));
        messages.push(provider.user("And now?"));
        let two = request(provider, &second, &messages);
        assert!(first.keeps_prefix() && second.keeps_prefix());
        assert_eq!(second.tools(), first.tools(), "{provider}");
        assert_eq!(list(&second), list(&first), "{provider}");
        // The second request contains every message of the first request, unchanged and at the same place.
        let messages_of = |text: &str| {
            text[text.find(r#""system":"#).unwrap()..]
                .trim_end_matches("]}")
                .to_owned()
        };
        assert!(
            messages_of(&two).starts_with(&messages_of(&one)),
            "{provider}"
        );
        assert!(second.withdrawn().eq(["send_mail"]));

        // If the provider has a mechanism for it, the request informs the model of the change. The call is refused in any case.
        let fields = serde_json::to_value(&second).unwrap();
        match provider {
            Provider::Chat => assert_eq!(
                fields["tool_choice"],
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
                    {"type": "function", "function": {"name": "forecast"}}, {"type": "function", "function": {"name": "search"}}]}})
            ),
            Provider::Responses => assert_eq!(
                fields["tool_choice"],
                json!({"type": "allowed_tools", "mode": "auto", "tools": [
                    {"type": "function", "name": "forecast"}, {"type": "function", "name": "search"}]})
            ),
            Provider::Anthropic => {
                assert!(fields.get("tool_choice").is_none());
                assert_eq!(
                    serde_json::to_value(second.change()).unwrap(),
                    json!({"role": "system", "content": [{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "send_mail"}}]})
                );
                assert_eq!(second.betas(), ["mid-conversation-tool-changes-2026-07-01"]);
            }
            Provider::Gemini => assert_eq!(
                fields["toolConfig"],
                json!({"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["forecast", "search"]}})
            ),
            Provider::Bedrock => assert!(second.change().is_none()),
        }
        let call = ToolCall::new("c", "send_mail", r#"{"to":"bob"}"#);
        let refused = less.call(call, &cx).await;
        assert_eq!(refused.error().unwrap().kind(), ErrorKind::UnknownTool);

        // The tool is enabled again, and the list does not change.
        let third = second.next(&all).unwrap();
        assert!(third.keeps_prefix() && third.withdrawn().next().is_none());
        assert_eq!(third.tools(), first.tools());
        if provider == Provider::Anthropic {
            assert_eq!(
                serde_json::to_value(third.change()).unwrap()["content"],
                json!([{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "send_mail"}}])
            );
            assert!(
                third.next(&all).unwrap().change().is_none(),
                "a change is sent although nothing has changed"
            );
        } else {
            assert_eq!(
                request(provider, &third, &[]),
                request(provider, &first, &[])
            );
        }
    }
}

// M11: a tool that was never offered is announced in the conversation if the provider supports this, otherwise it is
// appended to the list, and `keeps_prefix` returns false
#[test]
fn new_tool_is_announced_or_appended_to_the_list() {
    let (registry, cx) = (registry(), ToolContext::anonymous());
    let less = registry.toolset(&cx, &Rules::default().deny(["forecast"]));
    let all = registry.open();
    for provider in Provider::ALL {
        let first = provider.offer(&less).unwrap();
        let second = first.next(&all).unwrap();
        let kept = first.tools().trim_end_matches(']');
        assert!(second.tools().starts_with(kept), "{provider}");
        let definition: Value =
            serde_json::from_str(provider.offer(&toolset![forecast]).unwrap().tools()).unwrap();
        match provider {
            Provider::Anthropic => {
                assert_eq!(
                    serde_json::to_value(second.change()).unwrap(),
                    json!({"role": "system", "content": [
                        {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition[0]}}]})
                );
                assert_eq!(
                    second.betas(),
                    [
                        "mid-conversation-tool-changes-2026-07-01",
                        "inline-tools-2026-09-15"
                    ]
                );
            }
            Provider::Responses => assert_eq!(
                serde_json::to_value(second.change()).unwrap(),
                json!({"type": "additional_tools", "role": "developer", "tools": definition})
            ),
            _ => assert!(second.change().is_none() && second.tools().contains("\"forecast\"")),
        }
        let keeps = matches!(provider, Provider::Anthropic | Provider::Responses);
        assert_eq!(second.keeps_prefix(), keeps, "{provider}");
        assert_eq!(second.tools() == first.tools(), keeps);
        // The new tool is disabled like any other tool, and later requests need the same headers, because the message stays in the conversation.
        let third = second.next(&less).unwrap();
        assert!(third.keeps_prefix() && third.withdrawn().eq(["forecast"]));
        assert_eq!(third.betas(), second.betas());
        assert_eq!(third.tools(), second.tools());
    }
}

// A tool for a later turn is in the first offer, but the first turn may not use it.
#[test]
fn an_offer_may_be_narrowed_before_the_first_request() {
    let (registry, cx) = (registry(), ToolContext::anonymous());
    let less = registry.toolset(&cx, &Rules::default().deny(["forecast"]));
    for provider in Provider::ALL {
        let first = provider
            .offer(&registry.open())
            .unwrap()
            .next(&less)
            .unwrap();
        let second = first.next(&registry.open()).unwrap();
        assert!(second.keeps_prefix());
        assert_eq!(second.tools(), first.tools());
    }
}

#[test]
fn offer_without_tools_keeps_the_list_and_forbids_calls() {
    let none = toolset![];
    for provider in Provider::ALL {
        let first = provider.offer(&toolset![search]).unwrap();
        let second = first.next(&none).unwrap();
        assert_eq!(second.tools(), first.tools());
        let fields = serde_json::to_value(&second).unwrap();
        match provider {
            Provider::Chat | Provider::Responses => assert_eq!(fields["tool_choice"], "none"),
            Provider::Gemini => assert_eq!(
                fields["toolConfig"]["functionCallingConfig"],
                json!({"mode": "NONE"})
            ),
            _ => {}
        }
    }
}

// If the definition of a tool changes, the list is built again, and `keeps_prefix` returns false.
#[test]
fn a_changed_definition_begins_a_new_list() {
    let tool = |description: &str| {
        let schema = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        let tool = DynamicTool::new("changing", description, schema, |_: Value, _| async {
            Ok::<_, ToolError>(1)
        });
        Registry::builder().dynamic(tool).build().unwrap().open()
    };
    for provider in Provider::ALL {
        let first = provider.offer(&tool("One.")).unwrap();
        let second = first.next(&tool("Two.")).unwrap();
        assert!(!second.keeps_prefix());
        assert!(second.tools().contains("Two.") && !second.tools().contains("One."));
    }
}

// Removed tools still count towards the limits, because they are still in the request.
#[test]
fn a_list_does_not_grow_beyond_the_limits() {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let tools = |from: usize, to: usize| {
        let tools = (from..to).map(|at| {
            DynamicTool::new(format!("t{at:02}"), "Does.", &schema, |_: Value, _| async {
                Ok::<_, ToolError>(1)
            })
        });
        tools
            .fold(Registry::builder(), tool_core::RegistryBuilder::dynamic)
            .build()
            .unwrap()
            .open()
    };
    let first = Provider::Anthropic.offer(&tools(0, 20)).unwrap();
    assert!(first.next(&tools(1, 20)).is_ok());
    let error = first.next(&tools(1, 21)).unwrap_err();
    assert!(
        error.to_string().contains("[limit-strict-tools]"),
        "{error}"
    );
}
