//! Infers a publisher's time zone from the offsets in its dates (SCHEDULING annex A.5).

use serde::{Deserialize, Serialize};

use crate::feed::Zone;

/// Time zones with daylight saving time, each representing all zones with the same offsets: winter and summer UTC offset in
/// minutes, and the name of the zone.
const SEASONAL: [(i16, i16, &str); 10] = [
    (-480, -420, "America/Los_Angeles"),
    (-420, -360, "America/Denver"),
    (-360, -300, "America/Chicago"),
    (-300, -240, "America/New_York"),
    (0, 60, "Europe/London"),
    (60, 120, "Europe/Berlin"),
    (120, 180, "Europe/Helsinki"),
    (570, 630, "Australia/Adelaide"),
    (600, 660, "Australia/Sydney"),
    (720, 780, "Pacific/Auckland"),
];

/// The last two distinct UTC offsets in a feed's dates, in minutes east.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StampZone {
    newest: Option<i16>,
    before: Option<i16>,
}

impl StampZone {
    /// Records the UTC offset of a date, in minutes.
    pub(super) fn note(&mut self, offset_minutes: i16) {
        if !(-840..=840).contains(&offset_minutes) || self.newest == Some(offset_minutes) {
            return;
        }
        self.before = self.newest;
        self.newest = Some(offset_minutes);
    }

    /// Returns the time zone that the recorded UTC offsets indicate. Two offsets an hour apart are winter and summer time of one
    /// zone. A single offset other than 0 is a fixed zone. An offset of 0 means nothing, because software that does not know the
    /// zone writes 0.
    pub fn zone(&self) -> Option<Zone> {
        let newest = self.newest?;
        let seasonal = self.before.and_then(|before| {
            let pair = (newest.min(before), newest.max(before));
            let named = SEASONAL.iter().find(|(winter, summer, _)| (*winter, *summer) == pair);
            named.map(|(_, _, name)| Zone::Named((*name).to_owned()))
        });
        seasonal.or_else(|| (newest != 0).then_some(Zone::Offset(newest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(offsets: &[i16]) -> Option<Zone> {
        let mut seen = StampZone::default();
        for &offset in offsets {
            seen.note(offset);
        }
        seen.zone()
    }

    #[test]
    fn offsets_reveal_the_time_zone() {
        assert_eq!(zone(&[]), None);
        assert_eq!(zone(&[0, 0]), None);
        assert_eq!(zone(&[330, 330]), Some(Zone::Offset(330)));
        assert_eq!(zone(&[60, 120, 60, 60]), Some(Zone::Named("Europe/Berlin".into())));
        assert_eq!(zone(&[-300, -240]), Some(Zone::Named("America/New_York".into())));
        assert_eq!(zone(&[0, 60]), Some(Zone::Named("Europe/London".into())));
        assert_eq!(zone(&[540, -300]), Some(Zone::Offset(-300)));
        assert_eq!(zone(&[i16::MIN, i16::MAX]), None);
    }

    #[test]
    fn every_named_zone_is_in_the_database_with_these_offsets() {
        use chrono::{Offset, TimeZone};
        for (winter, summer, name) in SEASONAL {
            let zone: chrono_tz::Tz = name.parse().expect("a known zone");
            let offset = |seconds: i64| {
                let at = chrono::DateTime::from_timestamp(seconds, 0).expect("an instant");
                zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc() / 60
            };
            // The zone's UTC offsets on 2026-01-15 and 2026-07-15.
            let mut offsets = [offset(1_768_435_200), offset(1_784_073_600)];
            offsets.sort_unstable();
            assert_eq!(offsets, [i32::from(winter), i32::from(summer)], "{name}");
        }
    }
}
