//! An empty library. The tests are in `tests/`.
