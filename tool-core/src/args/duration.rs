//! ISO 8601 durations as `std::time::Duration` holds them.

/// Reads `P1DT2H3M4S` or `P2W` as seconds. Years and months have no fixed length, so they are not read, and the format `duration` of JSON Schema
/// (RFC 3339, appendix A) has no fractions.
pub(super) fn parse(text: &str) -> Option<u64> {
    let rest = text.strip_prefix('P')?;
    let (date, time) = rest
        .split_once('T')
        .map_or((rest, None), |(date, time)| (date, Some(time)));
    if time == Some("") || rest.is_empty() {
        return None;
    }
    let mut secs = 0u64;
    let mut rest = date;
    for (unit, length) in [('W', 604_800), ('D', 86_400)] {
        rest = whole(rest, unit, length, &mut secs)?;
    }
    if !rest.is_empty() {
        return None;
    }
    let mut rest = time.unwrap_or_default();
    for (unit, length) in [('H', 3600), ('M', 60), ('S', 1)] {
        rest = whole(rest, unit, length, &mut secs)?;
    }
    rest.is_empty().then_some(secs)
}

/// Adds a whole number of a unit, if the text starts with one, and gives what follows.
fn whole<'t>(text: &'t str, unit: char, length: u64, secs: &mut u64) -> Option<&'t str> {
    let Some((number, rest)) = text.split_once(unit) else {
        return Some(text);
    };
    let added = digits(number)?.checked_mul(length)?;
    *secs = secs.checked_add(added)?;
    Some(rest)
}

fn digits(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}
