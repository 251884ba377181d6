//! `completions`: what a shell offers.

use std::io::{self, Write as _};

use crate::args::Completions;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};

pub(super) fn run(cli: &Cli, words: &Completions) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(words.shell, &mut cli.words(), cli.program(), &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(Exit::Ok)
}
