//! The markup of the pages for browsers: HTML without scripts, for phones and text browsers. All text of publishers is escaped
//! here, except the texts of entries, which are already clean markup of `html::xhtml`.

use std::fmt::Write as _;

use backissue_core::feed::outgoing::{escaped_attribute, escaped_text};

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("../../../assets/page.css");

/// A list of entries.
#[derive(Debug, Default)]
pub(super) struct ListShown {
    pub heading: String,
    /// The text of the search.
    pub searched: String,
    /// Links to other lists, shown on every page: text, address, and whether it is the current list.
    pub lists: Vec<(String, String, bool)>,
    /// Links to tags: the name with the number of unread entries, the address, and whether it is the current list.
    pub tags: Vec<(String, String, bool)>,
    /// Why the feed of the list is polled when it is, and what is missing of its history.
    pub why: Vec<String>,
    pub rows: Vec<RowShown>,
    /// Text that is shown if there are no rows.
    pub empty: String,
    /// Address of the next page.
    pub older: Option<String>,
    /// The last step of the device, which can be undone: its time and its description.
    pub undo: Option<(String, String)>,
    /// This list as a query, used to return to it.
    pub place: String,
}

/// A row of a list.
#[derive(Debug)]
pub(super) enum RowShown {
    Entry { key: String, title: String, about: String, is_unread: bool, is_starred: bool },
    Gap(String),
    Feed { address: String, title: String, about: String },
}

/// An entry.
#[derive(Debug)]
pub(super) struct EntryShown {
    pub key: String,
    pub title: String,
    /// The text of the entry, as markup from `html::xhtml`.
    pub markup: String,
    pub labels: Vec<String>,
    pub is_leftward: bool,
    pub is_unread: bool,
    pub is_starred: bool,
    pub feed: (String, String),
    pub why: Vec<String>,
    /// The list from which the entry was opened, as a query.
    pub place: String,
}

/// Returns a whole page.
fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{}</title><link rel=\"stylesheet\" href=\"style.css\"></head>\n<body>\n{body}</body></html>\n",
        escaped_text(title)
    )
}

/// Returns the login page. `told` is a message, or empty.
pub(super) fn login(told: &str) -> String {
    let told =
        if told.is_empty() { String::new() } else { format!("<p class=\"told\">{told}</p>\n") };
    let form = "<form method=\"post\" action=\"login\">\n\
        <label>Name of the device <input name=\"Email\" autocomplete=\"username\" required></label>\n\
        <label>Password <input name=\"Passwd\" type=\"password\" autocomplete=\"current-password\" required></label>\n\
        <button>Log in</button></form>\n\
        <p class=\"told\">'backissue device add phone' prints a password for the name 'phone'.</p>\n";
    document("backissue", &format!("<h1>backissue</h1>\n{told}{form}"))
}

fn links(lists: &[(String, String, bool)]) -> String {
    let link = |(text, address, is_here): &(String, String, bool)| {
        let here = if *is_here { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{}\"{here}>{}</a>\n", escaped_attribute(address), escaped_text(text))
    };
    lists.iter().map(link).collect()
}

/// Returns a form with one button. Each form contains the token that identifies it as one of ours.
fn button(action: &str, token: &str, fields: &[(&str, &str)], (set, text): (&str, &str)) -> String {
    let hidden = |(name, value): &(&str, &str)| {
        format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escaped_attribute(value))
    };
    let fields: String = [("T", token)].iter().chain(fields).map(hidden).collect();
    format!(
        "<form method=\"post\" action=\"{action}\">{fields}<button name=\"set\" value=\"{set}\">{text}</button></form>\n"
    )
}

/// Returns the list of reasons, of which the first is always visible.
fn reasons(why: &[String]) -> String {
    let Some((first, more)) = why.split_first() else { return String::new() };
    let item = |line: &String| format!("<li>{}</li>\n", escaped_text(line));
    let items = more.iter().map(item).collect::<Vec<_>>().concat();
    format!("<details><summary>{}</summary>\n<ul>{items}</ul></details>\n", escaped_text(first))
}

/// Returns a list.
pub(super) fn list(shown: &ListShown, token: &str) -> String {
    let mut body = format!("<nav>{}</nav>\n", links(&shown.lists));
    let searched = escaped_attribute(&shown.searched);
    // Writing to a string cannot fail.
    writeln!(
        body,
        "<form action=\"./\"><input name=\"q\" type=\"search\" value=\"{searched}\" aria-label=\"Search\"><button>Search</button></form>"
    )
    .ok();
    if !shown.tags.is_empty() {
        writeln!(body, "<nav class=\"tags\">{}</nav>", links(&shown.tags)).ok();
    }
    writeln!(body, "<h1>{}</h1>\n{}", escaped_text(&shown.heading), reasons(&shown.why)).ok();
    if shown.rows.is_empty() {
        writeln!(body, "<p class=\"told\">{}</p>", escaped_text(&shown.empty)).ok();
    }
    let rows: String = shown.rows.iter().map(|row| row_markup(row, &shown.place)).collect();
    writeln!(body, "<ul class=\"rows\">\n{rows}</ul>").ok();
    if let Some(older) = &shown.older {
        writeln!(body, "<p><a href=\"{}\">Older</a></p>", escaped_attribute(older)).ok();
    }
    let mut fields = vec![("in", shown.place.as_str())];
    fields.extend(shown.rows.iter().filter_map(|row| match row {
        RowShown::Entry { key, is_unread: true, .. } => Some(("i", key.as_str())),
        RowShown::Entry { .. } | RowShown::Gap(_) | RowShown::Feed { .. } => None,
    }));
    if fields.len() > 1 {
        body += &button("mark", token, &fields, ("read", "Mark the entries above as read"));
    }
    if let Some((step, words)) = &shown.undo {
        let fields = [("in", shown.place.as_str()), ("step", step)];
        body +=
            &button("mark", token, &fields, ("undo", &format!("Undo: {}", escaped_text(words))));
    }
    body += &button("logout", token, &[], ("", "Log out"));
    document(&format!("{} – backissue", shown.heading), &body)
}

fn row_markup(row: &RowShown, place: &str) -> String {
    match row {
        RowShown::Entry { key, title, about, is_unread, is_starred } => {
            let class = if *is_unread { " class=\"unread\"" } else { "" };
            let sign = if *is_unread { "● " } else { "" };
            let star = if *is_starred { "★ " } else { "" };
            format!(
                "<li{class}><a href=\"entry?id={key}&amp;in={}\">{sign}{star}{}</a><div>{}</div></li>\n",
                escaped_attribute(&query_value(place)),
                escaped_text(title),
                escaped_text(about)
            )
        }
        RowShown::Gap(text) => format!("<li class=\"gap\">┄ {}</li>\n", escaped_text(text)),
        RowShown::Feed { address, title, about } => format!(
            "<li><a href=\"{}\">{}</a><div>{}</div></li>\n",
            escaped_attribute(address),
            escaped_text(title),
            escaped_text(about)
        ),
    }
}

/// Encodes a value for a query.
pub(super) fn query_value(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Returns an entry.
pub(super) fn entry(shown: &EntryShown, token: &str) -> String {
    let direction = if shown.is_leftward { " dir=\"rtl\"" } else { "" };
    let (feed, address) = &shown.feed;
    let back = format!("./?{}", shown.place);
    let lists =
        [("Back to the list".to_owned(), back, false), (feed.clone(), address.clone(), false)];
    let fields = [("i", shown.key.as_str()), ("in", &shown.place), ("to", "entry")];
    let read =
        if shown.is_unread { ("read", "Mark as read") } else { ("unread", "Mark as unread") };
    let star =
        if shown.is_starred { ("unstarred", "Remove the star") } else { ("starred", "Star") };
    let labels = if shown.labels.is_empty() {
        String::new()
    } else {
        format!("<p class=\"told\">{}</p>\n", escaped_text(&shown.labels.join(", ")))
    };
    let buttons = [read, star].map(|set| button("mark", token, &fields, set)).concat();
    let body = format!(
        "<nav>{}</nav>\n<article{direction}>\n{}</article>\n{labels}<nav>{buttons}</nav>\n{}",
        links(&lists),
        shown.markup,
        reasons(&shown.why)
    );
    document(&shown.title, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_queries_are_no_markup() {
        let wild = "<script>x()</script> <b> \" ' &";
        let list = list(
            &ListShown {
                heading: wild.into(),
                searched: wild.into(),
                lists: vec![(wild.into(), wild.into(), true)],
                tags: vec![(wild.into(), wild.into(), false)],
                why: vec![wild.into(), wild.into()],
                rows: vec![
                    RowShown::Entry {
                        key: "1.2".into(),
                        title: wild.into(),
                        about: wild.into(),
                        is_unread: true,
                        is_starred: true,
                    },
                    RowShown::Gap(wild.into()),
                    RowShown::Feed { address: wild.into(), title: wild.into(), about: wild.into() },
                ],
                older: Some(wild.into()),
                undo: Some((wild.into(), wild.into())),
                place: wild.into(),
                empty: wild.into(),
            },
            "t",
        );
        let entry = entry(
            &EntryShown {
                key: "1.2".into(),
                title: wild.into(),
                markup: String::new(),
                labels: vec![wild.into()],
                is_leftward: true,
                is_unread: true,
                is_starred: false,
                feed: (wild.into(), wild.into()),
                why: vec![wild.into()],
                place: wild.into(),
            },
            "t",
        );
        for page in [list, entry, login("")] {
            // A quotation mark is harmless in a text. In an attribute, it would end the value.
            let ended = "\"&lt;script&gt;x()&lt;/script&gt; &lt;b&gt; \"";
            for markup in ["<script", "<b>", ended, "style=", "onclick"] {
                assert!(!page.contains(markup), "{markup}: {page}");
            }
        }
    }
}
