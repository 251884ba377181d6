//! An empty library. The tests are in `tests/code`; the binary `code-host` runs the engine processes.
