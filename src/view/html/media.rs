//! Adds pictures, players and check boxes to the text.

use super::body_reader::{BodyReader, Player};
use super::images::{embed_label, picture};
use super::model::{ImageTarget, Role};
use super::tags::Nested;
use backissue_core::feed::content::markup::Tag;

impl BodyReader {
    /// Adds the label of a picture. If the picture is not part of a link, it gets its own link number.
    pub(super) fn image(&mut self, tag: &Tag) {
        let Some(picture) = picture(tag, &self.links) else { return };
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
            self.flow.number(link);
        }
        if !picture.title.is_empty() {
            self.flow.text(&format!(" ({})", picture.title));
        }
    }

    /// Adds the placeholder line of an embedded page or player. If elements inside the player may specify its address, the line is
    /// added at the end tag of the player.
    pub(super) fn embed(&mut self, word: &'static str, tag: &Tag) {
        let address = if tag.name() == "object" { "data" } else { "src" };
        let source = tag.attribute(address).or_else(|| tag.attribute("data-src"));
        let title = tag.attribute("title").or_else(|| tag.attribute("aria-label"));
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
            self.flow.number(number);
        }
        self.loose = true;
        self.end_block();
    }

    /// Adds the check box of an item in a task list.
    pub(super) fn check_box(&mut self, tag: &Tag) {
        if tag.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) {
            let ticked = tag.attribute("checked").is_some();
            self.flow.text(if ticked { "[x] " } else { "[ ] " });
        }
    }
}
