//! The layers that hide a tool, and the reported reason.

use super::*;

// S1-45, S1-46, S1-47, S1-48, S1-49, S1-51, S1-56, S1-58, S1-59, S1-61, S3-16, S4-40: a layer that hides a tool is reported as the reason.
#[test]
fn layer_that_hides_a_tool_is_reported() {
    let registry = registry();
    let room = || everything().runtime(Runtime::Room);
    let policy = SharedPolicy::new(
        Policy::builder()
            .rule(Rule::deny("no-crm").categories(["crm"]))
            .global(ToolLists {
                deny: ["get_knowledge".to_owned()].into(),
                ..ToolLists::default()
            })
            .agent(
                "chief",
                ToolLists {
                    deny: ["save_memory".to_owned()].into(),
                    ..ToolLists::default()
                },
            )
            .build()
            .unwrap(),
    );
    policy.kill("read_page", None);
    let disables = Disables::default();
    disables.disable("read_page");
    let cases: [(&str, Rules, Layer); 25] = [
        ("send_whatsapp_template", room(), Layer::Harness),
        (
            "read_page",
            everything().enablement(Enablement::default().manual("other")),
            Layer::Enablement,
        ),
        (
            "read_page",
            everything().enablement(Enablement::default().row("read_page", "import", true)),
            Layer::Enablement,
        ),
        (
            "read_page",
            everything().enablement(Enablement::default()),
            Layer::Enablement,
        ),
        (
            "ask_tax_law",
            everything().enablement(Enablement::default()),
            Layer::Enablement,
        ),
        (
            "read_page",
            everything().enablement(
                Enablement::default()
                    .skill("read_page")
                    .disabled("read_page"),
            ),
            Layer::Disabled,
        ),
        (
            "spawn_task",
            everything().enablement(Enablement::default().disabled("spawn_task")),
            Layer::Disabled,
        ),
        (
            "ask_tax_law",
            everything().enablement(Enablement::default().disabled("agent:tax-law")),
            Layer::Disabled,
        ),
        (
            "read_page",
            everything().disables(&disables),
            Layer::Disabled,
        ),
        ("save_memory", everything().memory(false), Layer::Memory),
        ("search_memory", everything().memory(false), Layer::Memory),
        (
            "write_knowledge",
            everything().knowledge(false),
            Layer::Knowledge,
        ),
        (
            "hub_contacts",
            everything()
                .enablement(Enablement::default().manual("hub_contacts"))
                .secrets(["x"]),
            Layer::Policy,
        ),
        (
            "read_page",
            everything().optional("read_page", "BROWSE"),
            Layer::Optional,
        ),
        (
            "spawn_task",
            everything().runtime(Runtime::SubAgent),
            Layer::SpawnTask,
        ),
        (
            "ask_tax_law",
            everything().runtime(Runtime::SubAgent),
            Layer::AgentDepth,
        ),
        ("ask_tax_law", everything().depth(1), Layer::AgentDepth),
        ("get_knowledge", everything().policy(&policy), Layer::Global),
        (
            "read_page",
            everything().allow(["save_memory"]),
            Layer::Allow,
        ),
        ("read_page", everything().deny(["read_page"]), Layer::Deny),
        (
            "save_memory",
            everything().policy(&policy).agent("chief"),
            Layer::Deny,
        ),
        (
            "read_page",
            everything().for_sub_agent(&Rules::default().allow(["save_memory"])),
            Layer::Spawn,
        ),
        (
            "read_page",
            everything().for_sub_agent(&Rules::default().deny(["read_page"])),
            Layer::Deny,
        ),
        ("hub_contacts", everything().policy(&policy), Layer::Policy),
        ("read_page", everything().policy(&policy), Layer::Killed),
    ];
    for (name, mut rules, layer) in cases {
        if layer == Layer::Policy {
            rules = rules.policy(&policy);
        }
        let tools = registry.toolset(&ToolContext::anonymous(), &rules);
        let explanation = tools.explain(name);
        assert_eq!(explanation.layer(), Some(layer), "{name} {rules:?}");
        assert_eq!(explanation.as_str(), layer.as_str());
        assert!(explanation.exists() && !explanation.is_visible());
        assert!(
            explanation
                .to_string()
                .starts_with(&format!("`{name}` [{layer}]: ")),
            "{explanation}"
        );
        assert!(tools.get(name).is_none() && tools.names().all(|visible| visible != name));
    }
    let tools = registry.toolset(&ToolContext::anonymous(), &everything());
    for name in with(&["ask_tax_law"]) {
        let explanation = tools.explain(&name);
        assert!(explanation.is_visible() && explanation.layer().is_none());
        assert_eq!(
            (explanation.as_str(), explanation.to_string()),
            ("", String::new())
        );
    }
    let unknown = tools.explain("read_pages");
    assert_eq!(
        (unknown.as_str(), unknown.exists(), unknown.layer()),
        ("unknown", false, None)
    );
    assert_eq!(
        unknown.to_string(),
        "there is no tool `read_pages`, did you mean `read_page`?"
    );
    assert_eq!(
        tools.explain("zzzzzz").to_string(),
        "there is no tool `zzzzzz`"
    );
}
