//! Does nothing. Cargo takes the key `links` only from packages with a build script, and `links` keeps two versions of this crate out of
//! one program: see docs/versions.md.

fn main() {
    // Without this line, cargo would run the script, and build the crate, again after each change of any file.
    println!("cargo::rerun-if-changed=build.rs");
}
