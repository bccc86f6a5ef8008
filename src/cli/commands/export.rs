//! `backissue export`: all subscriptions as OPML 2.0.

use crate::cli::Done;
use crate::cli::args::ExportArgs;
use crate::cli::desk::Desk;
use crate::cli::session::Failure;
use crate::engine::feeds::subscription::SavedSubscription;
use crate::feed::opml;
use crate::feed::opml::subscription_list::OpmlFeed;

/// Runs the command. A file is written whole or not at all.
pub(in crate::cli) fn run(desk: &Desk, args: &ExportArgs) -> Result<Done, Failure> {
    let saved = desk.look(|store| store.subscriptions())?;
    let outlines: Vec<OpmlFeed> = saved.iter().map(build_outline).collect();
    let text = opml::write_opml("Subscriptions of backissue", &outlines);
    match args.file.as_deref().filter(|path| path.as_os_str() != "-") {
        None => desk.put(text.trim_end()),
        Some(path) => {
            let path = path.to_string_lossy();
            desk.write_file(&path, &mut |file| file.write_all(text.as_bytes()))?;
            desk.tell(&format!("{} subscriptions written to {path}", saved.len()));
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
