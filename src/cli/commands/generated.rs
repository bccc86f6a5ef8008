//! `backissue completions` and `backissue man`: print shell completions and manual pages, which are generated from the
//! command-line definition.

use std::io::Write;
use std::path::Path;

use crate::cli::Done;
use crate::cli::args::{CompletionsArgs, ManArgs};
use crate::cli::manual;
use crate::cli::session::Failure;
use crate::io::named_files::{self, FileKind, NamedFile};
use crate::io::system::words::system_words;

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
        text.extend(manual::sections().bytes());
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
