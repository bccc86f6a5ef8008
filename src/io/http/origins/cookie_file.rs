//! Reads cookie files in the format of Netscape, which browsers and curl export.
//!
//! A line has seven fields separated by tabs: domain, whether subdomains get the cookie, path, whether it is only for https, the
//! time of its expiry in seconds since 1970 or 0, name, value. `#` begins a comment, except in `#HttpOnly_DOMAIN`.

use chrono::{DateTime, Utc};
use url::Url;

/// Returns the cookies of a file that a request to an address sends, as names and values: those with the longest path first.
pub(super) fn cookies_for(text: &str, to: &Url, now: DateTime<Utc>) -> Vec<(String, String)> {
    let fitting = text.lines().filter_map(|line| cookie_for(line, to, now));
    let mut fitting: Vec<(usize, &str, &str)> = fitting.collect();
    fitting.sort_by_key(|(path, ..)| std::cmp::Reverse(*path));
    fitting.into_iter().map(|(_, name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the length of the path, the name and the value of the cookie in a line, if a request to the address sends it.
fn cookie_for<'a>(
    line: &'a str,
    to: &Url,
    now: DateTime<Utc>,
) -> Option<(usize, &'a str, &'a str)> {
    let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
    if line.starts_with('#') {
        return None;
    }
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let (domain, subdomains, path, secure) = (next()?, next()?, next()?, next()?);
    let (expires, name, value) = (next()?, next()?, next().unwrap_or_default());
    let domain = domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase();
    let is_host = match to.host_str()?.strip_suffix(&domain) {
        Some("") => true,
        Some(below) => is_true(subdomains) && below.ends_with('.') && !domain.is_empty(),
        None => false,
    };
    let below = to.path().strip_prefix(path)?;
    let is_path = below.is_empty() || path.ends_with('/') || below.starts_with('/');
    let is_allowed = !is_true(secure) || to.scheme() == "https";
    // Some programs write fractions of a second.
    let expires = expires.split('.').next()?.parse::<i64>().ok()?;
    let is_valid = expires <= 0 || expires > now.timestamp();
    let is_clean = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
    let is_sendable = !name.is_empty() && is_clean(name) && is_clean(&value.replace(' ', ""));
    (is_host && is_path && is_allowed && is_valid && is_sendable).then_some((
        path.len(),
        name,
        value,
    ))
}

fn is_true(field: &str) -> bool {
    field.eq_ignore_ascii_case("true")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Netscape HTTP Cookie File\n\
        a.example\tFALSE\t/\tFALSE\t0\tsession\ts1\n\
        .a.example\tTRUE\t/feeds\tFALSE\t2000\tdeep\td 1\n\
        #HttpOnly_.a.example\tTRUE\t/\tTRUE\t2000.5\tlocked\tl1\n\
        a.example\tFALSE\t/\tFALSE\t1000\told\to1\n\
        a.example\tFALSE\t/\tFALSE\t0\tbad\tb;1\n\
        a.example\tFALSE\t/\tFALSE\tx\tbad\tb1\n\
        b.example\tFALSE\t/\tFALSE\t0\tother\tx1\n\
        \tTRUE\t/\tFALSE\t0\tnowhere\tn1\n\
        a.example /\n\n";

    #[test]
    fn cookies_go_to_their_host_path_and_scheme_until_they_expire() {
        let now = DateTime::from_timestamp(1_500, 0).unwrap();
        for (url, names) in [
            ("https://a.example/feeds/x", "deep=d 1 session=s1 locked=l1"),
            ("https://a.example/feedsx", "session=s1 locked=l1"),
            ("http://a.example/feeds", "deep=d 1 session=s1"),
            ("https://sub.a.example/feeds", "deep=d 1 locked=l1"),
            ("https://nota.example/feeds", ""),
            ("https://b.example/", "other=x1"),
            ("https://c.example./", ""),
        ] {
            let found = cookies_for(FILE, &Url::parse(url).unwrap(), now);
            let found: Vec<String> =
                found.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found.join(" "), names, "{url}");
        }
    }
}
