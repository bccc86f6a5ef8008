//! `backissue export`: all subscriptions as OPML 2.0.

use std::io::Write;

use crate::cli::Done;
use crate::cli::args::{ExportArgs, Options};
use crate::cli::session::{self, Failure};
use crate::engine::feeds::subscription::SavedSubscription;
use crate::feed::opml;
use crate::feed::opml::subscription_list::OpmlFeed;
use crate::io::console;

/// Runs the command. A file is written whole or not at all.
pub(in crate::cli) fn run(options: &Options, args: &ExportArgs) -> Result<Done, Failure> {
    let saved = session::open_store(options)?.subscriptions()?;
    let outlines: Vec<OpmlFeed> = saved.iter().map(build_outline).collect();
    let text = opml::write_opml("Subscriptions of backissue", &outlines);
    match args.file.as_deref().filter(|path| path.as_os_str() != "-") {
        None => console::put(text.trim_end()),
        Some(path) => {
            let cannot = |error: std::io::Error| {
                Failure::new(format!("{} cannot be written: {error}", path.display()))
            };
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
                .unwrap_or(".".as_ref());
            let mut file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
            file.write_all(text.as_bytes()).map_err(cannot)?;
            file.persist(path).map_err(|error| cannot(error.error))?;
            console::tell(&format!("{} subscriptions written to {}", saved.len(), path.display()));
        }
    }
    Ok(Done::All)
}

fn build_outline(saved: &SavedSubscription) -> OpmlFeed {
    OpmlFeed {
        xml_url: saved.record.url.clone(),
        html_url: saved.record.site.clone(),
        title: saved.record.own_title.clone().or_else(|| saved.record.title.clone()),
        tags: saved.record.tags.clone(),
        settings: saved.record.feed_settings.to_opml(),
    }
}
