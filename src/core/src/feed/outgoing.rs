//! What leaves this machine, in published documents, exported entries and books: links that lead to the web and contain no secret, names
//! that are no addresses with secrets, and texts that are valid XML.

use std::borrow::Cow;

use url::{ParseError, Url};

use super::address::without_logins;
use super::content::absolute_addresses::{rewrite_attributes, rewrite_srcset};
use super::identity::identity_hash;
use super::text;
use super::xml::references;

/// Parts of the names of query parameters whose values are secrets.
const SECRET_PARTS: [&str; 12] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "apikey",
    "signature",
    "credential",
    "session",
    "jwt",
    "oauth",
    "authoriz",
    "authentic",
];
/// Names of query parameters whose values are secrets, and the ends of such names.
const SECRET_NAMES: [&str; 11] =
    ["expires", "keypairid", "login", "otp", "pass", "pin", "policy", "pw", "pwd", "sid", "ticket"];
const SECRET_ENDS: [&str; 5] = ["key", "auth", "sig", "sess", "sessid"];
/// Words that end like the name of a secret and are none.
const HARMLESS: [&str; 3] = ["monkey", "turkey", "hotkey"];
/// Names of query parameters that tell a site where its visitor came from, and not which page is meant. So do all that begin with `utm_`.
/// Stored hashes of pages depend on them (`PageHash`): with a new name here, an entry that was stored before and has it in its link is
/// not found as the same article.
const TRACKERS: [&str; 21] = [
    "fbclid",
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "igshid",
    "igsh",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_hsenc",
    "_hsmi",
    "vero_id",
    "oly_anon_id",
    "oly_enc_id",
    "ck_subscriber_id",
    "wickedid",
];
/// Ends of the names of attributes that link to something.
const LINKS: [&str; 6] = ["href", "action", "data", "background", "cite", "ping"];
/// Stands for an address in markup that must not leave this machine.
const NOWHERE: &str = "#";

/// Returns a link as it may leave this machine: without a login, and without parameters that hold a secret. Returns `None` unless it is a
/// link of the web or to a mailbox. A link without secrets is returned as it is written.
pub fn outgoing_link(link: &str) -> Option<String> {
    let link = link.trim();
    let url = Url::parse(link).ok()?;
    match url.scheme() {
        "mailto" => return Some(link.to_owned()),
        "http" | "https" => {}
        _ => return None,
    }
    let is_odd = link.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>'));
    let has_login = !url.username().is_empty() || url.password().is_some();
    let query = url.query().and_then(without_secrets);
    let fragment = url.fragment().and_then(without_secrets);
    if !is_odd && !has_login && query.is_none() && fragment.is_none() {
        return Some(without_logins(link));
    }
    let mut clean = url;
    clean.set_username("").and_then(|()| clean.set_password(None)).ok()?;
    if let Some(query) = query {
        clean.set_query(Some(&query).filter(|query| !query.is_empty()).map(String::as_str));
    }
    if let Some(fragment) = fragment {
        let fragment = Some(&fragment).filter(|fragment| !fragment.is_empty());
        clean.set_fragment(fragment.map(String::as_str));
    }
    let text = String::from(clean);
    Some(without_logins(&text))
}

/// Returns a query without the parameters that hold secrets; `None` if it has none.
fn without_secrets(query: &str) -> Option<String> {
    let pairs = || query.split(['&', ';']);
    let kept: Vec<&str> = pairs().filter(|pair| !holds_secret(pair)).collect();
    (kept.len() < pairs().count()).then(|| kept.join("&"))
}

fn holds_secret(pair: &str) -> bool {
    let Some((name, value)) = pair.split_once('=') else { return false };
    let name: String = url::form_urlencoded::parse(name.as_bytes()).map(|(name, _)| name).collect();
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    !value.is_empty()
        && (SECRET_NAMES.contains(&name.as_str())
            || SECRET_PARTS.iter().any(|part| name.contains(part))
            || ["xamz", "xgoog"].iter().any(|start| name.starts_with(start))
            || (ends(&SECRET_ENDS) && !ends(&HARMLESS)))
}

/// Checks whether a query parameter only tells where a visitor came from.
pub fn is_tracker(name: &str) -> bool {
    name.starts_with("utm_") || TRACKERS.contains(&name)
}

/// Returns a link without the parameters that only tell where a visitor came from. A link with a secret stays as it is, because a
/// signature may cover all its parameters.
pub fn without_trackers(link: &str) -> Cow<'_, str> {
    let (address, fragment) = link.split_once('#').map_or((link, ""), |(it, end)| (it, end));
    let Some((page, query)) = address.split_once('?') else { return Cow::Borrowed(link) };
    let tracks = |pair: &&str| is_tracker(pair.split('=').next().unwrap_or_default());
    let pairs = || query.split('&');
    if !pairs().any(|pair| tracks(&pair)) || pairs().any(holds_secret) {
        return Cow::Borrowed(link);
    }
    let kept: Vec<&str> = pairs().filter(|pair| !tracks(pair)).collect();
    let mut clean = page.to_owned();
    for (mark, part) in [("?", kept.join("&")), ("#", fragment.to_owned())] {
        if !part.is_empty() {
            clean.push_str(mark);
            clean.push_str(&part);
        }
    }
    Cow::Owned(clean)
}

/// Returns an id as it may leave this machine: an address with a secret is replaced by an id that was made of it.
pub fn outgoing_id(id: &str) -> String {
    if !id.contains("://") || outgoing_link(id).as_deref() == Some(id.trim()) {
        return id.to_owned();
    }
    format!("urn:backissue:entry:{:016x}", identity_hash(id))
}

/// Returns a title or another short text as it may leave this machine: the addresses in it are those of [`outgoing_link`].
pub fn outgoing_name(name: &str) -> String {
    replace_addresses(name, |address| outgoing_link(address).unwrap_or_default())
}

/// Returns the title of a feed as it may leave this machine. A feed without a title is named by its host and path.
pub fn outgoing_title(title: Option<&str>, address: &str) -> String {
    let title = title.filter(|title| *title != address).map(outgoing_name);
    title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| {
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let place = |url: Url| {
            format!("{}{}", url.host_str().unwrap_or_default(), url.path().trim_end_matches('/'))
        };
        url.map_or_else(|| "Untitled feed".to_owned(), place)
    })
}

/// Returns markup as it may leave this machine: the addresses in it are those of [`outgoing_link`]. Pictures can be part of the markup.
pub fn outgoing_markup(markup: &str) -> String {
    let rewrite = |name: &str, written: &str| {
        let name = name.to_ascii_lowercase();
        if name.ends_with("srcset") {
            return rewrite_srcset(written, |address| outgoing_value(address, true));
        }
        let is_picture = name.contains("src") || name == "poster";
        let is_address = is_picture || LINKS.iter().any(|link| name.ends_with(link));
        is_address.then(|| outgoing_value(written, is_picture)).flatten()
    };
    rewrite_attributes(markup.into(), rewrite).into_owned()
}

/// Returns the new value of an attribute with an address, unless it stays.
fn outgoing_value(written: &str, is_picture: bool) -> Option<String> {
    let address = references::resolve(written);
    let address = address.trim();
    let kept = match Url::parse(address) {
        Err(ParseError::RelativeUrlWithoutBase) if address.starts_with("//") => {
            outgoing_link(&format!("https:{address}"))
        }
        Err(ParseError::RelativeUrlWithoutBase) => return None,
        Ok(_) | Err(_) if is_picture && is_data_picture(address) => return None,
        Ok(_) | Err(_) => outgoing_link(address),
    };
    let kept = kept.unwrap_or_else(|| NOWHERE.to_owned());
    (kept != address).then_some(kept)
}

fn is_data_picture(address: &str) -> bool {
    let start = address.get(..11).unwrap_or_default();
    start.eq_ignore_ascii_case("data:image/")
}

/// Replaces each address in a text, of any scheme: addresses of proxies contain logins, too.
pub fn replace_addresses(text: &str, replace: impl Fn(&str) -> String) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find_address(rest) {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        // Characters that usually end a URL in a text may also occur in passwords and query values.
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
        let address = from.split(ends).next().unwrap_or_default();
        let address = address.trim_end_matches(['\'', ',', ';', ')']);
        clean.push_str(&replace(address));
        rest = from.get(address.len()..).unwrap_or_default();
    }
    clean.push_str(rest);
    without_logins(&clean)
}

/// Returns the position of the first URL in a text.
fn find_address(text: &str) -> Option<usize> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let mut before = 0;
    while let Some(found) = text.get(before..)?.find("://") {
        let at = before.saturating_add(found);
        let scheme = text.get(..at)?;
        let begin = scheme.trim_end_matches(in_scheme);
        if begin.len() < at {
            return Some(begin.len());
        }
        before = at.saturating_add(1);
    }
    None
}

/// Returns a text for the content of an element, in XML or HTML. Control characters, which XML does not allow, are left out.
pub fn escaped_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text, false);
    out
}

/// Returns a text for an attribute in double quotes, as [`escaped_text`].
pub fn escaped_attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text, true);
    out
}

/// Adds text that a parser reads back without changes, except for control characters: line ends and tabs are preserved, in attributes
/// too.
pub fn push_escaped(out: &mut String, text: &str, is_attribute: bool) {
    let is_special = |c: &char| match c {
        '\n' | '\t' => is_attribute,
        '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'.. => false,
        _ => true,
    };
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_special(c)) {
        text::push_escaped(out, rest.get(..at).unwrap_or_default(), is_attribute);
        out.push_str(match c {
            '\n' => "&#10;",
            '\t' => "&#9;",
            '\r' => "&#13;",
            _ => "",
        });
        rest = rest.get(at + c.len_utf8()..).unwrap_or_default();
    }
    text::push_escaped(out, rest, is_attribute);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trackers_are_cut_from_links_but_not_from_signed_ones() {
        for (link, clean) in [
            (
                "https://a.example/x?utm_source=feed&id=7&fbclid=2#part",
                "https://a.example/x?id=7#part",
            ),
            ("https://a.example/x?utm_medium=rss", "https://a.example/x"),
            ("https://a.example/x?utm_medium=rss#top", "https://a.example/x#top"),
            ("https://a.example/x?q=a%26b+c&mc_cid=1", "https://a.example/x?q=a%26b+c"),
            (
                "https://a.example/x?utm_source=a&sig=abc",
                "https://a.example/x?utm_source=a&sig=abc",
            ),
            ("https://a.example/x?gclid=1&Expires=99", "https://a.example/x?gclid=1&Expires=99"),
            ("https://a.example/x?autm_=1", "https://a.example/x?autm_=1"),
            ("https://a.example/x#?utm_source=a", "https://a.example/x#?utm_source=a"),
            ("mailto:a@b.example?subject=x", "mailto:a@b.example?subject=x"),
        ] {
            assert_eq!(without_trackers(link), clean);
        }
    }

    #[test]
    fn links_leave_without_logins_and_secrets() {
        for (link, expected) in [
            ("https://a.example/x?p=1&page=2#top", Some("https://a.example/x?p=1&page=2#top")),
            ("HTTPS://A.example", Some("HTTPS://A.example")),
            ("https://me:pw@a.example/x", Some("https://a.example/x")),
            ("https://a.example/f?apikey=s", Some("https://a.example/f")),
            ("https://a.example/f?x=1&API-Key=s&y=%20", Some("https://a.example/f?x=1&y=%20")),
            ("https://a.example/f?access%5Ftoken=s;id=2", Some("https://a.example/f?id=2")),
            ("https://a.example/f.mp3?token-hash=s&token-time=1", Some("https://a.example/f.mp3")),
            ("https://a.example/f?X-Amz-Signature=s&X-Amz-Date=1", Some("https://a.example/f")),
            ("https://a.example/f#access_token=s", Some("https://a.example/f")),
            (
                "https://a.example/f?author=ann&keyword=x&monkey=1",
                Some("https://a.example/f?author=ann&keyword=x&monkey=1"),
            ),
            (
                "https://a.example/https://me:pw@b.example/",
                Some("https://a.example/https://b.example/"),
            ),
            ("https://a.example/a b>", Some("https://a.example/a%20b%3E")),
            ("mailto:me@a.example", Some("mailto:me@a.example")),
            ("javascript:alert(1)", None),
            ("java\tscript:alert(1)", None),
            ("data:text/html,x", None),
            ("file:///etc/passwd", None),
            ("/relative", None),
            ("", None),
        ] {
            assert_eq!(outgoing_link(link).as_deref(), expected, "{link}");
        }
        for name in [
            "key",
            "sig",
            "auth",
            "pw",
            "feedkey",
            "rss_token",
            "userSecret",
            "PHPSESSID",
            "Expires",
        ] {
            let link = format!("https://a.example/f?a=b&{name}=secret");
            assert_eq!(outgoing_link(&link).as_deref(), Some("https://a.example/f?a=b"), "{name}");
        }
    }

    #[test]
    fn names_and_ids_hold_no_secret_addresses() {
        for (name, expected) in [
            ("Orchard", "Orchard"),
            ("https://a.example/f?apikey=s", "https://a.example/f"),
            ("see https://me:pw@a.example/f, now", "see https://a.example/f, now"),
            ("file:///home/me/f.xml", ""),
        ] {
            assert_eq!(outgoing_name(name), expected);
        }
        for id in ["tag:a.example,2020:1", "https://a.example/?p=1", "7"] {
            assert_eq!(outgoing_id(id), id);
        }
        let ids = ["https://a.example/?p=1&key=s", "https://a.example/?p=1&key=t"].map(outgoing_id);
        assert!(ids.iter().all(|id| id.starts_with("urn:backissue:entry:")) && ids[0] != ids[1]);
        for (title, address, expected) in [
            (Some("Orchard"), "https://a.example/", "Orchard"),
            (None, "https://me:pw@a.example/f/?key=s", "a.example/f"),
            (Some("https://a.example/f?key=s"), "https://a.example/f?key=s", "a.example/f"),
            (Some("https://a.example/f?key=s"), "https://b.example/", "https://a.example/f"),
            (Some("exec:curl secret"), "exec:curl secret", "Untitled feed"),
        ] {
            assert_eq!(outgoing_title(title, address), expected);
        }
    }

    #[test]
    fn addresses_in_markup_follow_the_rule_of_links() {
        for (markup, expected) in [
            ("<a href='/x'>a</a> <b>b</b>", "<a href='/x'>a</a> <b>b</b>"),
            (
                "<a href=\"https://me:pw@a.example/?a=1&amp;key=s\">a</a>",
                "<a href=\"https://a.example/?a=1\">a</a>",
            ),
            ("<a href=' jAvaScript:x()'>a</a>", "<a href='#'>a</a>"),
            ("<a href='java&#10;script:x()'>a</a>", "<a href='#'>a</a>"),
            ("<a HREF=file:///etc/passwd>a</a>", "<a HREF=#>a</a>"),
            ("<a href='data:text/html,x'>a</a>", "<a href='#'>a</a>"),
            ("<img src='data:image/png;base64,AA=='>", "<img src='data:image/png;base64,AA=='>"),
            ("<img src='//me:pw@a.example/p'>", "<img src='https://a.example/p'>"),
            (
                "<img srcset='https://a.example/p?sig=s 2x, file:///p 1x'>",
                "<img srcset='https://a.example/p 2x, # 1x'>",
            ),
            ("<form action='javascript:x()'>", "<form action='#'>"),
            ("<use xlink:href='javascript:x()'/>", "<use xlink:href='#'/>"),
        ] {
            assert_eq!(outgoing_markup(markup), expected, "{markup}");
        }
    }

    #[test]
    fn escaped_texts_have_no_control_characters() {
        let text = "a<b>&\"c\u{1b}\u{0}\u{9b}\u{ffff}\n\t";
        assert_eq!(escaped_text(text), "a&lt;b&gt;&amp;\"c\n\t");
        assert_eq!(escaped_attribute(text), "a&lt;b&gt;&amp;&quot;c&#10;&#9;");
    }
}
