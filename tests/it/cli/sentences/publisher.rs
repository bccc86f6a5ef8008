//! A random publisher: what it states about polling, and the documents at its addresses.

use chrono::{DateTime, TimeDelta, Utc};

use crate::support::dice::Dice;

/// A publisher with one feed, its statements about polling, and its archives.
#[derive(Debug, Clone)]
pub(super) struct Publisher {
    pub(super) number: usize,
    /// Error status that the publisher sends instead of the subscription document.
    pub(super) refuses: Option<u16>,
    pub(super) ttl_minutes: Option<i64>,
    /// `sy:updateFrequency`, for the `sy:updatePeriod` "daily".
    pub(super) times_a_day: Option<i64>,
    pub(super) max_age_seconds: Option<i64>,
    /// Hours between two consecutive entries.
    pub(super) step_hours: i64,
    /// Number of entries in the subscription document.
    pub(super) entries: i64,
    /// Number of entries in each archive, newest archive first; `None` means that requests for the archive are answered with 403.
    pub(super) archives: Vec<Option<i64>>,
    pub(super) now: DateTime<Utc>,
}

impl Publisher {
    pub(super) fn thrown(dice: &mut Dice, number: usize, now: DateTime<Utc>) -> Self {
        let mut maybe = |least, most, cases| dice.one_in(cases).then(|| dice.between(least, most));
        let (ttl_minutes, times_a_day) = (maybe(20, 600, 3), maybe(1, 24, 3));
        let max_age_seconds = maybe(60, 20_000, 2);
        let archives = maybe(1, 4, 2).unwrap_or(0);
        let refuses = dice.one_in(6).then(|| if dice.one_in(2) { 403 } else { 503 });
        let archive = |_| (!dice.one_in(4)).then(|| dice.between(1, 6));
        let archives = (0..archives).map(archive).collect();
        let (step_hours, entries) = (dice.between(1, 60), dice.between(2, 20));
        Self {
            number,
            refuses,
            ttl_minutes,
            times_a_day,
            max_age_seconds,
            step_hours,
            entries,
            archives,
            now,
        }
    }

    pub(super) fn path(&self) -> String {
        format!("/{}", self.number)
    }

    pub(super) fn archive_path(&self, place: usize) -> String {
        format!("/{}/{}", self.number, self.archives.len() - place)
    }

    /// Returns the date of the entry at a position in the whole feed; position 0 is the newest entry.
    pub(super) fn date(&self, place: i64) -> DateTime<Utc> {
        self.now - TimeDelta::hours(1 + place * self.step_hours)
    }

    /// Returns the positions that an archive's entries have in the whole feed, counted from the newest entry.
    pub(super) fn places(&self, archive: usize) -> std::ops::Range<i64> {
        let before: i64 = self.archives[..archive].iter().map(|count| count.unwrap_or(3)).sum();
        let first = self.entries + before;
        first..first + self.archives[archive].unwrap_or(3)
    }

    pub(super) fn document(
        &self,
        places: std::ops::Range<i64>,
        older: Option<String>,
        marks: &str,
    ) -> String {
        let item = |place: i64| {
            let date = self.date(place).to_rfc2822();
            format!(
                "<item><guid isPermaLink='false'>e{place}</guid><title>E</title><link>https://a.example/{place}</link>\
                 <pubDate>{date}</pubDate></item>"
            )
        };
        let items: String = places.map(item).collect();
        let ttl = self.ttl_minutes.map(|ttl| format!("<ttl>{ttl}</ttl>")).unwrap_or_default();
        let sy = self.times_a_day.map(|times| {
            format!("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>{times}</sy:updateFrequency>")
        });
        let older = older.map(|path| format!("<atom:link rel='prev-archive' href='{path}'/>"));
        format!(
            "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0' \
             xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel><title>Feed {}</title>\
             <link>https://a.example/</link><description>D</description>{marks}{ttl}{}{}{items}</channel></rss>",
            self.number,
            sy.unwrap_or_default(),
            older.unwrap_or_default(),
        )
    }

    /// Returns the document at a path, or the error status of the response.
    pub(super) fn body(&self, path: &str) -> Result<String, u16> {
        let older = |place: usize| (place < self.archives.len()).then(|| self.archive_path(place));
        if path == self.path() {
            return match self.refuses {
                Some(status) => Err(status),
                None => Ok(self.document(0..self.entries, older(0), "")),
            };
        }
        let place = (0..self.archives.len()).find(|&place| path == self.archive_path(place));
        let place = place.ok_or(404_u16)?;
        if self.archives[place].is_none() {
            return Err(403);
        }
        let marks = format!("<fh:archive/><atom:link rel='current' href='{}'/>", self.path());
        Ok(self.document(self.places(place), older(place + 1), &marks))
    }

    /// Returns how many archives a walk from the newest one can read before it reaches an archive that is answered with 403.
    pub(super) fn readable(&self) -> usize {
        self.archives.iter().take_while(|count| count.is_some()).count()
    }

    /// Returns the number of entries that the program can read: those in the subscription document and in the readable archives.
    pub(super) fn kept(&self) -> i64 {
        match self.refuses {
            Some(_) => 0,
            None => self.entries + self.archives.iter().map_while(|count| *count).sum::<i64>(),
        }
    }

    /// Returns the polling interval that the publisher states with `sy` or `ttl`, in seconds.
    pub(super) fn stated_interval(&self) -> Option<i64> {
        let sy = self.times_a_day.map(|times| 86_400 / times);
        sy.or_else(|| self.ttl_minutes.map(|minutes| minutes * 60))
    }
}
