//! `completions`.

use std::process::Command;

use crate::support::{DESK, desk, run};

#[test]
fn a_shell_completes_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk(&["completions", shell]).succeeds().out;
        for word in ["desk", "schema", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    desk(&["completions", "tcsh"]).fails(2, &["tcsh", "bash"]);
}

#[test]
fn bash_itself_completes_a_word() {
    let script = format!(
        "source <({DESK} completions bash); COMP_WORDS=(desk che); COMP_CWORD=1; _desk desk che desk; echo \"${{COMPREPLY[@]}}\""
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]);
    assert_eq!(run(bash, "").succeeds().out, "check\n");
}

#[test]
fn every_command_has_a_help_and_stands_in_the_documentation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let page = std::fs::read_to_string(page).unwrap();
    let help = desk(&["--help"]).succeeds().out;
    let after = help.split("Commands:\n").nth(1).unwrap();
    let names = after.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(names.len(), 12, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(page.contains(&format!("`{name}")), "{name}");
        let own = desk(&[name, "--help"]).succeeds().out;
        assert!(
            own.contains("Exit codes:") || ["list", "schema", "completions"].contains(&name),
            "{own}"
        );
    }
}
