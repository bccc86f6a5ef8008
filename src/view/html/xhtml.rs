//! Writes the blocks of an entry's body as XHTML for books: only elements that a reading device needs, all of them closed.

use std::fmt::Write as _;

use super::body_reader::TextUse;
use super::markdown::place_of;
use super::model::{Block, Cell, HtmlTable, Item, Role, TextRun};
use super::render::read_body;
use crate::ui::reader::lines::LinkTarget;
use backissue_core::feed::outgoing::{escaped_attribute, escaped_text};

/// Returns the body of an entry as the inside of an XHTML `body`. Pictures become links. Relative references are resolved against
/// `base`, an absolute URL.
pub fn xhtml(html: &str, base: Option<&str>) -> String {
    let (body, _) = read_body(html, base, TextUse::File);
    let targets = body.links.into_targets().0;
    let mut writer = XhtmlWriter { links: &targets, out: String::new() };
    writer.blocks(&body.blocks);
    writer.out
}

struct XhtmlWriter<'b> {
    links: &'b [LinkTarget],
    out: String,
}

impl XhtmlWriter<'_> {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Text { runs, .. } => {
                let level = runs.iter().find_map(|run| {
                    if let Role::Heading(level) = run.look.role { Some(level) } else { None }
                });
                // The title of the entry is the only heading of the first level.
                let name = level
                    .map_or("p".to_owned(), |level| format!("h{}", level.saturating_add(1).min(6)));
                self.within(&name, |writer| writer.inline(runs, level.is_some()));
            }
            Block::Preformatted { runs, .. } => self.within("pre", |writer| {
                let text: String = runs.iter().map(|run| run.text.as_str()).collect();
                writer.out.push_str(&escaped_text(&text));
            }),
            Block::Rule => self.out.push_str("<hr/>\n"),
            Block::Quote(blocks) => self.within("blockquote", |writer| writer.blocks(blocks)),
            Block::Indented(blocks) => self.within("div", |writer| writer.blocks(blocks)),
            Block::List(items) => self.list(items),
            Block::Table(table) => self.table(table),
        }
    }

    /// Writes an element.
    fn within(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        // Writing to a string cannot fail.
        write!(self.out, "<{name}>").ok();
        write(self);
        let name = name.split(' ').next().unwrap_or_default();
        writeln!(self.out, "</{name}>").ok();
    }

    fn list(&mut self, items: &[Item]) {
        let first = items.first().map_or("", |item| item.marker.as_str());
        let number: String = first.chars().take_while(char::is_ascii_digit).collect();
        let name = if number.is_empty() { "ul".into() } else { format!("ol start=\"{number}\"") };
        self.within(&name, |writer| {
            for item in items {
                writer.within("li", |writer| writer.blocks(&item.blocks));
            }
        });
    }

    fn table(&mut self, table: &HtmlTable) {
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
        self.within("table", |writer| {
            for row in rows {
                writer.within("tr", |writer| row.iter().for_each(|cell| writer.cell(cell)));
            }
        });
    }

    fn cell(&mut self, cell: &Cell) {
        let mut name = if cell.header { "th".to_owned() } else { "td".to_owned() };
        for (attribute, count) in [("colspan", cell.columns), ("rowspan", cell.rows)] {
            if count > 1 {
                // Writing to a string cannot fail.
                write!(name, " {attribute}=\"{count}\"").ok();
            }
        }
        self.within(&name, |writer| writer.blocks(&cell.blocks));
    }

    fn inline(&mut self, runs: &[TextRun], is_heading: bool) {
        let shown: Vec<&TextRun> =
            runs.iter().filter(|run| run.look.role != Role::LinkNumber).collect();
        for group in shown.chunk_by(|a, b| a.look.link == b.look.link) {
            let number = group.first().and_then(|run| run.look.link);
            let link = number.and_then(|number| self.links.get(place_of(number)?));
            if let Some(link) = link {
                // Writing to a string cannot fail.
                write!(self.out, "<a href=\"{}\">", escaped_attribute(&link.url)).ok();
            }
            let is_linked = link.is_some();
            for run in group {
                self.run(run, is_heading);
            }
            self.out.push_str(if is_linked { "</a>" } else { "" });
        }
    }

    fn run(&mut self, run: &TextRun, is_heading: bool) {
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
    use super::xhtml;

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
                "<p><img src=/p.png alt='A \"cat\"'><script>x</script>\u{1b}",
                "<p><a href=\"https://a.example/p.png\">[image: A \"cat\"]</a></p>\n",
            ),
        ] {
            assert_eq!(xhtml(html, Some("https://a.example/")), expected, "{html}");
        }
    }
}
