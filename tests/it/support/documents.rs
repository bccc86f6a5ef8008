//! Texts of feed documents and web pages for tests.

/// Returns an RSS document with entries `PREFIX-1` to `PREFIX-COUNT`, newest first.
pub(crate) fn rss(title: &str, prefix: &str, count: u32) -> String {
    let items: String = (1..=count).rev().map(|number| item(prefix, number)).collect();
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>{title}</title><link>https://site.example/</link><description>d</description>{items}</channel></rss>"
    )
}

fn item(prefix: &str, number: u32) -> String {
    let (hour, minute) = (number / 60 % 24, number % 60);
    format!(
        "<item><guid isPermaLink=\"false\">{prefix}-{number}</guid><title>{prefix} {number}</title><link>https://site.example/{prefix}/{number}</link><description>Text of &lt;b&gt;{prefix} {number}&lt;/b&gt;</description><pubDate>Mon, 02 Mar 2026 {hour:02}:{minute:02}:00 GMT</pubDate></item>"
    )
}

/// Returns a web page that links to feeds, given by title and address.
pub(crate) fn page(title: &str, feeds: &[(&str, &str)]) -> String {
    let links: String = feeds
        .iter()
        .map(|(title, address)| {
            format!(
                "<link rel=\"alternate\" type=\"application/rss+xml\" title=\"{title}\" href=\"{address}\">"
            )
        })
        .collect();
    format!(
        "<!doctype html><html><head><title>{title}</title>{links}</head><body><p>Hello.</body></html>"
    )
}

/// Returns meaningless bytes, which are neither a feed nor a page.
pub(crate) fn garbage() -> Vec<u8> {
    (0_u32..4000).map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 24).unwrap()).collect()
}
