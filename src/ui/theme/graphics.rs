//! Pictures as data: the protocol that a terminal uses for them, their size in cells, and finished drawings.

use std::sync::Arc;

use super::colours::Colours;
use super::theme_roles::Ink;
use crate::ui::settings::ImageProtocol;

/// Assumed width and height of a cell in pixels, if the terminal does not report them.
pub const CELL: (u16, u16) = (10, 20);

/// The protocol that sends pictures to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Protocol {
    /// Half-block characters: each cell shows two coloured pixels, one above the other. This works in every terminal with colours.
    #[default]
    HalfBlocks,
    /// The kitty protocol, with placeholder characters at the position of the picture.
    Kitty,
    /// The iTerm2 protocol.
    Iterm2,
    /// Sixel graphics.
    Sixel,
}

impl Protocol {
    /// Returns the protocol's name in `[ui] image_protocol`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::HalfBlocks => "half-blocks",
            Self::Kitty => "kitty",
            Self::Iterm2 => "iterm2",
            Self::Sixel => "sixel",
        }
    }
}

/// How the terminal shows pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Graphics {
    /// Protocol that sends pictures to the terminal.
    pub protocol: Protocol,
    /// Width and height of a cell, in pixels.
    pub cell: (u16, u16),
    /// `true` if the program runs inside tmux, which forwards an escape sequence to the terminal only if it is wrapped.
    pub tmux: bool,
}

impl Default for Graphics {
    fn default() -> Self {
        Self { protocol: Protocol::default(), cell: CELL, tmux: false }
    }
}

/// Values of `TERM_PROGRAM` for terminals that support the iTerm2 protocol.
const ITERM2_PROGRAMS: [&str; 5] = ["iTerm.app", "WezTerm", "mintty", "rio", "WarpTerminal"];
/// Values of `TERM`, up to the first hyphen, for terminals that support Sixel graphics.
const SIXEL_TERMS: [&str; 4] = ["foot", "mlterm", "contour", "yaft"];

/// Checks whether the program runs inside tmux. `variable` reads an environment variable.
pub fn is_in_tmux(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("TMUX").is_some_and(|socket| !socket.is_empty())
}

impl Graphics {
    /// Determines how the terminal shows pictures from the environment and the user's setting. `cell` is the cell size that the
    /// terminal reports. The terminal is not queried with an escape sequence, because its response would be mixed with typed keys.
    /// Half-blocks always work. The other protocols are only chosen if the terminal is known to support them and the cell size is
    /// known.
    pub fn of(
        chosen: ImageProtocol,
        cell: Option<(u16, u16)>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let said = |name: &str| variable(name).unwrap_or_default();
        let term = said("TERM");
        let tmux = is_in_tmux(&variable);
        let multiplexed = tmux || !said("STY").is_empty() || !said("ZELLIJ").is_empty();
        let is_term = |name: &str| {
            term.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let program = said("TERM_PROGRAM");
        let found = if multiplexed || cell.is_none() {
            Protocol::HalfBlocks
        } else if ITERM2_PROGRAMS.contains(&program.as_str()) || said("LC_TERMINAL") == "iTerm2" {
            Protocol::Iterm2
        } else if is_term("xterm-kitty") || is_term("xterm-ghostty") || program == "ghostty" {
            Protocol::Kitty
        } else if SIXEL_TERMS.iter().any(|name| is_term(name)) || !said("WT_SESSION").is_empty() {
            Protocol::Sixel
        } else {
            Protocol::HalfBlocks
        };
        let protocol = match chosen {
            ImageProtocol::Auto => found,
            ImageProtocol::Kitty => Protocol::Kitty,
            ImageProtocol::Iterm2 => Protocol::Iterm2,
            ImageProtocol::Sixel => Protocol::Sixel,
            ImageProtocol::HalfBlocks => Protocol::HalfBlocks,
        };
        Self { protocol, cell: cell.unwrap_or(CELL), tmux }
    }

    /// Returns the size of a picture in columns and rows, at most the given numbers. The proportions are kept. The picture is not
    /// enlarged, except that half-blocks, which show only two pixels per cell, may use twice the size.
    pub fn cells(self, (width, height): (u32, u32), columns: u16, rows: u16) -> (u16, u16) {
        let (width, height) = (u64::from(width.max(1)), u64::from(height.max(1)));
        // Half-blocks show few pixels per cell, so a larger area is needed to show the same detail.
        let coarse = if self.protocol == Protocol::HalfBlocks { 2 } else { 1 };
        let side = |pixels: u16| u64::from(pixels.div_ceil(coarse).max(1));
        let cell = (side(self.cell.0), side(self.cell.1));
        let most = (
            u64::from(columns.max(1)).saturating_mul(cell.0),
            u64::from(rows.max(1)).saturating_mul(cell.1),
        );
        let wide = width.saturating_mul(most.1) >= height.saturating_mul(most.0);
        let (across, down) = if width <= most.0 && height <= most.1 {
            (width, height)
        } else if wide {
            (most.0, height.saturating_mul(most.0) / width)
        } else {
            (width.saturating_mul(most.1) / height, most.1)
        };
        let count = |pixels: u64, cell: u64, most: u16| {
            u16::try_from(pixels.div_ceil(cell)).unwrap_or(most).clamp(1, most.max(1))
        };
        (count(across, cell.0, columns), count(down, cell.1, rows))
    }
}

/// A request to draw a picture at a given size for a given terminal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawingWanted {
    /// URL of the picture.
    pub url: String,
    /// Size of the drawing in columns and rows.
    pub cells: (u16, u16),
    /// Protocol and cell size that the terminal uses for pictures.
    pub graphics: Graphics,
    /// Number of colours that the terminal supports, which matters for half-blocks.
    pub colours: Colours,
}

/// A picture that was prepared for the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drawing {
    /// Rows from top to bottom, each with its cells from left to right.
    pub rows: Vec<Vec<DrawnCell>>,
    /// `true` if the picture can only be shown while all its rows are visible.
    pub whole: bool,
    /// Data that must be sent to the terminal once, before the cells are drawn. `None` if the cells contain the whole picture.
    pub sent: Option<SentPictures>,
}

/// One cell of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnCell {
    /// Text of the cell. Empty if the picture that an earlier cell paints covers this cell.
    pub symbol: String,
    /// Foreground colour.
    pub ink: Ink,
    /// Background colour.
    pub background: Ink,
    /// `true` if the text is an escape sequence that paints the picture. It takes one cell.
    pub paints: bool,
}

/// A picture that is sent to the terminal and stored there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPictures {
    /// ID of the picture in the terminal.
    pub id: u32,
    /// Escape sequences that send the picture to the terminal.
    pub data: Arc<str>,
}

#[cfg(test)]
mod tests {
    use crate::ui::theme::graphics::*;

    fn found(chosen: ImageProtocol, cell: Option<(u16, u16)>, set: &[(&str, &str)]) -> Protocol {
        let variable = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Graphics::of(chosen, cell, variable).protocol
    }

    #[test]
    fn a_protocol_is_chosen_only_where_it_is_known_to_work() {
        use ImageProtocol::{Auto, HalfBlocks, Sixel};
        let kitty = ("TERM", "xterm-kitty");
        for (chosen, cell, set, expected) in [
            (Auto, true, vec![kitty], Protocol::Kitty),
            (Auto, true, vec![("TERM", "xterm-ghostty")], Protocol::Kitty),
            (Auto, true, vec![("TERM_PROGRAM", "WezTerm")], Protocol::Iterm2),
            (Auto, true, vec![("TERM", "xterm"), ("LC_TERMINAL", "iTerm2")], Protocol::Iterm2),
            (Auto, true, vec![("TERM", "foot-extra")], Protocol::Sixel),
            (Auto, true, vec![("TERM", "xterm-256color")], Protocol::HalfBlocks),
            (Auto, true, vec![kitty, ("TMUX", "/sock,1,0")], Protocol::HalfBlocks),
            (Auto, false, vec![kitty], Protocol::HalfBlocks),
            (Sixel, false, vec![("TERM", "xterm")], Protocol::Sixel),
            (HalfBlocks, true, vec![kitty], Protocol::HalfBlocks),
        ] {
            let cell = cell.then_some((9, 18));
            assert_eq!(found(chosen, cell, &set), expected, "{chosen:?} {cell:?} {set:?}");
        }
    }

    #[test]
    fn a_picture_keeps_its_proportions_and_is_never_enlarged() {
        let graphics = Graphics { protocol: Protocol::Kitty, ..Graphics::default() };
        for (pixels, columns, rows, expected) in [
            ((400, 200), 80, 40, (40, 10)),
            ((15, 15), 80, 40, (2, 1)),
            ((1600, 800), 80, 40, (80, 20)),
            ((1600, 800), 80, 10, (40, 10)),
            ((800, 1600), 80, 10, (10, 10)),
            ((100_000, 1), 80, 10, (80, 1)),
            ((1, 100_000), 80, 10, (1, 10)),
            ((u32::MAX, u32::MAX), 80, 10, (20, 10)),
            ((0, 0), 0, 0, (1, 1)),
        ] {
            assert_eq!(graphics.cells(pixels, columns, rows), expected, "{pixels:?}");
        }
        assert_eq!(Graphics::default().cells((200, 100), 80, 40), (40, 10), "in half-blocks");
    }
}
