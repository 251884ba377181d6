//! Entry points of the host's binary: the helper, and registered modes.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::wire::MODE;
#[cfg(target_os = "linux")]
use crate::wire::{HELPER, INSIDE};

/// A named entry point of the host's own binary, to be run in isolation. [`mode!`](crate::mode) creates it.
#[derive(Debug)]
pub struct Mode {
    name: &'static str,
    run: fn(Vec<OsString>) -> u8,
}

impl Mode {
    /// Creates a mode from its name and its function, which takes the arguments and returns the exit code.
    pub const fn new(name: &'static str, run: fn(Vec<OsString>) -> u8) -> Self {
        Self { name, run }
    }
}

/// All modes that are linked into the binary.
///
/// This crate registers no mode: on Linux an empty slice links, and an element in the same crate as its slice counts as unsafe code.
#[linkme::distributed_slice]
pub static TOOL_ISOLATE_0_1_MODES: [Mode];

/// A mode that does nothing. The report runs it to find out which mechanisms are in force.
pub(super) const IDLE: &str = "tool-isolate-idle";

/// Registers a mode of this binary, which [`Job::this`](crate::Job::this) runs in isolation.
///
/// The function takes the job's arguments and returns the exit code. It can read standard input and write to standard output; its environment is the
/// environment of the job. No runtime is running, and no line of `main` after [`helper`](crate::helper) has run.
///
/// ```
/// use std::ffi::OsString;
///
/// fn shout(args: Vec<OsString>) -> u8 {
///     for arg in args {
///         println!("{}!", arg.to_string_lossy());
///     }
///     0
/// }
/// tool_isolate::mode!("shout", shout);
///
/// let job = tool_isolate::Job::this("shout").arg("hello");
/// # let _ = job;
/// ```
#[macro_export]
macro_rules! mode {
    ($name:expr, $run:expr $(,)?) => {
        const _: () = {
            #[$crate::private::linkme::distributed_slice($crate::private::TOOL_ISOLATE_0_1_MODES)]
            #[linkme(crate = $crate::private::linkme)]
            static __TOOL_ISOLATE_MODE: $crate::Mode = $crate::Mode::new($name, $run);
        };
    };
}

/// Whether the host's `main` has called [`helper`].
static CALLED: AtomicBool = AtomicBool::new(false);

pub(super) fn helper_is_called() -> bool {
    CALLED.load(Ordering::Relaxed)
}

/// Runs the helper, the supervisor or a [mode](crate::mode) and does not return, if this process was started for that. Otherwise only records the
/// call: without it, [`Isolation`](crate::Isolation) does not start this binary as a helper. The call must be the first line of a host's `main`.
///
/// Call it before any thread is started, and so before a runtime. With `#[tokio::main]`, the first line of `main` runs when threads already exist:
/// then each helper starts these threads too, and cannot create namespaces without privileges.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     tool_isolate::helper();
///     println!("the host");
///     ExitCode::SUCCESS
/// }
/// ```
pub fn helper() {
    CALLED.store(true, Ordering::Relaxed);
    let mut args = std::env::args_os().skip(1);
    let Some(first) = args.next() else { return };
    let code = match first.to_str() {
        #[cfg(target_os = "linux")]
        Some(HELPER) => super::linux::helper(&args.collect::<Vec<_>>()),
        #[cfg(target_os = "linux")]
        Some(INSIDE) => super::linux::inside(&args.collect::<Vec<_>>()),
        Some(MODE) => {
            let name = args.next().unwrap_or_default();
            match TOOL_ISOLATE_0_1_MODES
                .iter()
                .find(|mode| *mode.name == *name)
            {
                Some(mode) => (mode.run)(args.collect()),
                None if name == IDLE => 0,
                None => unknown_mode(&name),
            }
        }
        _ => return,
    };
    std::process::exit(code.into());
}

/// Prints an error for a mode that is not registered, and returns the exit code.
fn unknown_mode(name: &OsString) -> u8 {
    use std::io::Write as _;
    let _ = writeln!(
        std::io::stderr(),
        "no mode `{}` is linked into this binary: refer to the crate that registers it, for example with `use name_of_the_crate as _;`",
        name.display()
    );
    127
}
