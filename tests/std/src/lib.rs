//! An empty library. The tests are in `tests/`, with a folder for each area.
