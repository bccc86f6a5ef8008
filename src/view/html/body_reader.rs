//! Parses the tags of an entry's body into blocks.

use super::elements::{Format, HtmlElement, ListKind, TablePart, element};
use super::flow::Flow;
use super::language::Language;
use super::links::NumberedLinks;
use super::model::{Align, Block, ImageTarget, Role, Table};
use super::open_containers::{Container, ContainerContents, Numbering, OpenContainers};
use super::tags::{Nested, cell, has_inside, is_hidden, number};
use backissue_core::feed::content::markup::{Piece, Tag, walk_markup};

/// The blocks of an entry's body, with the links and pictures in them.
#[derive(Debug)]
pub(super) struct EntryBlocks {
    pub blocks: Vec<Block>,
    pub links: NumberedLinks,
    pub images: Vec<ImageTarget>,
}

/// Parses the body of an entry. Elements and styles that hide their contents are respected only if they hide little text: an
/// unclosed element must not hide the rest of the body, and styles must not hide most of it.
pub(super) fn read(html: &str, base: Option<&str>) -> EntryBlocks {
    let mut trust = HidingTrust { elements: true, styles: true };
    loop {
        let mut reader = BodyReader::new(base, trust);
        walk_markup(html, |piece| reader.piece(piece));
        match reader.distrust() {
            Some(less) => trust = less,
            None => return reader.finish(),
        }
    }
}

/// Which kinds of markup may hide text.
#[derive(Clone, Copy)]
pub(super) struct HidingTrust {
    /// `true` if hidden elements, and players that contain a fallback text, may hide text.
    pub(super) elements: bool,
    /// `true` if the style `display: none` and the attribute `hidden` may hide text.
    styles: bool,
}

/// A video or audio element. Elements inside it may specify its address.
pub(super) struct Player {
    pub until: Nested,
    pub word: &'static str,
    pub title: Option<String>,
    pub source: Option<String>,
}

pub(super) struct BodyReader {
    frames: OpenContainers,
    pub(super) flow: Flow,
    /// `true` if the next block is separated from adjacent blocks by blank lines.
    pub(super) loose: bool,
    pub(super) links: NumberedLinks,
    pub(super) images: Vec<ImageTarget>,
    pub(super) trust: HidingTrust,
    hidden: Option<Nested>,
    /// Number of bytes of text that is shown, to compare with the number hidden by styles.
    shown: usize,
    hidden_by_style: usize,
    is_styled_away: bool,
    pub(super) player: Option<Player>,
    /// Programming language that an element around a code block declares, and the end tag of this element.
    wrapped_in: Option<(Language, Nested)>,
}

impl BodyReader {
    fn new(base: Option<&str>, trust: HidingTrust) -> Self {
        Self {
            frames: OpenContainers::new(),
            flow: Flow::default(),
            loose: false,
            links: NumberedLinks::new(base),
            images: Vec::new(),
            trust,
            hidden: None,
            shown: 0,
            hidden_by_style: 0,
            is_styled_away: false,
            player: None,
            wrapped_in: None,
        }
    }

    /// Checks whether markup has hidden too much text. If so, returns which markup may hide text when the body is parsed again.
    fn distrust(&self) -> Option<HidingTrust> {
        let unclosed = self.hidden.is_some() || self.player.is_some();
        let by_style = self.hidden.is_some() && self.is_styled_away;
        if by_style || self.hidden_by_style > self.shown.max(200) {
            return Some(HidingTrust { styles: false, ..self.trust });
        }
        unclosed.then_some(HidingTrust { elements: false, ..self.trust })
    }

    fn finish(mut self) -> EntryBlocks {
        self.end_block();
        EntryBlocks { blocks: self.frames.finish(), links: self.links, images: self.images }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Open(tag) => self.open(tag),
            Piece::Close(name) => self.close(name),
            Piece::Text(text) if self.hidden.is_some() => {
                self.hidden_by_style += if self.is_styled_away { text.len() } else { 0 };
            }
            Piece::Text(text) if self.player.is_none() => {
                self.shown += text.len();
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
            if matches!(element, Some(HtmlElement::Source | HtmlElement::Anchor))
                && player.source.is_none()
            {
                player.source = tag.attribute(address).map(str::to_owned);
            }
            return;
        }
        let by_element = element == Some(HtmlElement::Hidden);
        if by_element || (is_hidden(tag) && self.trust.styles) {
            if element.is_some_and(HtmlElement::is_block) {
                self.block_boundary();
            }
            if has_inside(tag) && (self.trust.elements || !by_element) {
                self.hidden = Some(Nested::new(tag));
                self.is_styled_away = !by_element;
            }
            return;
        }
        self.wrap(element, tag);
        if let Some(element) = element {
            self.apply(element, tag);
        }
    }

    /// Records the programming language that an element around a code block declares.
    fn wrap(&mut self, element: Option<HtmlElement>, tag: &Tag) {
        if let Some((_, until)) = &mut self.wrapped_in {
            until.open(tag);
        } else if matches!(element, Some(HtmlElement::Plain | HtmlElement::Paragraph))
            && tag.name() != "p"
            && has_inside(tag)
        {
            let language = Language::of_tag(tag);
            self.wrapped_in = language.map(|language| (language, Nested::new(tag)));
        }
    }

    fn apply(&mut self, element: HtmlElement, tag: &Tag) {
        if element.is_block() && element != HtmlElement::Break {
            self.block_boundary();
        }
        match element {
            HtmlElement::Paragraph => self.loose = true,
            HtmlElement::Heading(level) => {
                self.loose = true;
                self.flow.state.heading = Some(level);
            }
            HtmlElement::Caption => {
                self.loose = true;
                self.flow.state.caption = true;
            }
            HtmlElement::Summary => {
                self.loose = true;
                self.flow.begin(Format::Bold);
                self.flow.sign("▸ ", Role::ListMarker, None, None);
            }
            HtmlElement::Quote => self.enter(ContainerContents::Quote),
            HtmlElement::Definitions => self.enter(ContainerContents::Definitions),
            HtmlElement::List(kind) => {
                let start = number(tag, "start");
                let reversed = tag.attribute("reversed").is_some();
                let form = tag.attribute("type").and_then(|t| t.chars().next()).unwrap_or('1');
                let depth = self.frames.lists();
                let numbering = Numbering::new(kind, start, reversed, form, depth);
                self.enter(ContainerContents::List { numbering, items: Vec::new() });
            }
            HtmlElement::Item => self.item(number(tag, "value")),
            HtmlElement::Term => {
                self.leave(Container::Definition);
                self.flow.begin(Format::Bold);
            }
            HtmlElement::Definition => {
                self.leave(Container::Definition);
                self.enter(ContainerContents::Definition);
            }
            HtmlElement::Preformatted => {
                let wrapped = self.wrapped_in.as_ref().map(|(language, _)| *language);
                self.flow.begin_preformatted(Language::of_tag(tag).or(wrapped));
            }
            HtmlElement::Rule => self.add(Block::Rule),
            HtmlElement::Break => self.flow.line_break(),
            HtmlElement::WordBreak => self.flow.text("\u{200B}"),
            HtmlElement::Anchor => {
                let number = tag.attribute("href").and_then(|href| self.links.number(href));
                self.flow.begin_link(number);
            }
            HtmlElement::Image => self.image(tag),
            HtmlElement::Embed(word) => self.embed(word, tag),
            HtmlElement::Input => self.check_box(tag),
            HtmlElement::Around(before, _) => self.flow.text(before),
            HtmlElement::Format(format) => {
                if format == Format::Code && self.flow.state.preformatted {
                    let language = &mut self.flow.state.language;
                    *language = Language::of_tag(tag).or(*language);
                }
                self.flow.begin(format);
            }
            HtmlElement::Table(part) => self.open_table_part(part, tag),
            HtmlElement::Plain | HtmlElement::Source | HtmlElement::Hidden => {}
        }
    }

    /// Opens a row, cell or caption of a table. Outside a table, the tag is ignored.
    fn open_table_part(&mut self, part: TablePart, tag: &Tag) {
        let in_table = self.frames.is_open(Container::Table);
        match part {
            TablePart::Whole => {
                let role = tag.attribute("role").unwrap_or_default();
                let layout_only = matches!(role, "presentation" | "none");
                self.enter(ContainerContents::Table(Table { layout_only, ..Table::default() }));
            }
            TablePart::Caption if in_table => {
                self.enter(ContainerContents::TableCaption);
                self.flow.state.caption = true;
            }
            TablePart::Row if in_table => {
                self.leave(Container::Row);
                self.enter(ContainerContents::Row(Vec::new()));
            }
            TablePart::Cell | TablePart::HeaderCell if in_table => {
                self.leave(Container::Cell);
                if self.frames.top() == Container::Table {
                    self.enter(ContainerContents::Row(Vec::new()));
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
        self.wrapped_in.take_if(|(_, until)| until.close(name));
    }

    fn close_element(&mut self, element: HtmlElement) {
        if element.is_block() && element != HtmlElement::Break {
            self.block_boundary();
        }
        match element {
            HtmlElement::Heading(_) => self.flow.state.heading = None,
            HtmlElement::Caption => self.flow.state.caption = false,
            HtmlElement::Summary | HtmlElement::Term => self.flow.end(Format::Bold),
            HtmlElement::Quote => self.leave(Container::Quote),
            HtmlElement::List(_) => self.leave(Container::List),
            HtmlElement::Definitions => self.leave(Container::Definitions),
            HtmlElement::Item => self.leave(Container::Item),
            HtmlElement::Definition => self.leave(Container::Definition),
            HtmlElement::Preformatted => {
                self.end_block();
                self.flow.state.preformatted = false;
            }
            HtmlElement::Break => self.flow.line_break(),
            HtmlElement::Table(part) => self.leave(match part {
                TablePart::Whole => Container::Table,
                TablePart::Caption => Container::TableCaption,
                TablePart::Row => Container::Row,
                TablePart::Cell | TablePart::HeaderCell => Container::Cell,
            }),
            HtmlElement::Anchor => self.flow.end_link(),
            HtmlElement::Around(_, after) => self.flow.text(after),
            HtmlElement::Format(format) => self.flow.end(format),
            HtmlElement::Paragraph
            | HtmlElement::Plain
            | HtmlElement::Rule
            | HtmlElement::WordBreak
            | HtmlElement::Image
            | HtmlElement::Embed(_)
            | HtmlElement::Source
            | HtmlElement::Input
            | HtmlElement::Hidden => {}
        }
    }

    /// Starts a new block or, within `pre`, a new line.
    fn block_boundary(&mut self) {
        if self.flow.state.preformatted {
            self.flow.fresh_line();
        } else {
            self.end_block();
        }
    }

    /// Ends the current block of running text.
    pub(super) fn end_block(&mut self) {
        let preformatted = self.flow.state.preformatted;
        let apart = std::mem::take(&mut self.flow.apart);
        if let Some(runs) = self.flow.take_runs(&mut self.links) {
            let loose = std::mem::take(&mut self.loose) || apart;
            self.add(if preformatted {
                Block::Preformatted { runs, language: self.flow.state.language }
            } else {
                Block::Text { runs, loose }
            });
        } else {
            self.flow.apart |= apart;
        }
    }

    /// Adds a block to the innermost container. Directly within a list, the block becomes an item; directly within a table, it
    /// becomes a cell.
    fn add(&mut self, block: Block) {
        if self.frames.top() == Container::List {
            let marker = self.frames.next_marker(None);
            self.enter(ContainerContents::Item { marker });
        }
        if self.frames.top() == Container::Table {
            self.enter(ContainerContents::Row(Vec::new()));
        }
        if self.frames.top() == Container::Row {
            self.enter(ContainerContents::Cell {
                header: false,
                columns: 1,
                rows: 1,
                align: Align::Left,
            });
        }
        self.frames.add(block);
    }

    fn enter(&mut self, held: ContainerContents) {
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
            self.enter(ContainerContents::List { numbering, items: Vec::new() });
        }
        let marker = self.frames.next_marker(value);
        self.enter(ContainerContents::Item { marker });
    }
}
