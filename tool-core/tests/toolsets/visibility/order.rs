//! The order of the visibility layers.

use super::*;

// S1-61, S0-19: the layers are checked in order, and the first layer that hides a tool is reported.
#[test]
fn layers_are_checked_in_order() {
    let registry = builder()
        .dynamic(
            tool("all_memory")
                .category("memory")
                .secret(SecretNeed::new("m")),
        )
        .dynamic(
            tool("all_knowledge")
                .category("knowledge")
                .secret(SecretNeed::new("m"))
                .harness(),
        )
        .build()
        .unwrap();
    let policy = SharedPolicy::new(
        Policy::builder()
            .rule(Rule::deny("no"))
            .global(ToolLists {
                deny: ["all_memory".to_owned()].into(),
                ..ToolLists::default()
            })
            .build()
            .unwrap(),
    );
    policy.kill("all_memory", None);
    let parent = Rules::default().allow(["other"]).secrets(["m"]);
    type Lift = fn(&mut Faults);
    #[derive(Clone)]
    struct Faults {
        rows: Option<Enablement>,
        memory: bool,
        secret: bool,
        flag: &'static str,
        global: bool,
        allow: bool,
        deny: bool,
        parent: bool,
        rules: bool,
    }
    let mut faults = Faults {
        rows: Some(Enablement::default()),
        memory: false,
        secret: false,
        flag: "on",
        global: true,
        allow: false,
        deny: true,
        parent: true,
        rules: true,
    };
    let lifts: [(Layer, Lift); 10] = [
        (Layer::Enablement, |faults| {
            faults.rows = Some(
                Enablement::default()
                    .skill("all_memory")
                    .disabled("all_memory"),
            )
        }),
        (Layer::Disabled, |faults| faults.rows = None),
        (Layer::Memory, |faults| faults.memory = true),
        (Layer::Secrets, |faults| faults.secret = true),
        (Layer::Optional, |faults| faults.flag = "yes"),
        (Layer::Global, |faults| faults.global = false),
        (Layer::Allow, |faults| faults.allow = true),
        (Layer::Deny, |faults| faults.deny = false),
        (Layer::Spawn, |faults| faults.parent = false),
        (Layer::Policy, |faults| faults.rules = false),
    ];
    let no_global = SharedPolicy::new(Policy::builder().rule(Rule::deny("no")).build().unwrap());
    no_global.kill("all_memory", None);
    let only_kill = SharedPolicy::default();
    only_kill.kill("all_memory", None);
    let tools = |faults: &Faults| {
        let mut rules = Rules::default()
            .memory(faults.memory)
            .secrets(if faults.secret { vec!["m"] } else { vec![] })
            .optional("all_memory", "FLAG")
            .flag("FLAG", faults.flag)
            .allow([if faults.allow { "all_memory" } else { "other" }])
            .policy(if faults.global {
                &policy
            } else if faults.rules {
                &no_global
            } else {
                &only_kill
            });
        if let Some(rows) = &faults.rows {
            rules = rules.enablement(rows.clone());
        }
        if faults.deny {
            rules = rules.deny(["all_memory"]);
        }
        if faults.parent {
            rules = rules.for_sub_agent(&parent);
        }
        registry.toolset(&ToolContext::anonymous(), &rules)
    };
    for (layer, lift) in lifts {
        assert_eq!(tools(&faults).explain("all_memory").layer(), Some(layer));
        lift(&mut faults);
    }
    assert_eq!(
        tools(&faults).explain("all_memory").layer(),
        Some(Layer::Killed)
    );
    // For a harness tool the category is checked first and enablement is skipped; flags and secrets apply to it too.
    let harness = |rules: Rules| {
        let tools = registry.toolset(
            &ToolContext::anonymous(),
            &rules.enablement(Enablement::default()),
        );
        tools.explain("all_knowledge").layer()
    };
    let there = || {
        Rules::default().runtime(Runtime::Webhook {
            channel: "knowledge".to_owned(),
        })
    };
    assert_eq!(
        harness(Rules::default().knowledge(false)),
        Some(Layer::Harness)
    );
    assert_eq!(harness(there().knowledge(false)), Some(Layer::Knowledge));
    assert_eq!(harness(there()), Some(Layer::Secrets));
    assert_eq!(harness(there().secrets(["m"])), None);
}
