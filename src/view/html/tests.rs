//! Tests of the layout of entry texts.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::Column;
use super::model::{INSIDE_FIRST, Rendered, Role, StyledLine, StyledSpan};
use backissue_core::feed::characters::{FlagTags, is_hidden};

const BASE: Option<&str> = Some("https://base.example/dir/page");

fn render(html: &str, base: Option<&str>, width: u16) -> Rendered {
    super::render(html, base, Column::fixed(width.into()))
}

fn lines(html: &str, width: u16) -> Vec<String> {
    render(html, BASE, width).lines.iter().map(StyledLine::text).collect()
}

fn check(html: &str, width: u16, expected: &[&str]) {
    assert_eq!(lines(html, width), expected, "{html}");
}

fn urls(rendered: &Rendered) -> Vec<&str> {
    rendered.links.iter().map(|link| link.url.as_str()).collect()
}

fn spans(rendered: &Rendered, role: Role) -> Vec<StyledSpan> {
    let all = rendered.lines.iter().flat_map(|line| &line.spans);
    all.filter(|span| span.role == role).cloned().collect()
}

#[test]
fn paragraphs_are_wrapped_and_kept_apart() {
    check("<p>one  two\nthree<p>four", 10, &["one two", "three", "", "four"]);
    check("<div>a</div><div>b</div>c", 10, &["a", "b", "c"]);
    check("a<br>b<br><br><br>c<br>", 10, &["a", "b", "", "c"]);
    check("<p></p><p> &nbsp;</p><div><br></div>", 10, &[]);
    check("x <b>y</b> z<i>w</i>", 10, &["x y zw"]);
    check("", 10, &[]);
}

#[test]
fn headings_say_their_level_and_are_bold() {
    let rendered = render("<h2>Head <em>line</em></h2>text", None, 40);
    let heading = spans(&rendered, Role::Heading(2));
    assert_eq!(heading.iter().map(|s| s.text.as_str()).collect::<String>(), "Head line");
    assert!(heading.iter().all(|span| span.style.bold));
    assert!(heading[1].style.italic);
}

#[test]
fn each_address_is_numbered_once() {
    let html = "<a href='/a'>x </a>y <a href=b><b>z</b></a>, <a href='../a'>w</a> <a name=n>v</a>";
    let rendered = render(html, BASE, 40);
    assert_eq!(rendered.lines[0].text(), "x[1] y z[2], w[1] v");
    assert_eq!(urls(&rendered), ["https://base.example/a", "https://base.example/dir/b"]);
    assert_eq!(spans(&rendered, Role::LinkNumber)[1].link, Some(2));
    assert!(spans(&rendered, Role::Link).iter().all(|span| span.link.is_some()));
}

#[test]
fn link_around_blocks_is_numbered_once_per_block() {
    check(
        "<a href=/a><h3>T</h3><p>text</p></a><a href=/b></a>end",
        20,
        &["T[1]", "", "text[1]", "", "end"],
    );
}

#[test]
fn unsafe_links_are_shown_as_text() {
    let html = "<a href='javascript:x()'>a</a> <a href='data:,x'>b</a> <a href='file:///x'>c</a> \
                <a href='mailto:q@x.example'>d</a>";
    let rendered = render(html, BASE, 40);
    assert_eq!(rendered.lines[0].text(), "a b c d[1]");
    assert_eq!(urls(&rendered), ["mailto:q@x.example"]);
}

#[test]
fn bare_addresses_in_text_are_links_but_not_in_code() {
    let html = "<p>See https://a.example/b. <code>http://c.example</code></p>";
    let rendered = render(html, None, 80);
    assert_eq!(rendered.lines[0].text(), "See https://a.example/b[1]. http://c.example");
    assert_eq!(urls(&rendered), ["https://a.example/b"]);
}

#[test]
fn lists_are_nested_and_numbered() {
    check(
        "<ul><li>a<ul><li>b c d e</li></ul></li><li><p>f</p></li></ul>",
        11,
        &["• a", "  ◦ b c d e", "• f"],
    );
    check("<ol start=9><li>a<li>b</ol>", 12, &[" 9. a", "10. b"]);
    check("<ol type=a><li>x<li value=28>y</ol>", 12, &[" a. x", "ab. y"]);
    check("<ol type=I reversed start=4><li>x<li>y</ol>", 14, &[" IV. x", "III. y"]);
    check("<li>stray", 12, &["• stray"]);
    check("<ul>text<li>item</ul>", 12, &["• text", "• item"]);
    let big = "<ol start=9223372036854775807><li>a<li>b</ol>";
    check(big, 20, &["1000000000. a", "1000000000. b"]);
}

#[test]
fn quotes_are_beside_a_bar() {
    check("<blockquote><p>a</p><p>b</p></blockquote>", 20, &["│ a", "│", "│ b"]);
    let rendered = render("<blockquote>a</blockquote>", None, 20);
    assert_eq!(rendered.lines[0].spans[0].role, Role::QuoteBar);
    assert!(rendered.lines[0].spans[1].style.quoted);
}

#[test]
fn preformatted_text_is_kept_as_typed_and_never_lost() {
    check("<pre>\n  a\tb\n\n    c  d\n</pre>", 20, &["  a b", "", "    c  d"]);
    check("<pre>0123456789abcdefgh</pre>", 10, &["0123456789", "↳ abcdefgh"]);
    check("<pre><div>a</div><div>b</div></pre>", 10, &["a", "b"]);
}

#[test]
fn tables_have_borders_that_fit() {
    check(
        "<table><tr><th>A<th>B<tr><td>one<td align=right>2<tr><td colspan=2>all</table>",
        20,
        &["┌─────┬───┐", "│ A   │ B │", "├─────┼───┤", "│ one │ 2 │", "│ all     │", "└─────────┘"],
    );
    check(
        "<table><tr><td rowspan=2>x<td>1<tr><td>2</table>",
        20,
        &["┌───┬───┐", "│ x │ 1 │", "│   ├───┤", "│   │ 2 │", "└───┴───┘"],
    );
}

#[test]
fn a_table_without_room_is_shown_row_by_row() {
    check(
        "<table><tr><th>A<th>B<th>C<tr><td>one<td>two<td>three</table>",
        11,
        &["───────────", "A: one", "B: two", "C: three", "───────────"],
    );
}

/// Returns the lines of a text, with wide content scrolled sideways by `moved` cells.
fn moved(html: &str, width: usize, moved: usize) -> Vec<String> {
    let rendered = super::render(html, BASE, Column { slides: true, ..Column::fixed(width) });
    rendered.lines.iter().map(|line| line.window(moved, width).text()).collect()
}

#[test]
fn wide_table_is_moved_sideways_and_text_stays() {
    let html = "<p>before</p><table><tr><th>A<th>B<th>C<tr><td>one<td>two<td>three</table>";
    for (sideways, expected) in [
        (0, ["┌─────┬────›", "│ A   │ B  ›", "├─────┼────›", "│ one │ two›", "└─────┴────›"]),
        (5, ["‹┬─────┬───›", "‹│ B   │ C ›", "‹┼─────┼───›", "‹│ two │ th›", "‹┴─────┴───›"]),
        (99, ["‹──┬───────┐", "‹  │ C     │", "‹──┼───────┤", "‹o │ three │", "‹──┴───────┘"]),
    ] {
        let lines = moved(html, 12, sideways);
        assert_eq!(lines[..2], ["before", ""]);
        assert_eq!(lines[2..], expected, "{sideways}");
    }
}

#[test]
fn wide_code_keeps_its_lines_beside_a_bar() {
    let html = "<blockquote><pre>0123456789abcdef\nx</pre></blockquote><pre>fits</pre>";
    assert_eq!(moved(html, 10, 0), ["│ 0123456›", "│ x", "", "fits"]);
    assert_eq!(moved(html, 10, 99), ["│ ‹9abcdef", "│ ‹", "", "fits"]);
    let long = format!("<pre>{}</pre>", "x".repeat(5_000));
    assert_eq!(moved(&long, 10, 0).len(), 3, "a line without end is broken all the same");
}

#[test]
fn layout_table_is_shown_as_text() {
    check("<table><tr><td>a<tr><td>b</table>", 20, &["a", "b"]);
    check("<table role=presentation><tr><td>a<td>b</table>", 20, &["a", "b"]);
    check(
        "<table><tr><td><table><tr><td>1<td>2</table><td>x</table>",
        20,
        &["┌───┬───┐", "│ 1 │ 2 │", "└───┴───┘", "", "x"],
    );
}

#[test]
fn pictures_show_their_alternative_text() {
    let rendered =
        render("<p><img src=a.png alt='A  tree'> <img src=/p.gif width=1></p>", BASE, 40);
    assert_eq!(rendered.lines[0].text(), "[image: A tree][1]");
    assert_eq!(rendered.images[0].url, "https://base.example/dir/a.png");
    assert_eq!(spans(&rendered, Role::Image)[0].image, Some(1));
    check("<a href=/x><img src=b.jpg></a>", 40, &["[image: b.jpg][1]"]);
    check("<img src=b.jpg><img src=c.jpg>", 40, &["[image: b.jpg][1] [image: c.jpg][2]"]);
    check(
        "<img data-src=c.jpg src='data:,x'><noscript><img src=c.jpg></noscript>",
        40,
        &["[image: c.jpg][1]"],
    );
    check("fine <img class=wp-smiley src=s.png alt=':)'>", 40, &["fine :)"]);
}

#[test]
fn frames_videos_and_audio_leave_a_line() {
    check(
        "a<iframe src='https://www.youtube.com/embed/x'></iframe>b",
        40,
        &["a", "", "[video: youtube.com][1]", "", "b"],
    );
    check("<video><source src=f.mp4>No film.</video>", 40, &["[video: f.mp4][1]"]);
    check("<audio src=/f.mp3 title='Part 1'/>after", 40, &["[audio: Part 1][1]", "", "after"]);
    check("<video src=f.mp4>never closed", 40, &["[video: f.mp4][1]", "", "never closed"]);
}

#[test]
fn figures_details_and_rules_keep_their_blocks() {
    check(
        "<figure><img src=a alt=b><figcaption>c</figcaption></figure>d",
        40,
        &["[image: b][1]", "c", "", "d"],
    );
    check("<details><summary>More</summary>text</details>", 40, &["▸ More", "", "text"]);
    check("a<hr>b", 10, &["a", "", "──────────", "", "b"]);
    check("<dl><dt>t<dd>d<dt>u<dd>e</dl>", 20, &["t", "  d", "u", "  e"]);
}

#[test]
fn superscripts_quotes_and_checkboxes_use_terminal_forms() {
    check("x<sup>2</sup> 4<sup>th</sup> e<sup>i+x</sup> <q>q</q>", 40, &["x² 4th e^i+x “q”"]);
    check("<ul><li><input type=checkbox checked> a</ul>", 40, &["• [x] a"]);
    check("super<wbr>long", 10, &["superlong"]);
    check("super<wbr>longword", 10, &["super", "longword"]);
}

#[test]
fn plain_text_keeps_its_paragraphs() {
    check(
        "one\ntwo\n\nthree <3 http://a.example",
        40,
        &["one", "two", "", "three <3 http://a.example[1]"],
    );
    let wrapped = "This line is as long as lines of wrapped mail usually are,\nand goes on here.";
    assert_eq!(lines(wrapped, 200).len(), 1);
    let list =
        "Write to <ada@a.example> or see <https://a.example/shop/of/pots>\nRust: Vec<String>";
    assert_eq!(lines(list, 200).len(), 2);
    check("one\n\n<b>two</b> three", 40, &["one", "", "two three"]);
    check("<p>one\n\ntwo</p>", 40, &["one two"]);
}

#[test]
fn hidden_text_is_dropped_unless_it_holds_the_rest() {
    check("a<p hidden>b</p><div style='display: none'>c<div>d</div></div>e", 20, &["a", "e"]);
    check("a<div hidden>b", 20, &["a", "b"]);
    check("a<svg class=x>b", 20, &["ab"]);
    let most = format!("a<div style='display:none'>{}</div>", "b ".repeat(200));
    assert!(lines(&most, 20).len() > 10);
    check("a<script>b<p></script><style>c</style><!-- d -->e", 20, &["ae"]);
}

#[test]
fn deceptive_characters_are_dropped() {
    check("a\u{1b}[31mb\u{202e}c\u{200b}d&#27;e&#x202e;f\u{ad}g", 40, &["a[31mbcdefg"]);
    let rendered = render("<a href='http://a.example/\u{1b}]8;;x\u{7}y'>x</a>", None, 40);
    assert_eq!(urls(&rendered), ["http://a.example/%1B]8;;x%07y"]);
    let piled = format!("a{}b", "\u{301}".repeat(500));
    assert!(lines(&piled, 20)[0].chars().count() < 20);
}

#[test]
fn wide_signs_are_measured() {
    check("漢字漢字漢字", 5, &["漢字", "漢字", "漢字"]);
    check(
        &"👩\u{200d}👩\u{200d}👧".repeat(4),
        5,
        &["👩\u{200d}👩\u{200d}👧👩\u{200d}👩\u{200d}👧"; 2],
    );
    check("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"]);
}

#[test]
fn title_of_a_picture_follows_its_label() {
    let image = |rest: &str| format!("<p><img src=https://a.example/x.png {rest}></p>");
    let titled = image("alt=Chart title='The last joke'");
    check(&titled, 40, &["[image: Chart][1] (The last joke)"]);
    check(&image("alt='A chart' title=chart"), 40, &["[image: A chart][1]"]);
    check(&image("alt=Chart title=Chart"), 40, &["[image: Chart][1]"]);
    check(&image("title=Chart"), 40, &["[image: Chart][1]"]);
}

#[test]
fn right_to_left_text_starts_at_the_right_edge() {
    check(
        "<p>שלום עולם ומלואו</p><p>and RSS</p>",
        10,
        &[" שלום עולם", "    ומלואו", "", "and RSS"],
    );
    check("<p>12 מחיר</p><p>RSS: מחיר</p>", 10, &["   12 מחיר", "", "RSS: מחיר"]);
    check("<p><a href=/x>מחיר</a></p>", 10, &["   מחיר[1]"]);
    check("<blockquote>لا إله</blockquote>", 12, &["    لا إله │"]);
    for html in ["<blockquote>לא<pre>", "<ul><li><pre>", "<ul><li>לא<pre>"] {
        is_sound(&format!("{html}{}", "long ".repeat(9)), 30);
    }
    // The label of the picture is generated, so it does not affect the direction of the text, which is right-to-left.
    let rendered = render("<p><img src=https://a.example/x alt=a>שלום עולם ומלואו</p>", None, 30);
    assert!(rendered.lines[0].text().starts_with(' '), "{}", rendered.lines[0].text());
    // The spaces that align the text to the right do not indent the picture.
    assert_eq!(crate::ui::reader::lay_out::find_places(&rendered)[0].indent, 0);
}

#[test]
fn too_much_markup_is_cut_with_a_remark() {
    let rendered = render(&format!("text{}", " ".repeat(2_200_000)), None, 80);
    assert_eq!(spans(&rendered, Role::Note).len(), 1);
    assert!(render("text", None, 1).lines.is_empty());
}

/// Checks that no line of the laid-out text is wider than `width` and that no line contains a hidden character.
fn is_sound(html: &str, width: u16) {
    is_sound_in(html, Column::fixed(width.into()));
    is_sound_in(html, Column { slides: true, ..Column::fixed(width.into()) });
}

fn is_sound_in(html: &str, column: Column) {
    let Column { width, slides, .. } = column;
    let rendered = super::render(html, BASE, column);
    for (place, line) in rendered.lines.iter().enumerate() {
        assert!(slides || line.slide.is_none());
        let line = line.window(place % 3 * place, width);
        let text = line.text();
        let cells: usize = text.graphemes(true).map(UnicodeWidthStr::width).sum();
        assert!(cells <= width, "{cells} > {width}: {text:?} of {html:?}");
        let by_span: usize = line.spans.iter().map(|span| span.text.width()).sum();
        assert!(by_span <= width, "{by_span} > {width}: {text:?} of {html:?}");
        let mut flags = FlagTags::default();
        assert!(text.chars().all(|c| flags.admits(c) || !is_hidden(c)), "{text:?}");
        for span in &line.spans {
            assert!(span.link.is_none_or(|n| usize::from(n) <= rendered.links.len()));
            assert!(span.image.is_none_or(|n| usize::from(n) <= rendered.images.len()));
        }
    }
}

#[test]
fn deep_nesting_is_read_in_time() {
    is_sound(&"<div>x".repeat(20_000), 80);
    for name in ["ul><li", "blockquote", "table><tr><td", "b", "a href=x", "dl><dd", "pre"] {
        is_sound(&format!("<{name}>x").repeat(1_500), 80);
    }
}

/// Generates pieces of markup that are likely to interfere with each other when they are combined.
fn piece() -> impl Strategy<Value = String> {
    let names = "p|div|ul|ol|li|table|tr|td|th|caption|blockquote|pre|code|b|i|a|h1|h3|dl|dt|dd|hr|br\
                 |img|figure|figcaption|details|summary|sup|q|iframe|video|source|span|thead|wbr|input";
    let names: Vec<&'static str> = names.split('|').map(str::trim).collect();
    let attributes = [
        "",
        "",
        "",
        " href=/x",
        " href='http://a.example/y'",
        " src=z.png alt='an alt text'",
        " colspan=3",
        " rowspan=2",
        " start=-5",
        " type=i",
        " hidden",
        " align=right",
        " style='text-align:center'",
        " colspan=999",
        " value=77",
        " type=checkbox",
    ];
    let texts = [
        "word",
        " ",
        "two words",
        "a_very_long_word_that_no_column_can_hold_at_all",
        "漢字かな交じり文",
        "👩\u{200d}🚀👨\u{200d}👩\u{200d}👧",
        "🇩🇪🇫🇷",
        "e\u{301}\u{302}\u{303}",
        "❤\u{fe0f}❤\u{fe0f}",
        "&amp;&lt;&nbsp;&#x202e;",
        "\n\n",
        "\t",
        "http://x.example/path?q=1",
        "لا إله",
        "क्षत्रिय",
        "ﷺ",
        "\u{200b}\u{200d}\u{feff}",
        "각\u{1100}\u{1161}",
        "-",
        "1.",
        "<",
        "<!--",
        "-->",
        "]]>",
        "\u{3000}",
        "한국어",
        "ก็ำ",
        "☺\u{fe0e}",
        "🏴\u{e0067}\u{e0062}\u{e007f}",
    ];
    prop_oneof![
        3 => (prop::sample::select(names.clone()), prop::sample::select(attributes.to_vec()))
            .prop_map(|(name, attribute)| format!("<{name}{attribute}>")),
        2 => prop::sample::select(names).prop_map(|name| format!("</{name}>")),
        4 => prop::sample::select(texts.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn no_markup_panics_or_runs_over_the_width(
        pieces in prop::collection::vec(piece(), 0..120),
        width in 2_u16..200,
    ) {
        is_sound(&pieces.concat(), width);
    }

    #[test]
    fn no_text_panics_or_runs_over_the_width(text in "(.|\n){0,300}", width in 0_u16..60) {
        is_sound(&text, width.max(2));
        render(&text, None, width);
    }
}

#[test]
fn flag_of_a_part_of_a_country_is_one_sign() {
    let wales = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}";
    check(&format!("<p>{wales} a\u{e0067}b</p>"), 40, &[&format!("{wales} ab")]);
    check(&format!("<pre>{wales} a\u{e0067}b</pre>"), 40, &[&format!("{wales} ab")]);
}

#[test]
fn formulas_are_shown_once_with_their_structure() {
    let math = "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>";
    for (html, expected) in [
        (format!("Half is {math} of it."), "Half is 1/2 of it."),
        (
            format!(
                "a <span class=katex><span class=katex-mathml>{math}</span><span class=katex-html aria-hidden=true><span>1</span><span>2</span></span></span> b"
            ),
            "a 1/2 b",
        ),
        (
            format!(
                "a <span class=MathJax_Preview>1/2</span><span class=MathJax><nobr aria-hidden=true>12</nobr><span class=MJX_Assistive_MathML>{math}</span></span><script type='math/tex'>x</script> b"
            ),
            "a 1/2 b",
        ),
        (
            format!(
                "a <mjx-container><mjx-math aria-hidden=true>12</mjx-math><mjx-assistive-mml>{math}</mjx-assistive-mml></mjx-container> b"
            ),
            "a 1/2 b",
        ),
        (
            format!(
                "a <span><span class='mwe-math-mathml-inline mwe-math-mathml-a11y' style='display: none;'>{math}</span><img src=x.svg class='mwe-math-fallback-image-inline' aria-hidden=true alt='1/2'></span> b"
            ),
            "a 1/2 b",
        ),
        ("a <span class=katex-html aria-hidden=true>x</span> b".to_owned(), "a x b"),
        ("a <script type='math/tex'>x^2</script> b".to_owned(), "a x^2 b"),
        (
            "a <span class=mjx-chtml><span class=mjx-math aria-label='\\frac{1}{3}'><span aria-hidden=true><span>1</span><span>3</span></span></span></span> b".to_owned(),
            "a \\frac{1}{3} b",
        ),
        (format!("<p>a <math><mi>x</mi><p>b {math}"), "a x"),
    ] {
        assert_eq!(lines(&html, 60)[0], expected, "{html}");
    }
}

#[test]
fn lists_directly_in_lists_keep_their_order() {
    let list = "<ul><li>A</li><ul><li>B</li><ul><li>C</li></ul><li>D</li></ul><li>E</li></ul>";
    check(list, 20, &["• A", "  ◦ B", "    – C", "  ◦ D", "• E"]);
    let list = "<ol><li>A<ol><ol><li>x</ol></ol><li>B</ol>";
    check(list, 20, &["1. A", "   1. x", "2. B"]);
    check("<ol reversed><li>x<li>y<li value=9>z<li>w</ol>", 20, &["4. x", "3. y", "9. z", "8. w"]);
}

#[test]
fn numbers_of_lines_are_no_code() {
    let number = "<span class='lineno'>1 </span>";
    check(&format!("<pre>{number}a()\n<span class=ln>2</span>  b()</pre>"), 30, &["a()", "  b()"]);
    check("<pre><span class=gutter>x1</span>y</pre>", 30, &["x1y"]);
    check("<pre>let <span class=number>1</span></pre>", 30, &["let 1"]);
    let rows = "<table><tr><td class=blob-num>1<td style='white-space:pre'>a<tr><td class=blob-num>2<td style='white-space:pre'>  b</table>";
    check(rows, 30, &["a", "  b"]);
    check("<table><tr><td class=lno>1</tr><tr><td>a</table>", 30, &["a"]);
    let picture = "<table><tr><td class=gutter><img src=/a.jpg><td>b</table>";
    assert_eq!(lines(picture, 40)[1], "│ [image: a.jpg][1] │ b │");
    let columns = "<table><tr><td><pre>1\n2</pre><td><pre>a\n  b</pre></table>";
    check(columns, 30, &["a", "  b"]);
    let data = "<table><tr><td>1<td><code>EPERM</code><tr><td>2<td><code>ENOENT</code></table>";
    assert_eq!(lines(data, 30)[1], "│ 1 │ EPERM  │");
}

#[test]
fn styles_keep_spaces_and_lines() {
    check(
        "<pre style='white-space:pre-wrap'>one two three\n\n  four</pre>end",
        10,
        &["one two", "three", "", "  four", "end"],
    );
    check("<p style='white-space:pre-line'>a  b\nc</p><p>d\ne</p>", 20, &["a b", "c", "", "d e"]);
    check(
        "<div style='white-space: pre-wrap'>\n<p>a</p>\n<p>b\n  c</p>\n</div>",
        20,
        &["a", "", "b", "  c"],
    );
    check("<div style='white-space: pre'>a  b</div>c  d", 20, &["a  b", "c d"]);
    check("a <span style='white-space:pre-wrap'>b\nc</span><b>d</b>", 20, &["a b", "cd"]);
}

#[test]
fn documents_of_text_processors_are_no_code() {
    let html = "<p dir=ltr><span style='white-space:pre-wrap'>Water </span><b style='white-space:pre-wrap'>rose.</b></p>\
                <ul><li style='white-space:pre' dir=ltr><p dir=ltr><span style='white-space:pre-wrap'>one</span></p></li>\
                <li style='white-space:pre' dir=ltr><p dir=ltr>two</p></li></ul>";
    check(html, 30, &["Water rose.", "", "• one", "• two"]);
    assert!(spans(&render(html, BASE, 30), Role::Preformatted).is_empty());
}

#[test]
fn anchors_of_headings_are_no_links() {
    let base = "https://base.example/dir/page";
    for html in [
        "<h2 id=one>One<a class=anchor aria-hidden=true href='#one'>#</a></h2>".to_owned(),
        format!("<h2>One <a href='{base}#x'>¶</a></h2>"),
        "<h2 id=one>One</h2><a class=sl-anchor-link href='#one'><span>Section titled “One”</span></a>".to_owned(),
        "<h2 id=one><a href='#one'>One</a></h2>".to_owned(),
        "<h2><span id=one>One</span><a class=headerlink href='#one'>Permalink</a></h2>".to_owned(),
    ] {
        let rendered = render(&html, BASE, 40);
        assert_eq!(rendered.lines[0].text(), "One", "{html}");
        assert!(rendered.links.is_empty(), "{html}");
    }
    check("<h2>About <a href='/c#a'>C#</a></h2>", 40, &["About C#[1]"]);
}

#[test]
fn rows_and_columns_without_text_are_dropped() {
    let spacer = "<td width=20>&nbsp;";
    let html = format!(
        "<table><tr>{spacer}<td>a{spacer}<tr><td colspan=3>&nbsp;<tr>{spacer}<td>b{spacer}</table>"
    );
    check(&html, 30, &["a", "b"]);
    check(
        "<table><tr><td>a<td><td>b<tr><td><td><td><tr><td rowspan=2>c<td><td>d<tr><td><td>e</table>",
        30,
        &[
            "┌───┬───┐",
            "│ a │ b │",
            "├───┼───┤",
            "│ c │ d │",
            "│   ├───┤",
            "│   │ e │",
            "└───┴───┘",
        ],
    );
}

#[test]
fn declared_direction_decides() {
    check("<p dir=rtl>ab אב</p>", 10, &["     ab אב"]);
    check("<div style='direction: rtl'><p>ab</p></div><p dir=ltr>אב</p>", 6, &["    ab", "", "אב"]);
    check("<ul><li>אב</ul>", 10, &["      אב •"]);
    check("<blockquote>אב</blockquote>", 10, &["      אב │"]);
    check("<div dir=rtl><ol><li>ab</ol></div>", 10, &["     ab 1."]);
}

#[test]
fn pictures_and_players_that_are_loaded_later_leave_their_link() {
    for (html, expected) in [
        (
            "<img src='data:image/gif;base64,x' data-srcset='/a-300.jpg 300w, /a-900.jpg 900w'>",
            "a-900.jpg",
        ),
        ("<img src=/placeholder.svg srcset='/a,b.jpg 2x'>", "a,b.jpg"),
        (
            "<picture><source type=image/avif srcset=/x.avif><source srcset=/a.webp><img src='data:,'></picture>",
            "a.webp",
        ),
        (
            "<picture><source type='image/AVIF;x' srcset=/x><source type=image/svg+xml srcset=/y></picture>",
            "/x",
        ),
        ("<picture><source srcset='/a.jpg 1x'></picture>", "a.jpg"),
        ("<amp-img src=/a.jpg></amp-img>", "a.jpg"),
        ("<img src=/a.jpg data-permalink=/page data-image-title=otter>", "a.jpg"),
        ("<iframe src=about:blank data-src=//v.example/a></iframe>", "v.example/a"),
        ("<amp-youtube data-videoid=Ab_1></amp-youtube>", "youtube.com/watch?v=Ab_1"),
        ("<lite-youtube videoid=Ab_1></lite-youtube>", "youtube.com/watch?v=Ab_1"),
        ("<script src='https://gist.github.com/ada/12.js'></script>", "gist.github.com/ada/12"),
    ] {
        let rendered = render(html, BASE, 60);
        let ends = urls(&rendered).first().is_some_and(|url| url.ends_with(expected));
        assert!(ends, "{html}: {:?}", urls(&rendered));
    }
    check("<img src=/spacer.gif>x", 20, &["x"]);
}

#[test]
fn footnotes_have_one_sign_and_lead_to_each_other() {
    let html = "<p>Bees<sup id=r1><a href='#n1'>1</a></sup> and <a href='https://b.example/'>wax</a>, \
        <a href='https://a.example/post#n2'>[a]</a>. <a href='#end'>The end of it</a></p><p>more</p>\
        <ol><li id=n1>A note. <a href='#r1'>↩</a></li><li id=n2>Another.</li></ol><p id=end>End.</p>\
        <a href='#nowhere'>lost</a>";
    let text = render(html, Some("https://a.example/post"), 80);
    let lines: Vec<String> = text.lines.iter().map(StyledLine::text).collect();
    assert_eq!(lines[0], "Bees¹ and wax[1], [a]. The end of it[↓]");
    assert_eq!(urls(&text)[0], "https://b.example/");
    assert_eq!(text.inside.len(), 4);
    let line = |number: u16| text.line_of(INSIDE_FIRST + number);
    assert_eq!([0, 1, 2, 3].map(line), [4, 5, 7, 0].map(Some), "{lines:#?}");
    let numbers = text.lines[0].spans.iter().filter(|span| span.role == Role::LinkNumber);
    assert_eq!(numbers.filter_map(|span| span.link).collect::<Vec<_>>().len(), 4);
    assert!(text.links.iter().any(|link| link.url.ends_with("#nowhere")));
}
