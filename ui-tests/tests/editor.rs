//! The errors that an editor underlines while the user types. The test runs `cargo check` with JSON messages, like rust-analyzer.
//!
//! A comment `//~ words of the message: the underlined tokens` in a fixture marks the mistake on its line.

use std::path::Path;

use ui_tests::Diagnostic;

/// A comment in a fixture that marks a mistake.
#[derive(Debug)]
struct Mark {
    file: String,
    line: usize,
    words: String,
    tokens: String,
}

impl Mark {
    fn is(&self, told: &Diagnostic) -> bool {
        let words = format!("[{}]", self.words);
        told.file == self.file
            && told.line == self.line
            && told.underlined == self.tokens
            && (told.message.contains(&words) || told.message.contains(&self.words))
    }
}

fn marks(workspace: &Path, krate: &str) -> Vec<Mark> {
    let file = format!("{krate}/src/lib.rs");
    let text = std::fs::read_to_string(workspace.join(&file)).unwrap_or_default();
    let of_line = |(number, line): (usize, &str)| {
        let marks = line
            .split("//~ ")
            .skip(1)
            .filter_map(|mark| mark.split_once(": "));
        let marks = marks.map(|(words, tokens)| Mark {
            file: file.clone(),
            line: number + 1,
            words: words.to_owned(),
            tokens: tokens.trim().to_owned(),
        });
        marks.collect::<Vec<_>>()
    };
    text.lines().enumerate().flat_map(of_line).collect()
}

// S0-01, S1-27, S1-28, S1-29, M1, M2, M4: each fault is underlined once, including faults in nested, generic and foreign types.
#[test]
fn each_mistake_is_underlined_once_at_the_tokens_to_change() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/editor");
    let run = ui_tests::cargo(
        env!("CARGO_TARGET_TMPDIR"),
        &workspace,
        &["check", "--workspace"],
    )
    .unwrap();
    let mut told = run.told;
    let mut missed = Vec::new();
    let mut count = 0;
    for krate in ["types", "consts", "bounds", "syntax"] {
        for mark in marks(&workspace, krate) {
            count += 1;
            match told.iter().position(|told| mark.is(told)) {
                Some(at) => drop(told.remove(at)),
                None => missed.push(mark),
            }
        }
    }
    assert!(
        missed.is_empty() && told.is_empty(),
        "these errors are not reported: {missed:#?}\nthese errors are reported in addition: {told:#?}\n{}",
        run.stderr
    );
    assert!(count >= 30, "only {count} marks were found");
}
