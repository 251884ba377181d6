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
