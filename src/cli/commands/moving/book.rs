//! A book of entries: an EPUB with a section for each feed, and with those pictures of the texts that are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use backissue_core::feed::outgoing::{escaped_text, outgoing_link};
use backissue_core::history::FeedKey;
use epub_builder::{EpubBuilder, EpubContent, EpubVersion, ReferenceType, ZipLibrary};

use crate::engine::entries::entry_view::EntryView;
use crate::io::pictures::PictureCache;
use crate::view::html::{self, InBook};
use crate::view::panes::entry_lines;

/// A book to which entries are added. The entries of a feed must be added one after another.
pub(super) struct Book {
    builder: EpubBuilder<ZipLibrary>,
    cache: PictureCache,
    /// Names of the pictures in the book, by the addresses that the texts contain.
    pictures: BTreeMap<String, String>,
    languages: BTreeSet<String>,
    /// Number of pages.
    pages: usize,
    has_sections: bool,
    /// Feed of the current section.
    section: Option<FeedKey>,
}

impl Book {
    /// Creates a book without entries. If `has_sections` is set, each feed gets a section.
    pub(super) fn new(title: &str, has_sections: bool, cache: PictureCache) -> io::Result<Self> {
        let mut builder = EpubBuilder::new(ZipLibrary::new().map_err(io::Error::other)?)
            .map_err(io::Error::other)?;
        builder.epub_version(EpubVersion::V30);
        builder.set_title(title);
        builder.set_generator("backissue");
        let style = "img { max-width: 100%; height: auto; }";
        builder.stylesheet(style.as_bytes()).map_err(io::Error::other)?;
        let (pictures, languages) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { builder, cache, pictures, languages, pages: 0, has_sections, section: None })
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, view: EntryView) -> io::Result<()> {
        let (_, markup, base) = view.text();
        for address in html::picture_addresses(markup, base) {
            self.add_picture(&address)?;
        }
        let view = view.outgoing();
        let feed = view.entry.key.feed;
        if self.has_sections && self.section != Some(feed) {
            let title = &view.feed.title;
            let heading = format!("<h1>{}</h1>\n", escaped_text(title));
            self.add_page(&view, title, 1, |_| heading)?;
            self.section = Some(feed);
        }
        let level = if self.has_sections { 2 } else { 1 };
        let title = view.entry.kept.shown_title();
        self.add_page(&view, title, level, |place| entry_lines::xhtml(&view, place))?;
        self.languages.extend(view.feed.language);
        Ok(())
    }

    /// Adds a picture if it is in the cache.
    fn add_picture(&mut self, address: &str) -> io::Result<()> {
        let Some(shown) = outgoing_link(address) else { return Ok(()) };
        if self.pictures.contains_key(&shown) {
            return Ok(());
        }
        let Some(bytes) = self.cache.find(address) else { return Ok(()) };
        let Ok(format) = image::guess_format(&bytes) else { return Ok(()) };
        let end = format.extensions_str().first().copied().unwrap_or_default();
        let name = format!("picture-{}.{end}", self.pictures.len().saturating_add(1));
        let added = self.builder.add_resource(&name, bytes.as_slice(), format.to_mime_type());
        added.map_err(io::Error::other)?;
        self.pictures.insert(shown, name);
        Ok(())
    }

    /// Adds a page in the language and writing direction of an entry, and lists it at this level of the contents.
    fn add_page(
        &mut self,
        view: &EntryView,
        title: &str,
        level: i32,
        body: impl FnOnce(InBook<'_>) -> String,
    ) -> io::Result<()> {
        let language = view.feed.language.as_deref();
        let is_leftward = entry_lines::is_leftward(title, language);
        let language = language.map(|tag| format!(" lang=\"{tag}\" xml:lang=\"{tag}\""));
        let page = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<html xmlns=\"http://www.w3.org/1999/xhtml\"{}{}>\
             <head><title>{}</title><link rel=\"stylesheet\" type=\"text/css\" href=\"stylesheet.css\"/></head>\n\
             <body>\n{}</body></html>\n",
            language.unwrap_or_default(),
            if is_leftward { " dir=\"rtl\"" } else { "" },
            escaped_text(title),
            body(InBook { is_leftward, pictures: Some(&self.pictures) })
        );
        self.pages = self.pages.saturating_add(1);
        let name = format!("page-{}.xhtml", self.pages);
        let mut content = EpubContent::new(name, page.as_bytes()).title(title).level(level);
        if self.pages == 1 {
            // The list of landmarks must not be empty.
            content = content.reftype(ReferenceType::Text);
        }
        self.builder.add_content(content).map_err(io::Error::other)?;
        Ok(())
    }

    /// Writes the book.
    pub(super) fn write(mut self, file: &mut dyn Write) -> io::Result<()> {
        if self.languages.is_empty() {
            // The format requires a language: undetermined.
            self.languages.insert("und".to_owned());
        }
        self.builder.set_languages(self.languages.into_iter().collect());
        let mut bytes = Vec::new();
        self.builder.generate(&mut bytes).map_err(io::Error::other)?;
        file.write_all(&bytes)
    }
}
