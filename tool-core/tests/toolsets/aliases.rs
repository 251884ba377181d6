//! Tools that were renamed: rules that contain an earlier name apply to the renamed tool.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use tool_core::policy::{Policy, PolicyFile, PolicyRequest, PolicyVerdict, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::{
    AgentTool, Dialect, Disables, DynamicTool, Enablement, ErrorKind, Layer, Plugin, Rules,
    ToolLists,
};

mod before {
    use tool_core::prelude::*;

    /// Sends a message to a user.
    #[tool(destructive)]
    pub(super) fn send_mail(
        /// The text of the message.
        text: String,
    ) -> usize {
        text.len()
    }
}

/// Sends a message to a user.
#[tool(destructive, alias = "mail_user", alias = "send_mail")]
fn send_message(
    /// The text of the message.
    text: String,
) -> usize {
    text.len()
}

/// Returns the number zero.
#[tool(read_only)]
fn zero() -> u8 {
    0
}

fn dynamic(name: &str) -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text of the message."}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let body = |_: Value, _: ToolContext| async { Ok::<_, ToolError>("sent") };
    DynamicTool::new(name, "Sends a message to a user.", schema, body).destructive()
}

/// Returns registries with the renamed tool and the tool `zero`, one registry for each of the three places that can state the aliases.
fn registries() -> [(&'static str, Registry); 3] {
    let builder = || Registry::builder().tool::<zero>();
    let attribute = builder().tool::<send_message>();
    let method = builder().dynamic(
        dynamic("send_message")
            .alias("mail_user")
            .alias("send_mail"),
    );
    let host = builder()
        .dynamic(dynamic("send_message"))
        .renamed("mail_user", "send_message")
        .renamed("send_mail", "send_message");
    [
        ("attribute", attribute.build().unwrap()),
        ("method", method.build().unwrap()),
        ("host", host.build().unwrap()),
    ]
}

fn of(tenant: &str) -> ToolContext {
    ToolContext::builder()
        .workspace(tenant)
        .agent("chief")
        .build()
}

fn send() -> ToolCall {
    ToolCall::new("c-1", "send_message", r#"{"text":"Hello"}"#)
}

async fn kind(tools: &tool_core::Toolset, tenant: &str) -> Option<ErrorKind> {
    let result = tools.call(send(), &of(tenant)).await;
    result.error().map(ToolError::kind)
}

fn policy(rules: impl IntoIterator<Item = Rule>) -> SharedPolicy {
    Policy::builder().rules(rules).share().unwrap()
}

// S1-43: lists, disables, optional tools, kill switches, policies and enablement that deny an earlier name hide the renamed tool, and no other tool
#[test]
fn denials_of_an_earlier_name_hide_the_renamed_tool() {
    for old in ["mail_user", "send_mail"] {
        let disables = Disables::default();
        disables.disable(old);
        let killed = SharedPolicy::default();
        killed.kill(old, None);
        let lists = |allow: &[&str], deny: &[&str]| ToolLists {
            allow: allow.iter().map(|name| (*name).to_owned()).collect(),
            deny: deny.iter().map(|name| (*name).to_owned()).collect(),
        };
        let global = Policy::builder()
            .global(lists(&[], &[old]))
            .share()
            .unwrap();
        let agent = Policy::builder()
            .agent("chief", lists(&[], &[old]))
            .share()
            .unwrap();
        let many: Vec<String> = (0..40)
            .map(|n| format!("tool_{n}"))
            .chain([old.to_owned()])
            .collect();
        let parent = Rules::default().deny([old]);
        let cases = [
            (Rules::default().deny([old]), Layer::Deny),
            (Rules::default().deny(many), Layer::Deny),
            (Rules::default().for_sub_agent(&parent), Layer::Deny),
            (Rules::default().disables(&disables), Layer::Disabled),
            (Rules::default().optional(old, "mail"), Layer::Optional),
            (Rules::default().policy(&killed), Layer::Killed),
            (Rules::default().policy(&global), Layer::Global),
            (Rules::default().policy(&agent), Layer::Deny),
            (
                Rules::default().policy(&policy([Rule::deny("old").tools([old])])),
                Layer::Policy,
            ),
            (
                Rules::default().policy(&policy([Rule::deny("old").tools(["*mail*"])])),
                Layer::Policy,
            ),
            (
                Rules::default().enablement(
                    Enablement::default()
                        .manual("send_message")
                        .manual("zero")
                        .disabled(old),
                ),
                Layer::Disabled,
            ),
        ];
        for (place, registry) in registries() {
            for (rules, layer) in &cases {
                let tools = registry.toolset(&of("acme"), rules);
                assert!(tools.names().eq(["zero"]), "{place} {old} {layer}");
                assert_eq!(
                    tools.explain("send_message").layer(),
                    Some(*layer),
                    "{place} {old}"
                );
            }
        }
    }
}

// S1-43: allow lists, allow rules and enablement rows of an earlier name apply to the renamed tool, and to no other tool
#[test]
fn permissions_of_an_earlier_name_apply_to_the_renamed_tool() {
    let many: Vec<String> = (0..40)
        .map(|n| format!("tool_{n}"))
        .chain(["send_mail".to_owned()])
        .collect();
    let global = ToolLists {
        allow: ["send_mail".to_owned()].into(),
        ..ToolLists::default()
    };
    let global = Policy::builder().global(global).share().unwrap();
    let rules = [
        Rules::default().allow(["send_mail"]),
        Rules::default().allow(many),
        Rules::default().policy(&global),
        Rules::default().enablement(Enablement::default().manual("send_mail")),
        Rules::default().enablement(Enablement::default().skill("mail_user")),
    ];
    for (place, registry) in registries() {
        for (number, rules) in rules.iter().enumerate() {
            let tools = registry.toolset(&of("acme"), rules);
            assert!(tools.names().eq(["send_message"]), "{place} {number}");
        }
        let policy = Policy::builder()
            .rule(Rule::allow("mail").tools(["send_mail"]))
            .otherwise(PolicyVerdict::Deny)
            .build()
            .unwrap();
        let verdict = |tool: &str| {
            let tool = registry.get(tool).unwrap();
            let request = PolicyRequest {
                tool,
                tenant: "acme",
                principal: "",
                agent: None,
                arguments: "{}",
            };
            policy.decide(&request).verdict
        };
        assert_eq!(verdict("send_message"), PolicyVerdict::Allow, "{place}");
        assert_eq!(verdict("zero"), PolicyVerdict::Deny, "{place}");
    }
}

// S1-43: a deny list, a policy, a disable or a kill switch of an earlier name that is added during a turn refuses the next call of the renamed tool
#[tokio::test]
async fn denials_of_an_earlier_name_refuse_calls_of_a_running_turn() {
    for (place, registry) in registries() {
        let (disables, shared) = (Disables::default(), SharedPolicy::default());
        let rules = Rules::default().disables(&disables).policy(&shared);
        let tools = registry.toolset(&of("acme"), &rules);
        let other = registry.toolset(&of("globex"), &rules);
        assert_eq!(kind(&tools, "acme").await, None, "{place}");
        let refused = async || {
            let kind = kind(&tools, "acme").await;
            assert_eq!(kind, Some(ErrorKind::UnknownTool), "{place}");
        };

        disables.disable("send_mail");
        refused().await;
        disables.enable("send_mail");
        assert_eq!(kind(&tools, "acme").await, None, "{place}");

        // A kill switch of one tenant does not affect other tenants.
        shared.kill("mail_user", Some("acme"));
        refused().await;
        assert_eq!(kind(&other, "globex").await, None, "{place}");
        // The switch is removed by the name under which it was set.
        assert!(!shared.revive("send_message", Some("acme")));
        refused().await;
        assert!(shared.revive("mail_user", Some("acme")));
        assert_eq!(kind(&tools, "acme").await, None, "{place}");

        let deny = ToolLists {
            deny: ["send_mail".to_owned()].into(),
            ..ToolLists::default()
        };
        shared.replace(Policy::builder().global(deny.clone()).build().unwrap());
        refused().await;
        shared.replace(Policy::builder().agent("chief", deny).build().unwrap());
        refused().await;
        let allow = ToolLists {
            allow: ["send_mail".to_owned()].into(),
            ..ToolLists::default()
        };
        shared.replace(Policy::builder().global(allow).build().unwrap());
        assert_eq!(kind(&tools, "acme").await, None, "{place}");
        shared.replace(
            Policy::builder()
                .rule(Rule::deny("old").tools(["send_mail"]))
                .build()
                .unwrap(),
        );
        refused().await;
    }
}

// S1-43: a kill switch of an earlier name makes the policy deny the renamed tool, for that tenant only
#[test]
fn kill_switch_of_an_earlier_name_denies_the_renamed_tool() {
    for (place, registry) in registries() {
        let shared = SharedPolicy::default();
        shared.kill("send_mail", Some("acme"));
        let decide = |tenant, tool| {
            let tool = registry.get(tool).unwrap();
            let request = PolicyRequest {
                tool,
                tenant,
                principal: "",
                agent: None,
                arguments: "{}",
            };
            shared.decide(&request).verdict
        };
        assert_eq!(
            decide("acme", "send_message"),
            PolicyVerdict::Deny,
            "{place}"
        );
        assert_eq!(
            decide("globex", "send_message"),
            PolicyVerdict::Allow,
            "{place}"
        );
        assert_eq!(decide("acme", "zero"), PolicyVerdict::Allow, "{place}");
    }
}

// S1-43: a new call under an earlier name is refused, and the error suggests the present name if the turn may use the tool
#[tokio::test]
async fn new_call_under_an_earlier_name_is_refused_with_the_present_name() {
    for (place, registry) in registries() {
        let old = ToolCall::new("c-1", "mail_user", r#"{"text":"Hello"}"#);
        let tools = registry.open();
        let error = tools.call(old.clone(), &of("acme")).await;
        let error = error.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::UnknownTool, "{place}");
        assert_eq!(
            error.model_text(),
            "there is no tool `mail_user`, did you mean `send_message`?",
            "{place}"
        );
        assert!(tools.get("mail_user").is_none(), "{place}");

        let hidden = registry.toolset(&of("acme"), &Rules::default().deny(["send_message"]));
        let error = hidden.call(old, &of("acme")).await;
        let text = error.error().unwrap().model_text();
        assert_eq!(text, "there is no tool `mail_user`", "{place}");
    }
}

// S1-43: an explanation for an earlier name states the present name
#[test]
fn explanation_of_an_earlier_name_states_the_present_name() {
    for (place, registry) in registries() {
        let tools = registry.toolset(&of("acme"), &Rules::default().deny(["send_mail"]));
        let explained = tools.explain("send_mail");
        assert_eq!(explained.layer(), Some(Layer::Deny), "{place}");
        assert_eq!(explained.name(), "send_message", "{place}");
        let text = explained.to_string();
        assert!(
            text.starts_with("`send_message` [deny]: "),
            "{place}: {text}"
        );
        assert!(
            text.ends_with(" (`send_mail` is an earlier name of `send_message`)"),
            "{place}: {text}"
        );
        assert!(registry.open().explain("send_mail").is_visible(), "{place}");
        assert!(!registry.open().explain("send").exists(), "{place}");
    }
}

// S1-43: an earlier name in a policy is not unknown, and the report states the present name
#[test]
fn policy_reports_state_the_present_name() {
    for (place, registry) in registries() {
        let text = r#"{
            "tools": { "deny": ["send_mail", "zero", "shell"] },
            "rules": [{ "name": "old", "verdict": "ask", "tools": ["mail_user"] }]
        }"#;
        let file = PolicyFile::from_json(text).unwrap();
        let unknown: Vec<String> = file
            .unknown(&registry)
            .into_iter()
            .map(|unknown| unknown.name)
            .collect();
        assert_eq!(unknown, ["shell"], "{place}");
        let expected = [
            "tools, `deny`: `send_mail` is an earlier name of the tool `send_message`, write `send_message`",
            "rule `old`: `mail_user` is an earlier name of the tool `send_message`, write `send_message`",
        ];
        let earlier = file.earlier(&registry);
        assert!(
            earlier.iter().map(ToString::to_string).eq(expected),
            "{place}: {earlier:?}"
        );
        let reloaded = SharedPolicy::default().reload(&file, &registry).unwrap();
        assert_eq!(
            (reloaded.earlier, reloaded.unknown.len()),
            (earlier, 1),
            "{place}"
        );

        let report = file.build().unwrap().report(&registry);
        assert_eq!(report.unreached, ["zero"], "{place}");
        assert_eq!((report.idle.len(), report.unknown.len()), (0, 0), "{place}");
        assert_eq!(report.earlier[0].to_string(), expected[1], "{place}");
        // The ask rule of the earlier name covers the destructive tool.
        assert_eq!(report.unapproved, [], "{place}");

        // A name that is similar to an earlier name is reported with the present name.
        let file = PolicyFile::from_json(r#"{ "tools": { "deny": ["mail_usr"] } }"#).unwrap();
        assert_eq!(file.unknown(&registry)[0].near, ["send_message"], "{place}");
    }
}

// S1-43: definitions, schemas and contracts do not contain aliases
#[test]
fn definitions_and_contracts_contain_no_alias() {
    for (place, registry) in registries() {
        let tool = registry.get("send_message").unwrap();
        assert!(tool.aliases().eq(["mail_user", "send_mail"]), "{place}");
        for dialect in Dialect::ALL {
            for text in [
                tool.definition(dialect),
                &registry.open().definitions(dialect),
            ] {
                assert!(!text.contains("mail"), "{place}: {text}");
            }
        }
    }
    let contract = |tool: DynamicTool| {
        let registry = Registry::builder().dynamic(tool).build().unwrap();
        registry.tools()[0].contract()
    };
    let plain = contract(dynamic("send_message"));
    assert_eq!(contract(dynamic("send_message").alias("send_mail")), plain);
    let [.., (_, host)] = registries();
    assert_eq!(host.get("send_message").unwrap().contract(), plain);
    // The contract contains the present name.
    let before = Registry::builder()
        .tool::<before::send_mail>()
        .build()
        .unwrap();
    let [(_, after), ..] = registries();
    assert_ne!(
        before.tools()[0].contract(),
        after.get("send_message").unwrap().contract()
    );
}

// S1-43: aliases also apply to tools of plugins and to tools that call agents
#[test]
fn plugins_and_agent_tools_have_aliases() {
    let plugin = Plugin::new("post", ">=0.1, <1").tool(dynamic("send").alias("deliver"));
    let registry = Registry::builder().plugin(plugin).build().unwrap();
    for name in ["post:deliver", "post__deliver"] {
        let tools = registry.toolset(&of("acme"), &Rules::default().deny([name]));
        assert_eq!(
            tools.explain("post:send").layer(),
            Some(Layer::Deny),
            "{name}"
        );
        let tools = registry.toolset(&of("acme"), &Rules::default().deny([name, "a", "b"]));
        assert_eq!(
            tools.explain("post__send").layer(),
            Some(Layer::Deny),
            "{name}"
        );
    }
    assert_eq!(
        registry
            .get_by_alias("post:deliver")
            .map(tool_core::ToolDef::name),
        Some("post:send")
    );

    let agent = AgentTool::new("law", dynamic("ask_law").alias("ask_lawyer")).unwrap();
    let rules = |rules: Rules| rules.agent_tool(agent.clone());
    let registry = Registry::builder().build().unwrap();
    let count = |rules: Rules| registry.toolset(&of("acme"), &rules).names().count();
    assert_eq!(count(rules(Rules::default())), 1);
    assert_eq!(count(rules(Rules::default().deny(["ask_lawyer"]))), 0);
    assert_eq!(count(rules(Rules::default().allow(["ask_lawyer"]))), 1);
}

// S1-43: an alias that is the name of a tool, that two tools have, that is stated twice or that is invalid is an error
#[test]
fn invalid_aliases_are_errors() {
    let builder = || Registry::builder().tool::<zero>();
    let long = "a".repeat(65);
    let cases = [
        (
            builder().dynamic(dynamic("b").alias("zero")),
            "tool `b`: `zero` is to be the earlier name of `b`, but",
        ),
        (
            builder().dynamic(dynamic("b").alias("b")),
            "tool `b`: the tool's own name `b` cannot be its alias",
        ),
        (
            builder().dynamic(dynamic("b").alias("a").alias("a")),
            "tool `b`: the alias `a` is stated twice",
        ),
        (
            builder().dynamic(dynamic("b").alias("a b")),
            "tool `b`: the alias `a b` is not a tool name",
        ),
        (
            builder().dynamic(dynamic("b").alias(long)),
            "is not a tool name",
        ),
        (
            builder()
                .dynamic(dynamic("b").alias("a"))
                .dynamic(dynamic("c").alias("a")),
            "tool `c`: `a` is to be the earlier name of `c` and of `b`: remove one of the aliases",
        ),
        (
            builder()
                .dynamic(dynamic("b").alias("a"))
                .renamed("a", "zero"),
            "tool `zero`: `a` is to be the earlier name of `zero` and of `b`: remove one of the calls of `renamed`",
        ),
        (
            builder().renamed("a b", "zero"),
            "the earlier name `a b` is not a tool name",
        ),
        (
            builder()
                .dynamic(dynamic("lost"))
                .required_env("lost", "AN_ENVIRONMENT_VARIABLE_THAT_IS_NOT_SET")
                .renamed("lost", "zero"),
            "a tool that was left out has this name",
        ),
    ];
    for (builder, expected) in cases {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // An alias that both the tool and the host state is one alias.
    let twice = builder()
        .tool::<send_message>()
        .renamed("send_mail", "send_message");
    let twice = twice.build().unwrap();
    assert!(
        twice
            .get("send_message")
            .unwrap()
            .aliases()
            .eq(["mail_user", "send_mail"])
    );
}
