//! Markup to blocks: what each tag does to the containers and the running text.

use crate::feed::markup::{Piece, Tag, walk};

use super::elements::{Element, Format, ListKind, TablePart, element};
use super::flow::Flow;
use super::frames::{Container, Frames, Held, Numbering};
use super::images::{embed_label, picture};
use super::links::Links;
use super::model::{Align, Block, ImageTarget, Role, Table};
use super::tags::{Nested, cell, has_inside, is_hidden, number};

/// A body as blocks.
#[derive(Debug)]
pub(super) struct Body {
    pub blocks: Vec<Block>,
    pub links: Links,
    pub images: Vec<ImageTarget>,
}

/// Reads a body. Elements that hide their inside are trusted only if they are all closed: an
/// unclosed one must not take the rest of the text with it.
pub(super) fn read(html: &str, base: Option<&str>) -> Body {
    let mut reader = Reader::new(base, true);
    walk(html, |piece| reader.piece(piece));
    if reader.hidden.is_some() || reader.player.is_some() {
        reader = Reader::new(base, false);
        walk(html, |piece| reader.piece(piece));
    }
    reader.finish()
}

struct Reader {
    frames: Frames,
    flow: Flow,
    /// The next block keeps a blank line from its neighbours.
    loose: bool,
    links: Links,
    images: Vec<ImageTarget>,
    trusts_hiding: bool,
    hidden: Option<Nested>,
    player: Option<Player>,
}

/// A film or sound whose address may stand in elements within it.
struct Player {
    until: Nested,
    word: &'static str,
    title: Option<String>,
    source: Option<String>,
}

impl Reader {
    fn new(base: Option<&str>, trusts_hiding: bool) -> Self {
        Self {
            frames: Frames::new(),
            flow: Flow::default(),
            loose: false,
            links: Links::new(base),
            images: Vec::new(),
            trusts_hiding,
            hidden: None,
            player: None,
        }
    }

    fn finish(mut self) -> Body {
        self.end_block();
        Body { blocks: self.frames.finish(), links: self.links, images: self.images }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Open(tag) => self.open(tag),
            Piece::Close(name) => self.close(name),
            Piece::Text(text) if self.hidden.is_none() && self.player.is_none() => {
                self.flow.text(text);
            }
            Piece::Text(_) => {}
        }
    }

    fn open(&mut self, tag: &Tag) {
        let element = element(tag.name());
        if let Some(hidden) = &mut self.hidden {
            return hidden.open(tag);
        }
        if let Some(player) = &mut self.player {
            player.until.open(tag);
            let address = if tag.name() == "a" { "href" } else { "src" };
            if matches!(element, Some(Element::Source | Element::Anchor)) && player.source.is_none()
            {
                player.source = tag.attribute(address).map(str::to_owned);
            }
            return;
        }
        if is_hidden(tag) || element == Some(Element::Hidden) {
            if element.is_some_and(Element::is_block) {
                self.block_boundary();
            }
            let waits = has_inside(tag);
            self.hidden = (waits && self.trusts_hiding).then(|| Nested::new(tag));
            return;
        }
        if let Some(element) = element {
            self.apply(element, tag);
        }
    }

    fn apply(&mut self, element: Element, tag: &Tag) {
        if element.is_block() && element != Element::Break {
            self.block_boundary();
        }
        match element {
            Element::Paragraph => self.loose = true,
            Element::Heading(level) => {
                self.loose = true;
                self.flow.state.heading = Some(level);
            }
            Element::Caption => {
                self.loose = true;
                self.flow.state.caption = true;
            }
            Element::Summary => {
                self.loose = true;
                self.flow.begin(Format::Bold);
                self.flow.sign("▸ ", Role::ListMarker, None, None);
            }
            Element::Quote => self.enter(Held::Quote),
            Element::Definitions => self.enter(Held::Definitions),
            Element::List(kind) => {
                let start = number(tag, "start");
                let reversed = tag.attribute("reversed").is_some();
                let form = tag.attribute("type").and_then(|t| t.chars().next()).unwrap_or('1');
                let depth = self.frames.lists();
                let numbering = Numbering::new(kind, start, reversed, form, depth);
                self.enter(Held::List { numbering, items: Vec::new() });
            }
            Element::Item => self.item(number(tag, "value")),
            Element::Term => {
                self.leave(Container::Definition);
                self.flow.begin(Format::Bold);
            }
            Element::Definition => {
                self.leave(Container::Definition);
                self.enter(Held::Definition);
            }
            Element::Preformatted => self.flow.begin_preformatted(),
            Element::Rule => self.add(Block::Rule),
            Element::Break => self.flow.line_break(),
            Element::WordBreak => self.flow.text("\u{200B}"),
            Element::Anchor => {
                let number = tag.attribute("href").and_then(|href| self.links.number(href));
                self.flow.begin_link(number);
            }
            Element::Image => self.image(tag),
            Element::Embed(word) => self.embed(word, tag),
            Element::Input => self.check_box(tag),
            Element::Around(before, _) => self.flow.text(before),
            Element::Format(format) => self.flow.begin(format),
            Element::Table(part) => self.open_table_part(part, tag),
            Element::Plain | Element::Source | Element::Hidden => {}
        }
    }

    /// Parts of a table that stand in none are read as if their tags were not there.
    fn open_table_part(&mut self, part: TablePart, tag: &Tag) {
        let in_table = self.frames.is_open(Container::Table);
        match part {
            TablePart::Whole => {
                let role = tag.attribute("role").unwrap_or_default();
                let layout_only = matches!(role, "presentation" | "none");
                self.enter(Held::Table(Table { layout_only, ..Table::default() }));
            }
            TablePart::Caption if in_table => {
                self.enter(Held::TableCaption);
                self.flow.state.caption = true;
            }
            TablePart::Row if in_table => {
                self.leave(Container::Row);
                self.enter(Held::Row(Vec::new()));
            }
            TablePart::Cell | TablePart::HeaderCell if in_table => {
                self.leave(Container::Cell);
                if self.frames.top() == Container::Table {
                    self.enter(Held::Row(Vec::new()));
                }
                let header = part == TablePart::HeaderCell;
                self.enter(cell(tag, header));
                if header {
                    self.flow.begin(Format::Bold);
                }
            }
            TablePart::Caption | TablePart::Row | TablePart::Cell | TablePart::HeaderCell => {}
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(hidden) = &mut self.hidden {
            if hidden.close(name) {
                self.hidden = None;
            }
            return;
        }
        if let Some(player) = &mut self.player {
            if player.until.close(name)
                && let Some(player) = self.player.take()
            {
                self.show_embed(player.word, player.title.as_deref(), player.source.as_deref());
            }
            return;
        }
        if let Some(element) = element(name) {
            self.close_element(element);
        }
    }

    fn close_element(&mut self, element: Element) {
        if element.is_block() && element != Element::Break {
            self.block_boundary();
        }
        match element {
            Element::Heading(_) => self.flow.state.heading = None,
            Element::Caption => self.flow.state.caption = false,
            Element::Summary | Element::Term => self.flow.end(Format::Bold),
            Element::Quote => self.leave(Container::Quote),
            Element::List(_) => self.leave(Container::List),
            Element::Definitions => self.leave(Container::Definitions),
            Element::Item => self.leave(Container::Item),
            Element::Definition => self.leave(Container::Definition),
            Element::Preformatted => {
                self.end_block();
                self.flow.state.preformatted = false;
            }
            Element::Break => self.flow.line_break(),
            Element::Table(part) => self.leave(match part {
                TablePart::Whole => Container::Table,
                TablePart::Caption => Container::TableCaption,
                TablePart::Row => Container::Row,
                TablePart::Cell | TablePart::HeaderCell => Container::Cell,
            }),
            Element::Anchor => self.flow.end_link(),
            Element::Around(_, after) => self.flow.text(after),
            Element::Format(format) => self.flow.end(format),
            Element::Paragraph
            | Element::Plain
            | Element::Rule
            | Element::WordBreak
            | Element::Image
            | Element::Embed(_)
            | Element::Source
            | Element::Input
            | Element::Hidden => {}
        }
    }

    /// The text so far and the text to come stand in different blocks, or, within `pre`, on
    /// different lines.
    fn block_boundary(&mut self) {
        if self.flow.state.preformatted {
            self.flow.fresh_line();
        } else {
            self.end_block();
        }
    }

    /// Ends the block of running text.
    fn end_block(&mut self) {
        let preformatted = self.flow.state.preformatted;
        let apart = std::mem::take(&mut self.flow.apart);
        if let Some(runs) = self.flow.take(&mut self.links) {
            let loose = std::mem::take(&mut self.loose) || apart;
            self.add(if preformatted {
                Block::Preformatted(runs)
            } else {
                Block::Text { runs, loose }
            });
        } else {
            self.flow.apart |= apart;
        }
    }

    /// Adds a block where blocks may stand; text directly within a list is an item, text directly
    /// within a table a cell.
    fn add(&mut self, block: Block) {
        if self.frames.top() == Container::List {
            let marker = self.frames.next_marker(None);
            self.enter(Held::Item { marker });
        }
        if self.frames.top() == Container::Table {
            self.enter(Held::Row(Vec::new()));
        }
        if self.frames.top() == Container::Row {
            self.enter(Held::Cell { header: false, columns: 1, rows: 1, align: Align::Left });
        }
        self.frames.add(block);
    }

    fn enter(&mut self, held: Held) {
        self.end_block();
        self.frames.push(held, self.flow.state);
        self.flow.state.preformatted = false;
        self.loose = false;
    }

    fn leave(&mut self, container: Container) {
        self.end_block();
        self.loose = false;
        if let Some(outside) = self.frames.close(container) {
            self.flow.state = outside;
        }
    }

    fn item(&mut self, value: Option<i64>) {
        self.leave(Container::Item);
        if !self.frames.is_open(Container::List) {
            let kind = ListKind::Bullets;
            let numbering = Numbering::new(kind, None, false, '1', 0);
            self.enter(Held::List { numbering, items: Vec::new() });
        }
        let marker = self.frames.next_marker(value);
        self.enter(Held::Item { marker });
    }

    fn image(&mut self, tag: &Tag) {
        let Some(picture) = picture(tag, &self.links) else { return };
        if picture.sign {
            return self.flow.text(&picture.alt);
        }
        let url = picture.url.as_ref().map(|url| url.as_str().to_owned());
        // A picture that is loaded late often stands twice, once more within `noscript`.
        let again = |known: &ImageTarget| Some(&known.url) == url.as_ref();
        if self.images.last().is_some_and(again) {
            return;
        }
        let in_link = self.flow.is_in_link();
        let own = url.as_deref().filter(|_| !in_link);
        let link = own.and_then(|url| self.links.number(url));
        let image = url.and_then(|url| {
            self.images.push(ImageTarget { url, alt: picture.alt.clone() });
            u16::try_from(self.images.len()).ok()
        });
        self.flow.sign(&picture.label(), Role::Image, image, link);
        if let Some(link) = link {
            self.flow.number(link);
        }
    }

    fn embed(&mut self, word: &'static str, tag: &Tag) {
        let address = if tag.name() == "object" { "data" } else { "src" };
        let source = tag.attribute(address).or_else(|| tag.attribute("data-src"));
        let title = tag.attribute("title").or_else(|| tag.attribute("aria-label"));
        let plays = matches!(tag.name(), "video" | "audio");
        if plays && !tag.is_self_closing() && self.trusts_hiding {
            self.player = Some(Player {
                until: Nested::new(tag),
                word,
                title: title.map(str::to_owned),
                source: source.map(str::to_owned),
            });
        } else {
            self.show_embed(word, title, source);
        }
    }

    fn show_embed(&mut self, word: &str, title: Option<&str>, source: Option<&str>) {
        let Some(source) = source else { return };
        let Some(url) = self.links.resolve(source, &["http", "https"]) else { return };
        self.end_block();
        self.flow.end_link();
        let number = self.links.number(source);
        self.flow.sign(&embed_label(word, title, &url), Role::Embed, None, number);
        if let Some(number) = number {
            self.flow.number(number);
        }
        self.loose = true;
        self.end_block();
    }

    fn check_box(&mut self, tag: &Tag) {
        if tag.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) {
            let ticked = tag.attribute("checked").is_some();
            self.flow.text(if ticked { "[x] " } else { "[ ] " });
        }
    }
}
