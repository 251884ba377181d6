//! Conversion of panic payloads to texts.

use std::any::Any;

/// Returns the message of a panic; a fixed text if the payload is not a string.
pub fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("the payload is not a string")
}
