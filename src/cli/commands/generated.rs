//! `backissue completions` and `backissue man` print shell completions and manual pages. They are generated from the command-line
//! definition; the manual pages have additional sections. `backissue config` prints the path of the configuration file, its
//! errors, or all possible keys.

use std::io::{IsTerminal as _, Write};
use std::path::Path;
use std::process::Stdio;

use crate::cli::Done;
use crate::cli::args::{CompletionsArgs, ConfigArgs, ManArgs, Options};
use crate::cli::commands::newsboat_lines;
use crate::cli::session::{self, Failure};
use crate::io::config::config_file::DEFAULT_CONFIG;
use crate::io::console;
use crate::io::named_files::{self, FileKind, NamedFile};
use crate::io::processes::run_command::program;
use crate::io::system::system_words;
use crate::ui::keys::command_table::{COMMANDS, grouped};
use crate::ui::keys::key_bindings::Keymap;

/// Runs `backissue completions`.
pub(in crate::cli) fn completions(args: &CompletionsArgs) -> Result<Done, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "backissue", &mut text);
    write_out(&text)
}

/// Runs `backissue man`: prints the page of the program or of one command, or writes all pages to files.
pub(in crate::cli) fn man(args: &ManArgs) -> Result<Done, Failure> {
    let mut command = crate::cli::command();
    command.build();
    if let Some(folder) = &args.all {
        return write_pages(&command, folder, args.force);
    }
    if let Some(("guide", names)) = args.command.split_first().map(|(it, rest)| (it.as_str(), rest))
    {
        return guide(names.first().map(String::as_str));
    }
    let mut page = &command;
    for word in &args.command {
        let Some(inner) = page.find_subcommand(word) else {
            let all = args.command.join(" ");
            return Err(Failure::new(format!("there is no command '{all}'")));
        };
        page = inner;
    }
    write_out(&page_of(page, args.command.is_empty())?)
}

/// The pages of the guide by name, in its order.
const GUIDE: [(&str, &str); 12] = [
    ("first-hour", include_str!("../../../docs/guide/first-hour.md")),
    ("reading", include_str!("../../../docs/guide/reading.md")),
    ("search-and-filters", include_str!("../../../docs/guide/search-and-filters.md")),
    ("older-entries", include_str!("../../../docs/guide/older-entries.md")),
    ("when-feeds-are-checked", include_str!("../../../docs/guide/when-feeds-are-checked.md")),
    ("accounts", include_str!("../../../docs/guide/accounts.md")),
    ("phone", include_str!("../../../docs/guide/phone.md")),
    ("podcasts", include_str!("../../../docs/guide/podcasts.md")),
    ("moving", include_str!("../../../docs/guide/moving.md")),
    ("recipes", include_str!("../../../docs/guide/recipes.md")),
    ("privacy", include_str!("../../../docs/guide/privacy.md")),
    ("troubleshooting", include_str!("../../../docs/guide/troubleshooting.md")),
];

/// The name of the page for users of newsboat. It is not part of the whole guide, because it is a reference.
const NEWSBOAT: &str = "newsboat";

/// Prints the guide or one of its pages, in a pager if the output is a terminal. Comments and pictures are left out.
fn guide(page: Option<&str>) -> Result<Done, Failure> {
    let is_shown = |line: &&str| !line.starts_with("<!--") && !line.starts_with("![");
    let mut text = String::new();
    let newsboat = (page == Some(NEWSBOAT)).then_some((NEWSBOAT, newsboat_lines::PAGE));
    let of_guide = GUIDE.into_iter().filter(|(name, _)| page.is_none_or(|page| page == *name));
    for (_, page) in of_guide.chain(newsboat) {
        text.extend(page.lines().filter(is_shown).flat_map(|line| [line, "\n"]));
        text.push_str("\n\n");
    }
    if text.is_empty() {
        let names = GUIDE.map(|(name, _)| name).join(", ");
        return Err(Failure::new(format!(
            "the guide has no such page; it has {names}, {NEWSBOAT}"
        )));
    }
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let words = shell_words::split(&pager).unwrap_or_default();
    if std::io::stdout().is_terminal()
        && let Some((name, arguments)) = words.split_first()
        && let Ok(mut pager) = program(name).args(arguments).stdin(Stdio::piped()).spawn()
    {
        // If the user closes the pager early, the rest of the text is not written.
        pager.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
        pager.wait().ok();
        return Ok(Done::All);
    }
    write_out(text.as_bytes())
}

/// Writes the manual pages of all commands to a folder.
fn write_pages(command: &clap::Command, folder: &Path, force: bool) -> Result<Done, Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::unwritten(folder.display(), &error))?;
    let mut waiting = vec![(command, "backissue".to_owned())];
    while let Some((command, name)) = waiting.pop() {
        let path = folder.join(format!("{name}.1"));
        let page = page_of(command, name == "backissue")?;
        let text = path.to_string_lossy().into_owned();
        let file = NamedFile { path: text, kind: FileKind::ManualPage, force };
        let written = named_files::write(&file, &mut |file| file.write_all(&page));
        written.map_err(|error| Failure::unwritten(&file.path, &error))?;
        let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
        waiting.extend(inner.map(|inner| (inner, format!("{name}-{}", inner.get_name()))));
    }
    Ok(Done::All)
}

/// Renders the manual page of one command. If `whole` is set, the page also lists keys, files and exit statuses.
fn page_of(command: &clap::Command, whole: bool) -> Result<Vec<u8>, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(format!("the page could not be created: {}", system_words(&error)))
    };
    let mut text = Vec::new();
    let name = command.get_bin_name().unwrap_or("backissue").replace(' ', "-");
    let page = clap_mangen::Man::new(command.clone().display_name(name));
    page.render(&mut text).map_err(cannot)?;
    if whole {
        text.extend(sections().bytes());
    }
    Ok(text)
}

fn write_out(text: &[u8]) -> Result<Done, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to standard output: {}", system_words(&error))))
        }
        Ok(()) | Err(_) => Ok(Done::All),
    }
}

const FILES: [(&str, &str); 5] = [
    (
        "~/.config/backissue/config.toml",
        "The configuration; backissue config shows its location, --print-default prints a complete one.",
    ),
    ("~/.config/backissue/accounts.toml", "Accounts on servers, with their passwords."),
    ("~/.config/backissue/themes/", "Your own themes."),
    ("~/.local/share/backissue/", "Subscriptions, entries, marks and the search index."),
    ("~/.local/share/backissue/backups/", "Daily backups, without texts."),
];

const ENVIRONMENT: [(&str, &str); 6] = [
    ("BACKISSUE_DATA_DIR", "The data folder, like --data-dir."),
    ("BACKISSUE_CONFIG", "The configuration file, like --config."),
    ("BACKISSUE_ACCOUNT_PASSWORD", "The password for account add."),
    ("NO_COLOR", "If set and not empty, no colours are used."),
    ("COLORTERM, TERM", "The number of colours that the terminal shows."),
    ("BROWSER", "The program that opens links, if [commands] open is not set."),
];

const EXIT_STATUS: [(&str, &str); 4] = [
    ("0", "Success."),
    (
        "1",
        "Finished, but some feeds failed, or something could not be saved or read; lint found errors or warnings; parse found no feed.",
    ),
    ("2", "Wrong usage, or nothing could be done."),
    (
        "3",
        "The store is in use by another backissue process, which cannot or must not run this command.",
    ),
];

const EXAMPLES: [(&str, &str); 6] = [
    ("backissue demo", "Tries the reader without a network."),
    ("backissue add https://site.example", "Finds the feed of a site and subscribes to it."),
    ("backissue import ~/.newsboat/urls", "Imports newsboat's feeds."),
    ("backissue poll --quiet", "Polls all feeds that are due; for cron."),
    ("backissue entries --unread --json", "Lists unread entries as JSON."),
    ("backissue plan orchard", "Shows when a feed is polled next, and why."),
];

/// Returns the sections as roff source.
pub(in crate::cli) fn sections() -> String {
    let mut text =
        String::from(".SH KEYS\n? in the reader shows the keys that work where you are.\n");
    let keymap = Keymap::default();
    for (heading, places) in grouped() {
        text.push_str(".SS ");
        text.push_str(&escaped(heading));
        text.push('\n');
        for place in places {
            let Some(row) = COMMANDS.get(place) else { continue };
            let keys = keymap.keys_of(place).replace('\u{a0}', " ");
            let keys = if keys.is_empty() { format!(":{}", row.name) } else { keys };
            push_item(&mut text, &keys, &keymap.words(row.help));
        }
    }
    let tables: [(&str, &[(&str, &str)]); 4] = [
        ("FILES", &FILES),
        ("ENVIRONMENT", &ENVIRONMENT),
        ("EXIT STATUS", &EXIT_STATUS),
        ("EXAMPLES", &EXAMPLES),
    ];
    for (heading, rows) in tables {
        text.push_str(".SH ");
        text.push_str(heading);
        text.push('\n');
        for (term, says) in rows {
            push_item(&mut text, term, says);
        }
    }
    text
}

/// Appends a term and its description.
fn push_item(text: &mut String, term: &str, says: &str) {
    text.push_str(".TP\n\\fB");
    text.push_str(&escaped(term));
    text.push_str("\\fR\n");
    text.push_str(&escaped(says));
    text.push('\n');
}

/// Escapes text so that roff prints it literally.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

/// Runs `backissue config`. The exit status is 1 if the configuration file is invalid.
pub(in crate::cli) fn run(options: &Options, args: &ConfigArgs) -> Result<Done, Failure> {
    if args.print_default {
        console::put(DEFAULT_CONFIG.trim_end());
        return Ok(Done::All);
    }
    match session::config_file(options) {
        Some(path) if path.exists() => console::put(&path.display().to_string()),
        Some(path) => console::put(&format!(
            "{} (does not exist; 'backissue config --print-default' prints one to start from)",
            path.display()
        )),
        None => console::put("no home folder was found; choose a file with --config"),
    }
    let notes = session::check_configuration(options)?.notes;
    for note in &notes {
        console::put(&format!("  {note}"));
    }
    Ok(if notes.is_empty() { Done::All } else { Done::WithFailures })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_text_starting_like_a_request_is_escaped() {
        for (text, expected) in
            [(".SH", "\\&.SH"), ("'x", "\\&'x"), ("a-b\\c", "a\\-b\\ec"), ("|", "|")]
        {
            assert_eq!(escaped(text), expected);
        }
    }
}
