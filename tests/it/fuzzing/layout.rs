//! Fuzzing of entry markup, laid out for panes of any width.

use backissue::ui::effect::RenderWork;
use backissue::view::panes::entry_lines::lay_out;
use backissue_core::history::{EntryKey, FeedKey};
use unicode_width::UnicodeWidthStr;

use super::{Target, documents};

const TEXTS: [&str; 5] = [
    "<h2>Wax</h2><p>A <a href=\"/x\">link</a>, <b>bold <i>both</i></b>, <code>x = 1</code>.</p><ul><li>one<ol><li>two</ol></ul>\
     <blockquote><p>said</p></blockquote><hr><img src=\"a.png\" alt=\"A pear\" width=10>",
    "<table><caption>Sums</caption><tr><th colspan=2>a<th rowspan=3>b<tr><td>1<td>漢字<table><tr><td>in</table></table>",
    "<pre><code class=\"language-rust\">fn main() {\n\tprintln!(\"\u{1b}[31m\");\n}\n</code></pre><pre>  art\n /\\ \u{200b}</pre>",
    "\u{202e}evil\u{202c} \u{7}bell \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f1e9}\u{1f1ea} e\u{301}\u{301}\u{301} &#27;]0;x&#7; &zwj;",
    "<details><summary>more</summary><dl><dt>a<dd>b</dl></details><figure><video src=v></video><figcaption>c</figcaption></figure>\
     <iframe src=\"https://v.example/1\"></iframe><math><mi>x</mi></math><ruby>漢<rt>kan</rt></ruby>",
];

const WIDTHS: [u16; 8] = [1, 2, 7, 20, 39, 80, 200, 1000];

fn check(bytes: &[u8], number: usize) {
    check_at(bytes, number, WIDTHS[number % WIDTHS.len()]);
}

fn check_at(bytes: &[u8], number: usize, width: u16) {
    let html = String::from_utf8_lossy(bytes).into_owned();
    let work = RenderWork {
        key: EntryKey { feed: FeedKey(1), seq: 0 },
        source: Default::default(),
        html,
        base: Some("https://a.example/x/".to_owned()),
        enclosures: Vec::new(),
        width,
        text_width: 80,
        slides: number.is_multiple_of(3),
    };
    let rendered = lay_out(&work);
    for line in &rendered.lines {
        let text: String = line.spans.iter().map(|span| span.text.as_str()).collect();
        assert!(!text.chars().any(char::is_control), "{text:?}");
        let fits = work.slides || width < 20 || text.width() <= usize::from(width);
        assert!(fits, "{} columns of {width}: {text:?}", text.width());
    }
    assert_eq!(rendered, lay_out(&work), "two answers");
}

/// Inputs that failed in longer runs and must not fail again.
const FOUND: [&str; 1] = [
    "<table><caption>Sums</caption><tr><th colspan=2>a<th rowspan=3>b<tr><td>1tr><th colspan=2>>a<th rowspan=3>b<tr><td>1",
];

#[test]
fn regression_markup_fits_every_width() {
    for html in FOUND {
        for width in 1..=60 {
            check_at(html.as_bytes(), 1, width);
        }
    }
}

pub fn layout() -> Target {
    Target::of_texts("layout", &TEXTS, documents::PIECES, 300, check)
}

#[test]
fn markup_layout_is_deterministic_and_within_its_width() {
    layout().run();
}
