//! Tests of kill switches, disables and enablement rows.

use crate::*;

use super::records::{acme, at};
use super::{at_once, conflict, tests};

fn switch(workspace: Option<&str>, kind: SwitchKind, tool: &str) -> Switch {
    let source = match kind {
        SwitchKind::Enable => "manual",
        SwitchKind::Disable | SwitchKind::Kill => "",
    };
    Switch {
        key: SwitchKey {
            workspace: workspace.map(Workspace::new),
            kind,
            tool: tool.to_owned(),
            source: source.to_owned(),
        },
        on: true,
        by: "olga".to_owned(),
        reason: Some("spam".to_owned()),
        at: at(100),
    }
}

fn off(switch: &Switch, millis: i64) -> Switch {
    Switch {
        on: false,
        by: "eve".to_owned(),
        reason: None,
        at: at(millis),
        ..switch.clone()
    }
}

async fn all(store: &impl SwitchStore) -> Vec<Switch> {
    let filter = SwitchFilter::default();
    store.switches(Scope::All, &filter).await.unwrap()
}

tests! {
    ($) __suite_switch in switch for Store;

    // A switch is a row with its operator, reason and time, even after it was turned off.
    #[test]
    async fn switch_records_its_operator(store: impl SwitchStore) {
        let kill = switch(Some("acme"), SwitchKind::Kill, "send");
        assert!(store.set(kill.clone()).await.unwrap());
        assert!(!store.set(kill.clone()).await.unwrap());
        assert_eq!(all(&store).await, std::slice::from_ref(&kill));
        assert_eq!(store.in_force().await.unwrap(), std::slice::from_ref(&kill));
        let revived = off(&kill, 200);
        assert!(store.set(revived.clone()).await.unwrap());
        assert!(!store.set(revived.clone()).await.unwrap());
        assert_eq!(all(&store).await, [revived]);
        assert_eq!(store.in_force().await.unwrap(), []);
        // Turning off a switch that was never on changes nothing.
        let never = off(&switch(None, SwitchKind::Disable, "send"), 300);
        assert!(!store.set(never).await.unwrap());
    }

    // Every change increases the version, which other processes compare to detect changes.
    #[test]
    async fn each_change_of_a_switch_increases_the_version(store: impl SwitchStore + Clone) {
        let before = store.version().await.unwrap();
        let set = at_once(|task| {
            let store = store.clone();
            async move {
                let kill = switch(Some("acme"), SwitchKind::Kill, &format!("tool {task:02}"));
                let set = store.set(kill).await.unwrap();
                (set, store.version().await.unwrap())
            }
        }).await;
        assert!(set.iter().all(|(set, version)| *set && *version > before));
        assert_eq!(store.version().await.unwrap(), before + 32);
        assert_eq!(store.in_force().await.unwrap().len(), 32);
    }

    #[test]
    async fn switch_without_operator_tool_or_source_is_refused(store: impl SwitchStore) {
        let kill = switch(None, SwitchKind::Kill, "send");
        conflict(store.set(Switch { by: String::new(), ..kill.clone() }).await, "operator");
        conflict(store.set(switch(None, SwitchKind::Kill, "")).await, "tool");
        let mut sourced = kill;
        sourced.key.source.push_str("manual");
        conflict(store.set(sourced).await, "source");
        let mut unsourced = switch(None, SwitchKind::Enable, "send");
        unsourced.key.source = String::new();
        conflict(store.set(unsourced).await, "source");
        assert_eq!(all(&store).await, []);
        assert_eq!(store.version().await.unwrap(), 0);
    }

    #[test]
    async fn enablement_combines_a_workspace_with_all_workspaces(store: impl SwitchStore) {
        let everywhere = switch(None, SwitchKind::Enable, "look");
        let own = switch(Some("acme"), SwitchKind::Enable, "send");
        let mut skill = own.clone();
        "skill".clone_into(&mut skill.key.source);
        let gone = off(&switch(Some("acme"), SwitchKind::Enable, "wipe"), 100);
        let foreign = switch(Some("umbrella"), SwitchKind::Enable, "pay");
        let kill = switch(Some("acme"), SwitchKind::Kill, "send");
        for row in [&foreign, &kill, &gone, &skill, &own, &everywhere] {
            store.set(row.clone()).await.unwrap();
        }
        assert_eq!(store.enablement(&acme()).await.unwrap(), [everywhere, own, skill, gone]);
        assert_eq!(store.in_force().await.unwrap(), [kill]);
    }

    // Pages of a list contain every switch once and in order, and scopes and filters narrow the list.
    #[test]
    async fn pages_of_switches_cover_the_whole_list(store: impl SwitchStore) {
        let mut rows = Vec::new();
        for workspace in [None, Some(""), Some("acme"), Some("umbrella")] {
            for kind in SwitchKind::ALL {
                for tool in ["a", "b", "å"] {
                    rows.push(switch(workspace, *kind, tool));
                }
            }
        }
        for row in rows.iter().rev() {
            store.set(row.clone()).await.unwrap();
        }
        let mut filter = SwitchFilter { limit: Some(5), ..SwitchFilter::default() };
        let mut read = Vec::new();
        loop {
            let page = store.switches(Scope::All, &filter).await.unwrap();
            assert!(page.len() <= 5);
            let Some(last) = page.last() else { break };
            filter.after = Some(last.key.clone());
            read.extend(page);
        }
        assert_eq!(read, rows);
        let none = SwitchFilter::default();
        for (scope, filter, expected) in [
            (Scope::Workspace(&acme()), none.clone(), 9),
            (Scope::Workspace(&Workspace::new("")), none.clone(), 9),
            (Scope::All, SwitchFilter { kind: Some(SwitchKind::Kill), ..none.clone() }, 12),
            (Scope::All, SwitchFilter { tool: Some("å".into()), ..none.clone() }, 12),
            (Scope::All, SwitchFilter { on: Some(false), ..none }, 0),
        ] {
            assert_eq!(store.switches(scope, &filter).await.unwrap().len(), expected);
        }
    }

    // Kill switches and disables that were turned off long ago are removed, a bounded number at a time; switches that are on, and enablement
    // rows, are not removed.
    #[test]
    async fn switches_turned_off_long_ago_are_retired(store: impl SwitchStore) {
        let on = switch(Some("acme"), SwitchKind::Kill, "on");
        let recent = off(&switch(Some("acme"), SwitchKind::Kill, "recent"), 500);
        let enable = off(&switch(Some("acme"), SwitchKind::Enable, "enable"), 100);
        let foreign = off(&switch(Some("umbrella"), SwitchKind::Disable, "old"), 100);
        for row in [&on, &recent, &enable, &foreign] {
            store.set(row.clone()).await.unwrap();
        }
        for tool in ["a", "b", "c"] {
            store.set(off(&switch(Some("acme"), SwitchKind::Kill, tool), 100)).await.unwrap();
        }
        let acme = acme();
        let version = store.version().await.unwrap();
        assert_eq!(store.retire(Scope::Workspace(&acme), at(500), 2).await.unwrap(), 2);
        assert_eq!(store.retire(Scope::Workspace(&acme), at(500), 2).await.unwrap(), 1);
        assert_eq!(store.retire(Scope::Workspace(&acme), at(500), 2).await.unwrap(), 0);
        assert_eq!(all(&store).await, [enable, on, recent, foreign]);
        assert_eq!(store.version().await.unwrap(), version);
    }
}
