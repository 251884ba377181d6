//! Nothing: the tests are in `tests/code`, and `host` is the binary whose process runs the code.
