//! `world run --seeds 0..1000`, `world replay FILE`, `world shrink FILE`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use world::generate;
use world::plan::Plan;
use world::run::{Report, StoreKind, run};
use world::shrink::shrink;

/// A deterministic simulator of hosts.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the plans of many seeds.
    Run {
        /// `A..B`: the first seed and the one after the last.
        #[arg(long)]
        seeds: String,
        /// The store that hosts share.
        #[arg(long, value_enum, default_value_t)]
        store: Kind,
        /// Writes the first failing plan of each invariant into this folder.
        #[arg(long)]
        keep: Option<PathBuf>,
        /// Shrinks what is kept.
        #[arg(long)]
        shrink: bool,
        /// Invariants that may fire: those of findings that are still open.
        #[arg(long)]
        known: Vec<String>,
        /// Takes the invariants that may fire from the open plans in this folder.
        #[arg(long)]
        plans: Option<PathBuf>,
        /// Runs on so many threads.
        #[arg(long, default_value_t = 1)]
        threads: u64,
    },
    /// Runs a plan and prints what happened.
    Replay {
        /// The plan.
        file: PathBuf,
        /// The store that hosts share.
        #[arg(long, value_enum, default_value_t)]
        store: Kind,
        /// Prints only what does not hold.
        #[arg(long)]
        quiet: bool,
    },
    /// Makes a failing plan shorter, in place.
    Shrink {
        /// The plan.
        file: PathBuf,
        /// The invariant that has to fire; the plan's own, or the first that fires, where none is given.
        #[arg(long)]
        invariant: Option<String>,
        /// The store that hosts share.
        #[arg(long, value_enum, default_value_t)]
        store: Kind,
    },
    /// Prints the plan of a seed.
    Plan {
        /// The seed.
        seed: u64,
    },
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Kind {
    #[default]
    Memory,
    Sqlite,
}

impl From<Kind> for StoreKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Memory => Self::Memory,
            Kind::Sqlite => Self::Sqlite,
        }
    }
}

fn main() -> ExitCode {
    // Tools, hooks and stores panic on purpose; what escapes is reported as a violation.
    std::panic::set_hook(Box::new(|_| {}));
    match obey(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn obey(command: Command) -> Result<bool, String> {
    match command {
        Command::Run {
            seeds,
            store,
            keep,
            shrink,
            mut known,
            plans,
            threads,
        } => {
            if let Some(plans) = plans {
                known.extend(world::known::open_invariants(&plans)?);
            }
            let found = run_seeds(&seeds, store.into(), threads)?;
            report(&found, keep.as_deref(), shrink, store.into(), &known)
        }
        Command::Replay { file, store, quiet } => {
            let report = run(&read(&file)?, store.into())?;
            if !quiet {
                report.lines.iter().for_each(|line| println!("{line}"));
            }
            print(&report);
            Ok(report.violations.is_empty())
        }
        Command::Shrink {
            file,
            invariant,
            store,
        } => {
            let plan = read(&file)?;
            let first = run(&plan, store.into())?;
            let own = plan.expect.as_ref().map(|expect| expect.invariant.clone());
            let first = first.violations.first().map(|of| of.invariant.to_owned());
            let invariant = invariant.or(own).or(first);
            let invariant = invariant.ok_or("no invariant fires, there is nothing to shrink to")?;
            let short = shrink(&plan, &invariant, store.into());
            std::fs::write(&file, short.to_json()).map_err(|error| error.to_string())?;
            print(&run(&short, store.into())?);
            Ok(true)
        }
        Command::Plan { seed } => {
            print!("{}", generate::plan(seed).to_json());
            Ok(true)
        }
    }
}

fn read(file: &Path) -> Result<Plan, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("`{}` cannot be read: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("`{}`: {error}", file.display()))
}

fn print(report: &Report) {
    for violation in &report.violations {
        println!("{}: {}", violation.invariant, violation.what);
    }
    println!("hash {:016x}", report.hash);
}

/// How often each invariant fired, and the first seed and sentence of each.
type Found = BTreeMap<String, (u64, u64, String)>;

fn run_seeds(seeds: &str, kind: StoreKind, threads: u64) -> Result<Found, String> {
    let range = seeds
        .split_once("..")
        .and_then(|(first, end)| Some((first.parse::<u64>().ok()?, end.parse::<u64>().ok()?)));
    let (first, end) = range.ok_or_else(|| format!("`{seeds}` is no range, write `0..1000`"))?;
    let before = std::time::Instant::now();
    let one = |thread: u64| {
        let mut found = Found::new();
        let own = (first..end).filter(|seed| seed % threads.max(1) == thread);
        for seed in own {
            let report = run(&generate::plan(seed), kind)?;
            for name in report.names() {
                let mut of = report.violations.iter();
                let what = of.find(|of| of.invariant == name).map(|of| of.what.clone());
                let entry = found
                    .entry(name.to_owned())
                    .or_insert((0, seed, String::new()));
                entry.0 += 1;
                if entry.2.is_empty() {
                    entry.2 = what.unwrap_or_default();
                }
            }
        }
        Ok::<_, String>(found)
    };
    let parts: Vec<Result<Found, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1))
            .map(|thread| scope.spawn(move || one(thread)))
            .collect();
        let joined = threads.into_iter().map(|thread| {
            let done = thread.join();
            done.unwrap_or_else(|_| Err("a thread of seeds panicked".to_owned()))
        });
        joined.collect()
    });
    let mut all = Found::new();
    for part in parts {
        for (name, (times, seed, what)) in part? {
            let entry = all.entry(name).or_insert((0, seed, what.clone()));
            entry.0 += times;
            if seed < entry.1 {
                (entry.1, entry.2) = (seed, what);
            }
        }
    }
    let took = before.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = (end - first) as f64 / took;
    println!("{} seeds in {took:.1} s, {rate:.0} per second", end - first);
    Ok(all)
}

fn report(
    found: &Found,
    keep: Option<&Path>,
    shorten: bool,
    kind: StoreKind,
    known: &[String],
) -> Result<bool, String> {
    let mut fine = true;
    for (name, (times, seed, what)) in found {
        let is_known = known.contains(name);
        fine &= is_known;
        let word = if is_known { "known" } else { "NEW" };
        println!("{word:>5} {name}: {times} seeds, first {seed}: {what}");
        let Some(folder) = keep.filter(|_| !is_known) else {
            continue;
        };
        let mut plan = generate::plan(*seed);
        if shorten {
            plan = shrink(&plan, name, kind);
        }
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let file = folder.join(format!("{name}-{seed}.json"));
        std::fs::write(&file, plan.to_json()).map_err(|error| error.to_string())?;
        println!("      kept as {}", file.display());
    }
    Ok(fine)
}
