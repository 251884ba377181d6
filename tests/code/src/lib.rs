//! Empty library: the tests are in `tests/code`, and `code-host` is the binary whose process runs the code.
