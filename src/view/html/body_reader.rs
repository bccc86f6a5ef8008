//! Parses the tags of an entry's body into blocks.

use super::elements::{Format, HtmlElement, HtmlList, TablePart, element};
use super::flow::{Flow, Spaces};
use super::links::NumberedLinks;
use super::model::{Align, Block, HtmlTable, ImageTarget, Language, Role, TextDirection};
use super::open_containers::{
    self, Container, ContainerContents, Nested, Numbering, OpenContainers, cell, has_inside,
    is_hidden, is_line_number, number,
};
use backissue_core::feed::content::markup::{Piece, Tag, walk_markup};
use backissue_core::feed::content::math::{Formula, is_formula};

/// The blocks of an entry's body, with the links and pictures in them.
#[derive(Debug)]
pub(super) struct EntryBlocks {
    pub blocks: Vec<Block>,
    pub links: NumberedLinks,
    pub images: Vec<ImageTarget>,
}

/// Parses the body of an entry. Elements and styles that hide their contents are respected only if they hide little text: an
/// unclosed element must not hide the rest of the body, and styles must not hide most of it.
pub(super) fn read(html: &str, base: Option<&str>, use_of: TextUse) -> EntryBlocks {
    let mut trust = HidingTrust { elements: true, styles: true };
    loop {
        let mut reader = BodyReader::new(base, trust);
        reader.formulas.find(html);
        if use_of == TextUse::Screen {
            reader.links.find_places(html);
        }
        walk_markup(html, |piece| reader.piece(piece));
        match reader.distrust() {
            Some(less) => trust = less,
            None => return reader.finish(),
        }
    }
}

/// What a text is parsed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextUse {
    /// To be shown on the screen, where links within the text lead to their targets.
    Screen,
    /// To be written to a file.
    File,
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
    /// Address of the picture that a `source` specifies for the next `img` of the same `picture`, and whether its format can be
    /// shown.
    pub(super) picture_source: Option<(String, bool)>,
    formulas: FormulaCopies,
    formula: Option<(Formula, bool)>,
    /// `true` directly after a formula in `MathML`.
    after_formula: bool,
    /// Text of an element that seems to be a line number in code.
    line_number: Option<(Nested, String)>,
    /// ID of the last heading, and whether it has text yet. `None` after text that follows the heading.
    heading: Option<(String, bool)>,
    /// Number of links before the current one. If the current link is only the anchor of a heading, it is removed again.
    links_before: usize,
    /// Elements whose style specifies how spaces are shown or which direction text has, each with the state before the element.
    styled: Vec<(Nested, Spaces, TextDirection)>,
}

/// Maximum number of open elements whose `white-space` or direction is respected.
const STYLED_MAX: usize = 16;

/// The forms in which a text contains its formulas. Programs that draw formulas write each formula in several forms.
#[derive(Default)]
struct FormulaCopies {
    mathml: bool,
    drawn: bool,
    tex: bool,
}

impl FormulaCopies {
    fn find(&mut self, html: &str) {
        self.mathml = html.contains("<math") || html.contains(":math");
        self.drawn = html.contains("MathJax-Element");
        self.tex = html.contains("math/tex");
    }

    /// Checks whether an element shows a formula that the text also contains in a better form.
    fn repeats(&self, tag: &Tag) -> bool {
        let class = tag.attribute("class").unwrap_or_default();
        let is_screen_only = tag.attribute("aria-hidden") == Some("true");
        let draws = tag.name().starts_with("mjx-")
            || tag.name() == "nobr"
            || class.split_whitespace().any(|name| {
                ["katex", "mathjax", "mjx"]
                    .iter()
                    .any(|by| name.to_ascii_lowercase().starts_with(by))
            });
        match class {
            "katex-html" => self.mathml,
            "MathJax_Preview" => self.mathml || self.drawn || self.tex,
            _ => is_screen_only && self.mathml && draws,
        }
    }

    /// Returns the source of a formula that is only drawn: `MathJax` 2 puts its characters into boxes, so that one third would
    /// be shown as `13`.
    fn source<'t>(&self, tag: &'t Tag) -> Option<&'t str> {
        let mut class = tag.attribute("class").unwrap_or_default().split_whitespace();
        let label = tag.attribute("aria-label").filter(|label| !label.trim().is_empty());
        label.filter(|_| !self.mathml && class.any(|name| name == "mjx-math"))
    }
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
            picture_source: None,
            formulas: FormulaCopies::default(),
            formula: None,
            after_formula: false,
            line_number: None,
            heading: None,
            links_before: 0,
            styled: Vec::new(),
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
        self.end_formula();
        self.end_line_number();
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
            Piece::Text(text) if self.player.is_none() => self.text(text),
            Piece::Text(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.shown += text.len();
        if let Some((formula, _)) = &mut self.formula {
            return formula.text(text);
        }
        if let Some((_, number)) = &mut self.line_number
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace())
        {
            return number.push_str(text);
        }
        if let Some((_, number)) = self.line_number.take() {
            self.flow.text(&number);
        }
        if !text.trim().is_empty() {
            self.after_formula = false;
            let in_heading = self.flow.state.heading.is_some();
            self.heading.take_if(|_| !in_heading);
            self.heading.iter_mut().for_each(|(_, has_text)| *has_text = true);
        }
        self.flow.text(text);
    }

    /// Adds the text of the current formula.
    fn end_formula(&mut self) {
        let Some((formula, is_display)) = self.formula.take() else { return };
        self.text(&formula.into_text());
        self.after_formula = true;
        if is_display {
            self.block_boundary();
        }
    }

    /// Removes the current line number of a code block. If its element only contains white space, this white space is kept.
    fn end_line_number(&mut self) {
        let text = self.line_number.take().map(|(_, text)| text).unwrap_or_default();
        if text.trim().is_empty() {
            self.flow.text(&text);
        }
    }

    fn open(&mut self, tag: &Tag) {
        let element = element(tag.name());
        if let Some(hidden) = &mut self.hidden {
            return hidden.open(tag);
        }
        if let Some((formula, _)) = &mut self.formula {
            if element.is_none_or(|element| !element.is_block()) {
                return formula.open(tag.name(), tag.is_self_closing(), |name| tag.attribute(name));
            }
            self.end_formula();
        }
        if let Some((until, _)) = &mut self.line_number {
            // A line number never contains this element, so the end tag of the line number is missing. Table cells often have no
            // end tag.
            if !matches!(element, Some(HtmlElement::Table(_) | HtmlElement::Image)) {
                return until.open(tag);
            }
            self.end_line_number();
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
        if let Some(source) = self.formulas.source(tag) {
            self.text(source);
            (self.hidden, self.is_styled_away) = (Some(Nested::new(tag)), false);
            return;
        }
        let is_tex = tag.is_tex() && !self.formulas.mathml && !self.formulas.drawn;
        let by_element = (element == Some(HtmlElement::Hidden) && !is_tex)
            || self.formulas.repeats(tag)
            || (self.after_formula && tag.attribute("aria-hidden") == Some("true"))
            || self.is_redundant_anchor(tag);
        if by_element || (is_hidden(tag) && self.trust.styles) {
            self.embed_script(tag);
            if element.is_some_and(HtmlElement::is_block) {
                self.block_boundary();
            }
            if has_inside(tag) && (self.trust.elements || !by_element) {
                self.hidden = Some(Nested::new(tag));
                self.is_styled_away = !by_element;
            }
            return;
        }
        if is_formula(tag.name()) && has_inside(tag) {
            return self.begin_formula(tag);
        }
        if self.flow.state.is_preformatted() && has_inside(tag) && is_line_number(tag) {
            self.line_number = Some((Nested::new(tag), String::new()));
            return;
        }
        let led_to = self.links.leading_to(tag);
        self.wrap(element, tag);
        self.end_styled(|until| until.is_ended_by(tag));
        if let Some(element) = element {
            self.apply(element, tag);
        }
        self.style(element, tag);
        self.begin_heading(tag);
        self.flow.led_to = led_to.or(self.flow.led_to);
        if element == Some(HtmlElement::Table(TablePart::Cell)) && is_line_number(tag) {
            self.line_number = Some((Nested::new(tag), String::new()));
        }
    }

    fn begin_formula(&mut self, tag: &Tag) {
        let is_display = tag.attribute("display") == Some("block");
        if is_display {
            self.block_boundary();
        }
        self.formula = Some((Formula::new(tag.attribute("alttext")), is_display));
    }

    /// Records the ID of a heading.
    fn begin_heading(&mut self, tag: &Tag) {
        let is_heading = matches!(element(tag.name()), Some(HtmlElement::Heading(_)));
        let has_no_id = self.heading.as_ref().is_some_and(|(id, _)| id.is_empty());
        if is_heading || (has_no_id && self.flow.state.heading.is_some()) {
            let id = tag.attribute("id").or_else(|| tag.attribute("name")).unwrap_or_default();
            let has_text = !is_heading && self.heading.as_ref().is_some_and(|(_, text)| *text);
            self.heading = Some((id.to_owned(), has_text));
        }
    }

    /// Checks whether a link leads to the heading that contains it or precedes it.
    fn leads_to_heading(&self, tag: &Tag) -> bool {
        let fragment = tag.attribute("href").and_then(|href| Some(href.split_once('#')?.1));
        fragment.zip(self.heading.as_ref()).is_some_and(|(fragment, (id, _))| {
            let decoded = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
            !id.is_empty() && (fragment == id || decoded == *id)
        })
    }

    /// Records the language of code inside `pre`. Its lines are code even if the style of the `pre` wraps them.
    fn begin_code(&mut self, tag: &Tag) {
        if self.styled.last().is_some_and(|(until, ..)| until.is("pre")) && self.flow.is_empty() {
            self.flow.state.spaces = Spaces::Kept;
        }
        if self.flow.state.is_preformatted() {
            let language = &mut self.flow.state.language;
            *language = Language::of_tag(tag).or(*language);
        }
    }

    fn begin_anchor(&mut self, tag: &Tag) {
        let href = tag.attribute("href");
        let leads_here = self.leads_to_heading(tag);
        self.links_before = self.links.count();
        let href = href.filter(|_| !leads_here);
        let inside = href.and_then(|href| self.links.inside(href));
        let number = inside.or_else(|| self.links.number(href?));
        let is_anchor = href.is_some_and(|href| href.contains('#'));
        if is_anchor && self.flow.state.heading.is_some() {
            self.flow.begin_anchor(number, leads_here);
        } else {
            self.flow.begin_link(number);
        }
    }

    /// Checks whether a link is only the anchor of the heading next to it.
    fn is_redundant_anchor(&self, tag: &Tag) -> bool {
        if tag.name() != "a" || !self.leads_to_heading(tag) {
            return false;
        }
        let class = tag.attribute("class").unwrap_or_default().to_ascii_lowercase();
        let is_anchor = ["anchor", "permalink", "header", "heading", "hash", "direct-link"];
        let has_text = self.heading.as_ref().is_some_and(|(_, has_text)| *has_text);
        self.flow.state.heading.is_none()
            || tag.attribute("aria-hidden") == Some("true")
            || (has_text && is_anchor.iter().any(|word| class.contains(word)))
    }

    /// Applies the style of an element: how spaces are shown, and the direction of text.
    fn style(&mut self, element: Option<HtmlElement>, tag: &Tag) {
        let is_block = element.is_some_and(HtmlElement::is_block);
        let state = self.flow.state;
        let is_code = element == Some(HtmlElement::Preformatted) && state.language.is_some();
        let is_pre = element == Some(HtmlElement::Preformatted);
        // Word processors put the style `pre` on list items, which are not code.
        let spaces = open_containers::spaces(tag).filter(|_| !is_code).map(|spaces| match spaces {
            Spaces::Kept if !is_pre => Spaces::Wrapped,
            Spaces::Collapsed | Spaces::Lines | Spaces::Wrapped | Spaces::Kept => spaces,
        });
        let direction = open_containers::direction(tag).filter(|_| is_block);
        self.styled.iter_mut().for_each(|(until, ..)| until.open(tag));
        if !has_inside(tag) || (spaces.is_none() && direction.is_none()) {
            return;
        }
        // The end tag of `pre` always ends the block.
        let before = if element == Some(HtmlElement::Preformatted) {
            Spaces::Collapsed
        } else {
            state.spaces
        };
        if self.styled.len() < STYLED_MAX {
            self.styled.push((Nested::new(tag), before, state.direction));
            self.flow.state.spaces = spaces.unwrap_or(state.spaces);
            self.flow.state.direction = direction.unwrap_or(state.direction);
        }
    }

    /// Ends the innermost styled element that `is_ended` accepts, and all styled elements inside it.
    fn end_styled(&mut self, mut is_ended: impl FnMut(&mut Nested) -> bool) {
        let mut at = None;
        for (place, (until, ..)) in self.styled.iter_mut().enumerate() {
            if is_ended(until) {
                at = at.or(Some(place));
            }
        }
        while let Some(at) = at
            && self.styled.len() > at
            && let Some((_, spaces, direction)) = self.styled.pop()
        {
            if self.flow.state.is_preformatted() && spaces != Spaces::Kept {
                self.end_block();
            }
            self.flow.state.spaces = spaces;
            self.flow.state.direction = direction;
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
                self.begin_anchor(tag);
            }
            HtmlElement::Image => self.image(tag),
            HtmlElement::Embed(word) => self.embed(word, tag),
            HtmlElement::Input => self.check_box(tag),
            HtmlElement::Around(before, _) => self.flow.text(before),
            HtmlElement::Format(format) => {
                if format == Format::Code {
                    self.begin_code(tag);
                }
                self.flow.begin(format);
            }
            HtmlElement::Table(part) => self.open_table_part(part, tag),
            HtmlElement::Source => self.offer_source(tag),
            HtmlElement::Plain | HtmlElement::Hidden => {}
        }
    }

    /// Opens a row, cell or caption of a table. Outside a table, the tag is ignored.
    fn open_table_part(&mut self, part: TablePart, tag: &Tag) {
        let in_table = self.frames.is_open(Container::Table);
        match part {
            TablePart::Whole => {
                let role = tag.attribute("role").unwrap_or_default();
                let layout_only = matches!(role, "presentation" | "none");
                self.enter(ContainerContents::Table(HtmlTable {
                    layout_only,
                    ..HtmlTable::default()
                }));
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
        if let Some((formula, _)) = &mut self.formula {
            if formula.close(name) {
                self.end_formula();
            }
            return;
        }
        if let Some((until, _)) = &mut self.line_number {
            if !until.close(name) && !matches!(element(name), Some(HtmlElement::Table(_))) {
                return;
            }
            self.end_line_number();
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
        if name == "picture" {
            self.end_picture();
        }
        self.end_styled(|until| until.close(name));
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
                self.flow.state.spaces = Spaces::Collapsed;
            }
            HtmlElement::Break => self.flow.line_break(),
            HtmlElement::Table(part) => self.leave(match part {
                TablePart::Whole => Container::Table,
                TablePart::Caption => Container::TableCaption,
                TablePart::Row => Container::Row,
                TablePart::Cell | TablePart::HeaderCell => Container::Cell,
            }),
            HtmlElement::Anchor => {
                if self.flow.end_link() {
                    self.links.forget_after(self.links_before);
                }
            }
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
        if self.flow.state.is_preformatted() {
            self.flow.fresh_line();
        } else {
            self.end_block();
        }
    }

    /// Ends the current block of running text.
    pub(super) fn end_block(&mut self) {
        let preformatted = self.flow.state.is_preformatted();
        let direction = self.flow.state.direction;
        let apart = std::mem::take(&mut self.flow.apart);
        if let Some(runs) = self.flow.take_runs(&mut self.links) {
            let loose = std::mem::take(&mut self.loose) || apart;
            self.add(if preformatted {
                Block::Preformatted { runs, language: self.flow.state.language }
            } else {
                Block::Text { runs, loose, direction }
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
        if self.flow.state.is_preformatted() {
            self.flow.state.spaces = Spaces::Collapsed;
        }
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
            let kind = HtmlList::Bullets;
            let numbering = Numbering::new(kind, None, false, '1', 0);
            self.enter(ContainerContents::List { numbering, items: Vec::new() });
        }
        let marker = self.frames.next_marker(value);
        self.enter(ContainerContents::Item { marker });
    }
}
