//! Checks the trees built from broken documents.

use super::*;
use crate::feed::xml::tree::XmlElement;

fn shape(element: XmlElement<'_, '_>) -> String {
    let inside: Vec<String> = element.children().map(shape).collect();
    let text = if inside.is_empty() { element.text().into_owned() } else { String::new() };
    format!("{}({}{})", element.local(), inside.join(" "), text)
}

fn check(document: &str, expected: &str) {
    let mut flaws = Flaws::default();
    let tree = build_tree(document, &mut flaws);
    assert_eq!(tree.root().map(shape).unwrap_or_default(), expected, "{document}");
}

#[test]
fn root_is_found_after_junk() {
    check(
        "<b>Warning</b> in line 3 <?xml version='1.0'?><!DOCTYPE rss><RSS><channel/></RSS>junk<rss/>",
        "rss(channel())",
    );
    check("nothing", "");
}

#[test]
fn the_root_is_found_inside_a_web_page_but_not_in_its_scripts() {
    check(
        "<html><head><title>x</title><SCRIPT>w('<rss><channel><script>')</script></head><body><rss><channel/></rss></body></html>",
        "rss(channel())",
    );
    check("<html><body><redirect/><entry/></body></html>", "");
}

#[test]
fn missing_end_tags_do_not_swallow_the_rest() {
    check(
        "<rss><channel><title>a<link>b</link><item><title>c</titel><guid>1</guid></item><item><guid>2",
        "rss(channel(title(a) link(b) item(title(c) guid(1)) item(guid(2))))",
    );
    check(
        "<rss><channel><item><title>a<item><title>b</title></item></channel></rss>",
        "rss(channel(item(title(a)) item(title(b))))",
    );
    check(
        "<rss><channel><item><description>a<p>b<br>c</descripton><pubDate>d</pubDate></item></channel></rss>",
        "rss(channel(item(description(p(br())) pubdate(d))))",
    );
    check(
        "<feed xmlns:h='http://purl.org/syndication/history/1.0'><h:prev>x<h:prev><entry><id>1</id></entry></feed>",
        "feed(prev(prev()) entry(id(1)))",
    );
}

#[test]
fn deep_and_long_documents_are_cut() {
    let deep = format!("<rss>{}", "<a>".repeat(100_000));
    let mut flaws = Flaws::default();
    assert!(build_tree(&deep, &mut flaws).nodes.len() <= DEPTH_MAX);
    let long = format!("<rss><channel>{}", "<item/>".repeat(ENTRIES_MAX + 5));
    let mut flaws = Flaws::default();
    assert_eq!(build_tree(&long, &mut flaws).nodes.len(), ENTRIES_MAX + 2);
}

#[test]
fn newest_entries_are_kept_in_either_order() {
    let count = ENTRIES_MAX + 5;
    let item = |n: usize| {
        let seconds = 1_700_000_000 + 3_600 * i64::try_from(n).unwrap();
        let at = DateTime::from_timestamp(seconds, 0).unwrap();
        format!("<item><guid>{n}</guid><pubDate>{}</pubDate></item>", at.to_rfc2822())
    };
    let kept = |numbers: Vec<usize>| {
        let pinned = "<item><guid>0</guid><pubDate>Fri, 01 Jan 2100 00:00:00 GMT</pubDate></item>";
        let items: String = numbers.into_iter().map(item).collect();
        let items = items.replacen(&item(0), pinned, 1);
        let document = format!("<rss><channel><title>t</title>{items}</channel></rss>");
        let read = crate::feed::parse(document.as_bytes(), &crate::feed::Origin::default());
        assert!(read.is_cut_short() && read.head.title.is_some());
        let mut ids: Vec<usize> = read.entries.iter().map(|e| e.id.parse().unwrap()).collect();
        ids.sort_unstable();
        (ids.len(), ids[0])
    };
    assert_eq!(kept((0..count).collect()), (ENTRIES_MAX, 5));
    assert_eq!(kept((0..count).rev().collect()), (ENTRIES_MAX, 5));
}

#[test]
fn unclosed_element_keeps_children_and_frees_items() {
    check(
        "<rss><channel><itunes:category text='a'><itunes:category text='b'/><item><guid>1</guid></item><item><guid>2</guid></item></channel></rss>",
        "rss(channel(category(category()) item(guid(1)) item(guid(2))))",
    );
    check(
        "<rss><channel><image><title>i</title><ttl>5</ttl><x:a><item/><x:b><item><guid>2</guid></item></channel></rss>",
        "rss(channel(image(title(i)) ttl(5) a() item() b() item(guid(2))))",
    );
    check(
        "<feed><author><name>n</name><id>1</id><x:a><entry><id>2</id></entry><entry><id>3</id>",
        "feed(author(name(n)) id(1) a() entry(id(2)) entry(id(3)))",
    );
    check(
        "<rss><channel><description>d<item><x:a><description>e<item><guid>2</guid></item><ttl>5</ttl></channel></rss>",
        "rss(channel(description(d) item(a() description(e)) item(guid(2)) ttl(5)))",
    );
}

#[test]
fn unclosed_extension_takes_nothing_from_its_entry() {
    for (extension, expected) in [
        ("<media:content url='a'>", "content()"),
        ("<media:group><media:content url='a'></media:group>", "group(content())"),
        ("<media:content url='a'><media:title>t</media:title>", "content(title(t))"),
        ("<media:content url='a'><media:content url='b'>", "content() content()"),
        ("<podcast:transcript url='a'><podcast:chapters url='b'/>", "transcript() chapters()"),
        ("<itunes:image href='a'><itunes:duration>5</itunes:duration>", "image() duration(5)"),
        ("<x:y><dc:creator>c</dc:creator>", "y() creator(c)"),
    ] {
        check(
            &format!(
                "<rss><channel><item><title>t</title>{extension}<description>d</description><guid>1</guid></item><item/></channel></rss>"
            ),
            &format!("rss(channel(item(title(t) {expected} description(d) guid(1)) item()))"),
        );
    }
}

#[test]
fn missing_final_end_tags_differ_from_truncation() {
    for (document, is_whole) in [
        ("<rss><channel><item/></channel>", true),
        ("<rss><channel><item/>\n", true),
        ("<feed><entry/>", true),
        ("<rss><channel><title>t</title>", false),
        ("<rss><channel><item/><item>", false),
        ("<rss><channel><item/><it", false),
        ("<rss><channel><item/><title>t", false),
    ] {
        let read = crate::feed::parse(document.as_bytes(), &crate::feed::Origin::default());
        assert_eq!((read.lacks_end(), read.is_truncated()), (is_whole, !is_whole), "{document}");
    }
    let complete =
        "<feed xmlns:fh='http://purl.org/syndication/history/1.0'><fh:complete/><entry/>";
    assert!(
        crate::feed::parse(complete.as_bytes(), &crate::feed::Origin::default()).is_truncated()
    );
}

#[test]
fn an_element_that_is_closed_keeps_all_its_children() {
    check(
        "<rss><channel><x:list><item/><ttl>5</ttl></x:list><item/></channel></rss>",
        "rss(channel(list(item() ttl(5)) item()))",
    );
}
