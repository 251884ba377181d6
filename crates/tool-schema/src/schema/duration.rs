//! The ISO 8601 grammar of `std::time::Duration`, the same in the schema and in the guard.

use crate::schema::format::Format;

/// Maximum number of digits of one number, so that no sum overflows.
const MOST_DIGITS: usize = 9;

/// The grammar of [`seconds`] as a regular expression. The format `duration` alone would also accept years and months.
pub(super) const PATTERN: &str = "^P([0-9]{1,9}W|[0-9]{1,9}D|([0-9]{1,9}D)?T([0-9]{1,9}H([0-9]{1,9}M([0-9]{1,9}S)?)?|[0-9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S))$";

/// The grammar of [`seconds`] as text for a model.
pub(super) const WORDS: &str = "Format: ISO 8601 duration such as PT1M30S, of weeks or of days, hours, minutes and seconds, without years, months and fractions.";

/// Parses a duration such as `P1DT2H3M4S` or `P2W` into seconds. The function rejects years and months, which have no fixed
/// length, and fractions, which the format `duration` of JSON Schema (RFC 3339, appendix A) does not have.
pub(crate) const fn seconds(text: &[u8]) -> Option<u64> {
    if !Format::Duration.matches(text) {
        return None;
    }
    let (mut total, mut number, mut digits) = (0, 0, 0);
    let mut in_time = false;
    let mut at = 1;
    let at_end = text.len();
    while at < at_end {
        match (text[at], in_time) {
            (b'T', _) => in_time = true,
            (digit @ b'0'..=b'9', _) => {
                digits += 1;
                if digits > MOST_DIGITS {
                    return None;
                }
                number = number * 10 + (digit - b'0') as u64;
            }
            (unit, _) => {
                total += number
                    * match (unit, in_time) {
                        (b'W', false) => 604_800,
                        (b'D', false) => 86_400,
                        (b'H', true) => 3_600,
                        (b'M', true) => 60,
                        (b'S', true) => 1,
                        _ => return None,
                    };
                (number, digits) = (0, 0);
            }
        }
        at += 1;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::{PATTERN, seconds};
    use crate::schema::Pattern;

    // The schema of a `Duration` rejects the texts that the guard rejects, such as `P1Y`.
    #[test]
    fn duration_pattern_matches_exactly_what_parses() {
        let pattern = Pattern::new(PATTERN);
        let pieces = [
            "",
            "5Y",
            "5M",
            "5W",
            "5D",
            "5H",
            "5S",
            "T",
            "1234567890S",
            ".5",
            "P",
            "6",
        ];
        let mut texts = vec![String::from("P")];
        for _ in 0..4 {
            let longer = texts
                .iter()
                .flat_map(|text| pieces.map(|piece| format!("{text}{piece}")));
            texts = longer.collect();
            texts.sort_unstable();
            texts.dedup();
        }
        texts.extend(
            [
                "P1DT2H3M4S",
                "P999999999DT999999999H",
                "PT1H2S",
                "P1WT1S",
                "P1W1D",
            ]
            .map(String::from),
        );
        let mut read = 0;
        for text in &texts {
            let is_read = seconds(text.as_bytes()).is_some();
            assert_eq!(pattern.is_match(text), is_read, "{text}");
            read += usize::from(is_read);
        }
        assert!(read > 20, "{read} of {}", texts.len());
        assert_eq!(seconds(b"P1DT2H3M4S"), Some(93_784));
        assert_eq!(seconds(b"P999999999W"), Some(604_799_999_395_200));
    }
}
