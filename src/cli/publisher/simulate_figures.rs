//! The figures of `backissue simulate --figure`.

use std::path::Path;

use chrono_tz::Tz;

use super::simulate::for_each_feed;
use crate::cli::args_simulate::FigureChoice;
use crate::io::named_files::{FileKind, NamedFile};
use backissue_core::feed::text::{counted_words, one_line};
use backissue_core::simulate::{Activity, Conditions, DelayCurve, FigurePage, SimulatedFeed};

/// Maximum length of a feed's title above a figure, in characters: the whole line has at most 80.
const SUBJECT_MAX: usize = 28;

/// Computes the figures of feeds. `each` is called after each feed, and returns `false` to stop.
pub(super) fn page(
    choice: FigureChoice,
    sources: &[SimulatedFeed],
    conditions: &Conditions,
    zone: Tz,
    each: &mut dyn FnMut() -> bool,
) -> FigurePage {
    let subject = match sources {
        [only] => one_line(&only.name, SUBJECT_MAX),
        feeds => counted_words(feeds.len(), "feed", "feeds"),
    };
    let activity = (choice != FigureChoice::Delay).then(|| Activity::of(sources, zone));
    let delays = (choice != FigureChoice::Activity).then(|| {
        let work = |source: &SimulatedFeed| DelayCurve::of_feed(source, conditions);
        let curves = for_each_feed(sources, work, &mut |_| each());
        DelayCurve::mean(&curves.into_iter().flatten().collect::<Vec<_>>())
    });
    FigurePage { subject, zone: zone.name().to_owned(), activity, delays }
}

/// Returns the file to which the figures are written.
pub(super) fn svg_file(path: &Path, force: bool) -> NamedFile {
    NamedFile { path: path.to_string_lossy().into_owned(), kind: FileKind::Figures, force }
}
