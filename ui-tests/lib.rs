//! Only tests live here: see `tests/ui.rs`.
