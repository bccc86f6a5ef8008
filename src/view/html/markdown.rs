//! Formats the blocks of an entry's body as Markdown (`CommonMark`, with the tables and struck text of GitHub), and as XHTML for
//! books. The XHTML only contains elements that a reading device needs, and all of them are closed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use backissue_core::feed::outgoing::{escaped_attribute, escaped_text};

use super::body_reader::TextUse;
use super::lines::first_direction;
use super::links::file_name_of;
use super::model::{Block, Cell, HtmlTable, Item, Role, TextRun};
use super::render::read_body;
use crate::ui::reader::lines::{ImageTarget, LinkTarget};

/// Characters that have a special meaning anywhere in a line.
const SPECIAL: &str = "\\`*[]<>~|";

/// Returns the body of an entry as Markdown. Relative references are resolved against `base`, an absolute URL.
pub fn markdown(html: &str, base: Option<&str>) -> String {
    let (body, is_cut) = read_body(html, base, TextUse::File);
    let targets = body.links.into_targets().0;
    let writer = MarkdownWriter { links: &targets, images: &body.images };
    let mut lines = writer.blocks(&body.blocks);
    if is_cut {
        lines.extend([String::new(), "… the rest is not shown (more than 2 MB)".to_owned()]);
    }
    lines.iter().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

struct MarkdownWriter<'b> {
    links: &'b [LinkTarget],
    images: &'b [ImageTarget],
}

impl MarkdownWriter<'_> {
    /// Returns the lines of blocks, separated by empty lines.
    fn blocks(&self, blocks: &[Block]) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for block in blocks {
            let written = self.block(block);
            if !lines.is_empty() && !written.is_empty() {
                lines.push(String::new());
            }
            lines.extend(written);
        }
        lines
    }

    fn block(&self, block: &Block) -> Vec<String> {
        match block {
            Block::Text { runs, .. } => self.paragraph(runs),
            Block::Preformatted { runs, language } => {
                let text: String = runs.iter().map(|run| run.text.as_str()).collect();
                let fence = fence(&text, 3);
                let language = language.map_or("", |language| language.0);
                let mut lines = vec![format!("{fence}{language}")];
                lines.extend(text.lines().map(str::to_owned));
                lines.push(fence);
                lines
            }
            Block::Rule => vec!["---".to_owned()],
            Block::Quote(blocks) => prefixed(self.blocks(blocks), "> ", "> "),
            Block::Indented(blocks) => self.blocks(blocks),
            Block::List(items) => self.list(items),
            Block::Table(table) => self.table(table),
        }
    }

    fn paragraph(&self, runs: &[TextRun]) -> Vec<String> {
        let level = runs.iter().find_map(|run| {
            if let Role::Heading(level) = run.look.role { Some(usize::from(level)) } else { None }
        });
        let text = self.inline(runs, level.is_some());
        let Some(level) = level else {
            let lines: Vec<&str> = text.trim().lines().map(str::trim).collect();
            let last = lines.len().saturating_sub(1);
            let broken = (0..).zip(lines).map(|(place, line)| {
                let end = if place < last && !line.is_empty() { "\\" } else { "" };
                format!("{}{end}", line_start_escaped(line))
            });
            return broken.collect();
        };
        // The title of the entry is the only heading of the first level.
        let marks = "#".repeat(level.saturating_add(1).min(6));
        vec![format!("{marks} {}", text.split_whitespace().collect::<Vec<_>>().join(" "))]
    }

    fn list(&self, items: &[Item]) -> Vec<String> {
        let mut lines = Vec::new();
        for Item { marker, blocks } in items {
            let number: String = marker.chars().take_while(char::is_ascii_digit).collect();
            let marker = if number.is_empty() { "- ".to_owned() } else { format!("{number}. ") };
            let indent = " ".repeat(marker.len());
            lines.extend(prefixed(self.blocks(blocks), &marker, &indent));
        }
        lines
    }

    /// Returns a table as rows if each cell is a single line. Otherwise, returns the contents of its cells one after the other.
    fn table(&self, table: &HtmlTable) -> Vec<String> {
        let is_plain = |cell: &Cell| {
            cell.columns <= 1
                && cell.rows <= 1
                && matches!(cell.blocks.as_slice(), [] | [Block::Text { .. }])
        };
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
        if table.layout_only || columns < 2 || !table.rows.iter().flatten().all(is_plain) {
            let cells = table.rows.iter().flatten().map(|cell| self.blocks(&cell.blocks));
            let cells: Vec<Vec<String>> = cells.filter(|lines| !lines.is_empty()).collect();
            return cells.join(&String::new());
        }
        let row = |cells: &[Cell]| {
            let mut line = "|".to_owned();
            for place in 0..columns {
                let lines = cells.get(place).map(|cell| self.blocks(&cell.blocks));
                let text = lines.unwrap_or_default().join(" ").replace("\\ ", " ");
                // Writing to a string cannot fail.
                write!(line, " {text} |").ok();
            }
            line
        };
        let mut lines: Vec<String> = Vec::new();
        let has_head = table.rows.first().is_some_and(|row| row.iter().any(|cell| cell.header));
        if !has_head {
            lines.push(format!("|{}", "   |".repeat(columns)));
            lines.push(format!("|{}", " --- |".repeat(columns)));
        }
        for (place, cells) in table.rows.iter().enumerate() {
            lines.push(row(cells));
            if has_head && place == 0 {
                lines.push(format!("|{}", " --- |".repeat(columns)));
            }
        }
        lines
    }

    fn inline(&self, runs: &[TextRun], is_heading: bool) -> String {
        let mut text = String::new();
        let same_link = |a: &TextRun, b: &TextRun| a.look.link == b.look.link;
        let shown: Vec<TextRun> =
            runs.iter().filter(|run| run.look.role != Role::LinkNumber).cloned().collect();
        for group in shown.chunk_by(same_link) {
            let link = group.first().and_then(|run| self.links.get(place_of(run.look.link?)?));
            let inner: String = group.iter().map(|run| self.run(run, is_heading)).collect();
            let Some(link) = link else {
                text.push_str(&inner);
                continue;
            };
            // A picture that links to itself is written without the link.
            let image = group.iter().find_map(|run| self.image_of(run));
            if group.len() == 1 && image.is_some_and(|image| image.url == link.url) {
                text.push_str(&inner);
                continue;
            }
            let plain: String = group.iter().map(|run| run.text.trim()).collect();
            let (before, kept, after) = trimmed(&inner);
            let written = if plain == link.url {
                format!("<{}>", link.url)
            } else {
                format!("[{}]({})", kept.replace('\n', " "), address(&link.url))
            };
            text.push_str(&[before, &written, after].concat());
        }
        text
    }

    fn image_of(&self, run: &TextRun) -> Option<&ImageTarget> {
        run.look.image.and_then(|number| self.images.get(place_of(number)?))
    }

    fn run(&self, run: &TextRun, is_heading: bool) -> String {
        let text = run.text.replace(['\u{200b}', '\u{2060}'], "");
        if let Some(image) = self.image_of(run) {
            let alt =
                if image.alt.is_empty() { file_name_of(&image.url) } else { image.alt.clone() };
            return format!("![{}]({})", escaped(&alt), address(&image.url));
        }
        let (before, kept, after) = trimmed(&text);
        if kept.is_empty() {
            return text;
        }
        if run.look.role == Role::Code {
            let fence = fence(kept, 1);
            let pad = if kept.starts_with('`') || kept.ends_with('`') { " " } else { "" };
            return format!("{before}{fence}{pad}{kept}{pad}{fence}{after}");
        }
        let style = run.look.style;
        let marks = [
            (style.struck, "~~"),
            (style.bold && !is_heading, "**"),
            (style.italic && run.look.role != Role::Caption, "*"),
        ];
        let marks: String =
            marks.iter().filter(|(is_on, _)| *is_on).map(|(_, mark)| *mark).collect();
        let closing: String = marks.chars().rev().collect();
        // An emphasis must not span a line break.
        let lines = kept.split('\n').map(|line| match line.trim() {
            "" => String::new(),
            line => format!("{marks}{}{closing}", escaped(line)),
        });
        format!("{before}{}{after}", lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Returns the index of the item with this number. Numbers start at 1.
pub(super) fn place_of(number: u16) -> Option<usize> {
    usize::from(number).checked_sub(1)
}

/// Splits a text into the white space around it and the rest.
fn trimmed(text: &str) -> (&str, &str, &str) {
    let kept = text.trim();
    let start = text.len().saturating_sub(text.trim_start().len());
    let (before, rest) = text.split_at_checked(start).unwrap_or(("", text));
    let after = rest.get(kept.len()..).unwrap_or_default();
    (before, kept, after)
}

fn prefixed(lines: Vec<String>, first: &str, others: &str) -> Vec<String> {
    let marked = (0..).zip(lines).map(|(place, line)| {
        let mark = if place == 0 { first } else { others };
        format!("{mark}{line}")
    });
    marked.collect()
}

/// Returns a sequence of backticks that is longer than any in the text and has at least `least` backticks.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.saturating_add(1).max(least))
}

/// Returns an address in the form for the brackets after the text of a link.
fn address(url: &str) -> String {
    url.replace('(', "%28").replace(')', "%29").replace(' ', "%20")
}

/// Escapes characters that would be parsed as markup in the middle of a line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    for (place, &char) in chars.iter().enumerate() {
        let next = chars.get(place.saturating_add(1));
        let is_word = |char: Option<&char>| char.is_some_and(|char| char.is_alphanumeric());
        let before = place.checked_sub(1).and_then(|place| chars.get(place));
        let is_special = match char {
            // Within a word, this character does not start an emphasis.
            '_' => !(is_word(before) && is_word(next)),
            '&' => is_word(next) || next == Some(&'#'),
            char => SPECIAL.contains(char),
        };
        if is_special {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

/// Escapes the beginning of a line that would be parsed as a heading or a list.
fn line_start_escaped(line: &str) -> String {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = line.get(digits..).unwrap_or_default();
    if digits > 0 && rest.starts_with(['.', ')']) {
        let (number, rest) = line.split_at_checked(digits).unwrap_or((line, ""));
        return format!("{number}\\{rest}");
    }
    if line.starts_with(['#', '+', '-', '=']) { format!("\\{line}") } else { line.to_owned() }
}

/// The context in which an entry is written as XHTML: in a book, or in an app.
#[derive(Debug, Clone, Copy)]
pub struct InBook<'b> {
    /// Whether the page of the entry is right-to-left. Blocks with the other direction have an attribute that states it.
    pub is_leftward: bool,
    /// Names of the pictures in the book, by address. Pictures that are not in the book become links. `None` outside a book,
    /// where the address of each picture is its name.
    pub pictures: Option<&'b BTreeMap<String, String>>,
}

/// Returns the body of an entry as the contents of an XHTML `body`. Relative references are resolved against `base`, an absolute
/// URL.
pub fn xhtml(html: &str, base: Option<&str>, place: InBook<'_>) -> String {
    let (body, is_cut) = read_body(html, base, TextUse::File);
    let targets = body.links.into_targets().0;
    let (links, images) = (&targets, &body.images);
    let mut writer = XhtmlWriter { links, images, place, out: String::new() };
    writer.blocks(&body.blocks);
    if is_cut {
        writer.out.push_str("<p>… the rest is not shown (more than 2 MB)</p>\n");
    }
    writer.out
}

/// Returns an address in which all characters that the standard does not allow are escaped, because programs that read books are
/// less tolerant than browsers.
fn strict(url: &str) -> String {
    let host = url.find("://").map_or(0, |at| at.saturating_add(3));
    // An IPv6 address contains brackets.
    let rest = url.get(host..).and_then(|rest| rest.find(['/', '?', '#']));
    let (begin, rest) =
        url.split_at_checked(host.saturating_add(rest.unwrap_or_default())).unwrap_or((url, ""));
    let (mut out, mut has_fragment) = (begin.to_owned(), false);
    for (at, char) in rest.char_indices() {
        let is_escape = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let is_wrong = match char {
            '#' => std::mem::replace(&mut has_fragment, true),
            '%' => !rest.get(at.saturating_add(1)..at.saturating_add(3)).is_some_and(is_escape),
            char => "\\^`{|}[]".contains(char),
        };
        if is_wrong {
            // Writing to a string cannot fail.
            write!(out, "%{:02X}", u32::from(char)).ok();
        } else {
            out.push(char);
        }
    }
    out
}

struct XhtmlWriter<'b> {
    links: &'b [LinkTarget],
    images: &'b [ImageTarget],
    place: InBook<'b>,
    out: String,
}

impl XhtmlWriter<'_> {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        let around = self.place.is_leftward;
        let turn = self.turn(block);
        match block {
            Block::Text { runs, .. } => {
                let level = runs.iter().find_map(|run| {
                    if let Role::Heading(level) = run.look.role { Some(level) } else { None }
                });
                // The title of the entry is the only heading of the first level.
                let name = level
                    .map_or("p".to_owned(), |level| format!("h{}", level.saturating_add(1).min(6)));
                self.within(&name, turn, |writer| writer.inline(runs, level.is_some()));
            }
            Block::Preformatted { runs, .. } => self.within("pre", turn, |writer| {
                let text: String = runs.iter().map(|run| run.text.as_str()).collect();
                writer.out.push_str(&escaped_text(&text));
            }),
            Block::Rule => self.out.push_str("<hr/>\n"),
            Block::Quote(blocks) => {
                self.within("blockquote", turn, |writer| writer.blocks(blocks));
            }
            Block::Indented(blocks) => self.within("div", turn, |writer| writer.blocks(blocks)),
            Block::List(items) => self.list(items, turn),
            Block::Table(table) => self.table(table, turn),
        }
        self.place.is_leftward = around;
    }

    /// Switches to the direction of a block. Returns the attribute that states the direction, if it differs from the
    /// direction around the block.
    fn turn(&mut self, block: &Block) -> &'static str {
        // A table that only arranges its contents has no element.
        if matches!(block, Block::Table(table) if table.layout_only) {
            return "";
        }
        let around = self.place.is_leftward;
        self.place.is_leftward = first_direction(block).unwrap_or(around);
        match (around, self.place.is_leftward) {
            (false, true) => " dir=\"rtl\"",
            (true, false) => " dir=\"ltr\"",
            (true, true) | (false, false) => "",
        }
    }

    /// Writes an element. Each of its attributes begins with a space.
    fn within(&mut self, name: &str, attributes: &str, write: impl FnOnce(&mut Self)) {
        // Writing to a string cannot fail.
        write!(self.out, "<{name}{attributes}>").ok();
        write(self);
        writeln!(self.out, "</{name}>").ok();
    }

    fn list(&mut self, items: &[Item], turn: &str) {
        let first = items.first().map_or("", |item| item.marker.as_str());
        let number: String = first.chars().take_while(char::is_ascii_digit).collect();
        let (name, start) = match number.as_str() {
            "" => ("ul", String::new()),
            number => ("ol", format!(" start=\"{number}\"")),
        };
        self.within(name, &(start + turn), |writer| {
            for item in items {
                writer.within("li", "", |writer| writer.blocks(&item.blocks));
            }
        });
    }

    fn table(&mut self, table: &HtmlTable, turn: &str) {
        if table.layout_only {
            for cell in table.rows.iter().flatten() {
                self.blocks(&cell.blocks);
            }
            return;
        }
        let rows: Vec<&Vec<Cell>> = table.rows.iter().filter(|row| !row.is_empty()).collect();
        if rows.is_empty() {
            return;
        }
        self.within("table", turn, |writer| {
            for row in rows {
                writer.within("tr", "", |writer| row.iter().for_each(|cell| writer.cell(cell)));
            }
        });
    }

    fn cell(&mut self, cell: &Cell) {
        let name = if cell.header { "th" } else { "td" };
        let mut attributes = String::new();
        for (attribute, count) in [("colspan", cell.columns), ("rowspan", cell.rows)] {
            if count > 1 {
                // Writing to a string cannot fail.
                write!(attributes, " {attribute}=\"{count}\"").ok();
            }
        }
        self.within(name, &attributes, |writer| writer.blocks(&cell.blocks));
    }

    fn inline(&mut self, runs: &[TextRun], is_heading: bool) {
        let shown: Vec<&TextRun> =
            runs.iter().filter(|run| run.look.role != Role::LinkNumber).collect();
        for group in shown.chunk_by(|a, b| a.look.link == b.look.link) {
            let number = group.first().and_then(|run| run.look.link);
            let link = number.and_then(|number| self.links.get(place_of(number)?));
            // A picture that is in the book is written without the link to itself.
            let is_own = |run: &&TextRun| {
                self.stored(run)
                    .is_some_and(|(image, _)| link.is_some_and(|it| it.url == image.url))
            };
            let link = link.filter(|_| !group.iter().all(is_own));
            if let Some(link) = link {
                // Writing to a string cannot fail.
                write!(self.out, "<a href=\"{}\">", escaped_attribute(&strict(&link.url))).ok();
            }
            let is_linked = link.is_some();
            for run in group {
                self.run(run, is_heading);
            }
            self.out.push_str(if is_linked { "</a>" } else { "" });
        }
    }

    /// Returns the picture that a run is a label for, and its name in the book.
    fn stored(&self, run: &TextRun) -> Option<(&ImageTarget, &str)> {
        let image = self.images.get(place_of(run.look.image?)?)?;
        let name = match self.place.pictures {
            Some(pictures) => pictures.get(&image.url)?,
            None => &image.url,
        };
        Some((image, name))
    }

    fn run(&mut self, run: &TextRun, is_heading: bool) {
        let stored = self.stored(run).map(|(image, name)| {
            let (name, alt) = (escaped_attribute(&strict(name)), escaped_attribute(&image.alt));
            format!("<img src=\"{name}\" alt=\"{alt}\"/>")
        });
        if let Some(stored) = stored {
            self.out.push_str(&stored);
            return;
        }
        let style = run.look.style;
        let marks = [
            (style.bold && !is_heading, "b"),
            (style.italic, "i"),
            (style.struck, "s"),
            (run.look.role == Role::Code, "code"),
        ];
        let names: Vec<&str> =
            marks.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| *name).collect();
        for name in &names {
            self.out.extend(["<", *name, ">"]);
        }
        let text = run.text.replace('\u{2060}', "");
        self.out.push_str(&escaped_text(&text).replace('\n', "<br/>"));
        for name in names.iter().rev() {
            self.out.extend(["</", *name, ">"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{InBook, markdown, xhtml};

    #[test]
    fn blocks_become_markdown() {
        for (html, expected) in [
            ("<h1>One</h1><p>a<br>b <em>c </em>d", "## One\n\na\\\nb *c* d\n"),
            ("<ul><li>a<li>b<ol start=3><li>c<li>d</ol></ul>", "- a\n- b\n\n  3. c\n  4. d\n"),
            ("<blockquote><p>a<p>b</blockquote><hr>", "> a\n>\n> b\n\n---\n"),
            (
                "<pre><code class=language-rust>let a = `b`;\n  c\n</code></pre>",
                "```rs\nlet a = `b`;\n  c\n```\n",
            ),
            ("<pre>```</pre>", "````\n```\n````\n"),
            (
                "<table><tr><th>a<th>b<tr><td>1|2<td>3</table>",
                "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |\n",
            ),
            ("<table><tr><td>a<td>b</table>", "|   |   |\n| --- | --- |\n| a | b |\n"),
            ("<table><tr><td><ul><li>a</ul><td>b</table>", "- a\n\nb\n"),
        ] {
            let written = markdown(html, None).replace("| **", "| ").replace("** |", " |");
            assert_eq!(written, expected, "{html}");
        }
    }

    #[test]
    fn texts_are_escaped_and_links_resolved() {
        for (html, expected) in [
            (
                "<p>1. a * b_c _d_ &lt;i> &amp;amp; [x]",
                "1\\. a \\* b_c \\_d\\_ \\<i\\> \\&amp; \\[x\\]\n",
            ),
            ("<p># no heading", "\\# no heading\n"),
            (
                "<p><a href='/a(b)'><b>bold</b> text</a>",
                "[**bold** text](https://a.example/a%28b%29)\n",
            ),
            ("<p>see https://b.example/x", "see <https://b.example/x>\n"),
            ("<p><img src=/p.png alt='A [cat]'>", "![A \\[cat\\]](https://a.example/p.png)\n"),
            ("<p><code>a`b</code> <code>`</code>", "``a`b`` `` ` ``\n"),
            ("<p><s>a</s><b><i>b</i></b>", "~~a~~***b***\n"),
            ("<p><a href='javascript:x()'>no</a>", "no\n"),
            ("one\u{1b}[2J\n\ntwo", "one\\[2J\n\ntwo\n"),
            ("", ""),
        ] {
            assert_eq!(markdown(html, Some("https://a.example/")), expected, "{html}");
        }
    }

    #[test]
    fn blocks_become_closed_elements() {
        for (html, expected) in [
            (
                "<h1>A</h1><p>b<br>c &amp; <b><i>d",
                "<h2>A</h2>\n<p>b<br/>c &amp; <b><i>d</i></b></p>\n",
            ),
            (
                "<ol start=3><li>c<li><a href='/x?a=1&b=2'>d</a></ol>",
                "<ol start=\"3\"><li><p>c</p>\n</li>\n\
                 <li><p><a href=\"https://a.example/x?a=1&amp;b=2\">d</a></p>\n</li>\n</ol>\n",
            ),
            (
                "<blockquote>a</blockquote><hr><pre>1 &lt; 2\n</pre>",
                "<blockquote><p>a</p>\n</blockquote>\n<hr/>\n<pre>1 &lt; 2</pre>\n",
            ),
            (
                "<table><tr><td colspan=2>a<tr><td>b<td>c</table>",
                "<table><tr><td colspan=\"2\"><p>a</p>\n</td>\n</tr>\n\
                 <tr><td><p>b</p>\n</td>\n<td><p>c</p>\n</td>\n</tr>\n</table>\n",
            ),
            (
                "<a href='http://[::1]:1/[a]|%zz%20?{b}#c#d'>e</a>",
                "<p><a href=\"http://[::1]:1/%5Ba%5D%7C%25zz%20?%7Bb%7D#c%23d\">e</a></p>\n",
            ),
            (
                "<p><img src=/p.png alt='A \"cat\"'><script>x</script>\u{1b}",
                "<p><a href=\"https://a.example/p.png\">[image: A \"cat\"]</a></p>\n",
            ),
        ] {
            let place = InBook { is_leftward: false, pictures: Some(&BTreeMap::new()) };
            assert_eq!(xhtml(html, Some("https://a.example/"), place), expected, "{html}");
        }
    }
}
