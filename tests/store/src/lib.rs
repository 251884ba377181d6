//! Empty library: the tests are in `tests/`.
