//! The environment variables of the host that a command receives.

use std::process::Command;

use serde_json::json;
use tempfile::tempdir;
use tool_std::isolate::Network;

use super::support::{Place, commands};

/// The variables that capability S1-80 lists.
const LISTED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "TMPDIR",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_ENV",
    "NODE_OPTIONS",
];

/// Runs `env` as a command of a host with every listed variable, some secrets and `vars`. Returns the sorted variables of the command.
fn printed(settings: &str, vars: &[(&str, &str)]) -> Vec<(String, String)> {
    let root = tempdir().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap());
    host.args([
        "--exact",
        "run_command::environment::child_prints_an_environment",
    ]);
    host.args(["--nocapture", "--ignored"]);
    host.env("SETTINGS", settings);
    for name in LISTED {
        host.env(name, format!("/value-of-{name}"));
    }
    host.env("PATH", std::env::var_os("PATH").unwrap());
    host.env("TMPDIR", root.path());
    for name in [
        "DATABASE_URL",
        "ENCRYPTION_KEY",
        "AUTH_SECRET",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "LD_PRELOAD_X",
        "GIT_SSH",
        "ALL_PROXY",
        "UNLISTED",
    ] {
        host.env(name, "/value-of-a-secret");
    }
    host.envs(vars.iter().copied());
    let said = String::from_utf8(host.output().unwrap().stdout).unwrap();
    let lines = said.lines().find_map(|line| line.split("printed=").nth(1));
    let lines: String = serde_json::from_str(lines.unwrap_or_else(|| panic!("{said}"))).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').unwrap();
        // HOME and TMPDIR are a new folder of the call, because the host's folders are not readable.
        let own = value.starts_with(&format!("{}/tool-std-", root.path().display()));
        assert_eq!(own, ["HOME", "TMPDIR"].contains(&name), "{line}");
        (name.to_owned(), value.to_owned())
    };
    let mut pairs: Vec<_> = lines.lines().map(pair).collect();
    pairs.sort_unstable();
    pairs
}

#[tokio::test]
#[ignore = "other tests start it as a child process"]
async fn child_prints_an_environment() {
    let settings = std::env::var("SETTINGS").unwrap();
    let mut commands = commands();
    for setting in settings.split_whitespace() {
        commands = match setting.split_once('=') {
            None if setting == "open" => commands.network(Network::Open),
            None if setting == "port" => commands.network(Network::tcp([443])),
            None if setting == "ports" => commands.network(Network::tcp([])),
            None => commands.without_env(setting),
            Some((name, value)) => commands.env(name, value.to_owned()),
        };
    }
    let output = Place::new(commands)
        .run(json!({ "command": ["env"] }))
        .await;
    println!("printed={}", output["stdout"]);
}

fn names(printed: &[(String, String)]) -> Vec<&str> {
    printed.iter().map(|(name, _)| name.as_str()).collect()
}

// S1-80, S1-82: a command receives only listed variables, and no secret.
#[test]
fn only_listed_variables_pass_and_no_secret_does() {
    let mut listed = LISTED;
    listed.sort_unstable();
    let printed = printed("open", &[]);
    assert_eq!(names(&printed), listed);
    for (name, value) in &printed {
        if !["HOME", "TMPDIR", "PATH"].contains(&name.as_str()) {
            assert_eq!(*value, format!("/value-of-{name}"));
        }
    }
    let mut passed = tool_std::isolate::PASSED;
    passed.sort_unstable();
    assert_eq!(passed, listed);
}

// S1-80, S1-82: a command without a network receives no proxy variable.
#[test]
fn a_command_without_a_network_sees_no_proxy() {
    let is_proxy = |name: &&str| name.to_lowercase().ends_with("_proxy");
    let mut rest: Vec<_> = LISTED.into_iter().filter(|name| !is_proxy(name)).collect();
    rest.sort_unstable();
    assert_eq!(names(&printed("", &[])), rest);
    assert_eq!(names(&printed("ports", &[])), rest);
    assert_eq!(names(&printed("port", &[])).len(), LISTED.len());
}

// S1-81, S1-82: the password of a proxy is removed unless the host names the variable.
#[test]
fn proxy_password_is_removed_unless_the_host_names_it() {
    let secret = "http://user:secret@proxy:3128/";
    let vars = [
        ("HTTPS_PROXY", secret),
        ("http_proxy", "user:secret@proxy:3128"),
        ("NO_PROXY", "a@b"),
    ];
    let printed_with = |settings: &str| {
        let all = printed(settings, &vars);
        move |name: &str| {
            let found = all.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        }
    };
    let of = printed_with("open");
    assert_eq!(of("HTTPS_PROXY").as_deref(), Some("http://proxy:3128/"));
    assert_eq!(of("http_proxy").as_deref(), Some("proxy:3128"));
    assert_eq!(of("NO_PROXY").as_deref(), Some("a@b"));
    let of = printed_with(&format!("HTTPS_PROXY={secret}"));
    assert_eq!(of("HTTPS_PROXY").as_deref(), Some(secret));
    assert_eq!(of("http_proxy"), None);
}

// S1-81: variables that the host removes are absent.
#[test]
fn variables_removed_by_the_host_are_absent() {
    let out = printed("X=1 open USER HTTPS_PROXY HOME X Y=2 LANG LANG=own", &[]);
    let names = names(&out);
    for name in ["USER", "HTTPS_PROXY", "X"] {
        assert!(!names.contains(&name), "{name}");
    }
    for name in ["HOME", "SHELL", "https_proxy"] {
        assert!(names.contains(&name), "{name}");
    }
    for (name, value) in [("Y", "2"), ("LANG", "own")] {
        assert!(
            out.contains(&(name.to_owned(), value.to_owned())),
            "{out:?}"
        );
    }
}

// S1-81: variables that the host adds have priority over listed variables.
#[tokio::test]
async fn variables_added_by_the_host_have_priority() {
    let place = Place::new(
        commands()
            .env("GH_TOKEN", "t-1".to_owned())
            .env("HOME", "/own".to_owned())
            .env("PATH", "/usr/bin".to_owned()),
    );
    let output = place
        .run(json!({ "command": ["sh", "../../x", "-x"] }))
        .await;
    assert_eq!(output["exit_code"], 2, "{output}");
    let output = place.run(json!({ "command": ["env"] })).await;
    let lines: Vec<_> = output["stdout"].as_str().unwrap().lines().collect();
    for line in ["GH_TOKEN=t-1", "HOME=/own", "PATH=/usr/bin"] {
        assert!(lines.contains(&line), "{lines:?}");
    }
}
