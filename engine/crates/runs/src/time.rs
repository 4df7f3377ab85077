//! UTC dates from the system clock.
//!
//! Computed by hand: one direction of one formula is needed, and chrono and time bring time zones, formats and parsers with them.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Civil {
    year: i64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
}

/// Proleptic Gregorian date of a day counted from 1970-01-01 (Hinnant, "chrono-compatible low-level date algorithms").
fn civil(seconds: u64) -> Civil {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days from 0000-03-01, so that the leap day is the last of its year.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = (year_of_era + era * 400).cast_signed() + i64::from(month <= 2);
    Civil {
        year,
        month,
        day,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
    }
}

fn seconds(time: SystemTime) -> u64 {
    // A clock before 1970 is broken; the result is then the epoch.
    time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// `2026-11-21T13:15:00Z`.
pub fn rfc3339(time: SystemTime) -> String {
    let c = civil(seconds(time));
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        c.year, c.month, c.day, c.hour, c.minute, c.second
    )
}

/// The current time as [`rfc3339`].
pub fn now_rfc3339() -> String {
    rfc3339(SystemTime::now())
}

/// `20261121T131500Z`: sorts by time, and is a file name everywhere.
pub(crate) fn compact(time: SystemTime) -> String {
    rfc3339(time).replace(['-', ':'], "")
}

/// `20261121T131500Z` back to `2026-11-21T13:15:00Z`.
pub(crate) fn from_compact(text: &str) -> Option<String> {
    let shape = |(at, c): (usize, char)| match at {
        8 => c == 'T',
        15 => c == 'Z',
        _ => c.is_ascii_digit(),
    };
    let fits = text.len() == 16 && text.chars().enumerate().all(shape);
    fits.then(|| {
        let part = |from, to| &text[from..to];
        format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(9, 11),
            part(11, 13),
            part(13, 15)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // `date -u -d @N +%FT%TZ`
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_266_900, "2026-11-21T13:15:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (at, text) in cases {
            let time = UNIX_EPOCH + Duration::from_secs(at);
            assert_eq!(rfc3339(time), text);
            assert_eq!(from_compact(&compact(time)).as_deref(), Some(text));
        }
    }

    #[test]
    fn only_a_compact_time_is_one() {
        for text in [
            "",
            "20261121T131500",
            "2026112ZT31500Z",
            "20261121t131500Z",
            "é0261121T131500Z",
        ] {
            assert_eq!(from_compact(text), None, "{text:?}");
        }
    }
}
