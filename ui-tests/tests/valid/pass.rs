//! Valid programs must compile without a warning and exit successfully, so the rules do not refuse too much. `UI=<part of a path>` selects programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let wanted = std::env::var("UI").unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pass");
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut programs: Vec<_> = entries(&folder)
        .iter()
        .flat_map(|topic| entries(topic))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    programs.sort();
    programs
}

/// Returns `types-unions` for `pass/types/unions.rs`.
fn name(program: &Path) -> Option<String> {
    let topic = program.parent()?.file_name()?.to_str()?;
    Some(format!("{topic}-{}", program.file_stem()?.to_str()?))
}

/// Returns the manifest of a crate with every program as a binary and the dependencies of this crate.
fn manifest(programs: &[PathBuf]) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = std::fs::read_to_string(here.join("Cargo.toml")).ok()?;
    let dependencies = own
        .split("[dev-dependencies]")
        .nth(1)?
        .split("\n[")
        .next()?;
    let whole = std::fs::read_to_string(ui_tests::repository().join("Cargo.toml")).ok()?;
    let versions = whole
        .split("[workspace.dependencies]")
        .nth(1)?
        .split("\n[")
        .next()?;
    let mut manifest = format!(
        "[workspace]\nresolver = \"3\"\n\n[workspace.dependencies]{versions}\n\n[package]\nname = \"pass\"\nedition = \"2024\"\n\n[dependencies]\nserde_json.workspace = true\n{dependencies}\n\n[profile.dev]\ndebug = false\n\n"
    );
    let folder = ui_tests::repository().display().to_string();
    for ours in ["tool-core", "tool-macros"] {
        manifest = manifest.replace(
            &format!("path = \"{ours}\""),
            &format!("path = \"{folder}/{ours}\""),
        );
    }
    manifest = manifest.replace(
        "ui-foreign.path = \"foreign\"",
        &format!("ui-foreign.path = \"{}\"", here.join("foreign").display()),
    );
    for program in programs {
        write!(
            manifest,
            "[[bin]]\nname = \"{}\"\npath = \"{}\"\n\n",
            name(program)?,
            program.display()
        )
        .ok()?;
    }
    Some(manifest)
}

// S0-01, S0-05, S1-28, S1-29, M1, M2, M4, M7: valid programs compile without a warning and run.
#[test]
fn every_valid_program_compiles_without_warnings_and_runs() {
    let programs = programs();
    assert!(!programs.is_empty());
    let workspace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pass");
    std::fs::create_dir_all(&workspace).unwrap();
    std::fs::write(workspace.join("Cargo.toml"), manifest(&programs).unwrap()).unwrap();
    let run = ui_tests::cargo(
        env!("CARGO_TARGET_TMPDIR"),
        &workspace,
        &["build", "--bins"],
    )
    .unwrap();
    assert!(
        run.success && run.told.is_empty(),
        "{:#?}\n{}",
        run.told,
        run.stderr
    );
    for program in &programs {
        let name = name(program).unwrap();
        let (_, path) = run
            .executables
            .iter()
            .find(|(built, _)| *built == name)
            .expect("the program was built");
        let output = Command::new(path).output().unwrap();
        assert!(
            output.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
