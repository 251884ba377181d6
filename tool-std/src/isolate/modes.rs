//! Where the host's binary becomes something else: the helper, or one of its modes.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

/// A way to run the host's own binary in isolation, under a name. Made by [`mode!`](crate::mode).
#[derive(Debug)]
pub struct Mode {
    name: &'static str,
    run: fn(Vec<OsString>) -> u8,
}

impl Mode {
    /// A name and what it runs: arguments in, exit code out.
    pub const fn new(name: &'static str, run: fn(Vec<OsString>) -> u8) -> Self {
        Self { name, run }
    }
}

/// Every mode that is linked.
///
/// None is linked by this crate: on Linux an empty slice links, and an element beside its slice counts as unsafe code.
#[linkme::distributed_slice]
pub static TOOL_STD_0_1_MODES: [Mode];

/// The mode that does nothing, to see what is in force.
pub(super) const IDLE: &str = "tool-std-idle";

/// Registers a mode of this binary: [`Job::this`](crate::isolate::Job::this) runs it in isolation.
///
/// The function gets the job's arguments and gives the exit code. It reads standard input, writes standard output and has no
/// environment but the job's. No runtime is running and no line of `main` after [`helper`](crate::helper) was reached.
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
/// tool_std::mode!("shout", shout);
///
/// let job = tool_std::isolate::Job::this("shout").arg("hello");
/// # let _ = job;
/// ```
#[macro_export]
macro_rules! mode {
    ($name:expr, $run:expr $(,)?) => {
        const _: () = {
            #[$crate::private::linkme::distributed_slice($crate::private::TOOL_STD_0_1_MODES)]
            #[linkme(crate = $crate::private::linkme)]
            static __TOOL_STD_MODE: $crate::isolate::Mode = $crate::isolate::Mode::new($name, $run);
        };
    };
}

/// First argument of the helper. The number is that of what host and helper say to each other.
pub(super) const HELPER: &str = "tool-std-helper:1";
/// First argument of the supervisor in a namespace of its own.
pub(super) const INSIDE: &str = "tool-std-inside:1";
/// First argument of a mode; its name is the second.
pub(super) const MODE: &str = "tool-std-mode:1";

/// The host's `main` has called [`helper`].
static CALLED: AtomicBool = AtomicBool::new(false);

pub(super) fn helper_is_called() -> bool {
    CALLED.load(Ordering::Relaxed)
}

/// The first line of a host's `main`: where this process was started as helper, it is that and does not return; else nothing happens.
///
/// It has to come before anything starts a thread, so before a runtime: with `#[tokio::main]`, whose first line runs with threads already
/// there, the helper costs their start and cannot make namespaces without privileges.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     tool_std::helper();
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
            match TOOL_STD_0_1_MODES.iter().find(|mode| *mode.name == *name) {
                Some(mode) => (mode.run)(args.collect()),
                None if name == IDLE => 0,
                None => unknown_mode(&name),
            }
        }
        _ => return,
    };
    std::process::exit(code.into());
}

/// The exit code of a mode that nobody has registered, after a line on standard error.
fn unknown_mode(name: &OsString) -> u8 {
    use std::io::Write as _;
    let _ = writeln!(
        std::io::stderr(),
        "no mode `{}` is linked into this binary, name the crate that registers it",
        name.display()
    );
    127
}
