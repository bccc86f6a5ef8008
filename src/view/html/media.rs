//! Adds pictures, players and check boxes to the text.

use super::body_reader::{BodyReader, Player};
use super::links::{Picture, best_of_srcset, embed_label, lazy_addresses, picture};
use super::model::{ImageTarget, Role};
use super::open_containers::Nested;
use backissue_core::feed::content::markup::Tag;

impl BodyReader {
    /// Adds the label of a picture. If the picture is not part of a link, it gets its own link number.
    pub(super) fn image(&mut self, tag: &Tag) {
        let beside = self.picture_source.take();
        let beside = beside.as_ref().map(|(address, _)| address.as_str());
        if let Some(picture) = picture(tag, beside, &self.links) {
            self.show_picture(&picture);
        }
    }

    /// Records the address that a `source` specifies for the next `img` of the same `picture`. The first `source` in a format
    /// that can be shown is used or, if there is none, the first `source`.
    pub(super) fn offer_source(&mut self, tag: &Tag) {
        const READABLE: [&str; 5] =
            ["image/jpeg", "image/jpg", "image/png", "image/gif", "image/webp"];
        let is_readable = tag.attribute("type").is_none_or(|kind| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            READABLE.iter().any(|known| kind.eq_ignore_ascii_case(known))
        });
        let stated = tag.attribute("srcset").and_then(best_of_srcset);
        let stated = lazy_addresses(tag).next().or(stated);
        let is_better = self.picture_source.as_ref().is_none_or(|(_, known)| is_readable && !known);
        if let Some(stated) = stated.filter(|_| is_better) {
            self.picture_source = Some((stated.to_owned(), is_readable));
        }
    }

    /// Adds the picture of a `picture` element without `img`.
    pub(super) fn end_picture(&mut self) {
        let Some((source, _)) = self.picture_source.take() else { return };
        let url = self.links.resolve(&source, &["http", "https"]);
        if url.is_some() {
            self.show_picture(&Picture { url, ..Picture::default() });
        }
    }

    fn show_picture(&mut self, picture: &Picture) {
        if picture.sign {
            return self.flow.text(&picture.alt);
        }
        let url = picture.url.as_ref().map(|url| url.as_str().to_owned());
        // A page often contains a lazily loaded picture twice, the second time within `noscript`. The second one is skipped.
        let again = |known: &ImageTarget| Some(&known.url) == url.as_ref();
        if self.images.last().is_some_and(again) {
            return;
        }
        let in_link = self.flow.is_in_link();
        let own = url.as_deref().filter(|_| !in_link);
        let link = own.and_then(|url| self.links.number(url));
        let image = url.and_then(|url| {
            let (alt, declared) = (picture.alt.clone(), picture.declared);
            self.images.push(ImageTarget { url, alt, declared });
            u16::try_from(self.images.len()).ok()
        });
        self.flow.sign(&picture.label(), Role::Image, image, link);
        if let Some(link) = link {
            self.flow.number(&format!("[{link}]"), link);
        }
        if !picture.title.is_empty() {
            self.flow.text(&format!(" ({})", picture.title));
        }
    }

    /// Adds the placeholder line of an embedded page or player. If elements inside the player may specify its address, the line is
    /// added at the end tag of the player.
    pub(super) fn embed(&mut self, word: &'static str, tag: &Tag) {
        let address = if tag.name() == "object" { "data" } else { "src" };
        let mut stated = tag.attribute(address).into_iter().chain(lazy_addresses(tag));
        let source = stated.find(|source| self.links.resolve(source, &["http", "https"]).is_some());
        let built = player_address(tag);
        let source = source.or(built.as_deref());
        let title = ["title", "aria-label", "playlabel", "videotitle"];
        let title = title.iter().find_map(|name| tag.attribute(name));
        let plays = matches!(tag.name(), "video" | "audio");
        if plays && !tag.is_self_closing() && self.trust.elements {
            self.player = Some(Player {
                until: Nested::new(tag),
                word,
                title: title.map(str::to_owned),
                source: source.map(str::to_owned),
            });
        } else {
            self.show_embed(word, title, source);
        }
    }

    /// Adds the placeholder line of an embedded page or player. Without a valid web address, nothing is added.
    pub(super) fn show_embed(&mut self, word: &str, title: Option<&str>, source: Option<&str>) {
        let Some(source) = source else { return };
        let Some(url) = self.links.resolve(source, &["http", "https"]) else { return };
        self.end_block();
        self.flow.end_link();
        let number = self.links.number(source);
        self.flow.sign(&embed_label(word, title, &url), Role::Embed, None, number);
        if let Some(number) = number {
            self.flow.number(&format!("[{number}]"), number);
        }
        self.loose = true;
        self.end_block();
    }

    /// Adds a link to a gist that a script in the page would show.
    pub(super) fn embed_script(&mut self, tag: &Tag) {
        let source = tag.attribute("src").filter(|_| tag.name() == "script");
        if let Some(source) = source.filter(|source| source.contains("//gist.github.com/")) {
            let source = source.split(".js").next().unwrap_or(source);
            self.show_embed("embedded", None, Some(source));
        }
    }

    /// Adds the check box of an item in a task list.
    pub(super) fn check_box(&mut self, tag: &Tag) {
        if tag.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) {
            let ticked = tag.attribute("checked").is_some();
            self.flow.text(if ticked { "[x] " } else { "[ ] " });
        }
    }
}

/// Returns the address of a player for which the markup specifies only the ID of the video or audio.
fn player_address(tag: &Tag) -> Option<String> {
    const PLAYERS: [(&str, &str); 7] = [
        ("youtube", "https://www.youtube.com/watch?v="),
        ("vimeo", "https://vimeo.com/"),
        ("dailymotion", "https://www.dailymotion.com/video/"),
        ("twitter", "https://twitter.com/i/status/"),
        ("instagram", "https://www.instagram.com/p/"),
        ("gist", "https://gist.github.com/"),
        ("soundcloud", "https://api.soundcloud.com/tracks/"),
    ];
    const NUMBERS: &str = "videoid video-id data-videoid data-video-id data-tweetid data-shortcode data-gistid \
     data-trackid";
    let (_, address) = PLAYERS.iter().find(|(name, _)| tag.name().contains(name))?;
    let number = NUMBERS.split(' ').find_map(|name| tag.attribute(name))?.trim();
    let is_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!number.is_empty() && number.chars().all(is_number)).then(|| format!("{address}{number}"))
}
