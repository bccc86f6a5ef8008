//! Which download starts next: the oldest one whose site sends nothing else, within the number of parallel downloads.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::record::{Download, DownloadState, Downloads};
use crate::engine::politeness::host_queue::site_of;

/// Number of failures in a row, without any progress between them, after which a download is not tried again automatically.
pub const FAILURES_MAX: u32 = 12;
/// Pause after the first failure. Each further failure makes the pause four times as long.
const PAUSE_SECONDS: i64 = 1;
/// Maximum pause after a failure.
const PAUSE_SECONDS_MAX: i64 = 3600;

/// Returns the downloads that may start now, oldest first: those that wait, whose pause after a failure is over, whose site sends no
/// other file, and to whose site `may_ask` allows a request. At most `parallel` downloads run together.
pub fn next_to_start(
    downloads: &Downloads,
    now: DateTime<Utc>,
    parallel: usize,
    mut may_ask: impl FnMut(&Download) -> bool,
) -> Vec<u32> {
    let mut free = parallel.saturating_sub(downloads.running.len());
    let mut busy: BTreeSet<String> =
        downloads.running.values().map(|transfer| transfer.site.clone()).collect();
    let mut started = Vec::new();
    for download in waiting(downloads).filter(|download| is_due(download, now)) {
        if free == 0 {
            break;
        }
        let site = site_of(&download.url);
        if !busy.contains(&site) && may_ask(download) {
            busy.insert(site);
            started.push(download.id);
            free = free.saturating_sub(1);
        }
    }
    started
}

/// Returns the downloads that wait for their turn or for the end of a pause.
pub fn waiting(downloads: &Downloads) -> impl Iterator<Item = &Download> {
    downloads.list.values().filter(|download| {
        download.state == DownloadState::Waiting && !downloads.running.contains_key(&download.id)
    })
}

/// Checks whether the pause of a download after a failure is over.
pub fn is_due(download: &Download, now: DateTime<Utc>) -> bool {
    download.retry_at.is_none_or(|at| at <= now)
}

/// Returns the earliest end of a pause after a failure; `None` if no download pauses, or if no more may run.
pub fn next_retry(
    downloads: &Downloads,
    now: DateTime<Utc>,
    parallel: usize,
) -> Option<DateTime<Utc>> {
    if downloads.running.len() >= parallel {
        return None;
    }
    waiting(downloads).filter_map(|download| download.retry_at).filter(|at| now < *at).min()
}

/// Returns the pause after a number of failures in a row.
pub fn pause_after(failures: u32) -> TimeDelta {
    let factor = 4_i64.saturating_pow(failures.saturating_sub(1));
    TimeDelta::seconds(PAUSE_SECONDS.saturating_mul(factor).min(PAUSE_SECONDS_MAX))
}

/// Returns a waiting download of this address, for tests.
#[cfg(any(test, fuzzing))]
pub(crate) fn sample(id: u32, url: &str) -> Download {
    use backissue_core::history::{EntryKey, FeedKey};
    let date = DateTime::UNIX_EPOCH + TimeDelta::days(20_514);
    Download {
        id,
        entry: EntryKey { feed: FeedKey(1), seq: id },
        url: url.to_owned(),
        media_type: Some("audio/mpeg".to_owned()),
        title: format!("Episode {id}"),
        feed_title: "Show".to_owned(),
        date,
        added: date,
        state: DownloadState::Waiting,
        path: None,
        version: crate::engine::downloads::record::FileVersion::default(),
        received: 0,
        is_unencrypted: false,
        failures: 0,
        retry_at: None,
        trouble: None,
        finished: None,
        position: 0,
        duration: None,
        played: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::downloads::record::Transfer;

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_514)
    }

    fn transfer(url: &str) -> Transfer {
        Transfer { site: site_of(url), received: 0, speed: 0, at: now(), from: 0 }
    }

    #[test]
    fn one_file_of_each_site_starts_in_order_of_age() {
        let urls = [
            "https://cdn.a.example/1",
            "https://www.a.example/2",
            "https://b.example/3",
            "https://c.example/4",
            "https://d.example/5",
        ];
        let list = urls.iter().zip(1..).map(|(url, id)| sample(id, url));
        let mut downloads = Downloads::loaded(list.collect());
        let next =
            |downloads: &Downloads, parallel| next_to_start(downloads, now(), parallel, |_| true);
        assert_eq!(next(&downloads, 2), [1, 3]);
        assert_eq!(next(&downloads, 9), [1, 3, 4, 5]);
        downloads.running.insert(3, transfer(urls[2]));
        assert_eq!(next(&downloads, 2), [1]);
        assert_eq!(next(&downloads, 1), [0; 0]);
        let free = next_to_start(&downloads, now(), 9, |download| download.id != 1);
        assert_eq!(free, [2, 4, 5], "the site of 1 has no turn for it, but 2 may be asked");
        downloads.list.get_mut(&1).unwrap().state = DownloadState::Paused;
        downloads.list.get_mut(&4).unwrap().state = DownloadState::Failed;
        downloads.list.get_mut(&5).unwrap().state = DownloadState::Done;
        assert_eq!(next(&downloads, 9), [2]);
    }

    #[test]
    fn a_failed_download_waits_for_the_end_of_its_pause() {
        let mut failed = sample(1, "https://a.example/1");
        failed.retry_at = Some(now() + TimeDelta::seconds(5));
        let downloads = Downloads::loaded(vec![failed]);
        assert!(next_to_start(&downloads, now(), 2, |_| true).is_empty());
        assert_eq!(next_retry(&downloads, now(), 2), Some(now() + TimeDelta::seconds(5)));
        assert_eq!(next_retry(&downloads, now(), 0), None);
        let later = now() + TimeDelta::seconds(5);
        assert_eq!(next_to_start(&downloads, later, 2, |_| true), [1]);
    }

    #[test]
    fn pauses_grow_up_to_an_hour() {
        let pauses = [1, 2, 3, 4, 9, 99].map(|failures| pause_after(failures).num_seconds());
        assert_eq!(pauses, [1, 4, 16, 64, 3600, 3600]);
    }
}
