//! Empty library: the tests are in `tests/`, one folder or file for each pack.
