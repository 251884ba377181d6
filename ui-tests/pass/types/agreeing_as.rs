//! `as`, `integer` and `with` are accepted if they match the type.

use futures::FutureExt as _;
use tool_core::prelude::*;

/// A level, with serde's derive and an attribute.
#[derive(Clone, Debug, Serialize, Deserialize, StrictSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schema(integer)]
#[repr(u8)]
pub enum Level {
    Low = 1,
    High = 2,
}

impl TryFrom<u8> for Level {
    type Error = String;
    fn try_from(level: u8) -> Result<Self, String> {
        match level {
            1 => Ok(Self::Low),
            2 => Ok(Self::High),
            other => Err(format!("no level {other}")),
        }
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        level as Self
    }
}

/// A text with a hand-written `Deserialize`.
#[derive(Debug, StrictSchema)]
#[schema(as = String)]
pub struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input).map(Self)
    }
}

/// A newtype of serde's derive.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(as = u8)]
pub struct Count(u32);

/// The record `Job` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Job {
    /// The field `level` of `Job`.
    pub level: Level,
    /// The field `name` of `Job`.
    pub name: Name,
    /// The field `count` of `Job`.
    pub count: Count,
    /// The field `few` of `Job`.
    #[schema(as = u64, range = 1..=255)]
    pub few: std::num::NonZeroU8,
    /// A number with a fraction.
    #[schema(as = f32)]
    pub part: f64,
    /// A whole number that is read as a number.
    #[schema(as = i16)]
    pub whole: f64,
    /// The field `letter` of `Job`.
    #[schema(as = String, length = 1)]
    pub letter: char,
    /// The field `address` of `Job`.
    #[schema(as = String, format = "ipv4")]
    pub address: std::net::IpAddr,
    /// A text that a different function writes.
    #[serde(serialize_with = "hidden")]
    #[schema(as = String)]
    pub secret: String,
}

/// The tool `run` of this test.
#[tool]
pub async fn run(#[args] job: Job) -> String {
    format!("{:?} {:?} {:?} {}", job.level, job.name.0, job.count.0, job.letter)
}

fn main() {
    let text = r#"{"level":2,"name":"a","count":3,"few":4,"part":0.5,"whole":6,"letter":"b","address":"127.0.0.1","secret":"c"}"#;
    let (tools, cx) = (toolset![run], ToolContext::anonymous());
    let result = tools.call(ToolCall::new("1", "run", text), &cx);
    let result = result.now_or_never().expect("it waits for nothing");
    assert_eq!(result.model_text(), r#"High "a" 3 b"#);
}
