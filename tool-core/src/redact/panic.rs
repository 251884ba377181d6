//! Panic hook that redacts secrets.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::PanicHookInfo;

use super::SharedRedactor;

/// Installs a hook that prints panics on standard error, and redacts the secrets that `shared` contains at the time of the panic.
///
/// It prints the thread, the location and the message as the default hook does, and a backtrace if [`Backtrace::capture`] captures one.
/// It replaces the previous hook and does not call it, because a hook cannot pass a changed message to another hook. For a different format, write
/// your own hook and redact its text with [`SharedRedactor::current`].
///
/// The default hook prints the message of a tool that panics without redaction. The texts that the model and the operator read about the panic are
/// redacted with any hook.
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
        // If standard error is closed, the failure cannot be reported.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }));
}

/// Formats a panic like the default hook, without the thread's id and the note on `RUST_BACKTRACE`.
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
