//! The ratatui backend with a limited size. Some terminals report 65535 columns, for which there would not be enough memory.

use std::io::{self, Stdout, stdout};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

/// Maximum number of columns and rows that are drawn; more than the largest screens show with the smallest font.
const COLUMNS_MAX: u16 = 1000;
const ROWS_MAX: u16 = 500;

/// Limits a size to the range that can be drawn.
pub(super) fn bounded(columns: u16, rows: u16) -> (u16, u16) {
    (columns.clamp(1, COLUMNS_MAX), rows.clamp(1, ROWS_MAX))
}

/// The backend on standard output.
#[derive(Debug)]
pub(super) struct BoundedBackend(CrosstermBackend<Stdout>);

impl BoundedBackend {
    pub(super) fn new() -> Self {
        Self(CrosstermBackend::new(stdout()))
    }
}

impl Backend for BoundedBackend {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.0.draw(content)
    }

    fn append_lines(&mut self, lines: u16) -> io::Result<()> {
        self.0.append_lines(lines)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        // ratatui shows the cursor on drop and writes to stderr if that fails. With a closed terminal that would panic, and
        // unsaved data would be lost.
        self.0.show_cursor().ok();
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, kind: ClearType) -> io::Result<()> {
        self.0.clear_region(kind)
    }

    fn size(&self) -> io::Result<Size> {
        let found = self.0.size()?;
        let (width, height) = bounded(found.width, found.height);
        Ok(Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_of_any_size_are_drawn() {
        for (size, expected) in [
            ((80, 24), (80, 24)),
            ((0, 0), (1, 1)),
            ((1, 1), (1, 1)),
            ((u16::MAX, u16::MAX), (COLUMNS_MAX, ROWS_MAX)),
        ] {
            assert_eq!(bounded(size.0, size.1), expected);
        }
    }
}
