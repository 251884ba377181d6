use tool_core::prelude::*;

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZeroU32,
    path::PathBuf,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

/// Everything.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Everything {
    /// One.
    pub byte: u8,
    /// One.
    pub long: i64,
    /// One.
    pub size: usize,
    /// One.
    pub small: f32,
    /// One.
    pub large: f64,
    /// One.
    pub yes: bool,
    /// One.
    pub letter: char,
    /// One.
    pub count: NonZeroU32,
    /// One.
    pub boxed: Box<str>,
    /// One.
    pub text: Cow<'static, str>,
    /// One.
    pub set: BTreeSet<String>,
    /// One.
    pub hashed: HashSet<i32>,
    /// One.
    pub three: [f64; 3],
    /// One.
    pub path: PathBuf,
    /// One.
    pub any: IpAddr,
    /// One.
    pub four: Ipv4Addr,
    /// One.
    pub six: Ipv6Addr,
    /// One.
    pub wait: Duration,
    /// One.
    pub maybe: Option<Box<u32>>,
}

/// Shared.
#[derive(Debug, StrictSchema)]
pub struct Shared {
    /// One.
    pub shared: Arc<String>,
    /// One.
    pub counted: Rc<Vec<String>>,
}

/// Takes everything.
#[tool]
pub fn take(
    /// All of it.
    everything: Everything,
) -> Result<String, ToolError> {
    Ok(format!("{everything:?}"))
}

fn main() {}
