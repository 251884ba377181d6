//! Validators for the string formats of JSON Schema.
//!
//! [`Format::matches`] is a `const fn`, so that it can check examples at compile time and a model's arguments at run time. It does not allocate.

/// A string format: a format of JSON Schema, the format `ip` of this crate, or an unknown format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `date-time`: an RFC 3339 date and time with an offset.
    DateTime,
    /// `date`: an RFC 3339 full date.
    Date,
    /// `time`: an RFC 3339 full time with an offset.
    Time,
    /// `duration`: an ISO 8601 duration in the grammar of RFC 3339, appendix A.
    Duration,
    /// `email`: an RFC 5321 mailbox.
    Email,
    /// `hostname`: an RFC 1123 host name.
    Hostname,
    /// `ipv4`: an IPv4 address in dotted decimal notation.
    Ipv4,
    /// `ipv6`: an IPv6 address in the text form of RFC 4291.
    Ipv6,
    /// `uuid`: a UUID in the hyphenated text form of RFC 4122.
    Uuid,
    /// `ip`: an IPv4 or an IPv6 address. It is not a JSON Schema format: it describes the texts that a Rust `IpAddr` accepts.
    Ip,
    /// `uri`: an absolute URI. The Rust type of the value parses it, so [`matches`](Self::matches) does not check it.
    Uri,
    /// A format that this crate does not know.
    Unknown(&'static str),
}

impl Format {
    /// Returns the format with this name; an unknown name is kept as [`Unknown`](Self::Unknown).
    pub const fn parse(name: &'static str) -> Self {
        match name.as_bytes() {
            b"date-time" => Self::DateTime,
            b"date" => Self::Date,
            b"time" => Self::Time,
            b"duration" => Self::Duration,
            b"email" => Self::Email,
            b"hostname" => Self::Hostname,
            b"ipv4" => Self::Ipv4,
            b"ipv6" => Self::Ipv6,
            b"uuid" => Self::Uuid,
            b"ip" => Self::Ip,
            b"uri" => Self::Uri,
            _ => Self::Unknown(name),
        }
    }

    /// Returns the name of the format, the value of the keyword `format`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DateTime => "date-time",
            Self::Date => "date",
            Self::Time => "time",
            Self::Duration => "duration",
            Self::Email => "email",
            Self::Hostname => "hostname",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Uuid => "uuid",
            Self::Ip => "ip",
            Self::Uri => "uri",
            Self::Unknown(name) => name,
        }
    }

    /// Returns a noun phrase for the expected value, with its article, for a message to a model.
    pub const fn article_noun(self) -> &'static str {
        match self {
            Self::DateTime => "an RFC 3339 date-time such as 2026-01-31T08:00:00Z",
            Self::Date => "a date such as 2026-01-31",
            Self::Time => "an RFC 3339 time with an offset such as 08:00:00Z",
            Self::Duration => "an ISO 8601 duration such as P1DT2H30M",
            Self::Email => "an email address such as ada@example.com",
            Self::Hostname => "a host name such as api.example.com",
            Self::Ipv4 => "an IPv4 address such as 192.0.2.1",
            Self::Ipv6 => "an IPv6 address such as 2001:db8::1",
            Self::Uuid => "a lower-case hyphenated UUID",
            Self::Ip => "an IPv4 or IPv6 address",
            Self::Uri => "an absolute URI such as https://example.com/a",
            Self::Unknown(_) => "a string in the named format",
        }
    }

    /// Returns whether `text` has this format; [`Uri`](Self::Uri) and [`Unknown`](Self::Unknown) match every text.
    ///
    /// Except in the cases below, the results equal the results of the `jsonschema` crate (draft 2020-12, formats asserted). Where the RFCs allow
    /// several readings, `t` and `z` may be lower case; second 60 is accepted only where the instant is 23:59 in UTC; a fraction has any number of
    /// digits; a UUID may be upper case and of any version; an IPv4 octet has no leading zero; a host name has no trailing dot.
    ///
    /// In these cases, this function is deliberately stricter than that crate, so that it accepts no text that the crate rejects:
    ///
    /// - `hostname`: a label `xn--…` is rejected. Distinguishing valid and invalid A-labels requires Punycode and the
    ///   Unicode category tables.
    /// - `email`: a quoted local part (`"a b"@example.com`), an address literal (`a@[192.0.2.1]`), a display name
    ///   (`Ada <ada@example.com>`), and a domain with an `xn--…` label are rejected.
    /// - `date-time`, `date`, `time`: where a number is expected, only digits are accepted. That crate checks the digits of a whole machine word at
    ///   once, which accepts some signs, such as `+026-01-31`.
    pub const fn matches(self, text: &[u8]) -> bool {
        match self {
            Self::DateTime => {
                text.len() >= 20
                    && (text[10] == b'T' || text[10] == b't')
                    && is_date(text, 10)
                    && is_time(text, 11)
            }
            Self::Date => is_date(text, text.len()),
            Self::Time => is_time(text, 0),
            Self::Duration => is_duration(text),
            Self::Email => is_email(text),
            Self::Hostname => is_hostname(text, 0),
            Self::Ipv4 => is_ipv4(text, 0),
            Self::Ipv6 => is_ipv6(text),
            Self::Uuid => is_uuid(text),
            Self::Ip => is_ipv4(text, 0) || is_ipv6(text),
            Self::Uri | Self::Unknown(_) => true,
        }
    }
}

/// Returns values of a format, for tests. The list of [`Format::Unknown`] is empty, because this crate does not know which values other crates
/// accept.
pub const fn samples(format: Format) -> &'static [&'static str] {
    match format {
        Format::DateTime => &["2026-01-31T08:00:00Z", "2024-02-29T23:59:59.5+02:00"],
        Format::Date => &["2026-01-31", "2024-02-29"],
        Format::Time => &["08:00:00Z", "23:59:59+02:00"],
        Format::Duration => &["P1DT2H30M", "PT1S"],
        Format::Email => &["ada@example.com", "a.b+c@example.co.uk"],
        Format::Hostname => &["api.example.com", "localhost"],
        Format::Ipv4 => &["192.0.2.1", "0.0.0.0"],
        Format::Ipv6 => &["2001:db8::1", "::"],
        Format::Ip => &["192.0.2.1", "2001:db8::1"],
        Format::Uuid => &["123e4567-e89b-12d3-a456-426614174000"],
        Format::Uri => &["https://example.com/a"],
        Format::Unknown(_) => &[],
    }
}

/// Larger than every two-digit number, so that each range check rejects this value.
const NOT_A_NUMBER: u32 = 1_000;

/// Parses the two digits at `at`. The caller has checked that both bytes exist.
const fn two_digits(text: &[u8], at: usize) -> u32 {
    let (tens, ones) = (text[at], text[at + 1]);
    if tens.is_ascii_digit() && ones.is_ascii_digit() {
        (tens - b'0') as u32 * 10 + (ones - b'0') as u32
    } else {
        NOT_A_NUMBER
    }
}

/// Matches `YYYY-MM-DD` in the first `end` bytes.
const fn is_date(text: &[u8], end: usize) -> bool {
    if end != 10 || text[4] != b'-' || text[7] != b'-' {
        return false;
    }
    let (century, year) = (two_digits(text, 0), two_digits(text, 2));
    if century == NOT_A_NUMBER || year == NOT_A_NUMBER {
        return false;
    }
    let days = match two_digits(text, 5) {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        // Leap year: a year divisible by 4; a year that ends in 00 needs a century divisible by 4.
        2 if (if year == 0 { century } else { year }).is_multiple_of(4) => 29,
        2 => 28,
        _ => return false,
    };
    let day = two_digits(text, 8);
    1 <= day && day <= days
}

/// The number of minutes in a day.
const DAY: u32 = 24 * 60;

/// Matches `HH:MM:SS[.fraction](Z|±HH:MM)` from `from` on.
const fn is_time(text: &[u8], from: usize) -> bool {
    let end = text.len();
    if end < from + 9 || text[from + 2] != b':' || text[from + 5] != b':' {
        return false;
    }
    let hour = two_digits(text, from);
    let minute = two_digits(text, from + 3);
    let second = two_digits(text, from + 6);
    if hour > 23 || minute > 59 || second > 60 {
        return false;
    }
    let mut at = from + 8;
    if text[at] == b'.' {
        at += 1;
        let first = at;
        while at < end && text[at].is_ascii_digit() {
            at += 1;
        }
        if at == first || at == end {
            return false;
        }
    }
    let local = hour * 60 + minute;
    let utc = match text[at] {
        b'Z' | b'z' if at + 1 == end => local,
        b'+' | b'-' if at + 6 == end && text[at + 3] == b':' => {
            let (hours, minutes) = (two_digits(text, at + 1), two_digits(text, at + 4));
            if hours > 23 || minutes > 59 {
                return false;
            }
            let offset = hours * 60 + minutes;
            if text[at] == b'+' {
                local + DAY - offset
            } else {
                local + offset
            }
        }
        _ => return false,
    };
    // A leap second is the last second of a day in UTC.
    second < 60 || utc % DAY == DAY - 1
}

/// The units of a duration in their required order, one bit each.
const YEARS: u8 = 1;
const MONTHS: u8 = 1 << 1;
const WEEKS: u8 = 1 << 2;
const DAYS: u8 = 1 << 3;
const HOURS: u8 = 1 << 4;
const MINUTES: u8 = 1 << 5;
const SECONDS: u8 = 1 << 6;

/// Matches `PnYnMnD`, `PTnHnMnS`, both, or `PnW`; in each of the two parts, a unit between two others must not be missing.
const fn is_duration(text: &[u8]) -> bool {
    let end = text.len();
    if end < 3 || text[0] != b'P' {
        return false;
    }
    let mut seen = 0;
    let mut in_time = false;
    let mut at = 1;
    while at < end {
        if text[at] == b'T' {
            if in_time {
                return false;
            }
            in_time = true;
            at += 1;
        }
        let first = at;
        while at < end && text[at].is_ascii_digit() {
            at += 1;
        }
        if at == first || at == end {
            return false;
        }
        let unit = match (text[at], in_time) {
            (b'Y', false) => YEARS,
            (b'M', false) => MONTHS,
            (b'W', false) => WEEKS,
            (b'D', false) => DAYS,
            (b'H', true) => HOURS,
            (b'M', true) => MINUTES,
            (b'S', true) => SECONDS,
            _ => return false,
        };
        // Units must ascend, so none occurs twice.
        if seen >= unit {
            return false;
        }
        seen |= unit;
        at += 1;
    }
    let weeks_alone = seen & WEEKS == 0 || seen == WEEKS;
    let no_month_gap = seen & (YEARS | MONTHS | DAYS) != YEARS | DAYS;
    let no_minute_gap = seen & (HOURS | MINUTES | SECONDS) != HOURS | SECONDS;
    weeks_alone && no_month_gap && no_minute_gap
}

/// Matches a dot-atom, `@` and a host name.
const fn is_email(text: &[u8]) -> bool {
    const LONGEST_LOCAL_PART: usize = 64;
    let mut after_dot = true;
    let mut at = 0;
    while at < text.len() && at <= LONGEST_LOCAL_PART {
        match text[at] {
            b'@' => return !after_dot && is_hostname(text, at + 1),
            b'.' if after_dot => return false,
            b'.' => after_dot = true,
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'!'
            | b'#'..=b'\''
            | b'*'
            | b'+'
            | b'-'
            | b'/'
            | b'='
            | b'?'
            | b'^'..=b'`'
            | b'{'..=b'~' => after_dot = false,
            _ => return false,
        }
        at += 1;
    }
    false
}

/// Matches labels of letters, digits and inner hyphens from `from` on.
const fn is_hostname(text: &[u8], from: usize) -> bool {
    const LONGEST_NAME: usize = 253;
    const LONGEST_LABEL: usize = 63;
    let end = text.len();
    if end - from > LONGEST_NAME {
        return false;
    }
    let mut start = from;
    let mut at = from;
    loop {
        if at == end || text[at] == b'.' {
            let length = at - start;
            if length == 0
                || length > LONGEST_LABEL
                || text[start] == b'-'
                || text[at - 1] == b'-'
                // RFC 5891 reserves hyphens in the third and fourth position for A-labels.
                || (length >= 4 && text[start + 2] == b'-' && text[start + 3] == b'-')
            {
                return false;
            }
            if at == end {
                return true;
            }
            start = at + 1;
        } else if !text[at].is_ascii_alphanumeric() && text[at] != b'-' {
            return false;
        }
        at += 1;
    }
}

/// Matches four decimal octets without leading zeros from `from` on.
const fn is_ipv4(text: &[u8], from: usize) -> bool {
    let end = text.len();
    let mut at = from;
    let mut octets = 0;
    while octets < 4 {
        if octets > 0 {
            if at == end || text[at] != b'.' {
                return false;
            }
            at += 1;
        }
        let first = at;
        let mut octet = 0;
        while at < end && text[at].is_ascii_digit() {
            octet = octet * 10 + (text[at] - b'0') as u32;
            at += 1;
            if octet > 255 || at - first > 3 {
                return false;
            }
        }
        if at == first || (text[first] == b'0' && at - first > 1) {
            return false;
        }
        octets += 1;
    }
    at == end
}

/// Matches eight groups; `::` may replace one or more of them once, and an IPv4 address may replace the last two.
const fn is_ipv6(text: &[u8]) -> bool {
    let end = text.len();
    let mut at = 0;
    let mut groups = 0;
    let mut shortened = end >= 2 && text[0] == b':' && text[1] == b':';
    if shortened {
        at = 2;
    }
    while at < end {
        let first = at;
        while at < end && text[at].is_ascii_hexdigit() {
            at += 1;
        }
        let digits = at - first;
        if digits == 0 || digits > 4 {
            return false;
        }
        if at == end {
            groups += 1;
            break;
        }
        if text[at] == b'.' {
            groups += 2;
            if !is_ipv4(text, first) {
                return false;
            }
            break;
        }
        groups += 1;
        at += 1;
        if text[at - 1] != b':' || at == end {
            return false;
        }
        if text[at] == b':' {
            if shortened {
                return false;
            }
            shortened = true;
            at += 1;
        }
    }
    if shortened { groups <= 7 } else { groups == 8 }
}

/// Matches `8-4-4-4-12` hexadecimal digits in either case.
const fn is_uuid(text: &[u8]) -> bool {
    if text.len() != 36 {
        return false;
    }
    let mut at = 0;
    while at < 36 {
        let fits = match at {
            8 | 13 | 18 | 23 => text[at] == b'-',
            _ => text[at].is_ascii_hexdigit(),
        };
        if !fits {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::Format;

    /// Examples are checked in const evaluation, so the validators must run there as well.
    const _: () = assert!(Format::parse("date-time").matches(b"2026-01-31T08:00:00Z"));
    const _: () = assert!(!Format::parse("ipv6").matches(b"1::2::3"));

    /// The table contains texts that the `jsonschema` crate (0.60) accepts and rejects. The texts that only this crate rejects are the last rejected
    /// texts of a row.
    #[test]
    fn each_format_accepts_and_refuses_the_texts_of_its_row() {
        for (format, accepted, refused) in TABLE {
            for text in *accepted {
                assert!(
                    format.matches(text.as_bytes()),
                    "{}: {text:?}",
                    format.name()
                );
            }
            for text in *refused {
                assert!(
                    !format.matches(text.as_bytes()),
                    "{}: {text:?}",
                    format.name()
                );
            }
        }
    }

    #[test]
    fn hostname_and_email_lengths_are_limited() {
        let label = "a".repeat(63);
        let name = format!("{label}.{label}.{label}.{}", &label[..61]);
        assert_eq!(name.len(), 253);
        assert!(Format::Hostname.matches(name.as_bytes()));
        assert!(!Format::Hostname.matches(format!("{name}a").as_bytes()));
        assert!(!Format::Hostname.matches(format!("{label}a").as_bytes()));
        assert!(Format::Email.matches(format!("a{label}@b.c").as_bytes()));
        assert!(!Format::Email.matches(format!("ab{label}@b.c").as_bytes()));
        assert!(Format::Email.matches(format!("a@{name}").as_bytes()));
        assert!(!Format::Email.matches(format!("a@{name}a").as_bytes()));
    }

    #[test]
    fn format_names_are_parsed() {
        for (format, ..) in TABLE {
            assert_eq!(Format::parse(format.name()), *format);
        }
        assert_eq!(Format::parse("uri"), Format::Uri);
        assert_eq!(Format::parse("idn-email"), Format::Unknown("idn-email"));
        assert_eq!(Format::Unknown("idn-email").name(), "idn-email");
        assert!(Format::Uri.matches(b"") && Format::Unknown("x").matches(b""));
    }

    type Row = (Format, &'static [&'static str], &'static [&'static str]);

    #[rustfmt::skip]
    const TABLE: &[Row] = &[
        (Format::DateTime, &[
            "2026-01-31T08:00:00Z", "2026-01-31t08:00:00z", "2024-02-29T00:00:00.123456789012Z",
            "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00", "2026-01-31T08:00:00+01:00",
            "2026-01-31T08:00:00-00:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.9-23:59",
            "2026-01-31T00:59:60+01:00",
        ], &[
            "", "T", "2026-01-31T", "T08:00:00Z", "2026-01-31T08:00:00", "2026-01-31 08:00:00Z",
            "2026-01-31T08:00Z", "2026-01-31T08:00:00+0100", "2026-01-31T24:00:00Z",
            "2026-01-31T08:60:00Z", "2026-01-31T08:00:61Z", "2026-01-31T08:00:00.Z",
            "2026-02-29T08:00:00Z", "2026-1-31T08:00:00Z", "12026-01-31T08:00:00Z",
            "2026-01-31T08:00:00+24:00", "1998-12-31T23:58:60Z", "2026-01-31T08:00:00Z ",
            "2026-01-31", "+026-01-31T08:00:00Z",
        ]),
        (Format::Date, &[
            "2026-01-31", "2024-02-29", "2000-02-29", "0000-02-29", "0400-02-29", "2026-04-30",
            "2026-12-31", "9999-09-30", "1900-02-28", "2100-02-28",
        ], &[
            "", "2023-02-29", "1900-02-29", "2100-02-29", "2004-02-30", "2026-04-31", "2026-06-31",
            "2026-09-31", "2026-11-31", "2026-00-10", "2026-13-10", "2026-10-00", "2026-12-32",
            "2026/01/31", "20260131", "2026-1-31", "2026-001", "2026-01-31Z", " 2026-01-31",
            "+026-01-31", "२26-01-31",
        ]),
        (Format::Time, &[
            "08:00:00Z", "08:00:00z", "23:59:59Z", "23:59:60Z", "00:59:60+01:00", "15:59:60-08:00",
            "08:00:00.0Z", "08:00:00.123456789+02:30", "08:00:00-23:59", "23:29:60-00:30",
            "00:29:60+00:30", "01:29:60+01:30",
        ], &[
            "", "08:00:00", "08:00Z", "8:00:00Z", "08:00:00.Z", "08:00:00.5", "08:00:00,1Z",
            "24:00:00Z", "08:60:00Z", "08:00:61Z", "08:00:00+1:00", "08:00:00+0100",
            "08:00:00+24:00", "08:00:00+23:60", "08:00:00ZZ", "08-00-00Z", "08:00:00 Z",
            "23:58:60Z", "22:59:60Z", "15:59:60+08:00", "00:00:60+00:00", "0+:00:00Z",
        ]),
        (Format::Duration, &[
            "P1D", "P4DT12H30M5S", "PT0S", "P0D", "P1Y", "P1M", "P2W", "PT1M", "PT36H", "P1DT12H",
            "P1Y2M3DT4H5M6S", "P1YT1H", "P1M1D", "PT1M1S", "P99999999999999999999D",
        ], &[
            "", "P", "PT", "P1", "1D", "p1d", "P1d", "P1YT", "P1DT", "P1Y2W", "P1W1D", "P1D1W",
            "P1WT1H", "PT1D", "P1H", "P1S", "PT1W", "P1Y3D", "PT1H3S", "PT3M1H", "P1D1D", "P1M1Y",
            "PTT1H", "PT1HT1M", "P1.5D", "PT1.5S", "P-1D", "-P1D", "P1D ", " P1D", "P 1D",
        ]),
        (Format::Email, &[
            "ada@example.com", "a@b", "a.b@c.d", "A@B.C", "1@2.3", "ada+tag@mail.example.com",
            "!#$%&'*+-/=?^_`{|}~@x.y", "a@a-b.c", "a@a--b.c",
        ], &[
            "", "a", "@", "a@", "@b", "a..b@c.d", ".a@b.c", "a.@b.c", "a@b..c", "a@.b", "a@b.",
            "a@-b", "a@b-", "a@b_c", "a@b@c", "a b@c.d", "a(b)@c.d", "a,b@c.d", "a:b@c.d",
            "a;b@c.d", "a\\b@c.d", "a@b.c\n", "é@c.d", "a@é.d", "<ada@example.com>", "a@ab--cd.ch",
            "\"a b\"@c.d", "a@[127.0.0.1]", "a@[IPv6:::1]", "Ada <ada@example.com>",
            "a@xn--bcher-kva.ch",
        ]),
        (Format::Hostname, &[
            "example.com", "a", "A.B", "a-b.c", "1", "1.2.3.4", "a--b", "abc--d", "0-0",
        ], &[
            "", ".", "a.", ".a", "a..b", "-a.b", "a-.b", "-", "a_b", "a b", "é.com", "a。b", "a:1",
            "http://a", "a/b", "ab--cd", "aa--", "a---b", "xn--", "xn--X", "XN--bcher-kva", "xn--bcher-kva",
            "xn--bcher-kva.example",
        ]),
        (Format::Ipv4, &[
            "127.0.0.1", "0.0.0.0", "255.255.255.255", "87.10.0.1", "1.2.3.4",
        ], &[
            "", "256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.04", "00.0.0.0", "1..2.3",
            "1.2.3.", "...", "0x7f.0.0.1", "2130706433", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4/24",
            "1.2.3.a", "-1.2.3.4", "+1.2.3.4", "1.2.3.1000", "1.2.3.99999999999", "१.2.3.4",
        ]),
        (Format::Ipv6, &[
            "::", "::1", "1::", "2001:db8::1", "1:2:3:4:5:6:7:8", "ABCD:EF01::",
            "0000:0000:0000:0000:0000:0000:0000:0001", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
            "1::4:5:6:1.2.3.4", "::ffff:0:255.255.255.255", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
            "1::3:4:5:6:7:8", "1:2:3:4::6:7:8",
        ], &[
            "", ":", ":::", "1", ":1", "1:", "::1:", "1:::2", "1::2::3", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "1:2:3:4::5:6:7:8", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
            "12345::", "::12345", "::g", "1.2.3.4", "1.2.3.4::", "::1.2.3", "::1.2.3.4.5",
            "::256.1.1.1", "::01.1.1.1", "::a.1.1.1", "::1.2.3.4:5", "1:2:3:4:5:1.2.3.4",
            "1:2:3:4:5:6:7:1.2.3.4", "1::3:4:5:6:7:1.2.3.4", "fe80::1%eth0", "[::1]", "::1/64",
            "::1 ",
        ]),
        (Format::Uuid, &[
            "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
            "2eb8aa08-AA98-11ea-B4Aa-73B441D16380", "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ], &[
            "", "2eb8aa08-aa98-11ea-73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "2eb8aa08-aa98-11ea-b4aa-73b441d163800", "2eb8aa08aa9811eab4aa73b441d16380",
            "2eb8aa08aa98-11ea-b4aa73b441d16380----", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380",
            "gggggggg-gggg-gggg-gggg-gggggggggggg", "{2eb8aa08-aa98-11ea-b4aa-73b441d1638}",
            "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638 ",
        ]),
        (Format::Ip, &[
            "127.0.0.1", "::1", "::1.2.3.4",
        ], &[
            "", "localhost", "1.2.3", "127.0.0.1:80", "[::1]",
        ]),
    ];
}
