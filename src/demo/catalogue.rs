//! The content of the demo site: one table each for feed documents, moved addresses, and pictures and sounds.

use chrono::TimeDelta;

/// A feed document served by the demo.
#[derive(Clone, Copy)]
pub(super) struct Document {
    /// Name of the document within its entity tag.
    pub(super) name: &'static str,
    /// Path and query relative to the base address.
    pub(super) address: &'static str,
    pub(super) media_type: &'static str,
    pub(super) template: &'static str,
    pub(super) validators: DemoValidators,
    pub(super) cache_control: Option<&'static str>,
    pub(super) access: Access,
    /// `true` if a delta request is answered with 226 and only the new entries (RFC 3229).
    pub(super) deltas: bool,
}

/// The validators of a document. The demo covers each combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemoValidators {
    Both,
    Tag,
    Date,
}

/// The availability of a document over the running time of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Open,
    /// Answers 403 until the demo has run for this time or the archive was made available early.
    ForbiddenFor(TimeDelta),
    /// Answers 410 to a client that already fetched the document, and to every client after this time.
    GoneAfter(TimeDelta),
}

/// A feed of the demo as listed on its front page.
pub(super) struct DemoOffer {
    /// Address to subscribe to. For the moved feed, this is the old address.
    pub(super) address: &'static str,
    pub(super) title: &'static str,
    pub(super) media_type: &'static str,
    pub(super) tags: &'static [&'static str],
    /// Description of what the feed demonstrates.
    pub(super) note: &'static str,
}

/// Addresses that redirect permanently: the old address and the new address.
pub(super) const MOVED: [(&str, &str); 1] = [("/ferry/feed.xml", "/last-ferry/episodes.xml")];

/// Pictures and sounds of the entries: address, media type, bytes.
pub(super) const ENCLOSED: [(&str, &str, &[u8]); 3] = [
    ("/desk/headland.png", "image/png", include_bytes!("../../assets/demo/headland.png")),
    ("/desk/tides.png", "image/png", include_bytes!("../../assets/demo/tides.png")),
    ("/sounds/bell.wav", "audio/x-wav", include_bytes!("../../assets/demo/bell.wav")),
];

const ATOM: &str = "application/atom+xml; charset=utf-8";
pub(super) const RSS: &str = "application/rss+xml; charset=utf-8";
const RDF: &str = "application/rdf+xml; charset=utf-8";
const JSON: &str = "application/feed+json; charset=utf-8";
/// `Cache-Control` of an archive document, which never changes (RFC 5005 §4).
const FOR_EVER: Option<&str> = Some("public, max-age=31536000, immutable");

macro_rules! document {
    ($name:literal, $suffix:literal, $media_type:expr, $address:literal) => {
        Document {
            name: $name,
            address: $address,
            media_type: $media_type,
            template: include_str!(concat!("../../assets/demo/", $name, $suffix)),
            validators: DemoValidators::Both,
            cache_control: None,
            access: Access::Open,
            deltas: false,
        }
    };
}

pub(super) const DOCUMENTS: [Document; 19] = [
    Document { deltas: true, ..document!("courier", ".xml", RSS, "/courier/feed.xml") },
    Document {
        cache_control: Some("max-age=60"),
        ..document!("kitchen", ".xml", RSS, "/kitchen/feed.xml")
    },
    Document {
        validators: DemoValidators::Date,
        ..document!("observatory", ".rdf", RDF, "/observatory/notices.rdf")
    },
    Document {
        validators: DemoValidators::Tag,
        ..document!("lights", ".xml", RSS, "/lights/feed.xml")
    },
    document!("garden", ".xml", ATOM, "/garden/diary.xml"),
    archive(document!("garden-6", ".xml", ATOM, "/garden/archive/6.xml")),
    archive(document!("garden-5", ".xml", ATOM, "/garden/archive/5.xml")),
    Document {
        access: Access::ForbiddenFor(TimeDelta::minutes(1)),
        ..archive(document!("garden-4", ".xml", ATOM, "/garden/archive/4.xml"))
    },
    archive(document!("garden-3", ".xml", ATOM, "/garden/archive/3.xml")),
    archive(document!("garden-2", ".xml", ATOM, "/garden/archive/2.xml")),
    archive(document!("garden-1", ".xml", ATOM, "/garden/archive/1.xml")),
    document!("finds", ".json", JSON, "/finds/feed.json"),
    document!("finds-2", ".json", JSON, "/finds/feed.json?page=2"),
    document!("finds-3", ".json", JSON, "/finds/feed.json?page=3"),
    Document {
        cache_control: Some("no-cache"),
        ..document!("benches", ".xml", ATOM, "/benches/ranking.xml")
    },
    document!("ferry", ".xml", RSS, "/last-ferry/episodes.xml"),
    Document {
        access: Access::GoneAfter(TimeDelta::minutes(1)),
        ..document!("tramway", ".xml", RSS, "/tramway/feed.xml")
    },
    document!("desk", ".xml", ATOM, "/desk/feed.xml"),
    document!("levels", ".xml", RSS, "/levels/feed.xml"),
];

const fn archive(document: Document) -> Document {
    Document { cache_control: FOR_EVER, ..document }
}

pub(super) const OFFERS: [DemoOffer; 11] = [
    DemoOffer {
        address: "/courier/feed.xml",
        title: "Saltmere Courier",
        media_type: RSS,
        tags: &["news", "coast"],
        note: "interval rules; a new entry every 90 seconds",
    },
    DemoOffer {
        address: "/kitchen/feed.xml",
        title: "A Kitchen by the Locks",
        media_type: RSS,
        tags: &["home"],
        note: "ttl; summaries, and full texts on the pages; 60 older entries on numbered pages",
    },
    DemoOffer {
        address: "/observatory/notices.rdf",
        title: "Murn Observatory Notices",
        media_type: RDF,
        tags: &["science"],
        note: "RSS 1.0 with updatePeriod and updateFrequency",
    },
    DemoOffer {
        address: "/lights/feed.xml",
        title: "Board of Lights: Notices to Mariners",
        media_type: RSS,
        tags: &["coast"],
        note: "skipHours and skipDays",
    },
    DemoOffer {
        address: "/garden/diary.xml",
        title: "Walled Garden Diary",
        media_type: ATOM,
        tags: &["home", "garden"],
        note: "six archives; one answers 403 for the first minute",
    },
    DemoOffer {
        address: "/finds/feed.json",
        title: "The Beachcomber's Index",
        media_type: JSON,
        tags: &["coast"],
        note: "a paged JSON Feed of three pages",
    },
    DemoOffer {
        address: "/benches/ranking.xml",
        title: "Ten Quietest Benches",
        media_type: ATOM,
        tags: &["home"],
        note: "a complete feed; the ranking changes after three and after six minutes",
    },
    DemoOffer {
        address: "/ferry/feed.xml",
        title: "The Last Ferry",
        media_type: RSS,
        tags: &["listening"],
        note: "moved permanently, with audio enclosures",
    },
    DemoOffer {
        address: "/tramway/feed.xml",
        title: "Vennick Tramway Appeal",
        media_type: RSS,
        tags: &["news"],
        note: "answers one poll, then ends",
    },
    DemoOffer {
        address: "/desk/feed.xml",
        title: "The Compositor's Desk",
        media_type: ATOM,
        tags: &["type"],
        note: "tables, code, lists, quotes, pictures, footnotes and scripts",
    },
    DemoOffer {
        address: "/levels/feed.xml",
        title: "Locks and Levels",
        media_type: RSS,
        tags: &["coast"],
        note: "no hints, but a regular rhythm that backissue learns",
    },
];
