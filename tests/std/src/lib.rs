//! The tests are in `tests/`, one file for each pack.
