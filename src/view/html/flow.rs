//! Collects running text: collapses white space, tracks formats, and numbers links.

use super::elements::Format;
use super::language::Language;
use super::links::{NumberedLinks, bare_urls};
use super::model::{Look, Role, Style, TextRun};
use backissue_core::feed::characters::{Shift, is_hidden};

/// The formatting of the following text, set by the open elements.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextState {
    formats: [u16; Format::COUNT],
    pub heading: Option<u8>,
    pub caption: bool,
    pub preformatted: bool,
    /// Language of preformatted text.
    pub language: Option<Language>,
    link: Option<OpenLink>,
}

impl TextState {
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
    /// `true` if the open link contains text, so that the link's number must follow.
    to_number: bool,
}

/// The text of the current block.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub state: TextState,
    runs: Vec<TextRun>,
    /// `true` if the text ended in an empty line, so that a blank line must precede the next block.
    pub apart: bool,
    /// `true` directly after the start tag of preformatted text, where a line feed is ignored.
    at_start_tag: bool,
}

impl Flow {
    /// Adds text from the publisher.
    pub(super) fn text(&mut self, text: &str) {
        if self.state.preformatted {
            let at_start_tag = std::mem::take(&mut self.at_start_tag);
            let text = text.strip_prefix('\n').filter(|_| at_start_tag).unwrap_or(text);
            let kept = |c: &char| matches!(c, '\n' | '\t') || !is_hidden(*c);
            let kept: String = text.chars().filter(kept).collect();
            return self.push(&kept, self.look());
        }
        let mut kept = String::with_capacity(text.len());
        let mut blank = self.last().is_none_or(|c| matches!(c, ' ' | '\n'));
        for c in text.chars() {
            match c {
                ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                    if !blank {
                        kept.push(' ');
                    }
                    blank = true;
                }
                // A zero-width space, which allows a line break and is dropped when the line is drawn.
                '\u{200B}' => kept.push(c),
                c if is_hidden(c) => {}
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

    /// Adds generated text with its own format, within the open link if there is one.
    pub(super) fn sign(&mut self, text: &str, role: Role, image: Option<u16>, link: Option<u16>) {
        let link = self.state.link.map_or(link, |open| Some(open.number));
        let look = Look { role, image, link, style: self.look().style };
        self.push(text, look);
    }

    /// Adds a line break. Consecutive empty lines are collapsed into one.
    pub(super) fn line_break(&mut self) {
        if self.state.preformatted {
            return self.push("\n", self.look());
        }
        self.trim_end(&[' ']);
        match self.runs.last_mut() {
            None => self.apart = true,
            Some(last) if last.text.ends_with("\n\n") => {}
            Some(last) => last.text.push('\n'),
        }
    }

    /// Adds a line break unless the text is at the start of a line (for blocks within `pre`).
    pub(super) fn fresh_line(&mut self) {
        if self.last().is_some_and(|c| c != '\n') {
            self.line_break();
        }
    }

    pub(super) const fn begin_preformatted(&mut self, language: Option<Language>) {
        self.state.preformatted = true;
        self.state.language = language;
        self.at_start_tag = true;
    }

    pub(super) fn begin(&mut self, format: Format) {
        self.state.change(format, |count| count.saturating_add(1));
    }

    pub(super) fn end(&mut self, format: Format) {
        self.state.change(format, |count| count.saturating_sub(1));
    }

    /// Starts a link and ends the open one.
    pub(super) fn begin_link(&mut self, number: Option<u16>) {
        self.end_link();
        self.state.link = number.map(|number| OpenLink { number, to_number: false });
    }

    pub(super) fn end_link(&mut self) {
        self.number_link();
        self.state.link = None;
    }

    pub(super) const fn is_in_link(&self) -> bool {
        self.state.link.is_some()
    }

    /// Adds a link's number after its text, before a trailing space.
    pub(super) fn number(&mut self, number: u16) {
        let blank = self.last() == Some(' ');
        self.trim_end(&[' ']);
        let look = Look { link: Some(number), ..Look::with_role(Role::LinkNumber) };
        // The word joiner keeps the number on the same line as the text; it is dropped when drawn.
        self.push(&format!("\u{2060}[{number}]"), look);
        if blank {
            self.push(" ", Look::default());
        }
    }

    fn number_link(&mut self) {
        if let Some(open) = self.state.link
            && open.to_number
        {
            self.number(open.number);
            self.state.link = Some(OpenLink { to_number: false, ..open });
        }
    }

    /// Ends the block and returns its text, or `None` if it is empty.
    pub(super) fn take_runs(&mut self, links: &mut NumberedLinks) -> Option<Vec<TextRun>> {
        self.number_link();
        if self.state.preformatted {
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
        let role = if self.state.preformatted {
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
        Look { role, style, link: self.state.link.map(|open| open.number), image: None }
    }
}

/// Splits a run at the bare addresses in it and numbers them.
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
