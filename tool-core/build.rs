//! This script does nothing. Cargo accepts the key `links` only in packages with a build script, and `links` prevents two versions of this crate in one
//! program: see docs/versions.md.

fn main() {
    // Without this line, cargo would run the script and build the crate again after every change of any file.
    println!("cargo::rerun-if-changed=build.rs");
}
