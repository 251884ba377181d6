//! `StrictSchema` for strings, paths and times of the standard library.

use std::ffi::{CString, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{by_serde, refused, strict};
use crate::schema::{Kind, Schema, StrictSchema};

// `str` and `Path` have no schema, because arguments are owned values.
strict! {
    Kind::String => String, Box<str>, Arc<str>, Rc<str>, PathBuf, Box<Path>;
    Kind::Char => char;
    Kind::Duration => Duration;
    refused(
        "string-lossy",
        "`OsString` has no portable text form in JSON, use `String` or `PathBuf`",
    ) => OsString;
    refused(
        "string-lossy",
        "`CString` is a list of bytes in JSON, use `String`",
    ) => CString;
    refused(
        "time-lossy",
        "`SystemTime` is a pair of numbers in JSON, use `chrono::DateTime<Utc>` or `jiff::Timestamp`",
    ) => SystemTime;
}

by_serde!(Duration);
