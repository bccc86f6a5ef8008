//! A publisher's documents: the same entries written in each of the feed formats.

use std::fmt::Write as _;
use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Dates, Fault, Form, Offer, Publisher};

/// The content of a document that is to be written.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Numbers of the document's entries, newest first.
    pub items: Vec<usize>,
    /// Elements that mark the document as complete or as an archive.
    pub marks: &'static str,
    /// Links in the document's head: relation and address.
    pub links: Vec<(&'static str, String)>,
    /// Address of an older page, for JSON Feed.
    pub next: Option<String>,
}

impl Publisher {
    /// Returns the document at the subscribed address. A delta has only the entries numbered `from` or higher.
    pub fn subscription(&self, at: DateTime<Utc>, from: usize) -> Page {
        let mut items = self.items_by(at);
        items.reverse();
        let mut page = Page::default();
        match self.offer {
            Offer::Nothing => items.truncate(self.window),
            Offer::Complete => {
                items.truncate(self.window);
                page.marks = "<fh:complete/>";
            }
            Offer::Pages => {
                page.next = (items.len() > self.window).then(|| self.page_address(at, 1));
                items.truncate(self.window);
                page.links.extend(page.next.iter().map(|next| ("next", next.clone())));
            }
            Offer::Archives { entries, .. } => {
                let out = self.items.iter().take_while(|item| item.at <= at).count();
                let archives = out.saturating_sub(self.window) / entries;
                items.retain(|item| *item >= archives * entries);
                if let Some(newest) = archives.checked_sub(1) {
                    page.links.push(("prev-archive", self.archive_address(at, newest)));
                }
            }
        }
        items.retain(|item| *item >= from);
        page.items = items;
        page
    }

    /// Returns the number of archives that exist at `at`.
    pub fn archives(&self, at: DateTime<Utc>) -> usize {
        let out = self.items.iter().take_while(|item| item.at <= at).count();
        match self.offer {
            Offer::Archives { entries, .. } => out.saturating_sub(self.window) / entries,
            Offer::Nothing | Offer::Complete | Offer::Pages => 0,
        }
    }

    /// Returns the archive with this number; `None` if it does not exist at `at`.
    pub fn archive(&self, at: DateTime<Utc>, number: usize) -> Option<Page> {
        let Offer::Archives { entries, .. } = self.offer else { return None };
        let newest = self.archives(at).checked_sub(1)?;
        if number > newest {
            return None;
        }
        let range: Range<usize> = number * entries..(number + 1) * entries;
        let mut items = self.items_by(at);
        items.retain(|item| range.contains(item));
        items.reverse();
        let mut links = Vec::new();
        if let Some(older) = number.checked_sub(1) {
            links.push(("prev-archive", self.archive_address(at, older)));
        }
        if number < newest {
            links.push(("next-archive", self.archive_address(at, number + 1)));
        }
        Some(Page { items, marks: "<fh:archive/>", links, next: None })
    }

    /// Returns the older page with this number.
    pub fn older_page(&self, at: DateTime<Utc>, number: usize) -> Page {
        let mut items = self.items_by(at);
        items.reverse();
        let more = items.len() > (number + 1) * self.window;
        let items: Vec<usize> =
            items.into_iter().skip(number * self.window).take(self.window).collect();
        let next = more.then(|| self.page_address(at, number + 1));
        let links = next.iter().map(|next| ("next", next.clone())).collect();
        Page { items, links, next, ..Page::default() }
    }

    /// Returns the address of an archive. The address of the newest archive may change with each entry.
    fn archive_address(&self, at: DateTime<Utc>, number: usize) -> String {
        let edition = match self.offer {
            Offer::Archives { churns: true, .. } if number + 1 == self.archives(at) => {
                self.items.iter().take_while(|item| item.at <= at).count()
            }
            Offer::Archives { .. } | Offer::Nothing | Offer::Complete | Offer::Pages => 0,
        };
        format!("https://{}/p{}/archive/{number}-{edition}", self.host, self.number)
    }

    fn page_address(&self, _at: DateTime<Utc>, number: usize) -> String {
        format!("https://{}/p{}/page/{number}", self.host, self.number)
    }

    /// Returns the id of an entry, which a fault may have changed by `at`.
    pub fn id_of(&self, at: DateTime<Utc>, item: usize) -> String {
        let renamed =
            self.episodes.iter().filter(|it| it.fault == Fault::OtherIds && it.from <= at);
        match renamed.count() {
            0 => format!("tag:p{},2026:{item}", self.number),
            times => format!("tag:p{},2026:{times}:{item}", self.number),
        }
    }

    /// Writes a document as text in the publisher's format.
    pub fn write(&self, at: DateTime<Utc>, page: &Page) -> String {
        let hints = self.hints.iter().rev().find(|(since, _)| *since <= at);
        let hints = hints.map_or("", |(_, markup)| markup.as_str());
        match self.form {
            Form::Rss => self.rss(at, page, hints),
            Form::Atom => self.atom(at, page, hints),
            Form::Rdf => self.rdf(at, page, hints),
            Form::Json => self.json(at, page),
        }
    }

    fn head_links(page: &Page) -> String {
        let link = |(relation, address): &(&str, String)| {
            format!(
                "<link xmlns=\"http://www.w3.org/2005/Atom\" rel=\"{relation}\" href=\"{address}\"/>"
            )
        };
        let marks = page
            .marks
            .replace("fh:", "h:")
            .replace("/>", " xmlns:h=\"http://purl.org/syndication/history/1.0\"/>");
        page.links.iter().map(link).chain([marks]).collect()
    }

    fn rss(&self, at: DateTime<Utc>, page: &Page, hints: &str) -> String {
        let mut items = String::new();
        for item in self.shown(at, page) {
            let date = item.published.map_or_else(String::new, |date| {
                format!("<pubDate>{}</pubDate>", date.to_rfc2822())
            });
            let Shown { id, title, text, link, .. } = item;
            write!(items, "<item><guid isPermaLink=\"false\">{id}</guid><title>{title}</title><link>{link}</link>{date}<description>{text}</description></item>").unwrap();
        }
        let (number, links) = (self.number, Self::head_links(page));
        format!(
            "<rss version=\"2.0\"><channel><title>Press {number}</title><link>https://{}/</link><description/>{hints}{links}{items}</channel></rss>",
            self.host
        )
    }

    fn rdf(&self, at: DateTime<Utc>, page: &Page, hints: &str) -> String {
        let mut items = String::new();
        for Shown { id, title, text, link, published, .. } in self.shown(at, page) {
            let date = published.map_or_else(String::new, |date| {
                format!(
                    "<date xmlns=\"http://purl.org/dc/elements/1.1/\">{}</date>",
                    date.to_rfc3339()
                )
            });
            write!(items, "<item rdf:about=\"{id}\"><title>{title}</title><link>{link}</link>{date}<description>{text}</description></item>").unwrap();
        }
        let (number, links) = (self.number, Self::head_links(page));
        format!(
            "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\"><channel rdf:about=\"https://{}/\"><title>Press {number}</title>{hints}{links}</channel>{items}</rdf:RDF>",
            self.host
        )
    }

    fn atom(&self, at: DateTime<Utc>, page: &Page, hints: &str) -> String {
        let mut items = String::new();
        for Shown { id, title, text, link, published, updated } in self.shown(at, page) {
            let date = |name: &str, date: Option<DateTime<Utc>>| {
                date.map_or_else(String::new, |date| {
                    format!("<{name}>{}</{name}>", date.to_rfc3339())
                })
            };
            let dates = [date("published", published), date("updated", updated)].concat();
            write!(items, "<entry><id>{id}</id><title>{title}</title><link href=\"{link}\"/>{dates}<content>{text}</content></entry>").unwrap();
        }
        let (number, links) = (self.number, Self::head_links(page));
        let updated = self.changed(at).to_rfc3339();
        format!(
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>urn:press:{number}</id><title>Press {number}</title><updated>{updated}</updated>{hints}{links}{items}</feed>"
        )
    }

    fn json(&self, at: DateTime<Utc>, page: &Page) -> String {
        let item = |item: Shown| {
            let mut json = serde_json::json!({
                "id": item.id, "url": item.link, "title": item.title, "content_html": item.text,
            });
            if let Some(date) = item.published {
                json["date_published"] = date.to_rfc3339().into();
            }
            if let Some(date) = item.updated {
                json["date_modified"] = date.to_rfc3339().into();
            }
            json
        };
        let items: Vec<_> = self.shown(at, page).into_iter().map(item).collect();
        let mut json = serde_json::json!({
            "version": "https://jsonfeed.org/version/1.1",
            "title": format!("Press {}", self.number),
            "items": items,
        });
        if let Some(next) = &page.next {
            json["next_url"] = next.clone().into();
        }
        json.to_string()
    }

    fn shown(&self, at: DateTime<Utc>, page: &Page) -> Vec<Shown> {
        page.items.iter().map(|item| self.shown_item(at, *item)).collect()
    }

    fn shown_item(&self, at: DateTime<Utc>, number: usize) -> Shown {
        let item = &self.items[number];
        let edited = item.edited.filter(|edited| *edited <= at);
        let again = if edited.is_some() { ", corrected" } else { "" };
        let future = self.dates == Dates::Future && number.is_multiple_of(5);
        let stated = if future { item.at + TimeDelta::days(900) } else { item.at };
        Shown {
            id: self.id_of(at, number),
            title: format!("Entry {number} of press {}{again}", self.number),
            text: format!("What was heard of {number} on that day{again}."),
            link: format!("https://{}/p{}/entry/{number}", self.host, self.number),
            published: (self.dates != Dates::None).then_some(stated),
            updated: (self.dates == Dates::WithUpdates).then(|| edited.unwrap_or(item.at)),
        }
    }
}

/// An entry's fields as they appear in a document.
struct Shown {
    id: String,
    title: String,
    text: String,
    link: String,
    published: Option<DateTime<Utc>>,
    updated: Option<DateTime<Utc>>,
}
