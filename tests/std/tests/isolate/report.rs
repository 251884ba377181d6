//! The isolation report, compared with the mechanisms that are active.

use tool_std::isolate::{Isolation, Mechanism};

use crate::support::{bare, isolation};

// S1-95, S1-96, S1-97: the report names the missing restrictions of the network, limits, users and system calls.
#[tokio::test]
async fn report_names_missing_restrictions() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        let text = isolation.report().await.unwrap().to_string();
        assert!(text.contains("\negress: none\n"), "{text}");
        assert!(text.contains("\nsyscalls: none\n"), "{text}");
        assert!(
            text.contains("\nuser: none (a job runs as the host's own user)\n"),
            "{text}"
        );
        assert!(text.contains("\nprocessor: "), "{text}");
        for open in [
            "UDP, and with it DNS",
            "but not addresses",
            "limit for the container",
            "without that flag",
            "keyrings of the host's session",
        ] {
            assert!(text.contains(open), "{open}: {text}");
        }
    }
}

#[tokio::test]
async fn report_shows_the_mechanisms_in_force() {
    let (full, bare, group) = (isolation(), bare(), Isolation::GroupOnly);
    let none = async |isolation: &Isolation, name: &str| {
        let report = isolation.report().await.unwrap();
        report.item(name).unwrap().mechanism.starts_with("none (")
    };
    println!("{}", full.report().await.unwrap());
    for (name, mechanism) in [
        ("files", Mechanism::Landlock),
        ("read-only mounts", Mechanism::ReadOnlyMounts),
        ("sockets with a path", Mechanism::OwnRoot),
        ("memory", Mechanism::MemoryCgroup),
        ("processes", Mechanism::PidsCgroup),
        ("capabilities", Mechanism::Capabilities),
        ("network off", Mechanism::NetworkNamespace),
        ("priorities", Mechanism::PidNamespace),
        ("shared memory", Mechanism::PidNamespace),
    ] {
        if name != "memory" {
            assert!(none(&bare, name).await, "{name}");
        }
        assert!(none(&group, name).await, "{name}");
        // The report has an item for each mechanism that a job can require. Without a cgroup, the memory of each process is limited.
        let has = crate::support::needs(mechanism).await.is_ok() || name == "memory";
        assert_eq!(none(&full, name).await, !has, "{name}");
    }
    let report = bare.report().await.unwrap();
    let open = |name| report.item(name).unwrap().open.clone();
    assert!(open("sockets with a path").contains("container engine"));
    assert!(open("files").contains("`stat`"));
    assert_eq!(report.item("descendants").unwrap().mechanism, "subreaper");
    assert!(!report.item("supervisor").unwrap().open.is_empty());
    assert_eq!(
        report.item("memory").unwrap().mechanism,
        "`setrlimit`, for each process"
    );
}

#[tokio::test]
async fn report_serializes_to_json() {
    let report = isolation().report().await.unwrap();
    let json = serde_json::to_value(&report).unwrap();
    let egress = json["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["name"] == "egress")
        .unwrap();
    assert_eq!(egress["mechanism"], "none");
}
