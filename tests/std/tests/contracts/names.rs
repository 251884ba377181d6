//! The names of tools in the sources of their clients.

use std::fs;
use std::path::Path;

use test_support::Ran;
use tool_contracts::NAMES;
use tool_tests::sources::each_source;

// S2-26: the crates that use tools take their names from the contracts and contain no literal of a name.
pub(crate) fn no_crate_repeats_the_name_of_a_tool_case() -> Ran {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut read = 0;
    let mut found = Vec::new();
    for folder in fs::read_dir(crates).unwrap() {
        let folder = folder.unwrap().path();
        if folder.ends_with("tool-contracts") {
            continue;
        }
        each_source(&folder.join("src"), &mut |path| {
            read += 1;
            let text = fs::read_to_string(path).unwrap();
            let code = text
                .lines()
                .enumerate()
                .filter(|(_, line)| !line.trim_start().starts_with("//"));
            for (number, line) in code {
                if NAMES
                    .iter()
                    .any(|name| line.contains(&format!("\"{name}\"")))
                {
                    found.push(format!("{}:{}", path.display(), number + 1));
                }
            }
        });
    }
    assert!(read > 300, "only {read} sources");
    assert!(found.is_empty(), "use `NAME` of the contract: {found:#?}");
    Ok(())
}
