//! `StrictSchema` for strings, paths and times of the standard library.

use std::ffi::{CString, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tool_rules::Rule;

use super::{by_serde, refused, strict};
use crate::schema::{Kind, Schema, StrictSchema};

// `str` and `Path` have no schema, because arguments are owned values.
strict! {
    Kind::String => String, Box<str>, Arc<str>, Rc<str>, PathBuf, Box<Path>;
    Kind::Char => char;
    Kind::Duration => Duration;
    refused(&Rule::OS_STRING) => OsString;
    refused(&Rule::C_STRING) => CString;
    refused(&Rule::SYSTEM_TIME) => SystemTime;
}

by_serde!(Duration);
