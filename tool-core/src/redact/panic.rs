//! Panic hook that masks secrets.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::PanicHookInfo;

use super::SharedRedactor;

/// Installs a hook that prints panics on standard error, with the secrets masked that `shared` knows at the time.
///
/// It prints the same text as the standard hook, including a backtrace if `RUST_BACKTRACE` is set, with the secrets masked. It replaces the previous hook and
/// does not call it, because a hook cannot pass a changed message to another hook. For another format, write a hook of your own and mask its text with
/// [`SharedRedactor::current`].
///
/// Without this hook, a tool that panics prints its message unmasked. The texts that the model and the operator read about the panic are
/// masked in any case.
///
/// ```
/// use tool_core::redact::{SharedRedactor, install_panic_hook};
///
/// let shared = SharedRedactor::default();
/// install_panic_hook(&shared);
/// ```
pub fn install_panic_hook(shared: &SharedRedactor) {
    let shared = shared.clone();
    std::panic::set_hook(Box::new(move |info| {
        let text = shared.current().own(message(info));
        // If standard error is closed, there is nowhere to report it.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }));
}

/// Returns the text that the standard hook prints.
fn message(info: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let place = info
        .location()
        .map_or_else(String::new, ToString::to_string);
    let text = info.payload_as_str().unwrap_or("Box<dyn Any>");
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("stack backtrace:\n{backtrace}"),
        _ => String::new(),
    };
    let name = thread.name().unwrap_or("<unnamed>");
    format!("\nthread '{name}' panicked at {place}:\n{text}\n{backtrace}")
}
