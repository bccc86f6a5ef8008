//! Reads lists of the video channels that a viewer follows: `subscriptions.csv` of Google Takeout, and the export file of
//! `NewPipe`. They contain the page of each channel, from which the address of its feed is derived.

use serde::Deserialize;

use super::build::some;
use super::library::Library;
use crate::feed::address::without_logins;
use crate::feed::discover::feed_address_of;
use crate::feed::opml::subscription_list::BadOutline;
use crate::feed::text::{NAME_MAX, one_line};

/// An export file of `NewPipe`.
#[derive(Deserialize)]
pub(super) struct NewPipe {
    subscriptions: Vec<NewPipeChannel>,
}

#[derive(Deserialize)]
struct NewPipeChannel {
    url: String,
    #[serde(default)]
    name: String,
}

/// Reads an export file of `NewPipe`. If it contains channels of sites without known feeds, they are reported.
pub(super) fn read_newpipe(file: &NewPipe) -> Library {
    let mut library = Library::default();
    for channel in &file.subscriptions {
        add_channel(&mut library, 1, &channel.url, &channel.name);
    }
    library
}

/// Reads a list from Google Takeout. It has a heading in the viewer's language, then a line with the id, page and title of each
/// channel. Returns `None` if the text is not such a list.
pub(super) fn read_takeout(text: &str) -> Option<Library> {
    let lines = || (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (begin, _) = lines().take(2).find(|(_, line)| channel(line).is_some())?;
    let mut library = Library::default();
    for (number, line) in lines().filter(|(number, _)| *number >= begin) {
        let (page, title) = channel(line).unwrap_or((line, ""));
        let quoted = title.strip_prefix('"').and_then(|title| title.strip_suffix('"'));
        let title = quoted.map_or_else(|| title.to_owned(), |title| title.replace("\"\"", "\""));
        add_channel(&mut library, number, page, &title);
    }
    Some(library)
}

/// Returns the page and the title of a channel, as they are written in a line.
fn channel(line: &str) -> Option<(&str, &str)> {
    let (number, rest) = line.trim().split_once(',')?;
    let (page, title) = rest.split_once(',')?;
    let is_meant = number.starts_with("UC") && page.ends_with(&format!("/channel/{number}"));
    is_meant.then_some((page, title))
}

fn add_channel(library: &mut Library, line: usize, page: &str, title: &str) {
    if let Some(feed) = feed_address_of(page) {
        library.add_feed(&feed, some(title), &[]);
    } else {
        let (text, reason) =
            (one_line(&without_logins(page), NAME_MAX), "has no known feed".into());
        library.list.bad.push(BadOutline { text, reason, line });
    }
}
