//! ISO 8601 durations as `std::time::Duration` holds them.

/// Reads `P1DT2H3M4.5S` or `P2W` as seconds and nanoseconds. Years and months have no fixed length, so they are not read.
pub(super) fn parse(text: &str) -> Option<(u64, u32)> {
    let rest = text.strip_prefix('P')?;
    let (date, time) = rest
        .split_once('T')
        .map_or((rest, None), |(date, time)| (date, Some(time)));
    if time == Some("") || rest.is_empty() {
        return None;
    }
    let (mut secs, mut nanos) = (0u64, 0);
    let mut rest = date;
    for (unit, length) in [('W', 604_800), ('D', 86_400)] {
        rest = whole(rest, unit, length, &mut secs)?;
    }
    if !rest.is_empty() {
        return None;
    }
    let mut rest = time.unwrap_or_default();
    for (unit, length) in [('H', 3600), ('M', 60)] {
        rest = whole(rest, unit, length, &mut secs)?;
    }
    if let Some((number, after)) = rest.split_once('S') {
        let (number, fraction) = number.split_once('.').unwrap_or((number, "0"));
        secs = secs.checked_add(digits(number)?)?;
        if fraction.len() > 9 {
            return None;
        }
        nanos = u32::try_from(digits(fraction)?).ok()?;
        for _ in fraction.len()..9 {
            nanos *= 10;
        }
        rest = after;
    }
    rest.is_empty().then_some((secs, nanos))
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
