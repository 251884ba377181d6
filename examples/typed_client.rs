//! A typed call of a tool: the name of the tool function is also the type of its arguments.
//!
//! `cargo run --example typed_client`

use tool_core::prelude::*;

/// A point on a map.
#[derive(Debug, Clone, PartialEq, Serialize, StrictSchema)]
pub struct Point {
    /// The latitude in degrees north.
    #[schema(range = -90.0..=90.0)]
    pub lat: f64,
    /// The longitude in degrees east.
    #[schema(range = -180.0..=180.0)]
    pub lon: f64,
}

/// Measures the way between two points, in kilometres.
#[tool(example({ "from": { "lat": 60.39, "lon": 5.32 }, "to": { "lat": 59.91, "lon": 10.75 } }))]
pub fn distance(
    /// The point where the distance begins.
    from: Point,
    /// The point where the distance ends.
    to: Point,
) -> Result<f64, ToolError> {
    let [a, b] = [&from, &to].map(|point| (point.lat.to_radians(), point.lon.to_radians()));
    let half = |x: f64| (x / 2.0).sin().powi(2);
    let chord = half(b.0 - a.0) + a.0.cos() * b.0.cos() * half(b.1 - a.1);
    Ok((12_742.0 * chord.sqrt().asin()).round())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = toolset![distance];
    let cx = ToolContext::anonymous();
    let bergen = Point {
        lat: 60.39,
        lon: 5.32,
    };
    let oslo = Point {
        lat: 59.91,
        lon: 10.75,
    };

    let call = distance {
        from: bergen.clone(),
        to: oslo,
    };
    println!("{call:?}");
    let kilometres: f64 = tools
        .invoke(call, &cx)
        .await
        .map_err(|error| error.to_string())?;
    println!("{kilometres} km");

    // A typed call is validated like a model's call.
    let nowhere = distance {
        from: bergen,
        to: Point {
            lat: 123.0,
            lon: 0.0,
        },
    };
    if let Err(error) = tools.invoke(nowhere, &cx).await {
        println!("{error}");
    }
    Ok(())
}
