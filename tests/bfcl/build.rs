//! Build script that generates the typed tools of the sample.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use bfcl_gen::{SAMPLE, plan, render, sample};

fn main() -> Result<(), Box<dyn Error>> {
    // The sample is part of `bfcl-gen`, so a changed sample rebuilds this script, and cargo runs it again.
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets `OUT_DIR` for build scripts")?;
    let definitions = plan::plan(&sample::read(SAMPLE)?);
    fs::write(
        Path::new(&folder).join("tools.rs"),
        render::render(&definitions),
    )?;
    Ok(())
}
