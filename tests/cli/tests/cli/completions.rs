//! Tests of the `completions` command.

use crate::support::desk;

#[test]
fn every_shell_has_a_completion_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk(&["completions", shell]).succeeds().out;
        assert!(script.contains("desk"), "{shell}");
    }
    desk(&["completions", "tcsh"]).fails(2, &["tcsh", "bash"]);
}

#[test]
fn every_command_has_help_and_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let page = std::fs::read_to_string(page).unwrap();
    let help = desk(&["--help"]).succeeds().out;
    let after = help.split("Commands:\n").nth(1).unwrap();
    let names = after.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(names.len(), 22, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(page.contains(&format!("`{name}")), "{name}");
        let own = desk(&[name, "--help"]).succeeds().out;
        assert!(
            own.contains("Exit codes:")
                || ["list", "schema", "types", "completions"].contains(&name),
            "{own}"
        );
    }
}
