//! Tests of the shell completions, which the real shells load.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::process::{Command, ExitCode};

use test_support::{Missing, Ran, suite};

const DESK: &str = env!("CARGO_BIN_EXE_desk");
const CARGO_TOOL: &str = env!("CARGO_BIN_EXE_cargo-tool-under-test");

/// Returns a shell if it is installed.
fn shell(name: &str) -> Result<Command, Missing> {
    let found = Command::new(name).args(["-c", "true"]).status();
    if found.is_ok_and(|status| status.success()) {
        return Ok(Command::new(name));
    }
    Err(Missing::new(format_args!(
        "`{name}` is not installed: `apt-get install {name}`"
    )))
}

/// Runs a script and returns the lines of its output. Any output on standard error fails the test.
#[track_caller]
fn output_of(mut shell: Command, script: &str) -> Vec<String> {
    let output = shell.args(["-c", script]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Returns bash's completions for the last of these words.
fn of_bash(program: &str, name: &str, words: &[&str]) -> Result<Vec<String>, Missing> {
    let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source <({program} completions bash); COMP_WORDS=({line}); COMP_CWORD={last}; \
         function=$(complete -p {name} | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); \
         $function {name} \"${{COMP_WORDS[COMP_CWORD]}}\" ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line = line.join(" "),
        last = words.len() - 1,
    );
    Ok(output_of(shell("bash")?, &script))
}

// Bash completes commands, tools, flags and values. Earlier bug: the script panicked, because the name `cargo tool` contains a space.
fn bash_completes_commands_tools_flags_and_values() -> Ran {
    let desk = |words: &[&str]| of_bash(DESK, "desk", words);
    assert_eq!(desk(&["desk", "che"])?, ["check"]);
    assert_eq!(desk(&["desk", "call", "count_p"])?, ["count_pages"]);
    assert_eq!(
        desk(&["desk", "call", "count_pages", "--pag"])?,
        ["--pages"]
    );
    assert_eq!(desk(&["desk", "schema", "count_p"])?, ["count_pages"]);
    assert_eq!(desk(&["desk", "list", "--format", "js"])?, ["json"]);
    let tool = |words: &[&str]| of_bash(CARGO_TOOL, "cargo-tool", words);
    assert_eq!(tool(&["cargo-tool", "che"])?, ["check"]);
    Ok(())
}

// Bash completes the words after `cargo tool`, leaves the other commands of cargo to cargo's own completion, and completes the values of enums.
fn bash_completes_cargo_tool_and_keeps_the_completions_of_cargo() -> Ran {
    assert_eq!(
        of_bash(
            DESK,
            "desk",
            &["desk", "call", "file_note", "--urgency", "h"]
        )?,
        ["high"]
    );
    assert_eq!(
        of_bash(DESK, "desk", &["desk", "check", "count_p"])?,
        ["count_pages"]
    );
    let completions_after = |before: &str, line: &str, last: usize| {
        let script = format!(
            "_cargo() {{ COMPREPLY=(of-cargo); }}; {before}; \
             source <({CARGO_TOOL} completions bash); source <({CARGO_TOOL} completions bash); \
             COMP_WORDS=({line}); COMP_CWORD={last}; function=$(complete -p cargo | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); \
             $function cargo \"${{COMP_WORDS[COMP_CWORD]}}\" ''; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        Ok::<Vec<String>, Missing>(output_of(shell("bash")?, &script))
    };
    let completions =
        |line: &str, last: usize| completions_after("complete -F _cargo cargo", line, last);
    assert_eq!(completions("cargo tool che", 2)?, ["check"]);
    assert_eq!(
        completions("cargo +stable tool list --form", 4)?,
        ["--format"]
    );
    assert_eq!(completions("cargo tool --manif", 2)?, ["--manifest-path"]);
    assert_eq!(completions("cargo bui", 1)?, ["of-cargo"]);
    assert_eq!(completions("cargo tool", 1)?, ["of-cargo"]);
    // bash-completion loads cargo's completion only when it is first needed.
    for loader in ["_completion_loader", "_comp_load"] {
        let lazy = format!("{loader}() {{ complete -F _cargo cargo; }}");
        assert_eq!(completions_after(&lazy, "cargo bui", 1)?, ["of-cargo"]);
        assert_eq!(completions_after(&lazy, "cargo tool che", 2)?, ["check"]);
    }
    assert_eq!(completions_after("true", "cargo bui", 1)?, [""]);
    Ok(())
}

// Fish completes commands, tools and flags. Earlier bug: the script had syntax errors.
fn fish_completes_commands_tools_and_flags() -> Ran {
    let offered = |program: &str, line: &str| {
        let script = format!("{program} completions fish | source; complete -C '{line}'");
        let lines = output_of(shell("fish")?, &script);
        let words = lines.iter().map(|line| line.split('\t').next().unwrap());
        Ok::<Vec<String>, Missing>(words.map(str::to_owned).collect())
    };
    assert_eq!(offered(DESK, "desk che")?, ["check"]);
    assert_eq!(offered(DESK, "desk call count_p")?, ["count_pages"]);
    assert_eq!(offered(DESK, "desk call count_pages --pag")?, ["--pages"]);
    assert_eq!(offered(CARGO_TOOL, "cargo-tool che")?, ["check"]);
    assert_eq!(offered(CARGO_TOOL, "cargo tool che")?, ["check"]);
    assert_eq!(offered(CARGO_TOOL, "cargo tool list --form")?, ["--format"]);
    assert!(offered(CARGO_TOOL, "cargo tool ")?.contains(&"check".to_owned()));
    assert!(!offered(CARGO_TOOL, "cargo che")?.contains(&"completions".to_owned()));
    Ok(())
}

// Zsh registers the completions for the program only. Earlier bug: the completions of `cargo tool` were registered for `cargo`.
fn zsh_registers_only_the_program() -> Ran {
    for (program, name) in [(DESK, "desk"), (CARGO_TOOL, "cargo-tool")] {
        let script = format!(
            "autoload -Uz compinit; compinit -u -D; before=\"$_comps[cargo]\"; source <({program} completions zsh); \
             [[ \"$_comps[cargo]\" == \"$before\" ]] && whence -w \"$_comps[{name}]\""
        );
        let lines = output_of(shell("zsh")?, &script);
        assert!(
            lines.len() == 1 && lines[0].ends_with(": function"),
            "{lines:?}"
        );
        if program == CARGO_TOOL {
            // cargo's own completion calls `_cargo-tool` with the words after `cargo`.
            let script = format!(
                "autoload -Uz compinit; compinit -u -D; source <({program} completions zsh); \
                 _describe() {{ print -l ${{(P)@[-1]}} }}; words=(tool che); CURRENT=2; _cargo-tool"
            );
            let lines = output_of(shell("zsh")?, &script);
            assert!(
                lines.len() == 1 && lines[0].starts_with("check"),
                "{lines:?}"
            );
        }
        // The script's function gets its candidates by running the program with these variables.
        let mut candidates = Command::new(program);
        candidates
            .args(["--", name, "che"])
            .env("TOOL_CLI_COMPLETE", "zsh")
            .env("_CLAP_COMPLETE_INDEX", "1")
            .env("_CLAP_IFS", "\n");
        let output = candidates.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("check"), "{text}");
    }
    Ok(())
}

fn main() -> ExitCode {
    suite![
        bash_completes_commands_tools_flags_and_values,
        bash_completes_cargo_tool_and_keeps_the_completions_of_cargo,
        fish_completes_commands_tools_and_flags,
        zsh_registers_only_the_program,
    ]
    .run()
}
