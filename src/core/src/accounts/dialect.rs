//! How servers differ in the Google Reader API, as data.

use url::Url;

/// Limits and habits of a kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Name of the server software or service; empty if it is not known.
    pub name: &'static str,
    /// Number of ids to request in one answer.
    pub ids_a_page: u32,
    /// Number of entries to request in one answer.
    pub entries_a_request: usize,
    /// Number of entries to mark in one request.
    pub marks_a_request: usize,
    /// `true` if entries can have labels that the server lists.
    pub has_labels: bool,
    /// `true` if titles contain full-width forms of `&`, `<` and `>` instead of these characters.
    pub widens_titles: bool,
    /// `true` if the service answers only to applications that are registered with it.
    pub wants_app_key: bool,
}

/// Values that every known server accepts.
const USUAL: Dialect = Dialect {
    name: "",
    ids_a_page: 10_000,
    entries_a_request: 250,
    marks_a_request: 250,
    has_labels: false,
    widens_titles: false,
    wants_app_key: false,
};

/// A host suffix or path suffix, and the dialect that it tells.
const TABLE: [(&str, Dialect); 4] = [
    (
        "greader.php",
        Dialect {
            name: "FreshRSS",
            ids_a_page: 50_000,
            has_labels: true,
            widens_titles: true,
            ..USUAL
        },
    ),
    (
        "inoreader.com",
        Dialect {
            name: "Inoreader",
            ids_a_page: 1_000,
            entries_a_request: 100,
            has_labels: true,
            wants_app_key: true,
            ..USUAL
        },
    ),
    ("theoldreader.com", Dialect { name: "The Old Reader", ..USUAL }),
    ("bazqux.com", Dialect { name: "BazQux", ..USUAL }),
];

impl Dialect {
    /// Tells the dialect from the address of the API. Miniflux cannot be told by its address and needs nothing unusual.
    pub fn of(base: &Url) -> Self {
        let host = base.host_str().unwrap_or_default();
        let is_host = |name: &str| {
            let rest = host.strip_suffix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let found = TABLE.iter().find(|(sign, _)| base.path().ends_with(sign) || is_host(sign));
        found.map_or(USUAL, |(_, dialect)| *dialect)
    }
}

/// Ends of the paths of web pages and other APIs, which people copy from the browser or the settings of a server.
const COPIED_ENDS: &str = "index.php fever.php api i p v1 unread starred history feeds categories settings \
     integrations login search";

/// Returns the addresses to try as the base of the API for an address that the user typed, in order.
pub fn bases(typed: &Url) -> Vec<Url> {
    let mut plain = typed.clone();
    plain.set_query(None);
    plain.set_fragment(None);
    let path = plain.path().trim_end_matches('/').to_owned();
    let at = |path: &str, suffix: &str| {
        let mut base = plain.clone();
        base.set_path(&format!("{path}{suffix}"));
        base
    };
    let ours = "greader.php";
    if let Some((before, after)) = path.split_once(ours).filter(|(_, rest)| !rest.contains('.'))
        && (after.is_empty() || after.starts_with('/'))
    {
        return vec![at(before, ours)];
    }
    let usual = at(&path, "");
    if Dialect::of(&usual) != USUAL {
        return vec![usual];
    }
    let mut root = path.as_str();
    let shorter = |root: &'_ str| {
        let (rest, end) = root.rsplit_once('/')?;
        COPIED_ENDS
            .split_ascii_whitespace()
            .any(|known| known == end)
            .then(|| rest.trim_end_matches('/').len())
    };
    while let Some(length) = shorter(root) {
        root = root.get(..length).unwrap_or_default();
    }
    let apis =
        |path: &str| [at(path, ""), at(path, "/api/greader.php"), at(path, "/p/api/greader.php")];
    if root == path { apis(root).to_vec() } else { [&apis(root)[..], &[usual]].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_told_by_their_address() {
        for (address, name, tried) in [
            ("https://a.example/api/greader.php", "FreshRSS", 1),
            ("https://a.example/p/api/greader.php/", "FreshRSS", 1),
            ("https://www.inoreader.com/", "Inoreader", 1),
            ("https://theoldreader.com", "The Old Reader", 1),
            ("https://bazqux.com", "BazQux", 1),
            ("https://notbazqux.com", "", 3),
            ("https://miniflux.example/sub/?x=1#y", "", 3),
            ("https://a.example/api/greader.php/reader/api/0", "FreshRSS", 1),
            ("https://a.example/i/?a=normal", "", 4),
        ] {
            let bases = bases(&Url::parse(address).unwrap());
            assert_eq!((Dialect::of(&bases[0]).name, bases.len()), (name, tried), "{address}");
        }
        for typed in [
            "i/?a=normal",
            "i/index.php",
            "api/",
            "api/fever.php",
            "index.php",
            "p/i/",
            "v1",
            "v1/",
            "unread",
        ] {
            for root in ["", "sub/", "index/"] {
                let bases =
                    bases(&Url::parse(&format!("https://a.example/{root}{typed}")).unwrap());
                let texts: Vec<&str> = bases.iter().take(3).map(Url::as_str).collect();
                let root = root.trim_end_matches('/');
                let slash = if root.is_empty() { "" } else { "/" };
                assert_eq!(texts[0], format!("https://a.example/{root}"), "{typed}");
                assert_eq!(texts[1], format!("https://a.example{slash}{root}/api/greader.php"));
                assert_eq!(texts[2], format!("https://a.example{slash}{root}/p/api/greader.php"));
            }
        }
        let bases = bases(&Url::parse("https://a.example/sub/?x=1").unwrap());
        let texts: Vec<&str> = bases.iter().map(Url::as_str).collect();
        assert_eq!(
            texts,
            [
                "https://a.example/sub",
                "https://a.example/sub/api/greader.php",
                "https://a.example/sub/p/api/greader.php"
            ]
        );
    }
}
