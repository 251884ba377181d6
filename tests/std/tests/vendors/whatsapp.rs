//! Tests of the pack `whatsapp` with a local server that checks requests as <https://www.twilio.com/docs/messaging/api/message-resource> and
//! <https://www.twilio.com/docs/content/send-templates-created-with-the-content-template-builder> describe them.

use std::collections::BTreeMap;

use base64::Engine as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::testing::{assert_kept, violations};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{ErrorKind, Gate, Rules, Runtime, ToolContextBuilder};
use tool_std::vendor::Api;
use tool_std::whatsapp::{Sender, WhatsApp, WhatsAppTrigger, send_whatsapp_template};

use crate::faults::{self, Trial};
use crate::stand_in::{self, api, audited};
use crate::support::{PRIVATE, Seen, Server, output};

const ACCOUNT: &str = "AC0123456789abcdef0123456789abcdef";
const TOKEN: &str = "0123456789abcdef-auth-token";
const TEMPLATE: &str = "HXb5b62575e6e4ff6129ad7c8efe1f983e";

/// Decodes the form fields in the body of a request.
fn form(seen: &Seen) -> BTreeMap<String, String> {
    assert_eq!(
        seen.header("content-type"),
        Some("application/x-www-form-urlencoded")
    );
    let decoded = seen.body.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap();
        let mut bytes = Vec::new();
        let mut rest = value.as_bytes();
        while let Some((first, more)) = rest.split_first() {
            rest = more;
            match first {
                b'+' => bytes.push(b' '),
                b'%' => {
                    bytes.push(
                        u8::from_str_radix(std::str::from_utf8(&more[..2]).unwrap(), 16).unwrap(),
                    );
                    rest = &more[2..];
                }
                other => bytes.push(*other),
            }
        }
        (name.to_owned(), String::from_utf8(bytes).unwrap())
    });
    decoded.collect()
}

/// Answers as Twilio does.
fn twilio(seen: &Seen) -> Vec<u8> {
    assert_eq!(
        seen.line,
        format!("POST /2010-04-01/Accounts/{ACCOUNT}/Messages.json HTTP/1.1")
    );
    let refuse = |status: u16, code: u32, message: &str| {
        let more = format!("https://www.twilio.com/docs/errors/{code}");
        stand_in::json(
            status,
            &json!({"code": code, "message": message, "more_info": more, "status": status}),
        )
    };
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("{ACCOUNT}:{TOKEN}"));
    if seen.header("authorization") != Some(&*format!("Basic {basic}")) {
        return refuse(401, 20_003, "Authenticate");
    }
    let form = form(seen);
    for name in form.keys() {
        let known = [
            "To",
            "From",
            "MessagingServiceSid",
            "ContentSid",
            "ContentVariables",
        ];
        assert!(known.contains(&&**name), "{name}");
    }
    assert!(form.contains_key("From") != form.contains_key("MessagingServiceSid"));
    assert_eq!(form["To"], "whatsapp:+15005550006");
    let variables: Value = match form.get("ContentVariables") {
        Some(text) => serde_json::from_str(text).unwrap(),
        None => json!({}),
    };
    match (
        form["ContentSid"].as_str(),
        variables.as_object().unwrap().len(),
    ) {
        (TEMPLATE, 2) => {}
        (TEMPLATE, _) => return refuse(400, 21_656, "The Content Variables parameter is invalid"),
        _ => return refuse(404, 21_655, "The ContentSid is invalid"),
    }
    let body = format!(
        "Hello {}, see you on {}.",
        variables["1"].as_str().unwrap(),
        variables["2"].as_str().unwrap()
    );
    stand_in::json(
        201,
        &json!({
            "account_sid": ACCOUNT, "sid": "SM0123456789abcdef0123456789abcdef", "status": "queued", "body": body,
            "to": form["To"], "error_code": null, "error_message": null, "num_segments": "1"
        }),
    )
}

fn context(settings: WhatsApp) -> ToolContextBuilder {
    ToolContext::builder()
        .with(settings)
        .with(WhatsAppTrigger::from("whatsapp:+15005550006"))
        .secret("twilio_account_sid", ACCOUNT)
        .secret("twilio_auth_token", TOKEN)
}

fn number() -> WhatsApp {
    WhatsApp::from(Sender::Number("+14155238886".to_owned()))
}

async fn send(cx: &ToolContext, arguments: Value) -> CallResult {
    stand_in::call(
        &toolset![send_whatsapp_template],
        cx,
        "send_whatsapp_template",
        &arguments,
    )
    .await
}

// S1-50, S1-57, the contract of send_whatsapp_template: only a turn that a message on WhatsApp started has the tool, and its secrets are declared.
#[test]
fn only_turns_of_whatsapp_have_the_tool() {
    let def = send_whatsapp_template::DEF;
    assert_kept(std::slice::from_ref(&def), &violations);
    assert!(def.examples().len() >= 2);
    let registry = Registry::builder()
        .tool::<send_whatsapp_template>()
        .build()
        .unwrap();
    let has = |runtime: Runtime, cx: &ToolContext| {
        let rules = Rules::default().runtime(runtime);
        registry
            .toolset(cx, &rules)
            .get("send_whatsapp_template")
            .is_some()
    };
    let channel = |name: &str| Runtime::Webhook {
        channel: name.to_owned(),
    };
    let cx = context(number()).build();
    assert!(has(channel("whatsapp"), &cx));
    for runtime in [
        channel("slack"),
        channel("room"),
        Runtime::Chat,
        Runtime::Room,
        Runtime::Scheduled,
        Runtime::SubAgent,
    ] {
        assert!(!has(runtime.clone(), &cx), "{runtime:?}");
    }
    let without = ToolContext::builder()
        .with(number())
        .secret("twilio_account_sid", ACCOUNT)
        .build();
    assert!(!has(channel("whatsapp"), &without));
}

// The contract of send_whatsapp_template: the arguments are `content_sid` and positional variables, and the result has `replyHandled`, `replyText`
// and `messageSid`.
#[tokio::test]
async fn template_is_sent_to_the_person_who_wrote() {
    let server = Server::start(PRIVATE, twilio).await;
    let service = WhatsApp::from(Sender::Service(
        "MG0123456789abcdef0123456789abcdef".to_owned(),
    ));
    for (settings, key, value) in [
        (number(), "From", "whatsapp:+14155238886"),
        (
            service,
            "MessagingServiceSid",
            "MG0123456789abcdef0123456789abcdef",
        ),
    ] {
        let cx = context(settings.api(api(&server, ""))).build();
        let arguments = json!({"content_sid": TEMPLATE, "variables": ["Ann & \"Bob\"", "12 März"]});
        assert_eq!(
            output(&send(&cx, arguments).await),
            json!({
                "replyHandled": true,
                "replyText": "Hello Ann & \"Bob\", see you on 12 März.",
                "messageSid": "SM0123456789abcdef0123456789abcdef"
            })
        );
        let form = form(&server.seen().pop().unwrap());
        assert_eq!(form[key], value);
        let variables: Value = serde_json::from_str(&form["ContentVariables"]).unwrap();
        assert_eq!(variables, json!({"1": "Ann & \"Bob\"", "2": "12 März"}));
    }
}

/// A model that answers with a template. Its next message would be a second answer.
struct Answers(u32);

impl Model for Answers {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.0 += 1;
        let arguments = json!({"content_sid": TEMPLATE, "variables": ["Ann", "12 March"]});
        let message = match self.0 {
            1 => ModelMessage::calls([ToolCall::new(
                "c-1",
                "send_whatsapp_template",
                arguments.to_string(),
            )]),
            _ => ModelMessage::text("a second answer"),
        };
        Box::pin(async { Ok(message) })
    }
}

// S1-101: the template is the answer of the turn. It is sent once, and the model is not called again.
#[tokio::test]
async fn template_is_the_answer_of_the_turn() {
    let server = Server::start(PRIVATE, twilio).await;
    let store = MemoryStore::default();
    let gate = Gate::builder().ledger(store.clone()).build();
    let cx = context(number().api(api(&server, "")))
        .workspace("acme")
        .conversation("main")
        .build();
    let (turns, mut model) = (Turns::new(store), Answers(0));
    turns.say("When is it?", &cx).await.unwrap();
    let registry = Registry::builder()
        .tool::<send_whatsapp_template>()
        .build()
        .unwrap();
    let tools = |cx: &ToolContext| {
        let channel = "whatsapp".to_owned();
        let rules = Rules::default().runtime(Runtime::Webhook { channel });
        registry.toolset(cx, &rules).through(&gate)
    };
    let outcome = turns.drive(&mut model, tools, &cx).await.unwrap();
    let answer = "Hello Ann, see you on 12 March.";
    assert!(
        matches!(&outcome, Outcome::Replied(text) if text == answer),
        "{outcome:?}"
    );
    let again = turns.drive(&mut model, tools, &cx).await.unwrap();
    assert!(
        matches!(&again, Outcome::Answered(text) if text == answer),
        "{again:?}"
    );
    assert_eq!((model.0, server.seen().len()), (1, 1));
}

// The contract of send_whatsapp_template: invalid arguments are refused before a request.
#[tokio::test]
async fn invalid_arguments_are_refused() {
    let server = Server::start(PRIVATE, twilio).await;
    let cx = context(number().api(api(&server, ""))).build();
    for (content_sid, variables) in [
        ("HX12", json!([])),
        ("MGb5b62575e6e4ff6129ad7c8efe1f983e", json!([])),
        (TEMPLATE, json!(["", "x"])),
        (TEMPLATE, json!(["a", " "])),
        (TEMPLATE, json!(["a", "b\nc"])),
        (TEMPLATE, json!(["a".repeat(1_025)])),
        (TEMPLATE, json!(vec!["a"; 101])),
    ] {
        let result = send(
            &cx,
            json!({"content_sid": content_sid, "variables": variables}),
        )
        .await;
        assert_eq!(
            result.error().unwrap().kind(),
            ErrorKind::InvalidArguments,
            "{variables}"
        );
    }
    // Without the trigger, the answer has no recipient.
    let cx = ToolContext::builder()
        .with(number().api(api(&server, "")))
        .secret("twilio_account_sid", ACCOUNT)
        .secret("twilio_auth_token", TOKEN)
        .build();
    let result = send(
        &cx,
        json!({"content_sid": TEMPLATE, "variables": ["a", "b"]}),
    )
    .await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    assert!(server.seen().is_empty());
}

// An error has Twilio's code and what to do.
#[tokio::test]
async fn error_of_twilio_has_its_code() {
    let server = Server::start(PRIVATE, twilio).await;
    let cx = context(number().api(api(&server, ""))).build();
    for (content_sid, variables, code, advice) in [
        (
            TEMPLATE,
            json!(["a"]),
            "21656",
            "one value for each variable",
        ),
        (
            "HX0123456789abcdef0123456789abcdef",
            json!([]),
            "21655",
            "a different `content_sid`",
        ),
    ] {
        let result = send(
            &cx,
            json!({"content_sid": content_sid, "variables": variables}),
        )
        .await;
        let text = result.model_text();
        assert!(text.contains(code) && text.contains(advice), "{text}");
    }
}

// The audit row has the template, and contains neither the values of the variables nor the token.
#[tokio::test]
async fn audit_has_no_variable_values() {
    let server = Server::start(PRIVATE, twilio).await;
    let cx = context(number().api(api(&server, ""))).build();
    let arguments = json!({"content_sid": TEMPLATE, "variables": ["the-name", "the-date"]});
    let tools = toolset![send_whatsapp_template];
    let text = format!(
        "{:?}",
        audited(tools, &cx, "send_whatsapp_template", &arguments).await
    );
    assert!(
        !text.contains("the-name") && !text.contains(TOKEN),
        "{text}"
    );
    assert!(text.contains(TEMPLATE), "{text}");
}

// Faults are reported at every step of a request.
#[tokio::test]
async fn faults_are_reported() {
    faults::run(&Trial {
        tools: toolset![send_whatsapp_template],
        context: |api: Api, key: &str| {
            context(number().api(api)).secret("twilio_auth_token", format!("token-{key}"))
        },
        tool: "send_whatsapp_template",
        arguments: json!({"content_sid": TEMPLATE, "variables": []}),
        success: stand_in::json(201, &json!({"sid": "SM1"})),
        reads: false,
        forbidden: (
            403,
            json!({"code": 20_403, "message": "Forbidden", "status": 403}),
        ),
    })
    .await;
}
