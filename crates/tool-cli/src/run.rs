//! Execution of the command line of a host.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::args::{Arguments, Color, Format};
use crate::commands;
use crate::host::{Cli, clap_color, misused, wants_json};
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

impl Cli {
    /// Runs the command in the arguments of the process. The command gets a separate runtime.
    ///
    /// Before a tool runs (`call`, `chat` and `serve`), this method installs a panic hook that redacts the secrets of the
    /// call ([`install_panic_hook`](tool_core::redact::install_panic_hook)). The hook replaces the previous one.
    ///
    /// The method may be called within a runtime. [`run_async`](Self::run_async) does not start a second runtime.
    pub fn run(self) -> ExitCode {
        #[cfg(all(feature = "typescript", unix))]
        tool_isolate::helper();
        commands::completions::answer(&self);
        let arguments: Vec<OsString> = std::env::args_os().collect();
        on_runtime(self.run_async(arguments))
    }

    /// Runs a parsed command line.
    #[cfg(feature = "cargo")]
    pub(crate) fn run_words(self, words: Arguments) -> ExitCode {
        on_runtime(self.obey(words))
    }

    /// Runs the command in these arguments. The first argument is the program's name. The method installs a panic hook like [`run`](Self::run).
    pub async fn run_async<A: Into<OsString> + Clone>(
        self,
        arguments: impl IntoIterator<Item = A>,
    ) -> ExitCode {
        let mut arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        if let Some(name) = &self.name {
            // The help shows the first argument as the program's name.
            arguments.splice(..1.min(arguments.len()), [OsString::from(name)]);
        }
        let words = self
            .words()
            .color(clap_color(&arguments))
            .try_get_matches_from_mut(&arguments)
            .and_then(|matches| Arguments::from_arg_matches(&matches));
        match words {
            Ok(words) => self.obey(words).await,
            Err(error) => misused(&error, wants_json(&arguments)),
        }
    }

    async fn obey(self, words: Arguments) -> ExitCode {
        let screen = Screen::new(words.look.format, words.look.color);
        match commands::run(&self, words.command, screen).await {
            Ok(exit) => exit.into(),
            Err(failure) => {
                screen.fail(&failure);
                failure.exit.into()
            }
        }
    }
}

/// Runs a future to its end. It runs in a separate thread, because a runtime cannot be started inside a different runtime.
fn on_runtime(work: impl Future<Output = ExitCode> + Send) -> ExitCode {
    let run = || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => {
                let code = runtime.block_on(work);
                // A cancelled tool that blocks must not keep the process alive.
                runtime.shutdown_background();
                code
            }
            Err(error) => {
                Screen::new(Format::Human, Color::Auto).fail(&Failure::from(error));
                Exit::Failed.into()
            }
        }
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap_or(Exit::Failed.into()))
}
