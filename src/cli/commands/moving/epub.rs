//! Entries as an EPUB book, each as a chapter.

use std::io::{self, Write};

use epub_builder::{EpubBuilder, EpubContent, EpubVersion, ZipLibrary};

use crate::engine::entries::entry_view::EntryView;
use crate::view::panes::entry_text;
use backissue_core::feed::outgoing::escaped_text;

/// A book that entries are added to.
pub(super) struct Book {
    builder: EpubBuilder<ZipLibrary>,
    chapters: usize,
}

impl Book {
    /// Creates a book without chapters.
    pub(super) fn new() -> io::Result<Self> {
        let mut builder = EpubBuilder::new(ZipLibrary::new().map_err(io::Error::other)?)
            .map_err(io::Error::other)?;
        builder.epub_version(EpubVersion::V30);
        builder.set_title("Entries of backissue");
        builder.set_generator("backissue");
        // Entries may be in several languages; the form needs one: undetermined.
        builder.set_languages(vec!["und".to_owned()]);
        Ok(Self { builder, chapters: 0 })
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, view: &EntryView) -> io::Result<()> {
        self.chapters = self.chapters.saturating_add(1);
        let page = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>{}</title></head>\n<body>\n{}</body></html>\n",
            escaped_text(view.entry.kept.shown_title()),
            entry_text::xhtml(view)
        );
        let content = EpubContent::new(format!("entry-{}.xhtml", self.chapters), page.as_bytes());
        let content = content.title(view.entry.kept.shown_title());
        self.builder.add_content(content).map_err(io::Error::other)?;
        Ok(())
    }

    /// Writes the book.
    pub(super) fn write(self, file: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.builder.generate(&mut bytes).map_err(io::Error::other)?;
        file.write_all(&bytes)
    }
}
