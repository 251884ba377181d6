//! Times in RFC 3339.

use jiff::Timestamp as Instant;
use tool_core::store::Timestamp;

/// Writes a time in RFC 3339, in UTC. A time that RFC 3339 cannot express becomes the nearest time that it can express.
pub(crate) fn text(at: Timestamp) -> String {
    let millis = at.as_millis();
    let nearest = if millis < 0 {
        Instant::MIN
    } else {
        Instant::MAX
    };
    Instant::from_millisecond(millis)
        .unwrap_or(nearest)
        .to_string()
}

/// Reads a time in RFC 3339.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let at: Instant = text.parse().ok()?;
    Some(Timestamp::from_millis(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_back() {
        for millis in [0, 1_000, 1_764_090_000_123, -5] {
            let at = Timestamp::from_millis(millis);
            assert_eq!(parse(&text(at)), Some(at));
        }
        assert_eq!(
            text(Timestamp::from_millis(1_500)),
            "1970-01-01T00:00:01.5Z"
        );
        assert!(text(Timestamp::from_millis(i64::MAX)).starts_with("9999-"));
        assert_eq!(parse("yesterday"), None);
    }
}
