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

/// The record `Everything` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Everything {
    /// The field `byte` of `Everything`.
    pub byte: u8,
    /// The field `long` of `Everything`.
    pub long: i64,
    /// The field `size` of `Everything`.
    pub size: usize,
    /// The field `small` of `Everything`.
    pub small: f32,
    /// The field `large` of `Everything`.
    pub large: f64,
    /// The field `yes` of `Everything`.
    pub yes: bool,
    /// The field `letter` of `Everything`.
    pub letter: char,
    /// The field `count` of `Everything`.
    pub count: NonZeroU32,
    /// The field `boxed` of `Everything`.
    pub boxed: Box<str>,
    /// The field `text` of `Everything`.
    pub text: Cow<'static, str>,
    /// The field `set` of `Everything`.
    pub set: BTreeSet<String>,
    /// The field `hashed` of `Everything`.
    pub hashed: HashSet<i32>,
    /// The field `three` of `Everything`.
    pub three: [f64; 3],
    /// The field `path` of `Everything`.
    pub path: PathBuf,
    /// The field `any` of `Everything`.
    pub any: IpAddr,
    /// The field `four` of `Everything`.
    pub four: Ipv4Addr,
    /// The field `six` of `Everything`.
    pub six: Ipv6Addr,
    /// The field `wait` of `Everything`.
    pub wait: Duration,
    /// The field `maybe` of `Everything`.
    pub maybe: Option<Box<u32>>,
}

/// The record `Shared` of this test.
#[derive(Debug, StrictSchema)]
pub struct Shared {
    /// The field `shared` of `Shared`.
    pub shared: Arc<String>,
    /// The field `counted` of `Shared`.
    pub counted: Rc<Vec<String>>,
}

/// Takes everything, for this test.
#[tool]
pub fn take(
    /// A value of every type.
    everything: Everything,
) -> Result<String, ToolError> {
    Ok(format!("{everything:?}"))
}

fn main() {}
