//! A small host process. Tests use it as the sandbox helper, because a test program cannot be the helper, and as a host that they start in a chosen
//! environment and kill.
//!
//! `std-host ROOT ARGUMENTS [bare]` calls `run_command` in a workspace below `ROOT` and prints the result. With `bare`, the sandbox uses no Landlock,
//! no namespaces and no `cgroup.kill`.

use std::ffi::OsString;
use std::process::ExitCode;

use tool_core::prelude::*;
use tool_std::isolate::{Isolation, Mechanism};
use tool_std::process::{Commands, run_command};
use tool_std::workspace::Workspaces;

/// Mode of this binary: prints its arguments and the number of its environment variables. Exits with 1 if it can read `/etc/hostname`.
fn tell(args: Vec<OsString>) -> u8 {
    for arg in args {
        println!("{}", arg.display());
    }
    println!("{}", std::env::vars_os().count());
    let own = std::fs::read("/etc/hostname");
    u8::from(own.is_ok())
}

tool_std::mode!("tell", tell);

fn main() -> ExitCode {
    tool_std::helper();
    let mut args = std::env::args().skip(1);
    let (Some(root), Some(arguments)) = (args.next(), args.next()) else {
        return ExitCode::FAILURE;
    };
    let mut isolation = Isolation::new();
    if args.next().is_some() {
        for mechanism in [
            Mechanism::Landlock,
            Mechanism::PidNamespace,
            Mechanism::NetworkNamespace,
            Mechanism::CgroupKill,
        ] {
            isolation = isolation.without(mechanism);
        }
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(call(&root, arguments, isolation))
}

async fn call(root: &str, arguments: String, isolation: Isolation) -> ExitCode {
    let Ok(registry) = Registry::builder().tool::<run_command>().build() else {
        return ExitCode::FAILURE;
    };
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(Workspaces::new(root))
        .with(Commands::new(isolation))
        .build();
    let call = ToolCall::new("1", "run_command", arguments);
    println!("{}", registry.open().call(call, &cx).await.model_text());
    ExitCode::SUCCESS
}
