//! Calls of hidden, denied and renamed tools.

use super::*;

struct Counted {
    registry: Registry,
    runs: Arc<AtomicUsize>,
}

fn counted() -> Counted {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let body = move |_: Value, _: ToolContext| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, ToolError>("done") }
    };
    let counted = DynamicTool::new("send_mail", "Sends.", schema(), body);
    let registry = Registry::builder()
        .dynamic(counted)
        .dynamic(tool("send_note"))
        .build()
        .unwrap();
    Counted { registry, runs }
}

// S0-21, S3-16, S1-61: a call of a hidden tool gets the same error as a call of a tool that does not exist.
#[tokio::test]
async fn hidden_tool_is_reported_like_an_unknown_tool() {
    let Counted { registry, runs } = counted();
    let cx = ToolContext::anonymous();
    let empty = Registry::builder()
        .dynamic(tool("send_note"))
        .build()
        .unwrap();
    let unknown = empty
        .open()
        .call(ToolCall::new("1", "send_mail", "{}"), &cx)
        .await;
    for rules in [
        Rules::default().deny(["send_mail"]),
        Rules::default().allow(["send_note"]),
        Rules::default().enablement(
            Enablement::default()
                .manual("send_note")
                .disabled("send_mail"),
        ),
    ] {
        let tools = registry.toolset(&cx, &rules);
        let result = tools.call(ToolCall::new("1", "send_mail", "{}"), &cx).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::UnknownTool);
        assert_eq!(result.model_text(), unknown.model_text());
        let near = tools.call(ToolCall::new("1", "send_mial", "{}"), &cx).await;
        assert!(
            !near.model_text().contains("`send_mail`"),
            "{}",
            near.model_text()
        );
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

// S0-21: a tool that is denied, disabled or killed while the turn runs is refused at its next call. A kill switch of another tenant has no effect.
#[tokio::test]
async fn denials_apply_at_the_next_dispatch() {
    let Counted { registry, runs } = counted();
    let cx = ToolContext::builder()
        .workspace("acme")
        .agent("chief")
        .build();
    let lists = |allow: &[&str], deny: &[&str]| ToolLists {
        allow: allow.iter().map(|name| (*name).to_owned()).collect(),
        deny: deny.iter().map(|name| (*name).to_owned()).collect(),
    };
    let replace = |shared: &SharedPolicy, policy: Policy| drop(shared.replace(policy));
    type Change<'a> = Box<dyn Fn(&SharedPolicy, &Disables) + 'a>;
    let changes: [(Layer, Change<'_>); 7] = [
        (
            Layer::Disabled,
            Box::new(|_, disables| assert!(disables.disable("send_mail"))),
        ),
        (
            Layer::Policy,
            Box::new(|shared, _| {
                replace(
                    shared,
                    Policy::builder().rule(Rule::deny("d")).build().unwrap(),
                )
            }),
        ),
        (
            Layer::Killed,
            Box::new(|shared, _| assert!(shared.kill("send_mail", Some("acme")))),
        ),
        (
            Layer::Global,
            Box::new(|shared, _| {
                replace(
                    shared,
                    Policy::builder()
                        .global(lists(&[], &["send_mail"]))
                        .build()
                        .unwrap(),
                )
            }),
        ),
        (
            Layer::Global,
            Box::new(|shared, _| {
                replace(
                    shared,
                    Policy::builder()
                        .global(lists(&["x"], &[]))
                        .build()
                        .unwrap(),
                )
            }),
        ),
        (
            Layer::Allow,
            Box::new(|shared, _| {
                replace(
                    shared,
                    Policy::builder()
                        .agent("chief", lists(&["x"], &[]))
                        .build()
                        .unwrap(),
                )
            }),
        ),
        (
            Layer::Deny,
            Box::new(|shared, _| {
                replace(
                    shared,
                    Policy::builder()
                        .agent("chief", lists(&[], &["send_mail"]))
                        .build()
                        .unwrap(),
                )
            }),
        ),
    ];
    for (layer, change) in changes {
        let (policy, disables) = (SharedPolicy::default(), Disables::default());
        let tools = registry.toolset(&cx, &Rules::default().policy(&policy).disables(&disables));
        let call = async || tools.call(ToolCall::new("1", "send_mail", "{}"), &cx).await;
        runs.store(0, Ordering::SeqCst);
        assert!(!call().await.is_error());
        // Changes for other tenants and tools have no effect.
        policy.kill("send_mail", Some("globex"));
        disables.disable("send_note");
        assert!(!call().await.is_error());
        change(&policy, &disables);
        assert_eq!(call().await.error().unwrap().kind(), ErrorKind::UnknownTool);
        assert_eq!(tools.explain("send_mail").layer(), Some(layer));
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }
}

// M14: the policy decides by the arguments that the tool receives.
#[tokio::test]
async fn gate_applies_the_policy_to_the_arguments_of_a_call() {
    use tool_core::policy::Condition;
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Where."}},
        "required": ["path"],
        "additionalProperties": false
    });
    let write = DynamicTool::new(
        "write",
        "Writes.",
        schema,
        |_: Value, _: ToolContext| async { Ok::<_, ToolError>(1) },
    );
    let registry = Registry::builder().dynamic(write).build().unwrap();
    let shared = Policy::builder()
        .rule(
            Rule::deny("etc")
                .when(Condition::new("/path").prefix("/etc/"))
                .reason("the system's own"),
        )
        .rule(Rule::ask("srv").when(Condition::new("/path").prefix("/srv/")))
        .share()
        .unwrap();
    let cx = ToolContext::anonymous();
    let tools = registry.toolset(&cx, &Rules::default().policy(&shared));
    let call = async |arguments: &str| {
        tools
            .call(ToolCall::new("1", "write", arguments), &cx)
            .await
    };
    assert!(!call(r#"{"path":"/tmp/x"}"#).await.is_error());
    let denied = call(r#"{"path":"/etc/x"}"#).await;
    assert_eq!(denied.error().unwrap().kind(), ErrorKind::Denied);
    assert!(
        denied.model_text().contains("the system's own"),
        "{}",
        denied.model_text()
    );
    assert_eq!(
        call(r#"{"path":"/srv/x"}"#).await.error().unwrap().kind(),
        ErrorKind::Pending
    );
    // A call whose arguments have to be repaired first is refused, too.
    let repaired = call(r#""{\"path\":\"/etc/x\"}""#).await;
    assert_ne!(repaired.error().map(ToolError::kind), None);
    drop(
        shared.replace(
            Policy::builder()
                .rule(Rule::deny("tmp").when(Condition::new("/path").prefix("/tmp/")))
                .build()
                .unwrap(),
        ),
    );
    assert_eq!(
        call(r#"{"path":"/tmp/x"}"#).await.error().unwrap().kind(),
        ErrorKind::Denied
    );
}

// S1-12: `ns:name` is sent as `ns__name`; rules and policies use `ns:name`.
#[tokio::test]
async fn namespaced_id_is_sent_with_underscores_and_used_in_rules() {
    let registry = Registry::builder()
        .dynamic(tool("github:search"))
        .dynamic(tool("search"))
        .build()
        .unwrap();
    let cx = ToolContext::anonymous();
    assert!(registry.open().names().eq(["github__search", "search"]));
    assert_eq!(
        registry.get("github:search").unwrap().name(),
        "github:search"
    );
    for dialect in Dialect::ALL {
        let definition = registry.get("github__search").unwrap().definition(dialect);
        assert!(
            definition.contains(r#""name":"github__search""#),
            "{definition}"
        );
    }
    let result = registry
        .open()
        .call(ToolCall::new("1", "github__search", "{}"), &cx)
        .await;
    assert_eq!(
        (result.name(), result.model_text().as_str()),
        ("github__search", "done")
    );
    assert_eq!(
        names(&registry, &Rules::default().deny(["github:search"])),
        ["search"]
    );
    assert_eq!(
        names(
            &registry,
            &Rules::default().enablement(Enablement::default().manual("github:search"))
        ),
        ["github__search"]
    );
    let both = Enablement::default()
        .manual("github:search")
        .manual("search");
    assert_eq!(
        names(&registry, &Rules::default().enablement(both)),
        ["github__search", "search"]
    );
    let policy = Policy::builder()
        .rule(Rule::deny("gh").tools(["github:*"]))
        .share()
        .unwrap();
    let tools = registry.toolset(&cx, &Rules::default().policy(&policy));
    assert_eq!(tools.explain("github:search").layer(), Some(Layer::Policy));
    assert_eq!(tools.explain("github__search").layer(), Some(Layer::Policy));
    let clash = Registry::builder()
        .dynamic(tool("a:b"))
        .dynamic(tool("a__b"))
        .build()
        .unwrap_err();
    assert!(
        clash.to_string().contains("two tools are named `a__b`"),
        "{clash}"
    );
    for name in [":a", "a:", "a:b:c", "1:a", &format!("{}:b", "a".repeat(62))] {
        assert!(
            Registry::builder().dynamic(tool(name)).build().is_err(),
            "{name}"
        );
    }
}

// S1-11: a meta-tool is listed. A direct call fails with `Unavailable`, unless the host adds an agent tool of this name to the turn.
#[tokio::test]
async fn meta_tool_called_directly_is_unavailable() {
    let registry = registry();
    let cx = ToolContext::anonymous();
    let tools = registry.toolset(&cx, &Rules::default());
    assert!(tools.get("spawn_task").unwrap().is_meta());
    let call = || ToolCall::new("1", "spawn_task", "{}");
    assert_eq!(
        tools.call(call(), &cx).await.error().unwrap().kind(),
        ErrorKind::Unavailable
    );
    let own = Registry::builder()
        .dynamic(tool("spawn_task"))
        .build()
        .unwrap()
        .open();
    let tools = tools.with_agent_tools(&own);
    assert_eq!(tools.call(call(), &cx).await.model_text(), "done");
}
