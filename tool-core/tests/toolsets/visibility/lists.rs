//! Allowlists, denylists and flags of a toolset.

use super::*;

// S0-14, S0-15, S0-16, S0-18, S0-19: the steps of the lists are applied in order, and the step that decided is reported.
#[test]
fn list_filters_apply_in_four_steps() {
    let rules = Rules::default;
    let global =
        |lists: ToolLists| SharedPolicy::new(Policy::builder().global(lists).build().unwrap());
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    let denies = global(ToolLists {
        deny: set(&["a"]),
        ..ToolLists::default()
    });
    let allows = global(ToolLists {
        allow: set(&["b"]),
        ..ToolLists::default()
    });
    for (rules, allowed, step) in [
        (rules(), true, Step::Global),
        (rules().allow([""; 0]), true, Step::Global),
        (rules().policy(&denies).allow(["b"]), false, Step::Global),
        (rules().policy(&allows).deny(["a"]), false, Step::Global),
        (rules().allow(["a", "b"]), true, Step::Allow),
        (rules().allow(["b"]).deny(["a"]), false, Step::Allow),
        (rules().allow(["a"]).deny(["a"]), false, Step::Deny),
        (
            rules().deny(["a"]).for_sub_agent(&rules().allow(["b"])),
            false,
            Step::Deny,
        ),
        (
            rules().for_sub_agent(&rules().deny(["a"])),
            false,
            Step::Deny,
        ),
        (
            rules().allow(["a"]).for_sub_agent(&rules().allow(["b"])),
            false,
            Step::Spawn,
        ),
        (
            rules().allow(["a"]).for_sub_agent(&rules().allow(["a"])),
            true,
            Step::Spawn,
        ),
        (
            rules().allow(["a"]).for_sub_agent(&rules()),
            true,
            Step::Spawn,
        ),
        (
            rules().for_sub_agent(&rules().for_sub_agent(&rules().allow(["b"]))),
            false,
            Step::Spawn,
        ),
    ] {
        let access = rules.access("a");
        assert_eq!((access.allowed, access.step), (allowed, step), "{rules:?}");
        assert_eq!(rules.shows("a"), allowed);
    }
}

// S0-14, S0-15, S0-16, S0-17, S0-18: allow and deny lists of a toolset, and of a sub-agent's toolset.
#[test]
fn allow_and_deny_lists_of_a_toolset_apply() {
    let registry = ["a", "b", "web", "read", "shell", "write"]
        .into_iter()
        .fold(Registry::builder(), |builder, name| {
            builder.dynamic(tool(name))
        })
        .build()
        .unwrap();
    let rules = Rules::default;
    assert_eq!(names(&registry, &rules()).len(), 6);
    assert_eq!(names(&registry, &rules().allow([""; 0])).len(), 6);
    assert_eq!(names(&registry, &rules().allow(["a"])), ["a"]);
    assert_eq!(
        names(&registry, &rules().allow(["a", "b"]).deny(["b"])),
        ["a"]
    );
    let parent = rules().allow(["web", "read", "shell"]);
    assert_eq!(
        names(
            &registry,
            &rules()
                .allow(["read", "write", "shell"])
                .for_sub_agent(&parent)
        ),
        ["read", "shell"]
    );
    assert_eq!(
        names(&registry, &rules().allow(["a"]).for_sub_agent(&rules())),
        ["a"]
    );
    assert_eq!(
        names(&registry, &rules().for_sub_agent(&rules().allow(["a"]))),
        ["a"]
    );
    assert!(
        names(
            &registry,
            &rules().allow(["a"]).for_sub_agent(&rules().allow(["b"]))
        )
        .is_empty()
    );
    let both = rules().deny(["a"]).for_sub_agent(&rules().deny(["b"]));
    assert_eq!(names(&registry, &both), ["read", "shell", "web", "write"]);
}

// S4-40: only `true`, `1` and `yes` enable an optional tool, in any case and with any white space around them.
#[test]
fn optional_tool_is_hidden_without_its_flag() {
    let registry = registry();
    let on = |rules: Rules| names(&registry, &rules.allow(["read_page"])).len() == 1;
    let flagged = || Rules::default().optional("read_page", "BROWSE");
    for (value, expected) in [
        ("TRUE", true),
        ("Yes", true),
        ("1", true),
        (" true ", true),
        ("on", false),
        ("", false),
        ("11", false),
        ("true!", false),
    ] {
        assert_eq!(on(flagged().flag("BROWSE", value)), expected, "{value}");
    }
    assert!(!on(flagged()));
    assert!(on(Rules::default().optional("read_page", "")));
}

// S1-62: the same inputs give the same list, sorted by name.
#[test]
fn same_inputs_give_the_same_sorted_list() {
    let registry = registry();
    let cx = ToolContext::anonymous();
    let first = registry.toolset(&cx, &everything());
    let list: Vec<&str> = first.names().collect();
    assert!(list.is_sorted());
    for _ in 0..3 {
        assert!(
            registry
                .toolset(&cx, &everything())
                .names()
                .eq(list.iter().copied())
        );
        for dialect in Dialect::ALL {
            assert_eq!(
                registry.toolset(&cx, &everything()).definitions(dialect),
                first.definitions(dialect)
            );
        }
    }
    let lists: BTreeSet<Vec<String>> = [
        Runtime::Chat,
        Runtime::Room,
        Runtime::Webhook {
            channel: "whatsapp".to_owned(),
        },
    ]
    .map(|runtime| names(&registry, &everything().runtime(runtime)))
    .into();
    assert_eq!(lists.len(), 3, "the list depends on the kind of the turn");
}

proptest! {
    // S0-16, S1-48, S1-62: the order of rules does not matter, denials never show more tools, and `explain` agrees with the list.
    #[test]
    fn further_denials_never_show_more_tools(
        allow in prop::collection::vec(prop::sample::select(STANDARD.to_vec()), 0..5),
        deny in prop::collection::vec(prop::sample::select(STANDARD.to_vec()), 0..4),
        rows in prop::collection::vec(prop::sample::select(STANDARD.to_vec()), 0..8),
        off in prop::sample::select(STANDARD.to_vec()),
        flags in any::<[bool; 2]>(),
    ) {
        let registry = registry();
        let rules = || Rules::default()
            .memory(flags[0]).knowledge(flags[1])
            .secrets(["openai_api_key"])
            .enablement(rows.iter().copied().fold(Enablement::default(), Enablement::skill));
        let before = names(&registry, &rules().allow(allow.clone()));
        let after = names(&registry, &rules().allow(allow.clone()).deny(deny.clone()));
        prop_assert!(after.iter().all(|name| before.contains(name) && !deny.contains(&name.as_str())));
        prop_assert_eq!(&after, &names(&registry, &rules().deny(deny.clone()).allow(allow.iter().rev().copied())));
        let disables = Disables::default();
        disables.disable(off);
        let fewer = names(&registry, &rules().allow(allow.clone()).deny(deny).disables(&disables));
        let expected: Vec<String> = after.iter().filter(|name| *name != off).cloned().collect();
        prop_assert_eq!(fewer, expected);
        let tools = registry.toolset(&ToolContext::anonymous(), &rules().allow(allow));
        for def in registry.tools() {
            prop_assert_eq!(tools.explain(def.name()).is_visible(), before.iter().any(|name| name == def.name()));
        }
    }
}
