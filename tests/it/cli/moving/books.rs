//! Books of entries. The rules that the parts of a book must follow are those of EPUB 3.3 that `epubcheck` checks, as far as they concern
//! what a book of entries can have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use backissue::io::pictures::PictureCache;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};
use zip::{CompressionMethod, ZipArchive};

use super::entries;
use crate::support::binary::Program;
use crate::support::scripted::png;
use crate::support::site::{Site, answer};

/// An element: its name, its attributes, and its text.
type Element = (String, BTreeMap<String, String>, String);

/// Elements of the texts, besides those of the frame of a page.
const ELEMENTS: &str =
    "a b blockquote br code div h1 h2 h3 h4 h5 h6 hr i img li ol p pre s table td th tr ul";
const FRAME: &str = "body head html link meta nav title";

/// Returns the elements of an XML document, which must be well-formed.
fn elements(name: &str, text: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(text);
    let (mut found, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                let attributes = tag.attributes().map(|it| {
                    let it = it.unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
                    let key = it.key.as_ref().to_owned();
                    (key, it.normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned())
                });
                let kind = tag.name().as_ref().to_owned();
                found.push((kind, attributes.collect(), String::new()));
                if !is_empty {
                    open.push(found.len() - 1);
                }
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Text(piece) => {
                for &at in &open {
                    found[at].2.push_str(&piece);
                }
            }
            Event::Eof => break,
            Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
    assert!(open.is_empty(), "{name}: {text}");
    found
}

/// The files of a book, by name.
struct Book(BTreeMap<String, Vec<u8>>);

impl Book {
    /// Opens a book and checks it against the rules.
    fn open(path: &Path) -> Self {
        let mut archive = ZipArchive::new(File::open(path).unwrap()).unwrap();
        let mut files = BTreeMap::new();
        for place in 0..archive.len() {
            let mut file = archive.by_index(place).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            let is_first = file.name() == "mimetype";
            assert_eq!(is_first, place == 0, "{}", file.name());
            if is_first {
                assert_eq!(file.compression(), CompressionMethod::Stored);
                assert_eq!(
                    (bytes.as_slice(), file.extra_data()),
                    (&b"application/epub+zip"[..], Some(&[][..]))
                );
            }
            assert_eq!(files.insert(file.name().to_owned(), bytes), None);
        }
        let book = Self(files);
        let root = elements("container", &book.text("META-INF/container.xml"));
        assert!(
            root.iter()
                .any(|(_, it, _)| it.get("full-path").map(String::as_str)
                    == Some("OEBPS/content.opf"))
        );
        book.check_package();
        book
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.0[name].clone()).unwrap()
    }

    fn page(&self, number: usize) -> String {
        self.text(&format!("OEBPS/page-{number}.xhtml"))
    }

    fn package(&self) -> Vec<Element> {
        elements("content.opf", &self.text("OEBPS/content.opf"))
    }

    /// Returns the names and texts of the metadata.
    fn metadata(&self, name: &str) -> Vec<String> {
        let named = |(kind, it, _): &Element| {
            kind == name || it.get("property").map(String::as_str) == Some(name)
        };
        self.package().into_iter().filter(named).map(|(.., text)| text).collect()
    }

    fn check_package(&self) {
        for one in ["dc:identifier", "dc:title", "dcterms:modified"] {
            assert_eq!(self.metadata(one).len(), 1, "{one}");
        }
        assert!(!self.metadata("dc:language").is_empty());
        let package = self.package();
        let ids: Vec<&String> = package.iter().filter_map(|(_, it, _)| it.get("id")).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
        let items: Vec<_> =
            package.iter().filter(|(kind, ..)| kind == "item").map(|(_, it, _)| it).collect();
        let listed: BTreeSet<String> =
            items.iter().map(|it| format!("OEBPS/{}", it["href"])).collect();
        let stored: BTreeSet<String> = self
            .0
            .keys()
            .filter(|name| name.starts_with("OEBPS/") && *name != "OEBPS/content.opf")
            .cloned()
            .collect();
        assert_eq!((listed.len(), &listed), (items.len(), &stored));
        assert_eq!(
            items.iter().filter(|it| it.contains_key("properties")).count(),
            1,
            "the list of contents"
        );
        for item in &items {
            let (_, end) = item["href"].rsplit_once('.').unwrap();
            let kind = match end {
                "xhtml" => "application/xhtml+xml",
                "css" => "text/css",
                "ncx" => "application/x-dtbncx+xml",
                "png" => "image/png",
                other => panic!("{other}"),
            };
            assert_eq!(item["media-type"], kind);
            if end == "xhtml" {
                self.check_page(&item["href"], &stored);
            }
        }
        for (_, it, _) in package.iter().filter(|(kind, ..)| kind == "itemref") {
            assert!(items.iter().any(|item| item["id"] == it["idref"]));
        }
    }

    fn check_page(&self, name: &str, stored: &BTreeSet<String>) {
        let text = self.text(&format!("OEBPS/{name}"));
        let found = elements(name, &text);
        for (kind, attributes, inside) in &found {
            assert!(
                ELEMENTS.split(' ').chain(FRAME.split(' ')).any(|known| known == kind),
                "{kind}: {text}"
            );
            // A title, a heading of the contents and a link of it must say something.
            if kind == "title" || (kind == "a" && name == "nav.xhtml") {
                assert!(!inside.trim().is_empty(), "{kind}: {text}");
            }
            if kind == "nav" {
                assert!(inside.contains(char::is_alphanumeric), "an empty list: {text}");
            }
            assert!(kind != "img" || attributes.contains_key("alt"), "{text}");
            for key in ["src", "href"] {
                let Some(address) = attributes.get(key) else { continue };
                let is_outside = kind == "a"
                    && ["http", "https", "mailto"].contains(&address.split(':').next().unwrap());
                if is_outside {
                    assert!(
                        url::Url::parse(address).is_ok() && !address.contains([' ', '"', '<']),
                        "{address}"
                    );
                } else {
                    assert!(
                        stored.contains(&format!("OEBPS/{address}")),
                        "{kind} {address}: {text}"
                    );
                }
            }
        }
    }
}

/// Returns a feed in a language with entries of these texts.
fn feed(title: &str, language: &str, texts: &[&str]) -> String {
    let items = (1..).zip(texts).map(|(number, text)| {
        format!(
            "<item><guid isPermaLink='false'>{title}-{number}</guid><title>{title} {number}</title>\
             <link>https://a.example/{number}?q=\"a b\"|[c]</link>\
             <enclosure url='https://a.example/{number}.mp3' type='audio/mpeg' length='7'/>\
             <pubDate>Mon, 02 Mar 2026 10:0{number}:00 GMT</pubDate>\
             <description><![CDATA[{text}]]></description></item>"
        )
    });
    let items: String = items.collect();
    format!(
        "<rss version='2.0'><channel><title>{title}</title><language>{language}</language>{items}</channel></rss>"
    )
}

const HOSTILE: &str = "<h2 id='a b'>One</h2><p id=x>&#0;\u{1} <a href='#x'>in</a> <a href='/x|y{}'>out</a>\
    <iframe src='https://www.youtube.com/embed/abc'></iframe><video src=/v.mp4 controls></video>\
    <table><tr><td rowspan=3>a<td colspan=5>b<tr><td>c</table><table></table><ul></ul><ol start=-3><li>a<li></ol>\
    <dl><dt>t<dd>d</dl><font color=red>x</font><svg><circle/></svg><form><input type=checkbox>box</form>\
    <pre><code class=language-rust>let a = &lt;1;</code></pre><a href='mailto:a@b.example'>m</a>";

/// Starts a site with two feeds and a page.
fn site() -> Site {
    let picture = "<p>שלום <img src='https://a.example/p.png?token=1' alt='a \"cat\"'></p><p>Left</p>\
         <img src='/gone.png' alt='gone'><p><a href='/next'><img src='https://a.example/p.png?token=1' alt='next'></a>";
    let (first, second) =
        (feed("Orchard", "en_GB", &["One", HOSTILE]), feed("חדשות", "he", &[picture, ""]));
    Site::start(move |request| {
        let text = if request.path() == "/a.xml" { &first } else { &second };
        answer(200, &[], text.clone())
    })
}

#[test]
fn a_book_has_a_section_for_each_feed_and_follows_the_rules() {
    let site = site();
    let program = Program::new();
    program.run(&["add", &site.at("/a.xml"), &site.at("/b.xml")]).with(0);
    let cache = PictureCache::beside(&program.data());
    cache.keep("https://a.example/p.png?token=1", &png(4, 4)).unwrap();
    let asked = site.all_requests().len();
    let path = program.path("all.epub");
    program.run(&["export", "--entries", "is:unread", path.to_str().unwrap()]).with(0);
    assert_eq!(site.all_requests().len(), asked, "an export requests nothing");
    let book = Book::open(&path);
    assert_eq!(book.metadata("dc:language"), ["en-GB", "he"]);
    let title = &book.metadata("dc:title")[0];
    assert!(title.starts_with("backissue, ") && title.split(' ').count() == 4, "{title}");
    let contents = elements("nav.xhtml", &book.text("OEBPS/nav.xhtml"));
    let lists: Vec<&str> =
        contents.iter().filter(|(kind, ..)| kind == "li").map(|(.., text)| text.trim()).collect();
    let lines = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sections: Vec<String> = lists.iter().map(|text| lines(text)).collect();
    assert!(sections.contains(&"Orchard Orchard 2 Orchard 1".to_owned()), "{sections:?}");
    assert!(sections.contains(&"חדשות חדשות 2 חדשות 1".to_owned()), "{sections:?}");
    let pages: Vec<String> = (1..=6).map(|number| book.page(number)).collect();
    let of = |title: &str| {
        pages.iter().find(|page| page.contains(&format!("<h1>{title}</h1>"))).unwrap()
    };
    for (page, parts) in [
        (
            of("Orchard 1"),
            &[
                "lang=\"en-GB\" xml:lang=\"en-GB\"><head>",
                "<a href=\"https://a.example/1.mp3\">audio/mpeg · 7 B · 1.mp3</a>",
            ][..],
        ),
        (
            of("חדשות 1"),
            &[
                "lang=\"he\" xml:lang=\"he\" dir=\"rtl\"><head>",
                "<p>שלום <img src=\"picture-1.png\" alt=\"a &quot;cat&quot;\"/></p>\n<p dir=\"ltr\">Left</p>",
                "<a href=\"https://a.example/next\"><img src=\"picture-1.png\" alt=\"next\"/></a>",
                "<a href=\"https://a.example/gone.png\">[image: gone]</a>",
            ],
        ),
    ] {
        for part in parts {
            assert!(page.contains(part), "{part}\n{page}");
        }
    }
}

#[test]
fn a_book_of_one_feed_has_no_sections() {
    let program = Program::new();
    let site = site();
    program.run(&["add", &site.at("/b.xml")]).with(0);
    let all = entries(&program, &[]);
    let path = program.path("one.epub");
    let number = all[0]["number"].as_str().unwrap();
    program.run(&["export", "--entry", number, path.to_str().unwrap()]).with(0);
    let book = Book::open(&path);
    assert!(
        book.page(1).contains("<h1>חדשות 2</h1>") && !book.0.contains_key("OEBPS/page-2.xhtml")
    );
    // A second one replaces it; a file of another kind stays.
    program.run(&["export", "--entry", number, path.to_str().unwrap()]).with(0);
    fs::write(&path, "my notes").unwrap();
    let why = program.run(&["export", "--entries", "is:unread", path.to_str().unwrap()]).refused(2);
    assert!(why.contains("the existing file is not a book"), "{why}");
    let why = program.run(&["export", "--starred", "--format", "epub"]).refused(2);
    assert!(why.contains("a book is a file"), "{why}");
    let path = program.path("none.epub");
    let why = program.run(&["export", "--starred", path.to_str().unwrap()]).refused(2);
    assert!(why.contains("there is no entry to write") && !path.exists(), "{why}");
}
