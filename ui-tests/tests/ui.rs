//! One folder per rule, one file per mistake; `TRYBUILD=overwrite cargo test -p ui-tests` blesses, `UI=<part of a path>` selects.

/// Runs every program, or those whose path holds `$UI`.
#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    let wanted = std::env::var("UI").unwrap_or_default();
    for (folder, passes) in [("fail", false), ("pass", true)] {
        let Ok(rules) = std::fs::read_dir(folder) else { continue };
        for rule in rules.flatten() {
            for program in std::fs::read_dir(rule.path()).into_iter().flatten().flatten() {
                let path = program.path();
                let matches = path.to_string_lossy().contains(&wanted);
                if matches && path.extension().is_some_and(|extension| extension == "rs") {
                    if passes {
                        cases.pass(path);
                    } else {
                        cases.compile_fail(path);
                    }
                }
            }
        }
    }
}
