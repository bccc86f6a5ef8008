//! Pictures of entries: measured, decoded within limits, and encoded for the terminal, as half-block characters, kitty
//! placeholders, iTerm2 files or sixels.
//!
//! Decoders read untrusted bytes, so they run on the blocking pool, within limits, and a panic becomes an error.

mod cache;

pub use super::pictures::cache::PictureCache;

use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits, Rgba, RgbaImage};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Color;
use ratatui::widgets::Widget;
use ratatui_image::Image;
use ratatui_image::protocol::Protocol as Encoded;
use ratatui_image::protocol::halfblocks::Halfblocks;
use ratatui_image::protocol::iterm2::Iterm2;
use ratatui_image::protocol::kitty::Kitty;
use ratatui_image::protocol::sixel::Sixel;

use super::panics::catch_panic;
use crate::engine::entries::ahead_work::{PictureTask, PictureTaskDone};
use crate::ui::state::reader::{OF_AN_ENTRY_MAX, PictureAnswer, PictureFlaw, PictureWork};
use crate::ui::theme::colours::Colours;
use crate::ui::theme::graphics::{Drawing, DrawingWanted, DrawnCell, Protocol, SentPictures};
use crate::ui::theme::theme_roles::Ink;
use crate::view::html;

/// Performs one request of the screen for a picture, using the picture cache.
pub fn perform(wish: PictureWork, cache: &PictureCache) -> PictureAnswer {
    match wish {
        PictureWork::Find(url) => {
            // A picture is measured before it is cached. If that fails now, the file is damaged, and the picture is fetched again.
            let found = cache.find(&url).and_then(|bytes| guarded(|| measure(&bytes)).ok());
            PictureAnswer::Found(url, found.map(Ok))
        }
        PictureWork::Keep(url, bytes) => {
            let measured = guarded(|| measure(&bytes));
            let kept = measured.and_then(|size| cache.keep(&url, &bytes).map(|()| size));
            PictureAnswer::Found(url, Some(kept))
        }
        PictureWork::Draw(wanted) => {
            let bytes = cache.find(&wanted.url);
            let bytes = bytes.ok_or(PictureFlaw::Gone);
            let drawn = bytes.and_then(|bytes| guarded(|| draw(&bytes, &wanted)));
            if drawn.is_err() {
                cache.forget(&wanted.url);
            }
            PictureAnswer::Drawn(wanted, drawn)
        }
    }
}

/// Performs work of the engine on the picture cache, for pictures that are fetched ahead.
pub fn perform_ahead(
    task: PictureTask,
    cache: &PictureCache,
    now: DateTime<Utc>,
) -> PictureTaskDone {
    match task {
        PictureTask::Find(feed, texts) => {
            let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
            for text in texts {
                let pictures = html::picture_addresses(&text.html, text.base.as_deref());
                let missing = pictures
                    .into_iter()
                    .take(OF_AN_ENTRY_MAX)
                    .filter(|url| seen.insert(url.clone()) && !cache.is_known(url, now));
                found.extend(missing.map(|url| (text.key, url)));
            }
            PictureTaskDone::Found(feed, found)
        }
        PictureTask::Keep(url, bytes) => {
            let kept = bytes.is_some_and(|bytes| {
                guarded(|| measure(&bytes)).is_ok() && cache.keep(&url, &bytes).is_ok()
            });
            if !kept {
                cache.note_failed(&url);
            }
            PictureTaskDone::Kept(url)
        }
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T, PictureFlaw>) -> Result<T, PictureFlaw> {
    catch_panic(work).unwrap_or(Err(PictureFlaw::Damaged))
}

/// Maximum number of pixels in a picture.
const PIXELS_MAX: u64 = 40_000_000;
/// Maximum width and height of a picture, pixels.
const SIDE_MAX: u32 = 30_000;
const DECODED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Signatures of file formats that are not supported, with their offsets and the names of the formats.
const OTHERS: [(usize, &[u8], &str); 9] = [
    (0, b"<svg", "SVG"),
    (0, b"<?xml", "SVG or another XML document"),
    (4, b"ftypavif", "AVIF"),
    (4, b"ftypheic", "HEIC"),
    (0, b"BM", "BMP"),
    (0, b"\0\0\x01\0", "an icon file"),
    (0, b"%PDF", "PDF"),
    (0, b"<!doctype", "a web page"),
    (0, b"<html", "a web page"),
];

/// Returns the width and height of a picture after its orientation is applied. The error explains why it cannot be shown.
pub fn measure(bytes: &[u8]) -> Result<(u32, u32), PictureFlaw> {
    let mut decoder = decoder(bytes)?;
    let (width, height) = decoder.dimensions();
    let turned = matches!(
        decoder.orientation().unwrap_or(Orientation::NoTransforms),
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    );
    Ok(if turned { (height, width) } else { (width, height) })
}

/// Decodes a picture, or its first frame, and applies its orientation.
fn decode(bytes: &[u8]) -> Result<DynamicImage, PictureFlaw> {
    let mut decoder = decoder(bytes)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|_| PictureFlaw::Damaged)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// Replaces transparency with white, since publishers design for the white page of a browser.
fn on_white(image: DynamicImage) -> DynamicImage {
    if !image.color().has_alpha() {
        return image;
    }
    let mut paper = RgbaImage::from_pixel(image.width(), image.height(), Rgba([255; 4]));
    image::imageops::overlay(&mut paper, &image.to_rgba8(), 0, 0);
    DynamicImage::ImageRgba8(paper)
}

fn decoder(bytes: &[u8]) -> Result<impl ImageDecoder + '_, PictureFlaw> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let mut reader = reader.map_err(|_| PictureFlaw::Damaged)?;
    if reader.format().is_none() {
        return Err(unknown(bytes));
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_MAX);
    limits.max_image_height = Some(SIDE_MAX);
    limits.max_alloc = Some(DECODED_BYTES_MAX);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| match error {
        image::ImageError::Unsupported(_) => unknown(bytes),
        image::ImageError::Limits(_) => PictureFlaw::TooManyPixels,
        image::ImageError::Decoding(_)
        | image::ImageError::Encoding(_)
        | image::ImageError::Parameter(_)
        | image::ImageError::IoError(_) => PictureFlaw::Damaged,
    })?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width).saturating_mul(u64::from(height));
    if pixels == 0 {
        return Err(PictureFlaw::Empty);
    }
    if pixels > PIXELS_MAX || decoder.total_bytes() > DECODED_BYTES_MAX {
        return Err(PictureFlaw::TooLarge(width, height));
    }
    Ok(decoder)
}

/// Names the format of bytes that are not a supported picture.
fn unknown(bytes: &[u8]) -> PictureFlaw {
    let start = bytes.trim_ascii_start();
    let begins = |(at, magic, _): &&(usize, &[u8], &str)| {
        let found = start.get(*at..).and_then(|rest| rest.get(..magic.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(magic))
    };
    let known = OTHERS.iter().find(begins);
    PictureFlaw::UnknownFormat(known.map_or("this kind of picture", |(.., kind)| kind))
}

/// The placeholder character for a part of a picture in kitty's protocol.
const PLACEHOLDER: char = '\u{10EEEE}';
/// Maximum number of columns and rows in a drawing, because kitty has only this many characters that number a column or row.
const SIDE_CELLS_MAX: u16 = 297;
/// Number of pixels sampled in each direction for one half-block character.
const SAMPLES: u32 = 4;

/// Encodes a picture for the area of the screen where it is shown. The error gives the reason.
pub fn draw(bytes: &[u8], wanted: &DrawingWanted) -> Result<Drawing, PictureFlaw> {
    let (columns, rows) =
        (wanted.cells.0.clamp(1, SIDE_CELLS_MAX), wanted.cells.1.clamp(1, SIDE_CELLS_MAX));
    let size = Size::new(columns, rows);
    let (width, height) = match wanted.graphics.protocol {
        Protocol::HalfBlocks => (
            u32::from(columns).saturating_mul(SAMPLES),
            u32::from(rows).saturating_mul(SAMPLES.saturating_mul(2)),
        ),
        Protocol::Kitty | Protocol::Iterm2 | Protocol::Sixel => (
            u32::from(columns).saturating_mul(u32::from(wanted.graphics.cell.0.max(1))),
            u32::from(rows).saturating_mul(u32::from(wanted.graphics.cell.1.max(1))),
        ),
    };
    let image = decode(bytes)?;
    let image = if image.width() > width || image.height() > height {
        image.thumbnail(width, height)
    } else {
        image
    };
    let image = on_white(image);
    let drawn = match wanted.graphics.protocol {
        Protocol::HalfBlocks => half_blocks(image, size, wanted.colours),
        Protocol::Kitty => kitty(image, size, wanted),
        Protocol::Iterm2 => iterm2(&image, size, wanted),
        Protocol::Sixel => sixel(image, size, wanted.graphics.tmux),
    };
    drawn.map_err(|error| PictureFlaw::NotDrawn(error.to_string()))
}

type Drawn = Result<Drawing, ratatui_image::errors::Errors>;

fn half_blocks(image: DynamicImage, size: Size, colours: Colours) -> Drawn {
    let buffer = put(&Encoded::Halfblocks(Halfblocks::new(image, size)?), size);
    let shown = |colour: Color| {
        let Color::Rgb(red, green, blue) = colour else { return None };
        colours.shown(Ink::Rgb(red, green, blue))
    };
    let rows = rows_of(&buffer, |_, cell| DrawnCell {
        symbol: cell.symbol().to_owned(),
        ink: shown(cell.fg).unwrap_or(Ink::Default),
        background: shown(cell.bg).unwrap_or(Ink::Default),
        paints: false,
    });
    Ok(Drawing { rows, ..Drawing::default() })
}

fn kitty(image: DynamicImage, size: Size, wanted: &DrawingWanted) -> Drawn {
    // The ID of the picture must fit into the colour of the placeholder characters: it has 24 bits and is not 0, which is black.
    let name = format!("{} {:?}", wanted.url, wanted.cells);
    let id = (crc32fast::hash(name.as_bytes()) & 0x00ff_ffff).max(1);
    let encoded = Kitty::new(image, size, id, wanted.graphics.tmux, true)?;
    let buffer = put(&Encoded::Kitty(encoded), size);
    let mut data = String::new();
    let rows = rows_of(&buffer, |place, cell| {
        let symbol = cell.symbol();
        let start = symbol.find(PLACEHOLDER).unwrap_or(symbol.len());
        let (before, symbol) = symbol.split_at(start);
        if place == 0 {
            before.clone_into(&mut data);
        }
        let [_, red, green, blue] = id.to_be_bytes();
        let (symbol, ink) = (symbol.to_owned(), Ink::Rgb(red, green, blue));
        DrawnCell { symbol, ink, background: Ink::Default, paints: true }
    });
    Ok(Drawing { rows, whole: false, sent: Some(SentPictures { id, data: Arc::from(data) }) })
}

/// Encodes each row of cells as a separate picture, so that any part of the rows can be shown.
fn iterm2(image: &DynamicImage, size: Size, wanted: &DrawingWanted) -> Drawn {
    let step = u32::from(wanted.graphics.cell.1.max(1));
    let mut rows = Vec::new();
    for row in 0..u32::from(size.height) {
        let top = row.saturating_mul(step);
        let height = step.min(image.height().saturating_sub(top));
        if height == 0 {
            break;
        }
        let part = image.crop_imm(0, top, image.width(), height);
        let encoded = Iterm2::new(part, Size::new(size.width, 1), wanted.graphics.tmux)?;
        rows.push(painted(encoded.data, size.width));
    }
    Ok(Drawing { rows, ..Drawing::default() })
}

fn sixel(image: DynamicImage, size: Size, tmux: bool) -> Drawn {
    let encoded = Sixel::new(image, size, tmux)?;
    let mut rows = vec![painted(encoded.data, size.width)];
    let covered = || painted(String::new(), size.width);
    rows.extend(std::iter::repeat_with(covered).take(usize::from(size.height.saturating_sub(1))));
    Ok(Drawing { rows, whole: true, sent: None })
}

/// Returns a row of cells in which the first cell contains the data that draws the whole row.
fn painted(data: String, columns: u16) -> Vec<DrawnCell> {
    let cell = |symbol: String| DrawnCell {
        paints: !symbol.is_empty(),
        symbol,
        ink: Ink::Default,
        background: Ink::Default,
    };
    let mut row = vec![cell(data)];
    row.resize(usize::from(columns.max(1)), cell(String::new()));
    row
}

/// Renders the encoded picture to a buffer of `size` cells.
fn put(encoded: &Encoded, size: Size) -> Buffer {
    let area = Rect::new(0, 0, size.width, size.height);
    let mut buffer = Buffer::empty(area);
    Image::new(encoded).render(area, &mut buffer);
    buffer
}

fn rows_of(
    buffer: &Buffer,
    mut cell: impl FnMut(usize, &ratatui::buffer::Cell) -> DrawnCell,
) -> Vec<Vec<DrawnCell>> {
    let columns = usize::from(buffer.area.width.max(1));
    let cells: Vec<DrawnCell> =
        buffer.content.iter().enumerate().map(|(place, drawn)| cell(place, drawn)).collect();
    cells.chunks(columns).map(<[DrawnCell]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme::graphics::Graphics;

    fn encoded(image: &DynamicImage, format: image::ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// Returns only the header of a PNG that claims this size.
    fn bomb(width: u32, height: u32) -> Vec<u8> {
        let mut head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        head.extend(width.to_be_bytes());
        head.extend(height.to_be_bytes());
        head.extend([8, 6, 0, 0, 0]);
        let sum = crc32fast::hash(&head[12..]);
        head.extend(sum.to_be_bytes());
        head.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
        head
    }

    #[test]
    fn the_usual_kinds_are_measured() {
        let image = DynamicImage::new_rgb8(6, 4);
        for format in [
            image::ImageFormat::Png,
            image::ImageFormat::Jpeg,
            image::ImageFormat::Gif,
            image::ImageFormat::WebP,
        ] {
            let bytes = encoded(&image, format);
            assert_eq!(measure(&bytes), Ok((6, 4)), "{format:?}");
            assert!(decode(&bytes).is_ok(), "{format:?}");
        }
    }

    #[test]
    fn undisplayable_picture_is_refused_with_a_reason() {
        for (bytes, why) in [
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), "SVG cannot be shown here"),
            (b"\n<?xml version='1.0'?><svg/>".to_vec(), "SVG or another XML document"),
            (b"\0\0\0\x20ftypavif....".to_vec(), "AVIF cannot be shown here"),
            (b"<!DOCTYPE html><title>Log in".to_vec(), "a web page cannot be shown here"),
            (b"hello".to_vec(), "this kind of picture"),
            (Vec::new(), "this kind of picture"),
            (b"\x89PNG\r\n\x1a\n".to_vec(), "damaged"),
            (b"\xff\xd8\xff".to_vec(), "damaged"),
            (bomb(7000, 6000), "7000 x 6000 pixels are too many"),
            (bomb(60_000, 60_000), "too many pixels"),
            (bomb(u32::MAX, 1), ""),
        ] {
            let told = measure(&bytes).unwrap_err().to_string();
            assert!(told.contains(why), "{told} for {why}");
        }
    }

    #[test]
    fn transparent_pixels_become_white() {
        let clear = DynamicImage::new_rgba8(1, 1);
        assert_eq!(on_white(clear).to_rgb8().get_pixel(0, 0).0, [255, 255, 255]);
        let black = DynamicImage::new_rgb8(1, 1);
        assert_eq!(on_white(black).to_rgb8().get_pixel(0, 0).0, [0, 0, 0]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(300))]

        #[test]
        fn decoding_any_bytes_never_panics(
            start in 0_usize..5,
            rest in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400),
            cut in 0_usize..400,
        ) {
            let image = DynamicImage::new_rgba8(9, 7);
            let mut bytes = match start {
                0 => encoded(&image, image::ImageFormat::Png),
                1 => encoded(&image.to_rgb8().into(), image::ImageFormat::Jpeg),
                2 => encoded(&image, image::ImageFormat::Gif),
                3 => encoded(&image, image::ImageFormat::WebP),
                _ => Vec::new(),
            };
            // Truncate the picture at a random byte and append other bytes.
            bytes.truncate(cut);
            bytes.extend(rest);
            let measured = measure(&bytes);
            let decoded = decode(&bytes);
            proptest::prop_assert!(measured.is_ok() || decoded.is_err());
        }
    }

    /// Returns a picture with a red upper half and a blue lower half.
    fn flag() -> Vec<u8> {
        let mut image = image::RgbImage::from_pixel(80, 80, image::Rgb([255, 0, 0]));
        for pixel in image.rows_mut().skip(40).flatten() {
            *pixel = image::Rgb([0, 0, 255]);
        }
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    fn drawn(protocol: Protocol, colours: Colours) -> Drawing {
        let graphics = Graphics { protocol, ..Graphics::default() };
        let url = "https://a.example/flag.png".to_owned();
        draw(&flag(), &DrawingWanted { url, cells: (8, 4), graphics, colours }).unwrap()
    }

    #[test]
    fn half_blocks_have_the_colours_of_the_picture() {
        let flag = drawn(Protocol::HalfBlocks, Colours::True);
        assert_eq!((flag.rows.len(), flag.rows[0].len()), (4, 8));
        assert_eq!(flag.rows[0][0].background, Ink::Rgb(255, 0, 0));
        assert_eq!(flag.rows[3][7].background, Ink::Rgb(0, 0, 255));
        let flag = drawn(Protocol::HalfBlocks, Colours::Many);
        assert_eq!(flag.rows[0][0].background, Ink::Indexed(196));
    }

    #[test]
    fn picture_is_sent_to_kitty_once_and_placed_by_number() {
        let flag = drawn(Protocol::Kitty, Colours::True);
        let sent = flag.sent.unwrap();
        assert!(sent.data.starts_with("\x1b_Gq=2,i=") && sent.data.ends_with("\x1b\\"));
        assert!(sent.id > 0 && sent.id < 1 << 24);
        let cells: Vec<&DrawnCell> = flag.rows.iter().flatten().collect();
        assert_eq!(cells.len(), 32);
        assert!(cells.iter().all(|cell| cell.symbol.starts_with(PLACEHOLDER) && cell.paints));
        assert!(!flag.whole);
    }

    #[test]
    fn a_row_is_painted_from_its_first_cell() {
        let flag = drawn(Protocol::Iterm2, Colours::True);
        assert_eq!(flag.rows.len(), 4);
        for row in &flag.rows {
            assert!(row[0].symbol.contains("\x1b]1337;File=inline=1"), "each row by itself");
            assert!(row[1..].iter().all(|cell| cell.symbol.is_empty() && !cell.paints));
        }
        let flag = drawn(Protocol::Sixel, Colours::True);
        assert!(flag.whole && flag.rows[0][0].symbol.contains("\x1bP"));
        assert!(flag.rows[1..].iter().flatten().all(|cell| cell.symbol.is_empty()));
    }
}
