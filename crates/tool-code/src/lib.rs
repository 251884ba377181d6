//! `run_code`: code execution for models, with the turn's tools as JavaScript or TypeScript functions.
//!
//! A model that needs ten calls and a sum makes one call and gets the sum; its context does not contain the outputs of the tools. The code runs
//! in `QuickJS`, in its own process that ends with the run. [`tool_isolate`] sandboxes the process: no environment and, as far as the
//! kernel supports it, no network and no files except the system's. Tool calls run in the host, behind the toolset's gate, like all others.
//!
//! ```standalone_crate
//! use tool_code::Code;
//! use tool_core::prelude::*;
//!
//! /// Lists the orders of a customer.
//! #[tool(read_only)]
//! fn list_orders(
//!     /// The customer's number.
//!     customer: u32,
//! ) -> Vec<u32> {
//!     (1..=customer).map(|order| order * 100).collect()
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     tool_isolate::helper(); // the first line of a host: this binary is also the engine
//!     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//!     runtime.block_on(async {
//!         let cx = ToolContext::anonymous();
//!         let code = Code::builder().build()?;
//!         let tools = code.instead_of(&toolset![list_orders], &cx)?;
//!
//!         let call = ToolCall::new("c-1", "run_code", r#"{"code":"
//!             const customers: number[] = [2, 3];
//!             const orders = await Promise.all(customers.map(customer => tools.list_orders({ customer })));
//!             console.log('orders', orders.flat().length);
//!             return orders.flat().reduce((sum, order) => sum + order, 0);
//!         "}"#.replace('\n', " "));
//!         let result = tools.call(call, &cx).await;
//!         let text = result.model_text();
//!         assert!(text.starts_with(r#"{"status":"success","result":900,"reports":[],"logs":[{"level":"info","text":"orders 5"}],"duration_ms":"#), "{text}");
//!         Ok(())
//!     })
//! }
//! ```
//!
//! # The code
//!
//! The code is a module, or the body of an async function. `return` and `await` are allowed at the top level, and
//! the result is the returned value or the `default` export, as JSON. TypeScript is compiled but not type-checked:
//! types are removed, and enums and namespaces become code. Positions in errors refer to the original code.
//!
//! # Available globals and modules
//!
//! | | |
//! |---|---|
//! | the language | everything that `QuickJS` supports, `eval` and `Date` included |
//! | `tools` | the turn's tools by their wire names; also a module with this name |
//! | `console` | `debug`, `log`, `info`, `warn`, `error`: adds a line to the result's `logs` |
//! | `report(value)` | adds a value to the result's `reports`, which are returned even if the run fails |
//! | granted modules | [`CodeBuilder::module`], imported by bare names |
//!
//! Nothing else is available: no timers, no `fetch`, no `process`, no `require`, no `performance`, no WebAssembly.
//!
//! # Calls
//!
//! `tools.name({…})` returns the payload that a client of the tool receives, without the bytes of images, audio and files
//! (`to_model_output` only changes the text that a model reads), or throws an error with `message` and `kind`. Every call is a call of the toolset,
//! nested in the call of `run_code`: rules, policy, approval, limits, ledger and audit apply as they do to the model's own
//! calls. Calls of read-only tools that are not sequential run in parallel, up to [`Limits::parallel`]; every other call runs alone. Calls
//! start in the order in which the code made them.
//!
//! By default code cannot wait for a person. Tools that may need an approval or a variable are not available,
//! and a question that a tool asks while it runs fails with the error `Unavailable`. [`CodeBuilder::waiting`] changes that.
//!
//! # Status
//!
//! | status | |
//! |---|---|
//! | `success` | the code ran to its end |
//! | `error` | a syntax error, an exception, an unhandled rejection, a promise that never settles, an exceeded size limit, or a failed process |
//! | `memory` | the code, the engine or its process ran out of memory, or a string is too long for the engine |
//! | `link_error` | a static import of a missing module or export, of a path or address, or with attributes; a syntax error in a granted module |
//! | `terminated` | the time limit was exceeded ([`Limits::time`], or less time of the call), or [`RunHandle::terminate`] was called |
//!
//! The engine is interrupted when its time limit is exceeded. Some built-in functions do not react to an interrupt: if the process still
//! runs 150 ms later, it is killed, and loses any output that it has not sent yet. A cancelled call kills the process at once.
//!
//! # Stored tools
//!
//! [`TypeScriptRunner`] runs the functions of stored tools that are TypeScript.
//!
//! # Security
//!
//! Code that escapes from `QuickJS` is still in the sandbox of [`tool_isolate`]. The host accepts only the messages that an engine sends:
//! calls of the tools on the run's list, logs, reports and a result. It checks the limits of the run again, and rejects everything else.
//!
//! # Cost
//!
//! The crate adds the engine and the compiler, in C and Rust: about 110 crates that `tool-core` and `tool-isolate` do
//! not need, and one to two minutes of build time. Each run starts a process: 10 to 13 ms in a release build on two cores.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod calls;
mod code;
mod declare;
mod engine;
mod handle;
mod limits;
mod offer;
mod outcome;
mod process;
mod protocol;
mod run;
mod setup;
mod stored;

pub use code::{Code, CodeBuilder, CodeSetupError};
pub use handle::RunHandle;
pub use limits::Limits;
pub use offer::OfferError;
pub use outcome::{CodeError, Level, Log, RunResult, Status};
pub use run::Run;
pub use stored::TypeScriptRunner;
