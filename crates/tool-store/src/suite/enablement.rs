//! Tests of enablement rows and skills, and of the changes that a sync of the catalogue makes to them.

use crate::*;

use super::records::{acme, at};
use super::{at_once, conflict, missing, tests};

fn own() -> InstanceId {
    InstanceId::new(acme(), "support")
}

fn other() -> InstanceId {
    InstanceId::new(acme(), "sales")
}

fn foreign() -> InstanceId {
    InstanceId::new("umbrella", "support")
}

fn entries(names: &[&str]) -> Vec<CatalogueEntry> {
    names.iter().copied().map(CatalogueEntry::new).collect()
}

fn global(name: &str) -> CatalogueEntry {
    CatalogueEntry {
        is_global: true,
        ..CatalogueEntry::new(name)
    }
}

fn renamed(name: &str, aliases: &[&str]) -> CatalogueEntry {
    CatalogueEntry {
        aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        ..CatalogueEntry::new(name)
    }
}

fn skill(name: &str, version: &str, tools: &[&str]) -> SkillVersion {
    SkillVersion {
        description: format!("About {name}."),
        required_tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
        env: vec!["HOME".to_owned()],
        files: [("SKILL.md".to_owned(), format!("# {name} {version}"))].into(),
        ..SkillVersion::new(name, version)
    }
}

/// Returns the tools of an instance with their sources. `+` marks a row that a person has enabled too, but whose source is higher than `manual`.
async fn enabled(store: &(impl EnablementStore + ?Sized), instance: &InstanceId) -> Vec<String> {
    let rows = store.rows(instance).await.unwrap();
    let text = |row: EnablementRow| {
        assert_eq!(row.instance, *instance);
        let is_kept = row.is_manual && row.source != EnablementSource::Manual;
        format!(
            "{} {}{}",
            row.tool,
            row.source,
            if is_kept { "+" } else { "" }
        )
    };
    rows.into_iter().map(text).collect()
}

tests! {
    ($) __suite_enablement in enablement for EnablementStore;

    // S1-32: a row with a source enables a tool, and an instance has one row for each tool.
    #[test]
    async fn row_is_unique_for_tool_and_instance(store: impl EnablementStore) {
        store.reconcile(entries(&["look", "act"])).await.unwrap();
        assert!(store.enable(&own(), "look", "olga", at(1)).await.unwrap());
        assert!(!store.enable(&own(), "look", "eve", at(2)).await.unwrap());
        let row = EnablementRow::new(own(), "look", EnablementSource::Manual, "olga", at(1));
        assert_eq!(store.rows(&own()).await.unwrap(), [row]);
        // Enabling a skill changes the source of the existing row, and adds no second row.
        store.enable_skill(&own(), skill("x", "1", &["look"]), "olga", at(3)).await.unwrap();
        assert_eq!(enabled(&store, &own()).await, ["look skill+"]);
        assert_eq!(enabled(&store, &other()).await, [""; 0]);
    }

    // S1-33: the catalogue stores every property of a tool, and a sync replaces the properties that have changed. A different time of the sync is
    // stored and is not reported as a change.
    #[test]
    async fn sync_stores_every_property_and_its_time(store: impl EnablementStore) {
        let mut entry = CatalogueEntry {
            title: Some("Look".to_owned()),
            description: "Looks.".to_owned(),
            category: "eyes".to_owned(),
            contract: "9f".to_owned(),
            effect: 5,
            secrets: vec!["A_KEY".to_owned(), "B_KEY".to_owned()],
            aliases: vec!["see".to_owned()],
            is_meta: true,
            is_global: true,
            is_harness: true,
            synced_at: at(10),
            ..CatalogueEntry::new("look")
        };
        store.reconcile(vec![entry.clone()]).await.unwrap();
        assert_eq!(store.entries().await.unwrap(), std::slice::from_ref(&entry));
        entry.synced_at = at(20);
        assert_eq!(store.reconcile(vec![entry.clone()]).await.unwrap(), SyncReport::default());
        assert_eq!(store.entries().await.unwrap(), std::slice::from_ref(&entry));
        "Looks twice.".clone_into(&mut entry.description);
        let report = store.reconcile(vec![entry.clone()]).await.unwrap();
        assert_eq!(report.changed, ["look"]);
        assert_eq!(store.entries().await.unwrap(), [entry]);
    }

    // S1-34: enabling a skill enables the tools of its pinned version, and the result lists these, the added, the removed and the unknown tools.
    #[test]
    async fn skill_enables_the_tools_of_its_pinned_version(store: impl EnablementStore) {
        store.reconcile(entries(&["a", "b", "c"])).await.unwrap();
        store.enable(&own(), "b", "olga", at(1)).await.unwrap();
        let one = skill("x", "1", &["b", "a", "gone"]);
        let change = store.enable_skill(&own(), one.clone(), "olga", at(2)).await.unwrap();
        assert_eq!(change.tools, ["a", "b"]);
        assert_eq!(change.added, ["a"]);
        assert_eq!(change.missing, ["gone"]);
        let two = skill("x", "2", &["b", "c"]);
        store.enable_skill(&other(), two.clone(), "olga", at(3)).await.unwrap();
        // The version that a different instance pins does not affect this instance.
        assert_eq!(enabled(&store, &own()).await, ["a skill", "b skill+"]);
        assert_eq!(store.skills(&own()).await.unwrap(), [SkillPin::new(one, "olga", at(2))]);
        assert_eq!(enabled(&store, &other()).await, ["b skill", "c skill"]);
        let change = store.enable_skill(&own(), two.clone(), "eve", at(4)).await.unwrap();
        assert_eq!((change.added, change.removed), (vec!["c".to_owned()], vec!["a".to_owned()]));
        assert_eq!(store.skills(&own()).await.unwrap(), [SkillPin::new(two, "eve", at(4))]);
        assert_eq!(enabled(&store, &own()).await, ["b skill+", "c skill"]);
    }

    // S1-34: a version never changes while an instance of the workspace has pinned it. A skill needs a name and a version, and a change needs an
    // operator.
    #[test]
    async fn pinned_version_is_immutable(store: impl EnablementStore) {
        store.reconcile(entries(&["a", "b"])).await.unwrap();
        store.enable_skill(&own(), skill("x", "1", &["a"]), "olga", at(1)).await.unwrap();
        let changed = skill("x", "1", &["a", "b"]);
        conflict(store.enable_skill(&other(), changed.clone(), "olga", at(2)).await, "new version");
        conflict(store.enable_skill(&own(), SkillVersion::new("x", ""), "olga", at(2)).await, "a name and a version");
        conflict(store.enable_skill(&own(), skill("y", "1", &[]), "", at(2)).await, "operator");
        conflict(store.disable_skill(&own(), "x", "").await, "operator");
        assert_eq!(enabled(&store, &other()).await, [""; 0]);
        // A version is removed when no instance pins it, and each workspace has its own versions.
        store.enable_skill(&foreign(), changed.clone(), "olga", at(3)).await.unwrap();
        store.disable_skill(&own(), "x", "olga").await.unwrap();
        store.enable_skill(&other(), changed, "olga", at(4)).await.unwrap();
        assert_eq!(enabled(&store, &other()).await, ["a skill", "b skill"]);
    }

    // S1-35: a tool of a disabled skill remains enabled while a different skill requires it or if a person has enabled it. The other rows of the
    // skill are removed.
    #[test]
    async fn disabling_a_skill_keeps_tools_that_other_skills_need(store: impl EnablementStore) {
        store.reconcile(entries(&["shared", "only_x", "by_hand"])).await.unwrap();
        store.enable(&own(), "by_hand", "olga", at(1)).await.unwrap();
        store.enable_skill(&own(), skill("x", "1", &["shared", "only_x", "by_hand"]), "olga", at(2)).await.unwrap();
        store.enable_skill(&own(), skill("y", "1", &["shared", "by_hand"]), "olga", at(3)).await.unwrap();
        assert_eq!(enabled(&store, &own()).await, ["by_hand skill+", "only_x skill", "shared skill"]);
        let change = store.disable_skill(&own(), "x", "olga").await.unwrap();
        assert_eq!(change.removed, ["only_x"]);
        assert_eq!(enabled(&store, &own()).await, ["by_hand skill+", "shared skill"]);
        store.disable_skill(&own(), "y", "olga").await.unwrap();
        assert_eq!(enabled(&store, &own()).await, ["by_hand manual"]);
        assert_eq!(store.skills(&own()).await.unwrap(), []);
        // Disabling a skill that the instance does not have changes nothing.
        assert_eq!(store.disable_skill(&own(), "y", "olga").await.unwrap(), SkillChange::default());
    }

    // S1-35: global outranks skill, and skill outranks manual.
    #[test]
    async fn highest_source_of_a_row_is_stored(store: impl EnablementStore) {
        store.reconcile(vec![global("a"), CatalogueEntry::new("b")]).await.unwrap();
        for tool in ["a", "b"] {
            store.enable(&own(), tool, "olga", at(1)).await.unwrap();
        }
        assert_eq!(enabled(&store, &own()).await, ["a global+", "b manual"]);
        store.enable_skill(&own(), skill("x", "1", &["a", "b"]), "olga", at(2)).await.unwrap();
        assert_eq!(enabled(&store, &own()).await, ["a global+", "b skill+"]);
        store.reconcile(entries(&["a", "b"])).await.unwrap();
        assert_eq!(enabled(&store, &own()).await, ["a skill+", "b skill+"]);
        store.disable_skill(&own(), "x", "olga").await.unwrap();
        assert_eq!(enabled(&store, &own()).await, ["a manual", "b manual"]);
    }

    // S1-36: an operator can disable a tool that a person has enabled. The error for other rows contains their source, and the skill if there is one.
    #[test]
    async fn refusal_to_disable_names_the_source(store: impl EnablementStore) {
        store.reconcile(vec![global("g"), CatalogueEntry::new("m"), CatalogueEntry::new("s")]).await.unwrap();
        assert!(store.enable(&own(), "m", "olga", at(1)).await.unwrap());
        store.enable_skill(&own(), skill("x", "1", &["s"]), "olga", at(2)).await.unwrap();
        conflict(store.disable(&own(), "g", "olga").await, "source `global`");
        conflict(store.disable(&own(), "s", "olga").await, "source `skill`");
        conflict(store.disable(&own(), "s", "olga").await, "`x`");
        assert!(store.disable(&own(), "m", "olga").await.unwrap());
        assert!(!store.disable(&own(), "m", "olga").await.unwrap());
        assert_eq!(enabled(&store, &own()).await, ["g global", "s skill"]);
        conflict(store.enable(&own(), "m", "", at(3)).await, "operator");
        conflict(store.disable(&own(), "m", "").await, "operator");
        missing(store.enable(&other(), "nothing", "olga", at(3)).await);
        // The refused call has not added the instance.
        assert!(store.add_instance(&other(), at(4)).await.unwrap());
    }

    // S1-41, S1-42: a tool that is removed from the program is removed with the rows of every instance.
    #[test]
    async fn removing_a_tool_removes_its_rows_in_every_instance(store: impl EnablementStore) {
        store.reconcile(entries(&["a", "b"])).await.unwrap();
        for instance in [own(), other(), foreign()] {
            for tool in ["a", "b"] {
                store.enable(&instance, tool, "olga", at(1)).await.unwrap();
            }
        }
        let report = store.reconcile(entries(&["a"])).await.unwrap();
        let rows = [other(), own(), foreign()];
        let rows = rows.map(|own| EnablementRow::new(own, "b", EnablementSource::Manual, "olga", at(1)));
        assert_eq!(report.removed, [RemovedTool::new("b", rows.to_vec())]);
        assert_eq!(report.counts(), CatalogueChanges { removed: 1, ..CatalogueChanges::default() });
        for instance in [own(), other(), foreign()] {
            assert_eq!(enabled(&store, &instance).await, ["a manual"]);
        }
        assert_eq!(store.entries().await.unwrap().len(), 1);
        // `sync`, which only returns counts, removes rows as well.
        assert_eq!(store.sync(Vec::new()).await.unwrap().removed, 1);
        assert_eq!(store.list_rows(Scope::All, &EnablementFilter::default()).await.unwrap(), []);
    }

    // S1-43: a rename without an alias deletes the rows, and the report lists them.
    #[test]
    async fn rename_without_alias_deletes_rows_and_is_reported(store: impl EnablementStore) {
        store.reconcile(entries(&["old"])).await.unwrap();
        store.enable(&own(), "old", "olga", at(1)).await.unwrap();
        let report = store.reconcile(entries(&["new"])).await.unwrap();
        assert_eq!(report.added, ["new"]);
        assert_eq!((report.removed[0].name.as_str(), report.removed[0].rows.len()), ("old", 1));
        assert_eq!(report.renamed, []);
        assert_eq!(enabled(&store, &own()).await, [""; 0]);
    }

    // S1-43: with an alias, the rows and the requirements of skills move to the new name.
    #[test]
    async fn alias_moves_rows_to_the_new_name(store: impl EnablementStore) {
        store.reconcile(entries(&["older", "old", "wanted"])).await.unwrap();
        store.enable(&own(), "old", "olga", at(1)).await.unwrap();
        store.enable(&other(), "older", "olga", at(1)).await.unwrap();
        store.enable_skill(&own(), skill("x", "1", &["wanted"]), "olga", at(2)).await.unwrap();
        let after = || vec![renamed("new", &["older", "old"]), renamed("needed", &["wanted"])];
        let report = store.reconcile(after()).await.unwrap();
        let names: Vec<_> = report.renamed.iter().map(|row| (row.from.as_str(), row.to.as_str(), row.rows.len())).collect();
        assert_eq!(names, [("old", "new", 1), ("older", "new", 1), ("wanted", "needed", 1)]);
        assert_eq!(report.counts(), CatalogueChanges { changed: 3, ..CatalogueChanges::default() });
        assert_eq!((report.added, report.removed), (vec![], vec![]));
        assert_eq!(enabled(&store, &own()).await, ["needed skill", "new manual"]);
        assert_eq!(enabled(&store, &other()).await, ["new manual"]);
        assert_eq!(store.reconcile(after()).await.unwrap(), SyncReport::default());
        // From then on, the old names refer to the renamed tools.
        assert!(store.enable(&foreign(), "old", "olga", at(3)).await.unwrap());
        assert!(store.disable(&own(), "older", "olga").await.unwrap());
        conflict(store.disable(&own(), "wanted", "olga").await, "`x`");
        assert_eq!(enabled(&store, &foreign()).await, ["new manual"]);
        let change = store.disable_skill(&own(), "x", "olga").await.unwrap();
        assert_eq!(change.removed, ["needed"]);
        // Without the alias, the old names are unknown.
        store.reconcile(entries(&["new"])).await.unwrap();
        missing(store.enable(&own(), "old", "olga", at(4)).await);
    }

    // S1-43: an alias of a tool that exists is not a rename.
    #[test]
    async fn alias_of_an_existing_tool_does_not_move_rows(store: impl EnablementStore) {
        store.reconcile(entries(&["old"])).await.unwrap();
        store.enable(&own(), "old", "olga", at(1)).await.unwrap();
        let report = store.reconcile(vec![renamed("new", &["old"]), CatalogueEntry::new("old")]).await.unwrap();
        assert_eq!((report.added, report.renamed), (vec!["new".to_owned()], vec![]));
        assert_eq!(enabled(&store, &own()).await, ["old manual"]);
        // The rows of both names are merged into one.
        store.enable(&own(), "new", "eve", at(2)).await.unwrap();
        let report = store.reconcile(vec![renamed("new", &["old"])]).await.unwrap();
        assert_eq!(report.renamed.len(), 1);
        assert_eq!(enabled(&store, &own()).await, ["new manual"]);
    }

    // S1-44: rows of agents survive every sync, even the sync of an empty registry.
    #[test]
    async fn agent_rows_survive_an_empty_sync(store: impl EnablementStore) {
        store.reconcile(entries(&["a"])).await.unwrap();
        store.enable(&own(), "agent:tax-law", "olga", at(1)).await.unwrap();
        store.enable(&own(), "a", "olga", at(1)).await.unwrap();
        store.enable_skill(&own(), skill("x", "1", &["agent:notes"]), "olga", at(2)).await.unwrap();
        let kept = ["agent:notes skill", "agent:tax-law manual"];
        for _ in 0..2 {
            let report = store.reconcile(Vec::new()).await.unwrap();
            assert!(report.removed.iter().all(|tool| tool.name == "a"), "{report:?}");
            assert_eq!(enabled(&store, &own()).await, kept);
        }
        store.reconcile(vec![CatalogueEntry::new("agent:listed")]).await.unwrap();
        store.enable(&own(), "agent:listed", "olga", at(3)).await.unwrap();
        assert_eq!(store.reconcile(Vec::new()).await.unwrap(), SyncReport::default());
        assert_eq!(store.entries().await.unwrap().len(), 1);
        assert_eq!(enabled(&store, &own()).await.len(), 3);
    }

    // S1-35, S1-42: global tools have rows for every instance, and a required tool has its row after a sync adds the tool.
    #[test]
    async fn sync_adds_global_and_required_tools(store: impl EnablementStore) {
        store.add_instance(&own(), at(1)).await.unwrap();
        store.enable_skill(&other(), skill("x", "1", &["later"]), "olga", at(2)).await.unwrap();
        store.reconcile(vec![global("g"), CatalogueEntry::new("later")]).await.unwrap();
        assert_eq!(enabled(&store, &own()).await, ["g global"]);
        assert_eq!(enabled(&store, &other()).await, ["g global", "later skill"]);
        // A new instance has rows for the global tools, and an unknown instance has no rows.
        store.enable(&foreign(), "later", "olga", at(3)).await.unwrap();
        assert_eq!(enabled(&store, &foreign()).await, ["g global", "later manual"]);
        assert_eq!(enabled(&store, &InstanceId::of_workspace(acme())).await, [""; 0]);
        store.reconcile(entries(&["g"])).await.unwrap();
        for instance in [own(), other(), foreign()] {
            assert_eq!(enabled(&store, &instance).await, [""; 0]);
        }
    }

    // S1-32: a different instance of the same or of a different workspace does not read or change the rows and the skills of this instance.
    #[test]
    async fn instances_of_workspaces_are_isolated(store: impl EnablementStore) {
        store.reconcile(entries(&["a", "b"])).await.unwrap();
        store.enable(&own(), "a", "olga", at(1)).await.unwrap();
        store.enable_skill(&own(), skill("x", "1", &["b"]), "olga", at(2)).await.unwrap();
        let before = (store.rows(&own()).await.unwrap(), store.skills(&own()).await.unwrap());
        for stranger in [foreign(), other()] {
            assert_eq!(store.rows(&stranger).await.unwrap(), []);
            assert_eq!(store.skills(&stranger).await.unwrap(), []);
            assert!(!store.disable(&stranger, "a", "eve").await.unwrap());
            assert_eq!(store.disable_skill(&stranger, "x", "eve").await.unwrap(), SkillChange::default());
            assert!(!store.remove_instance(&stranger).await.unwrap());
            // Changes of a different instance do not affect the rows of this instance.
            store.enable(&stranger, "b", "eve", at(3)).await.unwrap();
            assert!(store.remove_instance(&stranger).await.unwrap());
        }
        store.enable_skill(&foreign(), skill("x", "1", &["a"]), "eve", at(4)).await.unwrap();
        let umbrella = Workspace::new("umbrella");
        let all = EnablementFilter::default();
        let rows = store.list_rows(Scope::Workspace(&umbrella), &all).await.unwrap();
        assert!(rows.iter().all(|row| row.instance == foreign()) && rows.len() == 1);
        store.remove_instance(&foreign()).await.unwrap();
        assert_eq!((store.rows(&own()).await.unwrap(), store.skills(&own()).await.unwrap()), before);
    }

    #[test]
    async fn removing_an_instance_removes_its_rows_and_pins(store: impl EnablementStore) {
        store.reconcile(entries(&["a"])).await.unwrap();
        store.enable_skill(&own(), skill("x", "1", &["a"]), "olga", at(1)).await.unwrap();
        assert!(store.remove_instance(&own()).await.unwrap());
        assert!(!store.remove_instance(&own()).await.unwrap());
        assert_eq!(enabled(&store, &own()).await, [""; 0]);
        assert_eq!(store.skills(&own()).await.unwrap(), []);
        // The pinned skill version is removed too, so the same version can be stored again with different tools.
        store.enable_skill(&own(), skill("x", "1", &[]), "olga", at(2)).await.unwrap();
    }

    #[test]
    async fn pages_of_rows_cover_the_whole_list(store: impl EnablementStore) {
        store.reconcile(entries(&["a", "b", "å"])).await.unwrap();
        for instance in [own(), other(), foreign(), InstanceId::of_workspace(acme())] {
            for tool in ["å", "b", "a"] {
                store.enable(&instance, tool, "olga", at(1)).await.unwrap();
            }
        }
        let mut filter = EnablementFilter { limit: Some(5), ..EnablementFilter::default() };
        let mut read = Vec::new();
        loop {
            let page = store.list_rows(Scope::All, &filter).await.unwrap();
            assert!(page.len() <= 5);
            let Some(last) = page.last() else { break };
            filter.after = Some((last.instance.clone(), last.tool.clone()));
            read.extend(page.into_iter().map(|row| (row.instance, row.tool)));
        }
        assert_eq!(read.len(), 12);
        assert!(read.is_sorted());
        for (filter, expected) in [
            (EnablementFilter { instance: Some("support".into()), ..EnablementFilter::default() }, 3),
            (EnablementFilter { tool: Some("å".into()), ..EnablementFilter::default() }, 3),
        ] {
            let rows = store.list_rows(Scope::Workspace(&acme()), &filter).await.unwrap();
            assert_eq!(rows.len(), expected);
        }
    }

    // S1-35: while a skill changes its version, a reader always reads the tools of either the old or the new version.
    #[test]
    async fn a_reader_gets_the_tools_of_one_version_of_a_skill(store: impl EnablementStore + Clone) {
        store.reconcile(entries(&["shared", "one", "two"])).await.unwrap();
        store.enable_skill(&own(), skill("x", "1", &["shared", "one"]), "olga", at(1)).await.unwrap();
        let reader = store.clone();
        let reads = tokio::spawn(async move {
            for _ in 0..40 {
                let rows = enabled(&reader, &own()).await;
                assert!(rows == ["one skill", "shared skill"] || rows == ["shared skill", "two skill"], "{rows:?}");
                tokio::task::yield_now().await;
            }
        });
        let mut is_second = false;
        while !reads.is_finished() {
            is_second = !is_second;
            let next = if is_second { skill("x", "2", &["shared", "two"]) } else { skill("x", "1", &["shared", "one"]) };
            store.enable_skill(&own(), next, "olga", at(2)).await.unwrap();
            tokio::task::yield_now().await;
        }
        reads.await.unwrap();
    }

    // 32 tasks enable 8 tools at once; exactly one task creates the row of each tool.
    #[test]
    async fn concurrent_changes_leave_one_row_each(store: impl EnablementStore + Clone) {
        let names: Vec<String> = (0..8).map(|n| format!("tool_{n}")).collect();
        store.reconcile(names.iter().map(CatalogueEntry::new).collect()).await.unwrap();
        let before = store.changed_since(0).await.unwrap().version;
        let created = at_once(|task| {
            let store = store.clone();
            async move { store.enable(&own(), &format!("tool_{}", task % 8), "olga", at(1)).await.unwrap() }
        }).await;
        assert_eq!(created.iter().filter(|created| **created).count(), 8);
        assert_eq!(store.rows(&own()).await.unwrap().len(), 8);
        assert!(store.changed_since(before).await.unwrap().version >= before + 8);
    }
}

tests! {
    ($) __suite_enablement_places in enablement for EnablementStore;

    // Every change increases the version, and other processes can read which instances it has changed.
    #[test]
    fn other_processes_can_read_the_changed_instances(opener) {
        opener.test(async |place| {
            let (one, two) = (place.open().await, place.open().await);
            one.reconcile(vec![CatalogueEntry::new("a"), CatalogueEntry::new("b")]).await.unwrap();
            let mut known = two.changed_since(0).await.unwrap().version;
            let mut seen = async |expected: &[InstanceId]| {
                let mut changed = two.changed_since(known).await.unwrap();
                changed.instances.sort_unstable();
                assert!(changed.version > known);
                known = changed.version;
                assert!(!changed.is_all);
                assert_eq!(changed.instances, expected);
                let same = two.changed_since(known).await.unwrap();
                assert_eq!(same, ChangedInstances::new(known, false, Vec::new()));
            };
            one.add_instance(&own(), at(1)).await.unwrap();
            seen(&[own()]).await;
            one.enable(&other(), "a", "olga", at(1)).await.unwrap();
            seen(&[other()]).await;
            one.enable_skill(&own(), skill("x", "1", &["a", "b"]), "olga", at(2)).await.unwrap();
            seen(&[own()]).await;
            one.disable(&other(), "a", "olga").await.unwrap();
            seen(&[other()]).await;
            one.reconcile(vec![global("b")]).await.unwrap();
            seen(&[other(), own()]).await;
            one.disable_skill(&own(), "x", "olga").await.unwrap();
            seen(&[own()]).await;
            assert_eq!(enabled(&two, &own()).await, ["b global"]);
            // A removed instance is not listed, so the store reports that every instance may have changed.
            one.remove_instance(&own()).await.unwrap();
            assert!(two.changed_since(known).await.unwrap().is_all);
            // A refused change and a change without an effect do not increase the version.
            let before = two.changed_since(0).await.unwrap().version;
            conflict(one.disable(&other(), "b", "olga").await, "global");
            assert!(!one.disable(&other(), "agent:x", "olga").await.unwrap());
            assert_eq!(two.changed_since(before).await.unwrap().version, before);
        });
    }
}
