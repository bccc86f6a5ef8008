//! The blocks of an entry's body: an intermediate form between the HTML tags and the laid-out lines.
//!
//! The programming language of a code block is taken from the markup and never guessed from the code.

pub(super) use crate::ui::reader::lines::{
    INSIDE_FIRST, ImageTarget, LinkTarget, Rendered, Role, Slide, Style, StyledLine, StyledSpan,
    Syntax,
};

use backissue_core::feed::content::markup::Tag;

/// The column in which text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Width in cells.
    pub width: usize,
    /// Number of cells on the left and on the right that only code blocks and tables may use.
    pub margins: (usize, usize),
    /// `true` if tables and preformatted lines that are too wide scroll sideways ([`StyledLine::slide`]). If `false`, they are
    /// wrapped.
    pub slides: bool,
}

impl Column {
    /// Creates a column without margins, in which nothing scrolls sideways; all wide content is wrapped.
    pub const fn fixed(width: usize) -> Self {
        Self { width, margins: (0, 0), slides: false }
    }

    /// Returns the width of running text, in cells.
    pub(super) const fn prose(self) -> usize {
        self.width.saturating_sub(self.margins.0.saturating_add(self.margins.1))
    }

    /// Returns the column that remains beside a bar or an indent with a width of `by` cells.
    pub(super) const fn narrower(self, by: usize) -> Self {
        Self { width: self.width.saturating_sub(by), ..self }
    }
}

/// The format of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub role: Role,
    pub style: Style,
    pub link: Option<u16>,
    pub image: Option<u16>,
    /// Number of the link within the text that leads to this span.
    pub anchor: Option<u16>,
}

impl Look {
    pub(super) const fn with_role(role: Role) -> Self {
        Self {
            role,
            style: Style {
                bold: false,
                italic: false,
                underlined: false,
                struck: false,
                quoted: false,
            },
            link: None,
            image: None,
            anchor: None,
        }
    }

    pub(super) const fn span(self, text: String) -> StyledSpan {
        let Self { role, style, link, image, anchor } = self;
        StyledSpan { text, role, style, link, image, anchor }
    }
}

/// A piece of text in one format. A line feed in it is a forced line break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextRun {
    pub text: String,
    pub look: Look,
}

/// The direction of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TextDirection {
    /// The first letter determines the direction.
    #[default]
    Auto,
    Rightward,
    /// Right-to-left.
    Leftward,
}

/// A block of an entry's body.
#[derive(Debug)]
pub(super) enum Block {
    /// A paragraph, caption or heading. If it is `loose`, blank lines separate it from adjacent blocks.
    Text {
        runs: Vec<TextRun>,
        loose: bool,
        direction: TextDirection,
    },
    Preformatted {
        runs: Vec<TextRun>,
        language: Option<Language>,
    },
    Rule,
    /// A quotation: blocks with a bar on their left.
    Quote(Vec<Self>),
    /// Indented blocks, such as a definition in a `dl`.
    Indented(Vec<Self>),
    List(Vec<Item>),
    Table(HtmlTable),
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
    /// Bullet or number of the item, without the space after it.
    pub marker: String,
    pub blocks: Vec<Block>,
}

/// A table as written in the markup: rows of cells that can span several rows or columns.
#[derive(Debug, Default)]
pub(super) struct HtmlTable {
    pub rows: Vec<Vec<Cell>>,
    /// `true` if the table is only used to arrange its contents (`role=presentation`).
    pub layout_only: bool,
}

/// Checks whether a table has contents to compare. A table without such contents only arranges text.
pub(super) fn is_grid(written: &HtmlTable) -> bool {
    let columns = written.rows.iter().map(Vec::len).max().unwrap_or_default();
    let filled = written.rows.iter().flatten().filter(|cell| !cell.blocks.is_empty()).count();
    !written.layout_only && columns > 1 && filled > 1 && !holds_table(written)
}

/// Checks whether any cell contains a table. The outer table then only arranges its contents.
fn holds_table(table: &HtmlTable) -> bool {
    fn in_blocks(blocks: &[Block]) -> bool {
        blocks.iter().any(|block| match block {
            Block::Table(_) => true,
            Block::Quote(blocks) | Block::Indented(blocks) => in_blocks(blocks),
            Block::List(items) => items.iter().any(|item: &Item| in_blocks(&item.blocks)),
            Block::Text { .. } | Block::Preformatted { .. } | Block::Rule => false,
        })
    }
    table.rows.iter().flatten().any(|cell| in_blocks(&cell.blocks))
}

/// A cell of a table.
#[derive(Debug)]
pub(super) struct Cell {
    pub header: bool,
    pub columns: usize,
    pub rows: usize,
    pub align: Align,
    pub blocks: Vec<Block>,
}

/// The horizontal alignment of the text in a table cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Align {
    #[default]
    Left,
    Centre,
    Right,
}

/// A programming language that can be highlighted. It is identified by the file name extension that the highlighter uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language(pub &'static str);

/// Names that publishers use for programming languages, each with the extension that identifies the language.
const NAMES: &[(&str, &str)] = &[
    ("asm assembly nasm x86asm armasm gas", "asm"),
    (
        "bash sh shell zsh ksh console shell-session shellsession sh-session shellscript terminal",
        "sh",
    ),
    ("c h", "c"),
    ("c++ cpp cxx cc hpp", "cpp"),
    ("c# cs csharp", "cs"),
    ("css scss sass less", "css"),
    ("dart", "dart"),
    ("diff patch udiff", "diff"),
    ("go golang", "go"),
    ("haskell hs", "hs"),
    ("html htm xhtml html-basic html-erb vue svelte htmlbars handlebars", "html"),
    ("java", "java"),
    ("javascript js jsx mjs node ecmascript", "js"),
    ("json json5 jsonc jsonld json-ld geojson", "json"),
    ("kotlin kt kts", "kt"),
    ("latex tex", "tex"),
    ("lua", "lua"),
    ("markdown md mdx", "md"),
    ("matlab octave", "m"),
    ("nu nushell", "nu"),
    ("perl pl pm", "pm"),
    ("php", "php"),
    ("prolog", "pl"),
    ("python py py3 python3 python2 pycon ipython ipython3", "py"),
    ("r rlang rsplus", "r"),
    ("ruby rb", "rb"),
    ("rust rs", "rs"),
    ("scala", "scala"),
    ("sql mysql postgresql postgres pgsql plpgsql sqlite tsql", "sql"),
    ("swift", "swift"),
    ("toml", "toml"),
    ("typescript ts tsx", "ts"),
    ("vb vbnet vb.net visualbasic", "vb"),
    ("xml svg rss atom xsl xslt", "xml"),
    ("yaml yml", "yaml"),
];

/// Prefixes of programming language names in `class` attributes, longest first.
const PREFIXES: [&str; 8] = [
    "highlight-source-",
    "highlight-text-",
    "language-",
    "highlight-",
    "lang-",
    "lang:",
    "src-",
    "brush:",
];

/// Classes of code blocks. If one of them is present, another class without a prefix can be the name of a programming language.
const MARKERS: [&str; 9] = [
    "hljs",
    "sourcecode",
    "highlight",
    "chroma",
    "prettyprint",
    "prism",
    "shiki",
    "src",
    "code-block",
];

/// Attributes whose value is the name of a programming language.
const ATTRIBUTES: [&str; 4] =
    ["data-lang", "data-language", "data-enlighter-language", "data-code-lang"];

impl Language {
    /// Returns the programming language with this name. Returns `None` if it is not known.
    fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let is_it = |(names, _): &&(&str, &str)| names.split(' ').any(|other| other == name);
        NAMES.iter().find(is_it).map(|(_, extension)| Self(extension))
    }

    /// Returns the programming language that the attributes of a tag declare.
    pub(super) fn of_tag(tag: &Tag) -> Option<Self> {
        let class = tag.attribute("class").unwrap_or_default();
        let said = ATTRIBUTES.iter().filter_map(|name| tag.attribute(name));
        // On `pre`, the values `cs` and `pl` of `lang` may mean Czech and Polish, so they are not used.
        let code = |lang: &&str| tag.name() == "pre" && !matches!(*lang, "cs" | "pl");
        let mut said = said.chain(tag.attribute("lang").filter(code));
        said.find_map(Self::named).or_else(|| Self::of_class(class))
    }

    fn of_class(class: &str) -> Option<Self> {
        let class = class.to_ascii_lowercase().replace("brush: ", "brush:");
        let words = || class.split(|c: char| c.is_whitespace() || c == ';' || c == ',');
        let prefixed = words().find_map(|word| {
            let name = PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix))?;
            Self::named(name)
        });
        let marked = || words().any(|word| MARKERS.contains(&word));
        prefixed.or_else(|| words().filter(|_| marked()).find_map(Self::named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::html::Column;
    use crate::view::html::body_reader::{TextUse, read};
    use crate::view::html::model::Block;

    /// Returns the programming language of the first code block in the markup.
    fn language(html: &str) -> Option<&'static str> {
        let body = read(html, None, TextUse::File);
        body.blocks.iter().find_map(|block| match block {
            Block::Preformatted { language, .. } => Some(language.map(|language| language.0)),
            Block::Text { .. }
            | Block::Rule
            | Block::Quote(_)
            | Block::Indented(_)
            | Block::List(_)
            | Block::Table(_) => None,
        })?
    }

    #[test]
    fn the_markup_of_publishers_names_the_language() {
        for (html, expected) in [
            ("<pre lang='rust'>x</pre>", Some("rs")),
            ("<pre lang='pl'>Litwo, ojczyzno moja</pre>", None),
            ("<code lang='cs'>x</code>", None),
            // Markup of GitHub, Jekyll with Rouge, Hugo with Chroma, Zola, and Asciidoctor.
            ("<div class='highlight highlight-source-rust'><pre>x</pre></div>", Some("rs")),
            ("<div class='highlight highlight-text-html-basic'><pre>x</pre></div>", Some("html")),
            (
                "<div class='language-ruby highlighter-rouge'><div class='highlight'><pre class='highlight'><code>x</code></pre></div></div>",
                Some("rb"),
            ),
            (
                "<figure class='highlight'><pre><code class='language-js' data-lang='js'>x</code></pre></figure>",
                Some("js"),
            ),
            (
                "<div class='highlight'><pre tabindex=0 class='chroma'><code class='language-go' data-lang='go'><span>x</span></code></pre></div>",
                Some("go"),
            ),
            ("<pre data-lang='toml' class='language-toml '><code>x</code></pre>", Some("toml")),
            ("<pre class='highlight'><code class='language-yaml'>x</code></pre>", Some("yaml")),
            // Markup of Prism, highlight.js, Pandoc, Astro, WordPress, Enlighter, Crayon, Sphinx, and Org.
            ("<pre class='language-css'><code class='language-css'>x</code></pre>", Some("css")),
            ("<pre><code class='hljs python'>x</code></pre>", Some("py")),
            (
                "<div class='sourceCode'><pre class='sourceCode haskell'><code class='sourceCode haskell'>x</code></pre></div>",
                Some("hs"),
            ),
            ("<pre class='astro-code' data-language='ts'><code>x</code></pre>", Some("ts")),
            ("<pre class='brush: php; title: ; notranslate' title=''>x</pre>", Some("php")),
            ("<pre class='brush:sql'>x</pre>", Some("sql")),
            ("<pre class='EnlighterJSRAW' data-enlighter-language='kotlin'>x</pre>", Some("kt")),
            ("<pre class='lang:c++ decode:true'>x</pre>", Some("cpp")),
            ("<div class='highlight-python3 notranslate'><pre>x</pre></div>", Some("py")),
            ("<pre class='src src-sh'>x</pre>", Some("sh")),
            ("<pre lang='Perl'>x</pre>", Some("pm")),
            ("<PRE><CODE CLASS='LANGUAGE-C'>x</CODE></PRE>", Some("c")),
            // No language, an unknown language, or a language that is declared for another block.
            ("<pre><code>fn main() {}</code></pre>", None),
            ("<pre class='wp-block-code'><code>x</code></pre>", None),
            ("<pre lang='en'>x</pre>", None),
            ("<pre class='c r'>x</pre>", None),
            ("<pre><code class='language-plaintext'>x</code></pre>", None),
            ("<div class='language-ruby'><p>x</p></div><pre>y</pre>", None),
            ("<div class='highlight-java'><div></div>x</div><pre>y</pre>", None),
            ("<p>a <code class='language-rust'>x</code></p><pre>y</pre>", None),
        ] {
            assert_eq!(language(html), expected, "{html}");
        }
    }

    #[test]
    fn every_language_is_one_the_highlighter_knows() {
        for (names, extension) in NAMES {
            let mut known = synoptic::from_extension(extension, 4).unwrap();
            let lines =
                ["\"a\" 1 <c d=\"e\"> // 2 # 3 -- 4 ; 5 % 6".to_owned(), "+added *b*".to_owned()];
            known.run(&lines);
            let mut pieces = (0..2).flat_map(|at| known.line(at, &lines[at]));
            let some = pieces.any(|piece| matches!(piece, synoptic::TokOpt::Some(..)));
            assert!(some, "{names}");
            for name in names.split(' ') {
                assert_eq!(Language::named(name), Some(Language(extension)), "{name}");
            }
        }
    }

    #[test]
    fn each_block_has_a_language_of_its_own() {
        let html = "<pre class=language-rust>a</pre><pre>b</pre><ul><li><pre><code class=language-c>c</code></pre></ul>";
        let column = Column { slides: true, ..Column::fixed(40) };
        assert_eq!(super::super::render(html, None, column).lines.len(), 5);
        assert_eq!(language(html), Some("rs"));
        assert_eq!(language("<pre>b</pre><pre class=language-rust>a</pre>"), None);
    }
}
