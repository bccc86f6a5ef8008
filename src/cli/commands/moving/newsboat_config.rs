//! Takes over newsboat's configuration: filters and searches are saved; key bindings are printed as lines for the configuration
//! file, which no command changes.

use crate::cli::context::CommandContext;
use crate::engine::moving::forecast::Count;
use crate::ui::keys::newsboat_bindings::{quoted, translate, with_link};
use backissue_core::feed::text::counted_words;
use backissue_core::other_readers::library::MovedFilter;
use backissue_core::other_readers::newsboat_config::NewsboatConfig;

/// What became of a configuration of newsboat.
#[derive(Debug, Default)]
pub(super) struct ConfigTaken {
    /// Filters to save.
    pub filters: Vec<MovedFilter>,
    /// Number of lines of the killfile and highlights that have no counterpart.
    pub filters_refused: usize,
    /// Searches to save, each as its name and query.
    pub searches: Vec<(String, String)>,
    /// Number of named filters that have no counterpart.
    pub searches_refused: usize,
    /// Key bindings.
    pub keys: Count,
    /// Lines for the configuration file.
    lines: Vec<String>,
    /// Number of other settings.
    others: usize,
}

impl ConfigTaken {
    /// Translates a configuration, and prints a sentence for each line that has no counterpart.
    pub(super) fn of(desk: &CommandContext, config: NewsboatConfig) -> Self {
        let mut taken = Self::default();
        let keys = translate(&config);
        let mut told = Vec::new();
        for refused in &config.refused {
            let count = match refused.setting.as_str() {
                "define-filter" => &mut taken.searches_refused,
                "bind-key" | "bind" | "unbind-key" | "macro" => &mut taken.keys.found,
                _ => &mut taken.filters_refused,
            };
            *count = count.saturating_add(1);
            told.push((refused.line, format!("{}: {}", refused.setting, refused.why)));
        }
        told.extend(keys.refused);
        told.sort();
        for (line, why) in &told {
            desk.tell(&format!("config, line {line}: {why}"));
        }
        taken.keys.found = taken.keys.found.saturating_add(config.bindings.len());
        taken.keys.taken = keys.lines.len().saturating_add(keys.preset);
        let browser = config.browser.as_deref().filter(|it| !it.is_empty());
        if let Some(browser) = browser {
            taken.lines.push("[commands]".to_owned());
            taken.lines.push(format!("open = {}", quoted(&with_link(browser))));
        }
        if !config.bindings.is_empty() {
            taken.lines.extend(["[ui]".to_owned(), "keys = \"newsboat\"".to_owned()]);
        }
        if !keys.lines.is_empty() {
            taken.lines.push("[keys]".to_owned());
            taken.lines.extend(keys.lines);
        }
        taken.filters = config.rules;
        taken.searches = config.searches;
        taken.others = config.others;
        taken
    }

    /// Prints the lines for the configuration file.
    pub(super) fn print_lines(&self, desk: &CommandContext) {
        if !self.lines.is_empty() {
            desk.put("\nfor your configuration file ('backissue config' shows where it is):");
        }
        for line in &self.lines {
            desk.put(line);
        }
        if self.others > 0 {
            let settings = counted_words(self.others, "other setting", "other settings");
            desk.put(&format!(
                "\n{settings} of newsboat: docs/newsboat.md says what the most used are here"
            ));
        }
    }
}
