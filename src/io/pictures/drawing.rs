//! Encodes pictures for the terminal, as half-block characters, kitty placeholders, iTerm2 files or sixels.

use std::sync::Arc;

use image::DynamicImage;
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

use super::decoding::{decode, on_white};
use crate::ui::theme::colours::Colours;
use crate::ui::theme::graphics::{Drawing, DrawingWanted, DrawnCell, Protocol, SentPictures};
use crate::ui::theme::theme_roles::Ink;

/// The placeholder character for a part of a picture in kitty's protocol.
const PLACEHOLDER: char = '\u{10EEEE}';
/// Maximum number of columns and rows in a drawing, because kitty has only this many characters that number a column or row.
const SIDE_MAX: u16 = 297;
/// Number of pixels sampled in each direction for one half-block character.
const SAMPLES: u32 = 4;

/// Encodes a picture for the area of the screen where it is shown. The error gives the reason.
pub fn draw(bytes: &[u8], wanted: &DrawingWanted) -> Result<Drawing, String> {
    let (columns, rows) = (wanted.cells.0.clamp(1, SIDE_MAX), wanted.cells.1.clamp(1, SIDE_MAX));
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
    drawn.map_err(|error| format!("it cannot be shown: {error}"))
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
        ground: shown(cell.bg).unwrap_or(Ink::Default),
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
        DrawnCell { symbol, ink, ground: Ink::Default, paints: true }
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
        ground: Ink::Default,
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

    /// Returns a picture with a red upper half and a blue lower half.
    fn flag() -> Vec<u8> {
        let mut image = image::RgbImage::from_pixel(80, 80, image::Rgb([255, 0, 0]));
        for pixel in image.rows_mut().skip(40).flatten() {
            *pixel = image::Rgb([0, 0, 255]);
        }
        let mut bytes = std::io::Cursor::new(Vec::new());
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
        assert_eq!(flag.rows[0][0].ground, Ink::Rgb(255, 0, 0));
        assert_eq!(flag.rows[3][7].ground, Ink::Rgb(0, 0, 255));
        let flag = drawn(Protocol::HalfBlocks, Colours::Many);
        assert_eq!(flag.rows[0][0].ground, Ink::Indexed(196));
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
