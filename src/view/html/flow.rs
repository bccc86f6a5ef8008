//! Collects the running text of a block: collapses white space, applies formats, and numbers links.

use super::elements::Format;
use super::links::{NumberedLinks, bare_urls};
use super::model::{INSIDE_FIRST, Language, Look, Role, Style, TextDirection, TextRun};
use backissue_core::feed::characters::{FlagTags, Shift, is_hidden};

/// The format of the text that follows, as set by the open elements.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextState {
    formats: [u16; Format::COUNT],
    pub heading: Option<u8>,
    pub caption: bool,
    pub spaces: Spaces,
    pub direction: TextDirection,
    /// Programming language of preformatted text. `None` if it is unknown.
    pub language: Option<Language>,
    link: Option<OpenLink>,
}

/// How spaces and line ends in the markup are shown, as in the property `white-space` of CSS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Spaces {
    /// As one space.
    #[default]
    Collapsed,
    /// Spaces are collapsed, and line ends are kept (`pre-line`).
    Lines,
    /// Spaces and line ends are kept, and long lines are wrapped at words (`pre-wrap`).
    Wrapped,
    /// Spaces and line ends are kept, and long lines are not wrapped at words (`pre`).
    Kept,
}

impl TextState {
    pub(super) const fn is_preformatted(&self) -> bool {
        matches!(self.spaces, Spaces::Kept)
    }

    fn is_on(&self, format: Format) -> bool {
        self.formats.get(format as usize).is_some_and(|count| *count > 0)
    }

    fn change(&mut self, format: Format, change: impl FnOnce(u16) -> u16) {
        if let Some(count) = self.formats.get_mut(format as usize) {
            *count = change(*count);
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct OpenLink {
    number: u16,
    /// `true` if the open link contains text, so that the number of the link must be added after it.
    to_number: bool,
}

/// The text of the current block, collected so far.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub state: TextState,
    runs: Vec<TextRun>,
    /// `true` if the last block ended with an empty line, so that a blank line must separate it from the next block.
    pub apart: bool,
    /// `true` directly after the start tag of preformatted text. A line feed at this position is ignored.
    at_start_tag: bool,
    /// Position before a link that may be the anchor of a heading, as the number of runs and the length of the last run, and
    /// whether the link leads to this heading.
    anchor: Option<(usize, usize, bool)>,
    /// Number of the links that lead to the following text.
    pub led_to: Option<u16>,
}

/// Maximum length of a footnote mark, in characters without brackets.
const MARKER_CHARS_MAX: usize = 4;

impl Flow {
    /// Adds text that was written by the publisher.
    pub(super) fn text(&mut self, text: &str) {
        match self.state.spaces {
            Spaces::Collapsed => self.collapsed(text),
            Spaces::Lines => {
                for (place, line) in text.split('\n').enumerate() {
                    if place > 0 && !self.runs.is_empty() {
                        self.line_break();
                    }
                    self.collapsed(line);
                }
            }
            // Line ends between two blocks, or before the first word, do not begin a line.
            Spaces::Wrapped if self.runs.is_empty() && text.trim().is_empty() => {}
            Spaces::Wrapped if self.runs.is_empty() => {
                self.kept(text.trim_start_matches(['\r', '\n']));
            }
            Spaces::Wrapped | Spaces::Kept => self.kept(text),
        }
    }

    /// Adds text without changing its spaces and line ends.
    fn kept(&mut self, text: &str) {
        let at_start_tag = std::mem::take(&mut self.at_start_tag);
        let text = text.strip_prefix('\n').filter(|_| at_start_tag).unwrap_or(text);
        let mut flags = FlagTags::default();
        let kept = |c: &char| flags.admits(*c) || matches!(c, '\n' | '\t') || !is_hidden(*c);
        let kept: String = text.chars().filter(kept).collect();
        if self.state.is_preformatted() {
            self.push(&kept, self.look());
        } else {
            self.push(&kept.replace('\t', "    "), self.look());
        }
    }

    fn collapsed(&mut self, text: &str) {
        let mut kept = String::with_capacity(text.len());
        let mut blank = self.last().is_none_or(|c| matches!(c, ' ' | '\n'));
        let mut flags = FlagTags::default();
        for c in text.chars() {
            let is_flag = flags.admits(c);
            match c {
                ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                    if !blank {
                        kept.push(' ');
                    }
                    blank = true;
                }
                // A zero-width space allows a line break. It is kept for the layout and is not drawn.
                '\u{200B}' => kept.push(c),
                c if is_hidden(c) && !is_flag => {}
                c => {
                    kept.push(c);
                    blank = false;
                }
            }
        }
        for (format, shift) in [(Format::Raised, Shift::Up), (Format::Lowered, Shift::Down)] {
            if self.state.is_on(format) {
                kept = shift.apply(&kept, self.last());
            }
        }
        self.push(&kept, self.look());
    }

    /// Adds text that was generated by this program, with the given role. Within a link, it becomes part of the link.
    pub(super) fn sign(&mut self, text: &str, role: Role, image: Option<u16>, link: Option<u16>) {
        let link = self.state.link.map_or(link, |open| Some(open.number));
        if text.starts_with('[') && self.last() == Some(']') {
            self.push(" ", self.look());
        }
        let look = Look { role, link, image, ..self.look() };
        self.push(text, look);
    }

    /// Adds a line break. Several empty lines in a row become one.
    pub(super) fn line_break(&mut self) {
        if matches!(self.state.spaces, Spaces::Kept | Spaces::Wrapped) {
            return self.push("\n", self.look());
        }
        self.trim_end(&[' ']);
        match self.runs.last_mut() {
            None => self.apart = true,
            Some(last) if last.text.ends_with("\n\n") => {}
            Some(last) => last.text.push('\n'),
        }
    }

    /// Starts a new line for a block within `pre`, unless the text is already at the start of a line.
    pub(super) fn fresh_line(&mut self) {
        if self.last().is_some_and(|c| c != '\n') {
            self.line_break();
        }
    }

    pub(super) const fn begin_preformatted(&mut self, language: Option<Language>) {
        self.state.spaces = Spaces::Kept;
        self.state.language = language;
        self.at_start_tag = true;
    }

    pub(super) fn begin(&mut self, format: Format) {
        self.state.change(format, |count| count.saturating_add(1));
    }

    pub(super) fn end(&mut self, format: Format) {
        self.state.change(format, |count| count.saturating_sub(1));
    }

    /// Starts a link after ending the previous link if it is still open. If `number` is `None`, no link is started.
    pub(super) fn begin_link(&mut self, number: Option<u16>) {
        self.end_link();
        self.state.link = number.map(|number| OpenLink { number, to_number: false });
    }

    /// Starts a link that may be the anchor of a heading. Such a link is a symbol that leads to the heading.
    pub(super) fn begin_anchor(&mut self, number: Option<u16>, leads_here: bool) {
        self.begin_link(number.filter(|_| !leads_here));
        let length = self.runs.last().map_or(0, |run| run.text.len());
        self.anchor = Some((self.runs.len(), length, leads_here));
    }

    /// Ends the current link. Returns `true` if the link was only the anchor of a heading. In this case, its symbol is removed.
    pub(super) fn end_link(&mut self) -> bool {
        let anchor = self.anchor.take();
        let dropped =
            anchor.filter(|&(runs, length, here)| self.is_symbol_after(runs, length, here));
        if let Some((runs, length, _)) = dropped {
            self.runs.truncate(runs);
            if let Some(last) = self.runs.last_mut() {
                last.text.truncate(length);
            }
            self.state.link = None;
        }
        self.number_link();
        self.state.link = None;
        dropped.is_some()
    }

    /// Checks whether the text after a position is only a symbol.
    fn is_symbol_after(&self, runs: usize, length: usize, leads_here: bool) -> bool {
        const SYMBOLS: &str = "#¶§🔗⚓∞☍🖇\u{fe0f}\u{fe0e}";
        let last = runs.checked_sub(1).and_then(|last| self.runs.get(last)?.text.get(length..));
        let after = self.runs.iter().skip(runs).map(|run| run.text.as_str());
        last.into_iter().chain(after).flat_map(str::chars).all(|c| {
            c.is_whitespace() || SYMBOLS.contains(c) || (leads_here && !c.is_alphanumeric())
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) const fn is_in_link(&self) -> bool {
        self.state.link.is_some()
    }

    /// Adds the number of a link after the text of the link. If the text ends with a space, the number is added before the space.
    pub(super) fn number(&mut self, sign: &str, number: u16) {
        let blank = self.last() == Some(' ');
        self.trim_end(&[' ']);
        let look = Look { link: Some(number), ..Look::with_role(Role::LinkNumber) };
        // The word joiner prevents a line break between the text and the number. It is not drawn.
        self.push(&format!("\u{2060}{sign}"), look);
        if blank {
            self.push(" ", Look::default());
        }
    }

    /// Checks whether the text of a link within the text is a footnote mark, such as `1` or `[a]`. In this case, the mark also
    /// replaces the number of the link.
    fn is_marker(&mut self, number: u16) -> bool {
        let is_of_link = |run: &&mut TextRun| run.look.link == Some(number);
        let mut runs: Vec<&mut TextRun> =
            self.runs.iter_mut().rev().take_while(is_of_link).collect();
        let text: String = runs.iter().rev().map(|run| run.text.as_str()).collect();
        let sign = text.trim_matches(|c: char| c.is_whitespace() || "[](){}".contains(c));
        let is_marker = sign.chars().filter(|c| !is_hidden(*c)).count() <= MARKER_CHARS_MAX;
        for run in runs.iter_mut().filter(|_| is_marker) {
            run.look.role = Role::LinkNumber;
        }
        is_marker
    }

    fn number_link(&mut self) {
        if let Some(open) = self.state.link
            && open.to_number
        {
            if open.number < INSIDE_FIRST {
                self.number(&format!("[{}]", open.number), open.number);
            } else if !self.is_marker(open.number) {
                self.number("[↓]", open.number);
            }
            self.state.link = Some(OpenLink { to_number: false, ..open });
        }
    }

    /// Ends the current block and returns its text. Returns `None` if the block is empty.
    pub(super) fn take_runs(&mut self, links: &mut NumberedLinks) -> Option<Vec<TextRun>> {
        if self.anchor.is_some() {
            self.end_link();
        }
        self.number_link();
        if self.state.is_preformatted() {
            self.trim_end(&['\n', ' ', '\t']);
        } else {
            let apart = self.runs.last().is_some_and(|run| run.text.ends_with("\n\n"));
            self.trim_end(&['\n', ' ', '\u{200B}']);
            self.apart |= apart;
        }
        let runs = std::mem::take(&mut self.runs);
        let visible = |c: char| !c.is_whitespace() && !is_hidden(c);
        if !runs.iter().any(|run| run.text.contains(visible)) {
            return None;
        }
        Some(runs.into_iter().flat_map(|run| link_bare_urls(run, links)).collect())
    }

    fn push(&mut self, text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        if let Some(open) = &mut self.state.link {
            open.to_number |= look.role != Role::LinkNumber && !text.trim().is_empty();
        }
        if !text.trim().is_empty() {
            self.led_to = None;
        }
        match self.runs.last_mut() {
            Some(last) if last.look == look => last.text.push_str(text),
            Some(_) | None => self.runs.push(TextRun { text: text.to_owned(), look }),
        }
    }

    fn last(&self) -> Option<char> {
        self.runs.last().and_then(|run| run.text.chars().next_back())
    }

    fn trim_end(&mut self, of: &[char]) {
        while let Some(last) = self.runs.last_mut() {
            let length = last.text.trim_end_matches(of).len();
            last.text.truncate(length);
            if length > 0 {
                break;
            }
            self.runs.pop();
        }
    }

    fn look(&self) -> Look {
        let on = |format| self.state.is_on(format);
        let role = if self.state.is_preformatted() {
            Role::Preformatted
        } else if on(Format::Code) {
            Role::Code
        } else if self.state.link.is_some() {
            Role::Link
        } else if let Some(level) = self.state.heading {
            Role::Heading(level)
        } else if self.state.caption {
            Role::Caption
        } else {
            Role::Text
        };
        let style = Style {
            bold: on(Format::Bold) || self.state.heading.is_some(),
            italic: on(Format::Italic) || self.state.caption,
            underlined: on(Format::Underlined),
            struck: on(Format::Struck),
            quoted: false,
        };
        let link = self.state.link.map(|open| open.number);
        Look { role, style, link, image: None, anchor: self.led_to }
    }
}

/// Splits a run at the addresses in its text that are not marked up as links, and numbers these addresses.
fn link_bare_urls(run: TextRun, links: &mut NumberedLinks) -> Vec<TextRun> {
    let plain = matches!(run.look.role, Role::Text | Role::Heading(_) | Role::Caption);
    if !plain || run.look.link.is_some() || !run.text.contains("://") {
        return vec![run];
    }
    let mut parts = Vec::new();
    let mut done = 0;
    for range in bare_urls(&run.text) {
        let url = run.text.get(range.clone()).unwrap_or_default();
        let Some(number) = links.number(url) else { continue };
        let before = run.text.get(done..range.start).unwrap_or_default();
        parts.push(TextRun { text: before.to_owned(), look: run.look });
        let link = Some(number);
        let look = Look { role: Role::Link, link, ..run.look };
        parts.push(TextRun { text: url.to_owned(), look });
        let text = format!("\u{2060}[{number}]");
        parts.push(TextRun { text, look: Look { link, ..Look::with_role(Role::LinkNumber) } });
        done = range.end;
    }
    let rest = run.text.get(done..).unwrap_or_default();
    parts.push(TextRun { text: rest.to_owned(), look: run.look });
    parts.retain(|part| !part.text.is_empty());
    parts
}
