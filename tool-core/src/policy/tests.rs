//! Tests of policies: decisions, reports, shadow mode and kill switches.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::HashSet;
use std::sync::Arc;

use futures::FutureExt;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::condition::Arguments;
use super::*;
use crate::context::ToolContext;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::registry::Registry;
use crate::tool::{Approval, DynamicTool};

fn tool(name: &str) -> DynamicTool {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    DynamicTool::new(
        name,
        "Does something.",
        schema,
        |_: Value, _: ToolContext| async { Ok::<_, ToolError>(1) },
    )
}

fn registry() -> Registry {
    Registry::builder()
        .dynamic(
            tool("read_file")
                .category("files")
                .tag("fs")
                .read_only()
                .origin("server one"),
        )
        .dynamic(tool("write_file").category("files").effect(Effect::WRITE))
        .dynamic(tool("remove_file").category("files").destructive())
        .dynamic(tool("purge").destructive().approval(Approval::Always))
        .dynamic(tool("search").category("web").open_world())
        .build()
        .unwrap()
}

fn request<'a>(registry: &'a Registry, name: &str, arguments: &'a str) -> PolicyRequest<'a> {
    PolicyRequest {
        tool: registry.get(name).unwrap(),
        tenant: "acme",
        principal: "u-1",
        agent: Some("chief"),
        arguments,
    }
}

fn build(rules: impl IntoIterator<Item = Rule>) -> Policy {
    Policy::builder().rules(rules).build().unwrap()
}

use PolicyVerdict::{Allow, Ask, Deny};

// M14: a rule matches by each of its criteria.
#[test]
fn rule_matches_by_each_of_its_criteria() {
    let registry = registry();
    let all = ["purge", "read_file", "remove_file", "search", "write_file"];
    let deny = || Rule::deny("r");
    let cases: [(Rule, &[&str]); 15] = [
        (deny(), &all),
        (
            deny().tools(["*_file", "purge"]),
            &["purge", "read_file", "remove_file", "write_file"],
        ),
        (deny().categories(["web"]), &["search"]),
        (deny().tags(["f?"]), &["read_file"]),
        (
            deny().effects(Effect::WRITE),
            &["purge", "remove_file", "write_file"],
        ),
        (
            deny().effects(Effect::EXTERNAL.union(Effect::DESTROY)),
            &["purge", "remove_file", "search"],
        ),
        (deny().origins(["server *"]), &["read_file"]),
        (deny().crates(["*"]), &[]),
        (deny().dynamic(true), &all),
        (deny().dynamic(false), &[]),
        (deny().tenants(["ac*"]), &all),
        (deny().tenants(["globex"]), &[]),
        (deny().principals(["u-2"]), &[]),
        (deny().agents(["chief", "scout"]), &all),
        (
            deny().categories(["files"]).effects(Effect::READ),
            &["read_file"],
        ),
    ];
    for (rule, denied) in cases {
        let policy = build([rule]);
        let found: Vec<&str> = all
            .into_iter()
            .filter(|name| policy.decide(&request(&registry, name, "{}")).verdict == Deny)
            .collect();
        assert_eq!(found, denied, "{:?}", policy.rules());
    }
    // A rule for agents does not match a call without an agent.
    let nobody = PolicyRequest {
        agent: None,
        ..request(&registry, "search", "{}")
    };
    assert_eq!(build([deny().agents(["*"])]).decide(&nobody).verdict, Allow);
}

// M14: deny precedes ask, and ask precedes allow; the order of the rules matters only among rules with the same verdict; without a matching rule,
// the default decides.
#[test]
fn deny_precedes_ask_and_ask_precedes_allow() {
    let registry = registry();
    let search = request(&registry, "search", "{}");
    let policy = build([
        Rule::allow("a"),
        Rule::ask("k1").four_eyes(),
        Rule::ask("k2"),
        Rule::deny("d").tools(["purge"]),
    ]);
    let decision = policy.decide(&search);
    assert_eq!(
        (
            decision.verdict,
            decision.rule.as_deref(),
            decision.four_eyes
        ),
        (Ask, Some("k1"), true)
    );
    assert_eq!(
        policy
            .decide(&request(&registry, "purge", "{}"))
            .rule
            .as_deref(),
        Some("d")
    );
    assert_eq!(build([]).decide(&search).verdict, Allow);
    let strict = Policy::builder()
        .otherwise(Deny)
        .rule(Rule::allow("s").tools(["search"]))
        .build()
        .unwrap();
    assert_eq!(strict.decide(&search).verdict, Allow);
    let refused = strict.decide(&request(&registry, "purge", "{}"));
    assert_eq!((refused.verdict, refused.rule), (Deny, None));
}

// M14: with a failed condition, a deny rule denies and an ask or allow rule asks.
#[test]
fn failed_condition_never_allows() {
    let registry = registry();
    let wanted = || Condition::new("/mode").equals("safe");
    for (rule, yes, no, failed) in [
        (Rule::deny("r").when(wanted()), Deny, Allow, Deny),
        (Rule::ask("r").when(wanted()), Ask, Allow, Ask),
        (Rule::allow("r").when(wanted()), Allow, Allow, Ask),
    ] {
        let policy = build([rule]);
        let verdict = |arguments| {
            policy
                .decide(&request(&registry, "search", arguments))
                .verdict
        };
        assert_eq!(verdict(r#"{"mode":"safe"}"#), yes);
        assert_eq!(verdict(r#"{"mode":"fast"}"#), no);
        for arguments in ["{}", r#"{"mode":1}"#, "no JSON"] {
            assert_eq!(verdict(arguments), failed, "{arguments}");
        }
    }
    // A later allow rule does not override a failed one, and one false condition is enough to skip the rule.
    let policy = build([Rule::allow("r").when(wanted()), Rule::allow("all")]);
    assert_eq!(
        policy.decide(&request(&registry, "search", "{}")).verdict,
        Ask
    );
    let policy = build([Rule::deny("r")
        .when(wanted())
        .when(Condition::new("/mode").exists(true))]);
    assert_eq!(
        policy.decide(&request(&registry, "search", "{}")).verdict,
        Allow
    );
}

// M14: every decision has a unique id, from which it can be explained, even as text from an audit row.
#[test]
fn decision_is_explained_by_its_id() {
    let registry = registry();
    let shared = SharedPolicy::new(build([
        Rule::ask("far")
            .tools(["search"])
            .when(Condition::new("/depth").greater(3))
            .reason("costs money"),
        Rule::deny("gone").tools(["purge"]),
    ]));
    let explain = |name: &str, arguments: &str| {
        let decision = shared.decide(&request(&registry, name, arguments));
        assert_eq!(&*decision.policy, shared.current().version());
        assert_eq!(decision.id.to_string().parse(), Ok(decision.id));
        shared.explain(&decision.id.to_string()).unwrap()
    };
    let version = shared.current().version().to_owned();
    assert_eq!(
        explain("search", r#"{"depth":4}"#),
        format!(
            "rule `far` matched, and its verdict is `ask`: `/depth` is greater than 3; reason: costs money (policy {version})"
        )
    );
    assert_eq!(
        explain("search", "{}"),
        format!(
            "the verdict of rule `far` is `ask`, and whether `/depth` is greater than 3 could not be decided from the arguments, so the call was sent \
             to a person for approval; reason: costs money (policy {version})"
        )
    );
    assert_eq!(
        explain("purge", "{}"),
        format!("rule `gone` matched, and its verdict is `deny` (policy {version})")
    );
    assert_eq!(
        explain("read_file", "{}"),
        format!("no rule matched, the policy's default is `allow` (policy {version})")
    );
    shared.kill("read_file", None);
    assert_eq!(
        explain("read_file", "{}"),
        format!("the tool was switched off for the tenant (policy {version})")
    );
    // A decision can be explained even after a different policy was put in force.
    let old = shared
        .decide(&request(&registry, "purge", "{}"))
        .id
        .to_string();
    shared.replace(build([]));
    assert!(shared.explain(&old).unwrap().contains("`gone`"));
    for text in ["", "x", "1.r0.2.3.4", "00.r0.0.0", "1.f0.0.0"] {
        assert_eq!(shared.explain(text), None, "{text}");
    }
    let ids: HashSet<DecisionId> = (0..100)
        .map(|_| shared.decide(&request(&registry, "search", "{}")).id)
        .collect();
    assert_eq!(ids.len(), 100);
}

// M14: candidate rules are computed per tool, and arguments are parsed only if a condition needs them.
#[test]
fn candidate_rules_exclude_rules_for_other_tools() {
    let registry = registry();
    let policy = build((0..20).map(|i| {
        Rule::deny(format!("r{i}"))
            .tools([format!("tool_{i}*")])
            .when(Condition::new("/a").equals(1))
    }));
    let def = registry.get("search").unwrap();
    assert!(policy.candidates(def).rules.is_empty());
    let arguments = Arguments::new("{}");
    assert_eq!(Rule::deny("r").holds(&arguments), Ok(true));
    assert!(!arguments.was_read());
    // Candidates of a different policy are not used.
    let other = build([Rule::deny("all")]);
    assert_eq!(
        other
            .decide_among(&policy.candidates(def), &request(&registry, "search", "{}"))
            .verdict,
        Deny
    );
}

// M14: an invalid policy is refused with all its faults.
#[test]
fn invalid_policy_is_refused_with_all_faults() {
    let error = Policy::builder()
        .rule(Rule::allow("a").four_eyes())
        .rule(Rule::deny("a").tools([""]))
        .rule(Rule::deny("").when(Condition::new("x").exists(true)))
        .build()
        .unwrap_err();
    for text in [
        "`four_eyes`",
        "two rules are named `a`",
        "`tools` contains an empty name",
        "it has no name",
        "starts with `/`",
    ] {
        assert!(error.to_string().contains(text), "{text}: {error}");
    }
    assert_eq!(error.faults().len(), 5);
}

// M14: a policy's version depends on its contents only.
#[test]
fn policy_version_depends_on_the_content() {
    let version = |rules: Vec<Rule>| build(rules).version().to_owned();
    assert_eq!(
        version(vec![Rule::deny("a")]),
        version(vec![Rule::deny("a")])
    );
    assert_ne!(
        version(vec![Rule::deny("a")]),
        version(vec![Rule::deny("a").reason("x")])
    );
    assert_ne!(
        version(vec![Rule::deny("a")]),
        version(vec![Rule::ask("a")])
    );
    // The order of rules with different verdicts does not matter.
    assert_eq!(
        version(vec![Rule::deny("a"), Rule::ask("b")]),
        version(vec![Rule::ask("b"), Rule::deny("a")])
    );
}

// M14: the policy in force continues to decide; the decisions of the shadow policy are counted and reported.
#[test]
fn shadow_policy_decides_nothing() {
    let registry = registry();
    let shared = SharedPolicy::new(build([Rule::ask("k").tools(["purge"])]));
    assert!(shared.shadow_report().is_none());
    shared.shadow(build([
        Rule::deny("d").tools(["search"]),
        Rule::ask("k").tools(["purge"]),
    ]));
    for name in ["search", "purge", "search", "read_file"] {
        assert_ne!(shared.decide(&request(&registry, name, "{}")).verdict, Deny);
    }
    let report = shared.shadow_report().unwrap();
    assert_eq!(
        (report.judged, report.differed, report.differences.len()),
        (4, 2, 2)
    );
    let difference = &report.differences[0];
    assert_eq!(
        (difference.decided.verdict, difference.would.verdict),
        (Allow, Deny)
    );
    assert!(
        shared
            .explain(&difference.would.id.to_string())
            .unwrap()
            .contains("`d`")
    );
    assert_eq!(shared.end_shadow().unwrap().differed, 2);
    assert!(shared.end_shadow().is_none());
}

// M14: a kill switch for one tenant or for all tenants refuses new calls and completes the futures of `killed`.
#[tokio::test]
async fn kill_switch_refuses_new_calls_and_wakes_waiting_callers() {
    let registry = registry();
    let shared = SharedPolicy::default();
    let mut running = shared.killed("search", "acme").boxed();
    let mut other = shared.killed("search", "globex").boxed();
    assert!(running.as_mut().now_or_never().is_none());
    assert!(shared.kill("search", Some("acme")));
    assert!(
        !shared.kill("search", Some("acme")),
        "the tool is switched off already"
    );
    running.await;
    assert!(other.as_mut().now_or_never().is_none());
    let decision = shared.decide(&request(&registry, "search", "{}"));
    assert_eq!(
        (decision.verdict, decision.reason.as_deref()),
        (Deny, Some("the tool is switched off"))
    );
    let elsewhere = PolicyRequest {
        tenant: "globex",
        ..request(&registry, "search", "{}")
    };
    assert_eq!(shared.decide(&elsewhere).verdict, Allow);
    // A caller that waits after the switch was set returns at once.
    shared.killed("search", "acme").await;
    assert!(shared.revive("search", Some("acme")));
    assert_eq!(
        shared.decide(&request(&registry, "search", "{}")).verdict,
        Allow
    );
    shared.kill("search", None);
    other.await;
    assert!(
        !shared.revive("search", Some("globex")),
        "the switch is on for all tenants, not for this tenant"
    );
    drop(shared.killed("purge", "acme"));
}

// M14: every change of a shared policy has a new edition number.
#[test]
fn every_policy_change_increases_the_edition() {
    let shared = SharedPolicy::default();
    let mut last = shared.state();
    let changes: [fn(&SharedPolicy); 4] = [
        |shared| drop(shared.replace(build([Rule::deny("x")]))),
        |shared| assert!(shared.kill("a", None)),
        |shared| assert!(shared.revive("a", None)),
        |shared| shared.shadow(build([])),
    ];
    for change in changes {
        change(&shared);
        assert!(!shared.is_latest(&last));
        assert!(shared.state().number > last.number);
        last = shared.state();
        assert!(shared.is_latest(&last));
    }
}

// M14: the report lists tools without a rule, rules without a tool, unknown names, and destructive tools without an approval.
#[test]
fn policy_report_lists_unreached_tools_and_unknown_names() {
    let registry = registry();
    let report = build([
        Rule::allow("cleaners")
            .tools(["remove_file"])
            .agents(["janitor"]),
        Rule::deny("nobody").tools(["no_such", "serch"]),
        Rule::ask("files").categories(["files"]).tenants(["acme"]),
    ])
    .report(&registry);
    assert_eq!(report.unreached, ["purge", "search"]);
    assert_eq!(report.idle, ["nobody"]);
    let unknown: Vec<String> = report.unknown.iter().map(UnknownTool::to_string).collect();
    assert_eq!(
        unknown,
        [
            "rule `nobody`: there is no tool `no_such`",
            "rule `nobody`: there is no tool `serch`, did you mean `search`?"
        ]
    );
    // `purge` always requires an approval, so it is not listed.
    let open: Vec<_> = report
        .unapproved
        .iter()
        .map(|reach| {
            (
                reach.tool.as_str(),
                reach.rule.as_deref(),
                reach.agent.as_str(),
            )
        })
        .collect();
    assert_eq!(
        open,
        [
            ("remove_file", None, "*"),
            ("remove_file", Some("cleaners"), "janitor")
        ]
    );
    let closed = build([Rule::ask("removals").effects(Effect::DESTROY)]).report(&registry);
    assert_eq!(closed.unapproved, []);
}

const TOOLS: [&str; 5] = ["purge", "read_file", "remove_file", "search", "write_file"];
const TENANTS: [&str; 3] = ["acme", "globex", "another"];
const AGENTS: [&str; 3] = ["chief", "scout", "another"];
const MODES: [&str; 4] = [
    r#"{"mode":"a"}"#,
    r#"{"mode":"b"}"#,
    r#"{"mode":"another"}"#,
    "{}",
];

/// Generates rules over a domain that is small enough for exhaustive tests.
fn rule() -> impl Strategy<Value = Rule> {
    let verdict = prop::sample::select(vec![Allow, Deny, Ask]);
    let tools = prop::sample::select(vec!["*", "*_file", "remove_file", "purge", "search"]);
    let tenant = prop::sample::select(vec![None, Some("*"), Some("acme"), Some("globex")]);
    let agent = prop::sample::select(vec![None, Some("chief"), Some("scout")]);
    let mode = prop::sample::select(vec![None, None, Some("a"), Some("b")]);
    (verdict, tools, tenant, agent, mode).prop_map(|(verdict, tool, tenant, agent, mode)| {
        let mut rule = match verdict {
            Allow => Rule::allow(""),
            Deny => Rule::deny(""),
            Ask => Rule::ask(""),
        }
        .tools([tool])
        .tenants(tenant)
        .agents(agent);
        if let Some(mode) = mode {
            rule = rule.when(Condition::new("/mode").equals(mode));
        }
        rule
    })
}

/// Builds a policy of the rules, with unique names.
fn named(rules: &[Rule], otherwise: PolicyVerdict) -> Policy {
    let mut builder = Policy::builder().otherwise(otherwise);
    for (i, rule) in rules.iter().enumerate() {
        let mut value = serde_json::to_value(rule).unwrap();
        value["name"] = format!("r{i}").into();
        builder = builder.rule(serde_json::from_value(value).unwrap());
    }
    builder.build().unwrap()
}

fn world(registry: &Registry) -> Vec<PolicyRequest<'_>> {
    let mut all = Vec::new();
    for tool in TOOLS {
        for tenant in TENANTS {
            for agent in AGENTS {
                for arguments in MODES {
                    let tool = registry.get(tool).unwrap();
                    all.push(PolicyRequest {
                        tool,
                        tenant,
                        principal: "u-1",
                        agent: Some(agent),
                        arguments,
                    });
                }
            }
        }
    }
    all
}

fn strictness(verdict: PolicyVerdict) -> u8 {
    2 - verdict.rank()
}

/// Decides by a reference implementation that reads the rules from their serialized form.
fn by_hand(policy: &Policy, rules: &[Rule], request: &PolicyRequest<'_>) -> PolicyVerdict {
    let mode: Value = serde_json::from_str(request.arguments).unwrap();
    let mut allowed = None;
    let mut worst = None;
    for rule in rules {
        let value = serde_json::to_value(rule).unwrap();
        let fits = |key: &str, name: &str| {
            value[key].as_array().is_none_or(|globs| {
                globs.iter().any(|glob| match glob.as_str().unwrap() {
                    "*" => true,
                    "*_file" => name.ends_with("_file"),
                    glob => glob == name,
                })
            })
        };
        if !fits("tools", request.tool.name())
            || !fits("tenants", request.tenant)
            || !fits("agents", request.agent.unwrap())
        {
            continue;
        }
        let held = match value["when"].as_array() {
            None => Some(true),
            Some(_) if mode.get("mode").is_none() => None,
            Some(when) => Some(when[0]["equals"] == mode["mode"]),
        };
        match (rule.verdict(), held) {
            (_, Some(false)) => {}
            (Deny, _) => return Deny,
            (Ask, _) => worst = Some(Ask),
            (Allow, held) => allowed = allowed.or(Some(if held.is_some() { Allow } else { Ask })),
        }
    }
    worst.or(allowed).unwrap_or(policy.default_verdict())
}

proptest! {
    // M14: a deny rule that applies wins in every order of the rules.
    #[test]
    fn deny_wins_in_every_rule_order(rules in prop::collection::vec(rule(), 0..6), seed in any::<u64>()) {
        let registry = registry();
        let mut shuffled = rules.clone();
        let mut state = seed;
        for i in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(i, usize::try_from(state >> 33).unwrap() % (i + 1));
        }
        let (policy, other) = (named(&rules, Allow), named(&shuffled, Allow));
        for request in world(&registry) {
            let (a, b) = (policy.decide(&request).verdict, other.decide(&request).verdict);
            prop_assert_eq!(a == Deny, b == Deny);
            let denied = rules.iter().any(|rule| {
                rule.verdict() == Deny && rule.is_about(request.tool)
                    && rule.is_for(request.tenant, request.principal, request.agent)
                    && rule.holds(&Arguments::new(request.arguments)) != Ok(false)
            });
            prop_assert_eq!(a == Deny, denied);
        }
    }

    // M14: an additional deny or ask rule never makes a decision less strict.
    #[test]
    fn added_deny_or_ask_rule_never_widens_a_policy(rules in prop::collection::vec(rule(), 0..5), more in rule(), at in 0..6_usize) {
        prop_assume!(more.verdict() != Allow);
        let registry = registry();
        let mut longer = rules.clone();
        longer.insert(at.min(rules.len()), more);
        let (policy, other) = (named(&rules, Allow), named(&longer, Allow));
        for request in world(&registry) {
            let (before, after) = (policy.decide(&request).verdict, other.decide(&request).verdict);
            prop_assert!(strictness(after) >= strictness(before));
        }
    }

    // M14: decisions agree with the reference implementation, with and without precomputed candidates.
    #[test]
    fn decisions_agree_with_the_rules(rules in prop::collection::vec(rule(), 0..6), otherwise in prop::sample::select(vec![Allow, Deny, Ask])) {
        let registry = registry();
        let policy = named(&rules, otherwise);
        for request in world(&registry) {
            let decision = policy.decide(&request);
            prop_assert_eq!(decision.verdict, by_hand(&policy, &rules, &request));
            let known = policy.decide_among(&policy.candidates(request.tool), &request);
            prop_assert_eq!((known.verdict, known.rule), (decision.verdict, decision.rule));
            if policy.forbids(request.tool, request.tenant, request.principal, request.agent) {
                prop_assert_eq!(decision.verdict, Deny);
            }
        }
    }

    // M14: the report agrees with an exhaustive search.
    #[test]
    fn policy_report_equals_exhaustive_search(rules in prop::collection::vec(rule(), 0..5), otherwise in prop::sample::select(vec![Allow, Deny, Ask])) {
        let registry = registry();
        let policy = named(&rules, otherwise);
        let report = policy.report(&registry);
        for name in TOOLS {
            let def = registry.get(name).unwrap();
            let reached = rules.iter().any(|rule| rule.is_about(def));
            prop_assert_eq!(!reached, report.unreached.iter().any(|tool| tool == name));
        }
        {
            let name = "remove_file";
            let open = world(&registry).iter().any(|request| {
                request.tool.name() == name && policy.decide(request).verdict == Allow
            });
            let is_reported = report.unapproved.iter().any(|reach| reach.tool == name);
            prop_assert!(is_reported || !open, "it is open and not reported: {:?}", policy.rules());
            if rules.iter().all(|rule| !rule.is_conditional()) {
                prop_assert_eq!(open, is_reported, "{:?}", policy.rules());
            }
        }
        prop_assert!(report.unapproved.iter().all(|reach| reach.tool != "purge"));
        let idle = policy.rules().iter().filter(|rule| !registry.tools().iter().any(|def| rule.is_about(def)));
        prop_assert_eq!(idle.count(), report.idle.len());
    }
}

// M14: clones share one policy, even while one thread replaces it and another thread reads it.
#[test]
fn readers_never_get_a_partly_replaced_policy() {
    let registry = Arc::new(registry());
    let shared = SharedPolicy::new(build([Rule::deny("a")]));
    let writer = {
        let shared = shared.clone();
        std::thread::spawn(move || {
            for i in 0..200 {
                shared.replace(build([if i % 2 == 0 {
                    Rule::ask("b")
                } else {
                    Rule::deny("a")
                }]));
            }
        })
    };
    for _ in 0..500 {
        let decision = shared.decide(&request(&registry, "search", "{}"));
        let expected = if decision.verdict == Deny { "a" } else { "b" };
        assert_eq!(decision.rule.as_deref(), Some(expected));
        assert!(shared.explain(&decision.id.to_string()).is_some());
    }
    writer.join().unwrap();
}
