//! Functions of the test world that need no store: screen lines and results.

use std::sync::Arc;

use backissue::engine::external_run::{ExternalRun, RunFailure};
use backissue::engine::poll::poll_stage::LearnWanted;
use backissue::engine::request::Input;
use backissue::io::pictures::PictureCache;
use backissue::io::processes::run_command;
use backissue::io::store::Store;
use backissue::ui::effect::{RenderWork, RenderedEntry};
use backissue::ui::update::ScreenInput;
use backissue_core::schedule::learning::learn;

/// Returns the text of a screen row, without the empty cell that follows a wide character.
pub fn line_of(row: &[ratatui::buffer::Cell]) -> String {
    let mut line = String::new();
    let mut hidden = 0_usize;
    for cell in row {
        if hidden > 0 {
            hidden -= 1;
            continue;
        }
        line.push_str(cell.symbol());
        hidden = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
    }
    line
}

pub fn rendered(wanted: &RenderWork) -> ScreenInput {
    let (rendered, source) = (backissue::view::panes::entry_lines::lay_out(wanted), wanted.source);
    let (key, width) = (wanted.key, wanted.width);
    ScreenInput::Rendered(Box::new(RenderedEntry { key, source, width, rendered }))
}

pub fn learned(wanted: &LearnWanted) -> Input {
    let plan = learn(&wanted.publications, &wanted.terms, wanted.now);
    Input::Learned(wanted.feed, plan.map(Arc::new))
}

/// Returns the cache of pictures next to a store.
pub(super) fn picture_cache(store: &Store) -> PictureCache {
    PictureCache::beside(store.folder())
}

/// Notes what the program asked for; there is no answer.
pub(super) fn noted<T>(list: &mut Vec<T>, item: T) -> Option<Input> {
    list.push(item);
    None
}

/// Really runs an external command.
pub(super) fn run_for_real(run: ExternalRun) -> Result<Option<String>, RunFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run_command::run(run, run_command::TIME_MAX))
}
