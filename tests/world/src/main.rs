//! The command line of the simulator, for example `world run --seeds 0..1000`, `world replay FILE`, `world shrink FILE`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Parser, Subcommand};
use world::agents;
use world::generate;
use world::packs;
use world::plan::{Expect, Plan};
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
        /// The range of seeds as `A..B`, without `B`.
        #[arg(long)]
        seeds: String,
        /// The store that hosts share.
        #[arg(long, value_enum, default_value_t)]
        store: StoreKind,
        /// Writes the first failing plan of each invariant that is not known to this folder.
        #[arg(long)]
        keep: Option<PathBuf>,
        /// Searches only for violations whose message contains this text.
        #[arg(long, default_value = "")]
        matching: String,
        /// Searches only for violations of this invariant.
        #[arg(long)]
        only: Option<String>,
        /// Ignores runs in which this invariant fires.
        #[arg(long)]
        without: Vec<String>,
        /// Shrinks the plans that are written.
        #[arg(long)]
        shrink: bool,
        /// Invariants that may fire because of open findings.
        #[arg(long)]
        known: Vec<String>,
        /// A folder of plans. The invariants of the open plans may fire.
        #[arg(long)]
        plans: Option<PathBuf>,
        /// Makes the names of conversations unique across tenants, and the ids of calls unique within a run.
        #[arg(long)]
        unique_names: bool,
        /// The number of threads that run plans in parallel.
        #[arg(long, default_value_t = 1)]
        threads: u64,
    },
    /// Runs a plan and prints its trace and violations.
    Replay {
        /// The file of the plan.
        file: PathBuf,
        /// The store that hosts share. The default is the store of the plan.
        #[arg(long, value_enum)]
        store: Option<StoreKind>,
        /// Prints only the violations.
        #[arg(long)]
        quiet: bool,
    },
    /// Shrinks a failing plan and overwrites its file.
    Shrink {
        /// The file of the plan.
        file: PathBuf,
        /// The invariant that must fire. The default is the invariant of the plan, or else the first invariant that fires.
        #[arg(long)]
        invariant: Option<String>,
        /// A text that the message of the violation must contain.
        #[arg(long, default_value = "")]
        matching: String,
        /// The store that hosts share. The default is the store of the plan.
        #[arg(long, value_enum)]
        store: Option<StoreKind>,
    },
    /// Runs the turn of agents that call each other for many seeds.
    Agents {
        /// The range of seeds as `A..B`, without `B`.
        #[arg(long)]
        seeds: String,
        /// The store that hosts share.
        #[arg(long, value_enum, default_value_t)]
        store: StoreKind,
        /// Prints the trace of each seed.
        #[arg(long)]
        trace: bool,
    },
    /// Runs hosts with the packs `memory`, `plan` and `schedule` for many seeds.
    Packs {
        /// The range of seeds as `A..B`, without `B`.
        #[arg(long)]
        seeds: String,
        /// The store that hosts share.
        #[arg(long, value_enum, default_value_t)]
        store: StoreKind,
        /// Shrinks the first failing plan of each invariant and writes it to this folder.
        #[arg(long)]
        keep: Option<PathBuf>,
        /// Prints the number of simulations whose trace contains this text.
        #[arg(long, value_name = "TEXT")]
        counting: Option<String>,
        /// The number of threads that run plans in parallel.
        #[arg(long, default_value_t = 1)]
        threads: u64,
    },
    /// Prints the hash of the trace of each seed.
    Hashes {
        /// The range of seeds as `A..B`, without `B`.
        #[arg(long)]
        seeds: String,
    },
    /// Prints the plan of a seed.
    Plan {
        /// The seed of the plan.
        seed: u64,
        /// Makes the names of conversations unique across tenants, and the ids of calls unique within a run.
        #[arg(long)]
        unique_names: bool,
    },
}

fn main() -> ExitCode {
    world::quiet_panics();
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
            matching,
            only,
            without,
            shrink: shortens,
            mut known,
            plans,
            unique_names,
            threads,
        } => {
            if let Some(plans) = plans {
                known.extend(world::known::open_invariants(&plans)?);
            }
            let plan: fn(u64) -> Plan = if unique_names {
                |seed| generate::with_unique_names(generate::plan(seed))
            } else {
                generate::plan
            };
            let text = matching.clone();
            let search = Search {
                run: Box::new(move |seed| run(&plan(seed), store)),
                kept: Box::new(move |seed, invariant| {
                    let plan = plan(seed);
                    Ok(if shortens {
                        shrink(&plan, invariant, &text, store).to_json()
                    } else {
                        plan.to_json()
                    })
                }),
                matching,
                only,
                without,
            };
            let found = search.seeds(&seeds, threads)?;
            search.report(&found, keep.as_deref(), &known)
        }
        Command::Packs {
            seeds,
            store,
            keep,
            counting,
            threads,
        } => seeds_of_packs(&seeds, store, keep.as_deref(), counting, threads),
        Command::Replay { file, store, quiet } => {
            let report = match read(&file)? {
                Read::Hosts(plan) => run(&plan, store_of(plan.expect.as_ref(), store))?,
                Read::Packs(plan) => packs::run(&plan, store_of(plan.expect.as_ref(), store))?,
            };
            if !quiet {
                report.lines.iter().for_each(|line| println!("{line}"));
            }
            print(&report);
            Ok(report.violations.is_empty())
        }
        Command::Shrink {
            file,
            invariant,
            matching,
            store,
        } => shrink_file(&file, invariant, &matching, store),
        Command::Agents {
            seeds,
            store,
            trace,
        } => {
            let (first, end) = range(&seeds)?;
            let mut holds = true;
            for seed in first..end {
                let report = agents::run(seed, store)?;
                if trace {
                    println!("{}", report.lines.join("\n"));
                }
                for violation in &report.violations {
                    holds = false;
                    println!("seed {seed}: {}: {}", violation.invariant, violation.what);
                }
            }
            Ok(holds)
        }
        Command::Hashes { seeds } => {
            let (first, end) = range(&seeds)?;
            for seed in first..end {
                let report = run(&generate::plan(seed), StoreKind::Memory)?;
                println!("{seed} {:016x}", report.hash);
            }
            Ok(true)
        }
        Command::Plan { seed, unique_names } => {
            let mut plan = generate::plan(seed);
            if unique_names {
                plan = generate::with_unique_names(plan);
            }
            print!("{}", plan.to_json());
            Ok(true)
        }
    }
}

/// Runs hosts with packs for the seeds of a range.
fn seeds_of_packs(
    seeds: &str,
    store: StoreKind,
    keep: Option<&Path>,
    counting: Option<String>,
    threads: u64,
) -> Result<bool, String> {
    let counted = Arc::new(AtomicU64::new(0));
    let (count, text) = (Arc::clone(&counted), counting.clone());
    let search = Search {
        run: Box::new(move |seed| {
            let report = packs::run(&packs::plan(seed), store)?;
            let text = text.as_deref();
            if text.is_some_and(|text| report.lines.iter().any(|line| line.contains(text))) {
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok(report)
        }),
        kept: Box::new(move |seed, invariant| {
            let plan = packs::shrink(&packs::plan(seed), invariant, store)?;
            Ok(plan.to_json())
        }),
        matching: String::new(),
        only: None,
        without: Vec::new(),
    };
    let found = search.seeds(seeds, threads)?;
    if let Some(text) = counting {
        let simulations = counted.load(Ordering::Relaxed);
        println!("{simulations} simulations have `{text}` in their trace");
    }
    search.report(&found, keep, &[])
}

/// Shrinks the plan of a file, and overwrites the file.
fn shrink_file(
    file: &Path,
    invariant: Option<String>,
    matching: &str,
    store: Option<StoreKind>,
) -> Result<bool, String> {
    let Read::Hosts(plan) = read(file)? else {
        return Err("`world packs --keep FOLDER` shrinks plans of packs".to_owned());
    };
    let store = store_of(plan.expect.as_ref(), store);
    let first = run(&plan, store)?;
    let own = plan.expect.as_ref().map(|expect| expect.invariant.clone());
    let first = first.violations.first().map(|of| of.invariant.to_owned());
    let invariant = invariant.or(own).or(first);
    let invariant = invariant.ok_or("no invariant fires, so the plan cannot be shrunk")?;
    let short = shrink(&plan, &invariant, matching, store);
    std::fs::write(file, short.to_json()).map_err(|error| error.to_string())?;
    print(&run(&short, store)?);
    Ok(true)
}

/// Returns the store from the command line, or else the store of the kept plan.
fn store_of(expect: Option<&Expect>, asked: Option<StoreKind>) -> StoreKind {
    asked
        .or(expect.map(|expect| expect.store))
        .unwrap_or_default()
}

/// A plan that was read from a file.
enum Read {
    /// A plan of hosts.
    Hosts(Plan),
    /// A plan of hosts with packs, in a folder `packs`.
    Packs(packs::Plan),
}

fn read(file: &Path) -> Result<Read, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("`{}` cannot be read: {error}", file.display()))?;
    let folder = file.parent().and_then(Path::file_name);
    let read = if folder.is_some_and(|name| name == "packs") {
        serde_json::from_str(&text).map(Read::Packs)
    } else {
        serde_json::from_str(&text).map(Read::Hosts)
    };
    read.map_err(|error| format!("`{}`: {error}", file.display()))
}

fn print(report: &Report) {
    for violation in &report.violations {
        println!("{}: {}", violation.invariant, violation.what);
    }
    println!("hash {:016x}", report.hash);
}

/// For each invariant, the number of seeds in which it fired, and the first of these seeds with the text of its violation.
type Found = BTreeMap<String, (u64, u64, String)>;

/// Returns the text of the plan file of a seed in which an invariant fires.
type Kept = dyn Fn(u64, &str) -> Result<String, String> + Sync;

/// The settings of a search for violations.
struct Search {
    /// Runs the plan of a seed.
    run: Box<dyn Fn(u64) -> Result<Report, String> + Sync>,
    kept: Box<Kept>,
    matching: String,
    only: Option<String>,
    without: Vec<String>,
}

impl Search {
    /// Runs the seeds of a range.
    fn seeds(&self, seeds: &str, threads: u64) -> Result<Found, String> {
        let (first, end) = range(seeds)?;
        let threads = threads.max(1);
        let before = std::time::Instant::now();
        let parts: Vec<Result<Found, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads)
                .map(|own| {
                    let seeds = (first..end).filter(move |seed| seed % threads == own);
                    scope.spawn(move || self.each(seeds))
                })
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
        #[expect(clippy::cast_precision_loss, reason = "the rate is only printed")]
        let rate = (end - first) as f64 / took;
        println!("{} seeds in {took:.1} s, {rate:.0} per second", end - first);
        Ok(all)
    }

    fn each(&self, seeds: impl Iterator<Item = u64>) -> Result<Found, String> {
        let mut found = Found::new();
        for seed in seeds {
            let report = (self.run)(seed)?;
            if self.without.iter().any(|name| report.violates(name)) {
                continue;
            }
            for name in report.names() {
                let mut said = report.violations.iter().filter(|of| of.invariant == name);
                let said = said.find(|of| of.what.contains(&self.matching));
                let Some(said) =
                    said.filter(|_| self.only.as_ref().is_none_or(|only| only == name))
                else {
                    continue;
                };
                let entry = found.entry(name.to_owned());
                entry.or_insert((0, seed, said.what.clone())).0 += 1;
            }
        }
        Ok(found)
    }

    /// Prints the findings, and writes the plans of the new findings to the folder `keep`. Returns false if a finding is new.
    fn report(&self, found: &Found, keep: Option<&Path>, known: &[String]) -> Result<bool, String> {
        let mut is_clean = true;
        for (name, (times, seed, what)) in found {
            let is_known = known.contains(name);
            is_clean &= is_known;
            let word = if is_known { "known" } else { "NEW" };
            println!("{word:>5} {name}: {times} seeds, first {seed}: {what}");
            let Some(folder) = keep.filter(|_| !is_known) else {
                continue;
            };
            let plan = (self.kept)(*seed, name)?;
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
            let file = folder.join(format!("{name}-{seed}.json"));
            std::fs::write(&file, plan).map_err(|error| error.to_string())?;
            println!("      kept as {}", file.display());
        }
        Ok(is_clean)
    }
}

/// Parses the range `A..B`.
fn range(seeds: &str) -> Result<(u64, u64), String> {
    let range = seeds.split_once("..");
    let range = range.and_then(|(first, end)| Some((first.parse().ok()?, end.parse().ok()?)));
    range.ok_or_else(|| format!("`{seeds}` is not a range, write `0..1000`"))
}
