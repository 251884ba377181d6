//! Rewrites `tests/bfcl/src/generated`: `cargo run -p bfcl-gen`.

use std::error::Error;
use std::fs;
use std::path::Path;

use bfcl_gen::{SAMPLE, plan, render, sample};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/generated");
    let definitions = plan::plan(&sample::read(SAMPLE)?);
    // Removes files that an earlier run wrote and this one does not.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for file in render::render(&definitions) {
        fs::write(folder.join(&file.name), &file.text)?;
    }
    let typed = definitions.iter().filter(|one| one.tool.is_ok()).count();
    println!("{typed} of {} definitions typed", definitions.len());
    for definition in &definitions {
        for fault in definition.tool.as_ref().err().into_iter().flatten() {
            println!("{}: {fault}", definition.function.name);
        }
    }
    Ok(())
}
