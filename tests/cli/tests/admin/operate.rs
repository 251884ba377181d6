//! Tests of the commands for operators, on a store and on an admin API.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use server_tests::{Sample, seed_on};
use tool_store::seal::{SealKey, SealKeys, Vault};
use tool_store::{PostgresStore, SqliteStore};

use super::{DESK, Served};

/// The keys of the vault.
pub(super) const KEYS: &str = "2026-11:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn keys() -> SealKeys {
    let (id, key) = KEYS.split_once(':').unwrap();
    SealKeys::new(id, SealKey::from_base64(key).unwrap()).unwrap()
}

/// The target of the commands: options and the access token.
struct Target {
    options: Vec<String>,
    token: Option<String>,
}

impl Target {
    fn store(url: &str, workspace: &str) -> Self {
        let options = ["--store", url, "--workspace", workspace, "--user", "olga"];
        Self {
            options: options.map(str::to_owned).to_vec(),
            token: None,
        }
    }

    fn admin(served: &Served, workspace: &str) -> Self {
        let address = format!("http://{}", served.admin);
        let options = ["--admin", &address, "--workspace", workspace];
        Self {
            options: options.map(str::to_owned).to_vec(),
            token: Some(served.token.clone()),
        }
    }

    /// Runs a command on the target.
    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(DESK);
        command.env_remove("USER").env("TOOL_SEAL_KEYS", KEYS);
        command.args(words).args(&self.options);
        match &self.token {
            Some(token) => command.env("TOOL_ADMIN_TOKEN", token),
            None => command.env_remove("TOOL_ADMIN_TOKEN"),
        };
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Returns the JSON that a successful command prints.
    fn json(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--format", "json"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words:?}: {error}: {text}"))
    }

    /// Returns the value of a key in each row of a list.
    fn list(&self, words: &[&str], key: &str) -> Vec<String> {
        let page = self.json(words);
        let rows = page["items"].as_array().unwrap();
        let values = rows.iter().map(|row| row[key].as_str().unwrap().to_owned());
        values.collect()
    }

    /// Returns the error of a command that must fail with an exit code.
    fn fails(&self, words: &[&str], code: i32) -> String {
        let output = self.run(words);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {errors}");
        errors
    }
}

/// Stores the records of a new workspace.
fn seeded(url: &str, name: &str) -> Sample {
    stored(url, name, false)
}

/// Stores the records of a new workspace, with sealed contents if `seals` is set.
fn stored(url: &str, name: &str, seals: bool) -> Sample {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let workspace = format!("{name}{}", now.as_nanos());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        if url.starts_with("postgres:") {
            let store = PostgresStore::open(url).await.unwrap();
            // The records refer to the key of the vault, so the vault is opened first.
            let vault = Vault::open(store.clone(), keys()).await.unwrap();
            let sealing = store.clone().sealing(&vault).unwrap();
            seed_on(if seals { &sealing } else { &store }, &store, &workspace).await
        } else {
            let store = SqliteStore::open(url).await.unwrap();
            let vault = Vault::open(store.clone(), keys()).await.unwrap();
            let sealing = store.clone().sealing(&vault).unwrap();
            seed_on(if seals { &sealing } else { &store }, &store, &workspace).await
        }
    })
}

/// Runs every command for operators, except `plan` and `memories`, on the records of a workspace.
fn commands(target: &Target, sample: &Sample) {
    inbox(target, sample);
    audit(target, sample);
    effects(target, sample);
    runs(target, sample);
    switches(target);
    secrets(target);
}

fn inbox(target: &Target, sample: &Sample) {
    let id = |number: u32| format!("approval-of-{}-{number}", sample.workspace);
    let pending = target.list(&["inbox"], "id");
    assert_eq!(pending.len(), 3, "{pending:?}");
    assert_eq!(target.list(&["inbox", "--limit", "1"], "id").len(), 1);
    let first = target.json(&["inbox", "--limit", "2"]);
    let cursor = first["next"].as_str().unwrap();
    assert_eq!(
        target
            .list(&["inbox", "--limit", "2", "--cursor", cursor], "id")
            .len(),
        1
    );

    let shown = target.json(&["inbox", "show", &id(0)]);
    assert_eq!(shown["tool"], sample.tool.as_str());
    let approved = target.json(&["inbox", "approve", &id(0), "--reason", "fine"]);
    assert_eq!(approved["status"], "approved");
    assert_eq!(approved["answer"]["reason"], "fine");
    let denied = target.json(&["inbox", "deny", &id(1)]);
    assert_eq!(denied["status"], "denied");
    let assigned = target.json(&["inbox", "assign", &id(2), "bo"]);
    assert_eq!(assigned["assignee"], "bo");
    assert_eq!(target.list(&["inbox", "--assignee", "bo"], "id"), [id(2)]);
    assert_eq!(
        target.json(&["inbox", "assign", &id(2)])["assignee"],
        Value::Null
    );
    assert_eq!(
        target.json(&["inbox", "revoke", &id(2)])["status"],
        "withdrawn"
    );
    assert!(target.list(&["inbox"], "id").is_empty());
    assert_eq!(target.list(&["inbox", "--status", "all"], "id").len(), 3);
    let again = target.fails(&["inbox", "approve", &id(1)], 1);
    assert!(again.contains("error:"), "{again}");
    target.fails(&["inbox", "show", "unknown"], 2);
    let ignored = target.fails(&["inbox", "--tool", "send", "approve", &id(1)], 2);
    assert!(ignored.contains("`--tool`"), "{ignored}");
}

fn audit(target: &Target, sample: &Sample) {
    let failed = target.json(&["audit", "--failed", "--principal", &sample.principal]);
    assert_eq!(failed["items"].as_array().unwrap().len(), 1);
    assert_eq!(failed["items"][0]["outcome"], "failed");
    let changes = target.json(&["audit", "--limit", "2"]);
    assert_eq!(changes["items"][0]["notes"][0]["action"], "approval.revoke");
    let wrong = target.fails(&["audit", "--since", "yesterday"], 2);
    assert!(wrong.contains("RFC 3339"), "{wrong}");
    let export = target.run(&["audit", "--export", "--tool", &sample.tool]);
    let lines = String::from_utf8(export.stdout).unwrap();
    assert!(
        export.status.success() && lines.lines().count() >= 3,
        "{lines}"
    );
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["tool"], sample.tool.as_str());
    }
}

fn effects(target: &Target, sample: &Sample) {
    assert_eq!(target.list(&["effects"], "key"), [sample.effect.as_str()]);
    target.fails(&["effects", "resolve", &sample.effect], 2);
    let unread = target.fails(
        &["effects", "resolve", &sample.effect, "--succeeded", "{"],
        2,
    );
    assert!(unread.contains("not JSON"), "{unread}");
    let settled = ["effects", "resolve", &sample.effect, "--failed", "not sent"];
    let settled = target.json(&settled);
    assert_eq!(settled["state"], "failed");
    target.fails(&["effects", "resolve", &sample.effect, "--rerun"], 1);
    assert!(target.list(&["effects"], "key").is_empty());
}

fn runs(target: &Target, sample: &Sample) {
    assert_eq!(
        target.list(&["runs"], "conversation"),
        [sample.conversation.as_str()]
    );
    let cancelled = target.json(&["runs", "cancel", &sample.conversation, "1"]);
    assert_eq!(cancelled["stop"], "cancel");
    assert_eq!(
        target.json(&["runs", "show", &sample.conversation, "1"])["stop"],
        "cancel"
    );
    target.fails(&["runs", "show", &sample.conversation, "7"], 2);
    let table = target.run(&["runs", "--state", "all"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(
        table.starts_with("CONVERSATION") && table.contains(&sample.conversation),
        "{table}"
    );
}

fn switches(target: &Target) {
    assert_eq!(target.list(&["switch"], "kind"), ["disable"]);
    let on = [
        "switch",
        "on",
        "kill",
        "a tool/name",
        "--reason",
        "it sends spam",
    ];
    assert_eq!(target.json(&on)["on"], true);
    let switches = target.list(&["switch", "--tool", "a tool/name"], "reason");
    assert_eq!(switches, ["it sends spam"]);
    assert_eq!(
        target.json(&["switch", "off", "kill", "a tool/name"])["on"],
        false
    );
    assert!(
        target
            .list(&["switch", "--tool", "a tool/name"], "kind")
            .is_empty()
    );
    assert_eq!(
        target.list(&["switch", "--tool", "a tool/name", "--all"], "kind"),
        ["kill"]
    );
}

// S4-13, S1-37: an operator writes a secret, and no command prints it. The tool that requires the secret is then no longer misconfigured.
fn secrets(target: &Target) {
    let misconfigured = || target.list(&["secrets", "missing"], "name");
    assert!(misconfigured().contains(&"fetch_post".to_owned()));
    let page = ["secrets", "--limit", "1", "missing"];
    assert_eq!(target.list(&page, "name").len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value");
    std::fs::write(&path, "sesame-sesame\n").unwrap();
    let source = format!("file:{}", path.display());
    let set = target.run(&["secrets", "set", "box_key", "--from", &source]);
    let printed = String::from_utf8(set.stdout).unwrap();
    assert!(
        set.status.success() && printed.contains("box_key"),
        "{printed}"
    );
    assert!(!printed.contains("sesame"), "{printed}");
    assert!(!misconfigured().contains(&"fetch_post".to_owned()));
    assert!(
        target
            .list(&["secrets"], "name")
            .contains(&"box_key".to_owned())
    );
    let listed = target.run(&["secrets"]).stdout;
    assert!(!String::from_utf8(listed).unwrap().contains("sesame"));
    let keys = target.json(&["secrets", "keys"]);
    assert_eq!(keys["items"][0]["id"], "2026-11");
    assert_eq!(keys["items"][0]["current"], true);
    target.json(&["secrets", "rotate"]);
    target.fails(&["secrets", "retire", "2026-11"], 1);
    target.json(&["secrets", "remove", "box_key"]);
    assert!(
        !target
            .list(&["secrets"], "name")
            .contains(&"box_key".to_owned())
    );
    let empty = target.fails(&["secrets", "set", "box_key"], 2);
    assert!(empty.contains("has no value"), "{empty}");
}

/// The commands change the rows of one workspace of a store, and do not change the rows of a second workspace.
pub(super) fn on_a_store(url: &str) {
    let (acme, other) = (seeded(url, "acme"), seeded(url, "other"));
    commands(&Target::store(url, &acme.workspace), &acme);
    untouched(&Target::store(url, &other.workspace));
}

/// The same commands change the rows of a running host over its admin API. A wrong token and a missing token are refused.
pub(super) fn on_an_admin_api(url: &str) {
    let (acme, other) = (seeded(url, "acme"), seeded(url, "other"));
    let served = Served::with_keys(url, &[], Some(KEYS));
    commands(&Target::admin(&served, &acme.workspace), &acme);
    untouched(&Target::admin(&served, &other.workspace));
    let mut wrong = Target::admin(&served, &acme.workspace);
    wrong.token = Some("a wrong token".to_owned());
    wrong.fails(&["inbox"], 3);
    wrong.token = None;
    let missing = wrong.fails(&["inbox"], 2);
    assert!(missing.contains("TOOL_ADMIN_TOKEN"), "{missing}");
}

/// Returns the standard error of a command that must fail with an exit code.
fn fails(words: &[&str], keys: Option<&str>, code: i32) -> String {
    let mut command = Command::new(DESK);
    match keys {
        Some(keys) => command.env("TOOL_SEAL_KEYS", keys),
        None => command.env_remove("TOOL_SEAL_KEYS"),
    };
    let output = command.args(words).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {errors}");
    errors
}

/// With the keys, the commands and a server with `--seal-contents` read and write sealed contents. The option is refused without keys, and a store
/// with sealed contents is refused without the option.
pub(super) fn on_a_store_with_sealed_contents(url: &str) {
    let serve = ["serve", "--admin", "127.0.0.1:0", "--store", url];
    let sealing = [&serve[..], &["--seal-contents"]].concat();
    let refused = fails(&sealing, None, 2);
    assert!(
        refused.contains("`--seal-contents` needs keys") && refused.contains("TOOL_SEAL_KEYS"),
        "{refused}"
    );
    let (acme, other) = (stored(url, "acme", true), stored(url, "other", true));
    let target = Target::store(url, &acme.workspace);
    inbox(&target, &acme);
    let refused = fails(&serve, Some(KEYS), 2);
    assert!(
        refused.contains("sealed contents") && refused.contains("--seal-contents"),
        "{refused}"
    );
    let served = Served::with_keys(url, &["--seal-contents"], Some(KEYS));
    inbox(&Target::admin(&served, &other.workspace), &other);
    let keys = target.json(&["secrets", "keys"]);
    assert!(keys["items"][0]["contents"].as_u64().unwrap() > 6, "{keys}");

    let options: Vec<&str> = target.options.iter().map(String::as_str).collect();
    let id = format!("approval-of-{}-0", acme.workspace);
    let locked = fails(&[&["inbox", "show", &id], &options[..]].concat(), None, 1);
    assert!(locked.contains("TOOL_SEAL_KEYS"), "{locked}");
    // A command that reads no contents needs no keys.
    let mut switches = Command::new(DESK);
    let switches = switches.env_remove("TOOL_SEAL_KEYS").arg("switch");
    assert!(switches.args(options).status().unwrap().success());
}

fn untouched(target: &Target) {
    assert_eq!(target.list(&["inbox"], "id").len(), 3);
    assert_eq!(target.list(&["effects"], "key").len(), 1);
    assert_eq!(target.json(&["runs"])["items"][0]["stop"], Value::Null);
    assert_eq!(target.list(&["switch"], "kind"), ["disable"]);
}

/// For a wrong target, a command reports what to write, and creates no file.
pub(super) fn wrong_targets_are_refused() {
    let target = |options: &[&str]| Target {
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        token: Some("token".to_owned()),
    };
    let none = target(&[]).fails(&["inbox"], 2);
    assert!(
        none.contains("--store sqlite:state.db") && none.contains("--admin http"),
        "{none}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.db");
    for url in [
        path.display().to_string(),
        format!("sqlite:{}", path.display()),
    ] {
        let missing = target(&["--store", &url, "--user", "olga"]).fails(&["audit"], 2);
        assert!(missing.contains("does not exist"), "{missing}");
        assert!(!Path::new(&path).exists());
    }
    let both = target(&["--store", "a", "--admin", "b"]).fails(&["runs"], 2);
    assert!(both.contains("--admin"), "{both}");
    let plain = target(&["--admin", "http://tools.example.com"]).fails(&["runs"], 2);
    assert!(plain.contains("without encryption"), "{plain}");
    let away = target(&["--admin", "http://127.0.0.1:9"]).fails(&["runs"], 1);
    assert!(away.contains("does not respond"), "{away}");
    let secret =
        target(&["--admin", "http://127.0.0.1:9", "--token", "sesame"]).fails(&["runs"], 2);
    assert!(
        !secret.contains("sesame") && secret.contains("env:VARIABLE"),
        "{secret}"
    );
    let nameless = target(&["--store", &path.display().to_string()]).fails(&["runs"], 2);
    assert!(nameless.contains("--user"), "{nameless}");
}
