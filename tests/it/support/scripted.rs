//! A scripted network: a table that defines the answer of each address.

use std::sync::Arc;

use backissue::engine::poll::fetch::{
    AnswerBody, AnswerHeaders, FetchFailure, FetchRequest, Fetched, Hop, RequestKind, ServerAnswer,
};
use backissue::io::http::article::extract_article;
use backissue::io::http::read_body;
use backissue_core::feed::candidates::feeds_in_link_header;
use backissue_core::history::walk::adaptor::read_listing;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use super::world::World;

/// The scripted answer of an address.
#[derive(Debug, Clone, Default)]
pub struct Scripted {
    pub status: u16,
    pub etag: Option<&'static str>,
    /// Headers of the answer, except the `ETag`.
    pub headers: AnswerHeaders,
    pub body: String,
    /// Body of the answer if the request is for a picture.
    pub picture: Vec<u8>,
    /// Whether the whole document is sent even if the request names its current `ETag`.
    pub deaf: bool,
    /// The answer if the request is for no delta, unless it is the same one.
    pub plain: Option<Box<Self>>,
    /// Redirect instead of an answer: status and target address.
    pub leads: Option<(u16, String)>,
    /// Failure instead of an answer, such as a timeout.
    pub fails: Option<FetchFailure>,
}

/// Returns a picture with one colour in the upper half and another in the lower.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut image = RgbImage::from_pixel(width, height, Rgb([200, 120, 40]));
    for pixel in image.rows_mut().skip(usize::try_from(height / 2).unwrap()).flatten() {
        *pixel = Rgb([20, 60, 160]);
    }
    let mut bytes = std::io::Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(image).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

impl World {
    /// Makes an address answer with a picture.
    pub fn serve_picture(&mut self, url: &str, picture: Vec<u8>) {
        let scripted = Scripted { status: 200, picture, ..Scripted::default() };
        self.network.insert(url.into(), scripted);
    }

    /// Follows the table's redirects and returns the answer to a request.
    pub(crate) fn fetch(&self, request: &FetchRequest) -> Fetched {
        let mut url = request.url.clone();
        let mut hops = Vec::new();
        while let Some((status, to)) = self.network.get(&url).and_then(|found| found.leads.clone())
        {
            hops.push(Hop { status, to: to.clone(), by_document: false });
            url = to;
        }
        let known = request.validators.as_ref().filter(|known| known.speak_for(&url));
        let sent = known.and_then(|validators| validators.etag.clone());
        let result = match self.network.get(&url) {
            None => Err(FetchFailure::Connect("the host (connection refused)".into())),
            Some(Scripted { fails: Some(failure), .. }) => Err(failure.clone()),
            Some(scripted) => {
                let plain =
                    scripted.plain.as_deref().filter(|_| request.kind != RequestKind::Delta);
                Ok(self.answered(plain.unwrap_or(scripted), &url, sent.as_ref()))
            }
        };
        let listed = self.network.get(&url).filter(|_| request.kind == RequestKind::Listing);
        let result = result.map(|answer| {
            let is_page = request.kind == RequestKind::Page && answer.status == 200;
            let Some(found) = self.network.get(&url).filter(|_| is_page) else { return answer };
            let kind = found.headers.content_type.as_deref().or(Some("text/html"));
            let article = extract_article(found.body.as_bytes(), &url, kind);
            ServerAnswer { body: AnswerBody::Article(article), ..answer }
        });
        let result = result.map(|answer| {
            let is_robots = request.kind == RequestKind::Robots && answer.status == 200;
            let Some(found) = self.network.get(&url).filter(|_| is_robots) else { return answer };
            ServerAnswer { body: AnswerBody::Robots(found.body.clone()), ..answer }
        });
        let result = result.map(|answer| {
            let listing = listed.and_then(|found| read_listing(found.body.as_bytes()));
            let body = listing.filter(|_| answer.status == 200).map(AnswerBody::Listing);
            ServerAnswer { body: body.unwrap_or_else(|| answer.body.clone()), ..answer }
        });
        let result = result.map(|answer| {
            let is_picture = request.kind == RequestKind::Picture && answer.status == 200;
            let Some(found) = self.network.get(&url).filter(|_| is_picture) else { return answer };
            ServerAnswer { body: AnswerBody::Picture(Arc::new(found.picture.clone())), ..answer }
        });
        let conditional = known.is_some();
        Fetched { started: self.now, wire_bytes: 0, hops, conditional, result }
    }

    fn answered(&self, scripted: &Scripted, url: &str, sent: Option<&Vec<u8>>) -> ServerAnswer {
        let etag = scripted.etag.map(|tag| tag.as_bytes().to_vec());
        let same = etag.is_some() && sent == etag.as_ref() && !scripted.deaf;
        let status = if same { 304 } else { scripted.status };
        let body = if matches!(status, 200 | 226) {
            let body = read_body(scripted.body.as_bytes(), url, None);
            with_linked(body, scripted.headers.link.as_deref().unwrap_or_default(), url)
        } else {
            AnswerBody::Unread
        };
        let headers = AnswerHeaders { etag, ..scripted.headers.clone() };
        ServerAnswer { status, url: url.into(), public: true, received: self.now, headers, body }
    }
}

/// Adds the feeds that a `Link` header names to a page.
fn with_linked(body: AnswerBody, link: &str, url: &str) -> AnswerBody {
    let AnswerBody::Page { title, mut candidates, leads } = body else { return body };
    candidates.extend(feeds_in_link_header(link, url));
    AnswerBody::Page { title, candidates, leads }
}
