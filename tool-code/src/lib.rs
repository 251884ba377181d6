//! `run_code`: a model writes JavaScript or TypeScript, and the turn's tools are functions in it.
//!
//! A model that needs ten calls and a sum makes one call and gets the sum: what the tools gave stays out of its context. The code runs in
//! `QuickJS`, in a process of its own that ends with the run. [`tool_std::isolate`] holds it: no files but the system's, no environment,
//! and no network where the kernel can say so. A tool is called where it always is: in the host, behind the toolset's gate.
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
//!     tool_std::helper(); // the first line of a host: this binary is also the engine
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
//! # What code is
//!
//! A module, or the body of an async function: `return` and `await` stand where they like, and the result is what is returned or
//! exported as `default`, as JSON. TypeScript is compiled, not checked: types are taken away, enums and namespaces become code. Places in
//! errors are those of the code as it was given.
//!
//! # What code finds
//!
//! | | |
//! |---|---|
//! | the language | as `QuickJS` has it, `eval` and `Date` included |
//! | `tools` | the turn's tools by the names that the model knows, and a module of that name |
//! | `console` | `debug`, `log`, `info`, `warn`, `error`: lines of the result's `logs` |
//! | `report(value)` | values that are kept whatever becomes of the run: the result's `reports` |
//! | granted modules | [`CodeBuilder::module`], imported by bare names |
//!
//! There is nothing else: no timers, no `fetch`, no `process`, no `require`, no `performance`, no WebAssembly.
//!
//! # Calls
//!
//! `tools.name({…})` gives the tool's payload, the one that a client sees (`to_model_output` shortens what a model reads, and hides
//! nothing from it), or throws an error with `message` and `kind`. Every call is one of the toolset's, made by the call of `run_code`: rules,
//! policy, approval, limits, ledger and audit hold as for the model's own. Read-only tools run beside each other, every other tool alone,
//! and all begin in the order in which the code called them.
//!
//! Code cannot wait for a person. Tools that may ask for an approval or for a variable are not there, and a tool that asks while it runs
//! finds nobody; [`CodeBuilder::waiting`] says otherwise.
//!
//! # Ends
//!
//! | status | |
//! |---|---|
//! | `success` | it ran to its end |
//! | `error` | not well-formed, thrown, or a rejection that nobody caught |
//! | `memory` | it needed more than [`Limits::memory`] |
//! | `link_error` | an import of something that is not there, or of a path or address |
//! | `terminated` | [`Limits::time`] was over, or somebody called [`RunHandle::terminate`] |
//!
//! At the end of its time the engine is interrupted. Some built-in functions never ask whether they should stop, so a moment later the
//! process is killed, with whatever it had. A cancelled call kills it at once.
//!
//! # What it rests on
//!
//! Code that breaks out of `QuickJS` is in a process that [`tool_std::isolate`] holds, and can say there what any code can say: calls of
//! the tools of its list, counted by the host as well, logs and a result. Nothing else that it writes is understood.
//!
//! # Cost
//!
//! The crate adds engine and compiler, in C and Rust: about 110 crates beside those of `tool-core` and `tool-std`, and one to two minutes of
//! building. A run costs a process: 10 to 13 ms in a release build on two cores.

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

pub use code::{Code, CodeBuilder, CodeSetupError};
pub use handle::RunHandle;
pub use limits::Limits;
pub use offer::OfferError;
pub use outcome::{CodeError, Level, Log, RunResult, Status};
pub use run::Run;
