//! Decodes pictures within limits.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits, Rgba, RgbaImage};

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
pub fn measure(bytes: &[u8]) -> Result<(u32, u32), String> {
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
pub(super) fn decode(bytes: &[u8]) -> Result<DynamicImage, String> {
    let mut decoder = decoder(bytes)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|_| broken())?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// Replaces transparency with white, since publishers design for the white page of a browser.
pub(super) fn on_white(image: DynamicImage) -> DynamicImage {
    if !image.color().has_alpha() {
        return image;
    }
    let mut paper = RgbaImage::from_pixel(image.width(), image.height(), Rgba([255; 4]));
    image::imageops::overlay(&mut paper, &image.to_rgba8(), 0, 0);
    DynamicImage::ImageRgba8(paper)
}

fn decoder(bytes: &[u8]) -> Result<impl ImageDecoder + '_, String> {
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|_| "it cannot be read".to_owned())?;
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
        image::ImageError::Limits(_) => "it has too many pixels".to_owned(),
        image::ImageError::Decoding(_)
        | image::ImageError::Encoding(_)
        | image::ImageError::Parameter(_)
        | image::ImageError::IoError(_) => broken(),
    })?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width).saturating_mul(u64::from(height));
    if pixels == 0 {
        return Err("it is empty".to_owned());
    }
    if pixels > PIXELS_MAX || decoder.total_bytes() > DECODED_BYTES_MAX {
        return Err(format!("{width} x {height} pixels are too many"));
    }
    Ok(decoder)
}

fn broken() -> String {
    "it is damaged".to_owned()
}

/// Returns a description of the format of bytes that are not a supported picture.
fn unknown(bytes: &[u8]) -> String {
    let start = bytes.trim_ascii_start();
    let begins = |(at, magic, _): &&(usize, &[u8], &str)| {
        let found = start.get(*at..).and_then(|rest| rest.get(..magic.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(magic))
    };
    match OTHERS.iter().find(begins) {
        Some((.., kind)) => format!("{kind} cannot be shown here"),
        None => "this kind of picture cannot be shown here".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let told = measure(&bytes).unwrap_err();
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
}
