//! Derives a feed URL from the URL of a page on a known site, without sending a request.

use url::Url;

use crate::feed::address::web_url;

/// Returns the feed URL for a page on a known site, or `None` if the site is unknown or the URL is already a feed.
pub fn feed_address_of(url: &str) -> Option<String> {
    let url = web_url(url)?;
    let host = url.host_str()?;
    let host = SKINS.iter().find_map(|skin| host.strip_prefix(skin)).unwrap_or(host);
    let parts: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
    if parts.last().is_some_and(|last| is_feed_file(last)) {
        return None;
    }
    let page = SitePage { host, parts: &parts, url: &url };
    if let Some((_, feed)) = SITES.iter().find(|(site, _)| *site == host) {
        return feed(&page);
    }
    let (name, site) = host.split_once('.')?;
    if let Some((_, path)) = HOSTED.iter().find(|(hosted, _)| *hosted == site) {
        return Some(format!("https://{name}.{site}/{path}"));
    }
    mastodon_profile(&page)
}

/// Checks whether the last path segment is the name of a feed file.
fn is_feed_file(last: &str) -> bool {
    last.rsplit_once('.').is_some_and(|(_, ending)| ["rss", "atom", "xml"].contains(&ending))
}

/// Subdomains that show the same pages as the main domain of a site.
const SKINS: [&str; 5] = ["www.", "m.", "old.", "new.", "np."];

/// Function that returns the feed URL for a page of one site, or `None` if the page has no feed.
type FeedOf = fn(&SitePage<'_>) -> Option<String>;

/// Sites whose feed URLs follow from their page URLs.
const SITES: [(&str, FeedOf); 12] = [
    ("youtube.com", youtube),
    ("github.com", github),
    ("gitlab.com", gitlab),
    ("codeberg.org", codeberg),
    ("reddit.com", reddit),
    ("bsky.app", bluesky),
    ("medium.com", medium),
    // Pages of these sites look like Mastodon profiles but have no feed.
    ("threads.net", no_feed),
    ("threads.com", no_feed),
    ("tiktok.com", no_feed),
    ("substack.com", no_feed),
    ("flipboard.com", no_feed),
];

/// Domains on which each publisher has a subdomain, with the path of the feed.
const HOSTED: [(&str, &str); 5] = [
    ("substack.com", "feed"),
    ("medium.com", "feed"),
    ("wordpress.com", "feed/"),
    ("blogspot.com", "feeds/posts/default"),
    ("tumblr.com", "rss"),
];

/// A page URL, split into its parts.
struct SitePage<'a> {
    host: &'a str,
    /// Non-empty path segments.
    parts: &'a [&'a str],
    url: &'a Url,
}

impl SitePage<'_> {
    fn query(&self, name: &str) -> Option<String> {
        self.url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }
}

fn no_feed(_: &SitePage<'_>) -> Option<String> {
    None
}

/// Returns the feed of a channel ID, a playlist or a legacy user name. The URL of a `@handle` page does not contain the channel ID,
/// but the HTML of the page declares the feed.
fn youtube(page: &SitePage<'_>) -> Option<String> {
    let feed = |query: String| Some(format!("https://www.youtube.com/feeds/videos.xml?{query}"));
    let is_channel = |id: &&str| id.len() == 24 && id.starts_with("UC") && is_name(id);
    let in_query = page.query("channel_id").filter(|id| is_channel(&id.as_str()));
    match page.parts {
        ["feeds", ..] => None,
        ["playlist", ..] => {
            let list = page.query("list").filter(|list| is_name(list))?;
            feed(format!("playlist_id={list}"))
        }
        ["user", name, ..] if is_name(name) => feed(format!("user={name}")),
        parts => {
            let in_path = parts.iter().copied().find(is_channel).map(str::to_owned);
            feed(format!("channel_id={}", in_path.or(in_query)?))
        }
    }
}

/// Returns the feed of a user's activity, or of a repository's releases, tags, commits, discussions or wiki, on GitHub.
fn github(page: &SitePage<'_>) -> Option<String> {
    const NOT_USERS: [&str; 20] = [
        "about",
        "apps",
        "codespaces",
        "collections",
        "contact",
        "customer-stories",
        "enterprise",
        "explore",
        "features",
        "issues",
        "login",
        "marketplace",
        "notifications",
        "orgs",
        "pricing",
        "pulls",
        "search",
        "settings",
        "sponsors",
        "topics",
    ];
    let (owner, rest) = page.parts.split_first()?;
    if NOT_USERS.contains(owner) || !is_name(owner) {
        return None;
    }
    let user = format!("https://github.com/{owner}");
    let Some((repository, rest)) = rest.split_first() else {
        return Some(format!("{user}.atom"));
    };
    let repository = format!("{user}/{}", repository.strip_suffix(".git").unwrap_or(repository));
    match rest {
        [] | ["releases", ..] => Some(format!("{repository}/releases.atom")),
        ["tags" | "commits" | "discussions" | "wiki"] => {
            Some(format!("{repository}/{}.atom", rest.concat()))
        }
        ["commits" | "tree", branch @ ..] if !branch.is_empty() => {
            Some(format!("{repository}/commits/{}.atom", branch.join("/")))
        }
        _ => None,
    }
}

/// Returns the feed of a user's, group's or project's activity, or of a project's releases, tags or commits, on GitLab.
fn gitlab(page: &SitePage<'_>) -> Option<String> {
    const NOT_USERS: [&str; 7] = ["explore", "help", "users", "dashboard", "search", "-", "groups"];
    if NOT_USERS.contains(page.parts.first()?) {
        return None;
    }
    let mut halves = page.parts.splitn(2, |part| *part == "-");
    let project = format!("https://gitlab.com/{}", halves.next()?.join("/"));
    match halves.next() {
        None => Some(format!("{project}.atom")),
        Some(["releases", ..]) => Some(format!("{project}/-/releases.atom")),
        Some(["tags", ..]) => Some(format!("{project}/-/tags?format=atom")),
        Some(["commits" | "tree", branch @ ..]) if !branch.is_empty() => {
            Some(format!("{project}/-/commits/{}?format=atom", branch.join("/")))
        }
        Some(_) => None,
    }
}

/// Returns the feed of a user's activity or of a repository's releases, on Codeberg.
fn codeberg(page: &SitePage<'_>) -> Option<String> {
    match page.parts {
        ["explore" | "user" | "org", ..] => None,
        [owner] => Some(format!("https://codeberg.org/{owner}.rss")),
        [owner, repository] | [owner, repository, "releases"] => {
            Some(format!("https://codeberg.org/{owner}/{repository}/releases.rss"))
        }
        _ => None,
    }
}

/// Returns the feed of a subreddit (with the sort order that the URL states), of a user or of a thread.
fn reddit(page: &SitePage<'_>) -> Option<String> {
    let site = "https://www.reddit.com";
    match page.parts {
        ["r", name] => Some(format!("{site}/r/{name}/.rss")),
        ["r", name, order @ ("new" | "hot" | "top" | "rising" | "controversial"), ..] => {
            Some(format!("{site}/r/{name}/{order}/.rss"))
        }
        ["r", name, "comments", thread, ..] => {
            Some(format!("{site}/r/{name}/comments/{thread}/.rss"))
        }
        ["user" | "u", name, ..] => Some(format!("{site}/user/{name}/.rss")),
        _ => None,
    }
}

fn bluesky(page: &SitePage<'_>) -> Option<String> {
    match page.parts {
        ["profile", _, "rss"] => None,
        ["profile", handle, ..] => Some(format!("https://bsky.app/profile/{handle}/rss")),
        _ => None,
    }
}

fn medium(page: &SitePage<'_>) -> Option<String> {
    match page.parts {
        ["feed" | "tag" | "search" | "m" | "me", ..] | [] => None,
        [publisher, ..] => Some(format!("https://medium.com/feed/{publisher}")),
    }
}

/// Returns the feed of a profile on Mastodon or similar software. The path of a profile page is `/@name`. Profiles on another host
/// have the path `/@name@host`.
fn mastodon_profile(page: &SitePage<'_>) -> Option<String> {
    let name = match page.parts {
        [name] | [name, "with_replies" | "media" | "featured"] => name.strip_prefix('@')?,
        _ => return None,
    };
    let port = page.url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let (name, host) = match name.split_once('@') {
        Some((name, host)) => (name, host.to_owned()),
        None => (name, format!("{}{port}", page.host)),
    };
    let address = web_url(&format!("https://{host}/"))?;
    is_name(name).then(|| format!("{address}@{name}.rss"))
}

/// Checks whether a text can be an account name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

#[cfg(test)]
mod tests {
    use crate::feed::known_sites::*;

    fn check(url: &str, expected: Option<&str>) {
        assert_eq!(feed_address_of(url).as_deref(), expected, "{url}");
    }

    #[test]
    fn pages_of_known_sites_have_their_feeds() {
        let youtube = "https://www.youtube.com/feeds/videos.xml";
        let channel = format!("{youtube}?channel_id=UCct7QF2jcWRY6dhXWMSq9LQ");
        let cases = [
            ("https://www.youtube.com/channel/UCct7QF2jcWRY6dhXWMSq9LQ/videos", channel.as_str()),
            ("https://m.youtube.com/@volvo?channel_id=UCct7QF2jcWRY6dhXWMSq9LQ", &channel),
            (
                "https://youtube.com/playlist?list=PL1a-b_c",
                &format!("{youtube}?playlist_id=PL1a-b_c"),
            ),
            ("https://www.youtube.com/user/Name", &format!("{youtube}?user=Name")),
            ("https://github.com/octo", "https://github.com/octo.atom"),
            ("https://github.com/octo/cat", "https://github.com/octo/cat/releases.atom"),
            ("https://github.com/octo/cat.git", "https://github.com/octo/cat/releases.atom"),
            ("https://github.com/octo/cat/releases/", "https://github.com/octo/cat/releases.atom"),
            ("https://github.com/octo/cat/commits", "https://github.com/octo/cat/commits.atom"),
            (
                "https://github.com/octo/cat/commits/a/b",
                "https://github.com/octo/cat/commits/a/b.atom",
            ),
            (
                "https://github.com/octo/cat/tree/main",
                "https://github.com/octo/cat/commits/main.atom",
            ),
            ("https://gitlab.com/octo", "https://gitlab.com/octo.atom"),
            ("https://gitlab.com/g/h/cat", "https://gitlab.com/g/h/cat.atom"),
            ("https://gitlab.com/g/cat/-/releases", "https://gitlab.com/g/cat/-/releases.atom"),
            (
                "https://gitlab.com/g/cat/-/tree/main",
                "https://gitlab.com/g/cat/-/commits/main?format=atom",
            ),
            ("https://codeberg.org/octo/cat", "https://codeberg.org/octo/cat/releases.rss"),
            ("https://old.reddit.com/r/rust/", "https://www.reddit.com/r/rust/.rss"),
            ("https://www.reddit.com/r/rust/new/", "https://www.reddit.com/r/rust/new/.rss"),
            ("https://reddit.com/u/name", "https://www.reddit.com/user/name/.rss"),
            ("https://social.example/@name", "https://social.example/@name.rss"),
            ("https://social.example/@name@other.example", "https://other.example/@name.rss"),
            (
                "https://social.example/@first.last-name",
                "https://social.example/@first.last-name.rss",
            ),
            (
                "https://bsky.app/profile/name.bsky.social",
                "https://bsky.app/profile/name.bsky.social/rss",
            ),
            ("https://name.substack.com/p/post", "https://name.substack.com/feed"),
            ("https://medium.com/@name/post-1", "https://medium.com/feed/@name"),
            ("https://name.blogspot.com/", "https://name.blogspot.com/feeds/posts/default"),
        ];
        for (url, expected) in cases {
            check(url, Some(expected));
        }
    }

    #[test]
    fn feeds_and_other_pages_are_left_alone() {
        let others = [
            "https://www.youtube.com/feeds/videos.xml?channel_id=UCct7QF2jcWRY6dhXWMSq9LQ",
            "https://www.youtube.com/@handle",
            "https://www.youtube.com/watch?v=abc",
            "https://github.com/octo/cat/releases.atom",
            "https://github.com/octo.atom",
            "https://github.com/settings/profile",
            "https://github.com/octo/cat/issues/1",
            "https://www.reddit.com/r/rust/.rss",
            "https://www.tiktok.com/@name",
            "https://social.example/@name/1234",
            "https://social.example/@na%20me",
            "https://social.example/@name.rss",
            "https://blog.example/post",
            "mailto:a@b.example",
            "not an address",
        ];
        for url in others {
            check(url, None);
        }
    }
}
