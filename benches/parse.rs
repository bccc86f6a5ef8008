//! Benchmarks that compare the throughput of `feed::parse` and of feed-rs on generated documents of about 1 MB.
//!
//! `cargo bench --bench parse`. Target: at least 60 % of the throughput of feed-rs on RSS and Atom.

use std::fmt::Write as _;

use backissue_core::feed::{Origin, parse};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

/// Size of each document in bytes.
const SIZE: usize = 1 << 20;

/// The format of a generated document.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// RSS with markup in CDATA sections.
    RssCdata,
    /// RSS with escaped markup.
    RssEscaped,
    /// Atom with escaped markup.
    Atom,
    /// RSS with many items, each of which has a title and one line of text.
    RssSmall,
}

const FORMS: [Form; 4] = [Form::RssCdata, Form::RssEscaped, Form::Atom, Form::RssSmall];

fn main() {
    divan::main();
}

#[divan::bench(args = FORMS)]
fn backissue(bencher: Bencher<'_, '_>, form: Form) {
    let document = document(form);
    let origin = Origin { url: Some("https://a.example/feed"), content_type: None };
    bencher
        .counter(BytesCount::new(document.len()))
        .bench(|| parse(black_box(document.as_bytes()), &origin));
}

#[divan::bench(args = FORMS)]
fn feed_rs(bencher: Bencher<'_, '_>, form: Form) {
    let document = document(form);
    bencher
        .counter(BytesCount::new(document.len()))
        .bench(|| feed_rs::parser::parse(black_box(document.as_bytes())).ok());
}

fn document(form: Form) -> String {
    let (start, end) = match form {
        Form::Atom => (
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Tides</title><id>urn:f</id>\
             <updated>2026-03-02T10:00:00Z</updated><link rel=\"self\" href=\"https://a.example/feed\"/>",
            "</feed>",
        ),
        Form::RssCdata | Form::RssEscaped | Form::RssSmall => (
            "<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\"><channel>\
             <title>Tides</title><link>https://a.example/</link><description>All of them</description>",
            "</channel></rss>",
        ),
    };
    let mut out = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n{start}");
    let mut number = 0;
    while out.len() < SIZE {
        number += 1;
        entry(form, number, &mut out);
    }
    out.push_str(end);
    out
}

fn entry(form: Form, number: u32, out: &mut String) {
    let markup = markup(number);
    let written = match form {
        Form::RssCdata => writeln!(
            out,
            "<item><title>Tide {number} &amp; wind</title><link>https://a.example/{number}</link>\
             <guid>https://a.example/{number}</guid><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate>\
             <content:encoded><![CDATA[{markup}]]></content:encoded></item>"
        ),
        Form::RssEscaped => writeln!(
            out,
            "<item><title>Tide {number} &amp; wind</title><link>https://a.example/{number}</link>\
             <guid>https://a.example/{number}</guid><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate>\
             <description>{}</description></item>",
            escaped(&markup)
        ),
        Form::Atom => writeln!(
            out,
            "<entry><title>Tide {number} &amp; wind</title><id>urn:tide:{number}</id>\
             <link href=\"https://a.example/{number}\"/><updated>2026-03-02T10:00:00Z</updated>\
             <author><name>Ada</name></author><content type=\"html\">{}</content></entry>",
            escaped(&markup)
        ),
        Form::RssSmall => writeln!(
            out,
            "<item><title>Tide {number} &amp; wind</title><link>https://a.example/{number}</link>\
             <guid isPermaLink=\"false\">tide-{number}</guid><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate>\
             <description>High water at ten.</description></item>"
        ),
    };
    // Writing to a string cannot fail.
    written.unwrap_or_default();
}

fn markup(number: u32) -> String {
    let mut markup = String::new();
    for paragraph in 0..8 {
        writeln!(
            markup,
            "<p>The <em>tide</em> of day {number} rose “slowly” past mark {paragraph}, and the café by the \
             <a href=\"https://a.example/{number}/{paragraph}?a=1&amp;b=2\">harbour</a> kept its doors \
             shut until the water had gone down again, as it does in most years.</p>"
        )
        .unwrap_or_default();
    }
    markup
}

fn escaped(markup: &str) -> String {
    markup.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
