//! User-defined readers of values, which the types of both generated modules use.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tool_core::StrictSchema;

/// Returns a default for `#[serde(default = "…")]`.
pub const fn ten() -> u16 {
    10
}

/// An even number. Its `Deserialize` is stricter than its schema.
#[derive(Debug, StrictSchema)]
#[expect(dead_code, reason = "`Debug` shows it")]
pub struct Even(u32);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = u32::deserialize(from)?;
        if value % 2 == 1 {
            return Err(D::Error::custom("an odd number"));
        }
        Ok(Self(value))
    }
}

/// A record that serde reads in the types of both modules.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Point {
    /// Degrees to the north.
    north: f64,
    /// Degrees to the east.
    #[schema(default = 0.5)]
    east: f64,
    /// The time to wait.
    wait: Option<Duration>,
}

impl Point {
    /// Returns the sum of north, east and the seconds of `wait`. Fails if north plus east is over 100.
    pub fn sum(&self) -> Result<f64, String> {
        let sum = self.north + self.east;
        if sum > 100.0 {
            return Err(format!("{sum} is too far"));
        }
        Ok(sum + self.wait.map_or(0.0, |wait| wait.as_secs_f64()))
    }
}

/// A module for `#[serde(with = "…")]` that halves a number written as text.
pub mod doubled {
    use serde::de::Error as _;

    use super::{Deserialize, Deserializer};

    /// Reads text that contains a number, and halves it.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
        let text = String::deserialize(from)?;
        let value: u16 = text.parse().map_err(D::Error::custom)?;
        Ok(value / 2)
    }
}

/// A module for `#[serde(with = "…")]` that reads a [`Point`] as its sum.
pub mod point {
    use serde::de::Error as _;

    use super::{Deserialize, Deserializer, Point};

    /// Reads a point. Fails if north plus east is over 100.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Point::deserialize(from)?.sum().map_err(D::Error::custom)
    }
}

/// Reads null as the text `none`.
pub fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.unwrap_or_else(|| "none".to_owned()))
}

/// Reads a duration as milliseconds.
pub fn millis<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
    Ok(Duration::deserialize(from)?.as_millis())
}

/// Reads a list as its sum, and refuses a list of two numbers.
pub fn sum<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let list = Vec::<u16>::deserialize(from)?;
    if list.len() == 2 {
        return Err(D::Error::custom("two are not taken"));
    }
    Ok(list.into_iter().map(u32::from).sum())
}
