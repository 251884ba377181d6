//! What a panic prints.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::PanicHookInfo;

use super::SharedRedactor;

/// Prints panics on standard error without the secrets that `shared` knows at the time.
///
/// It prints what the standard hook prints, a backtrace by `RUST_BACKTRACE` included, and takes the place of the hook before it,
/// which is not called any more: a hook cannot be given another message than the one with the secret. Whoever wants another form
/// writes a hook of their own, and sends its text through [`SharedRedactor::current`].
///
/// Without it, a tool that panics prints its message as it is. What the model and the operator read of that panic is masked in any
/// case.
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
        // Where standard error is gone, there is nowhere to say so.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }));
}

/// What the standard hook prints.
fn message(info: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let place = info
        .location()
        .map_or_else(String::new, ToString::to_string);
    let said = info.payload_as_str().unwrap_or("Box<dyn Any>");
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("stack backtrace:\n{backtrace}"),
        _ => String::new(),
    };
    let name = thread.name().unwrap_or("<unnamed>");
    format!("\nthread '{name}' panicked at {place}:\n{said}\n{backtrace}")
}
