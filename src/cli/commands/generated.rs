//! `backissue completions` and `man`: generated from the command line itself.

use std::io::Write;

use crate::cli::Done;
use crate::cli::args::CompletionsArgs;
use crate::cli::session::Failure;

/// Runs `completions`.
pub(in crate::cli) fn completions(args: &CompletionsArgs) -> Result<Done, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "backissue", &mut text);
    write_out(&text)
}

/// Runs `man`: the page of the program, and behind it those of its commands.
pub(in crate::cli) fn man() -> Result<Done, Failure> {
    let mut text = Vec::new();
    let mut command = crate::cli::command();
    command.build();
    let cannot = |error: std::io::Error| Failure::new(format!("no page could be made: {error}"));
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(cannot)?;
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("backissue {}", command.get_name());
        let page = clap_mangen::Man::new(command.clone().display_name(name));
        page.render_name_section(&mut text).map_err(cannot)?;
        page.render_synopsis_section(&mut text).map_err(cannot)?;
        page.render_options_section(&mut text).map_err(cannot)?;
    }
    write_out(&text)
}

fn write_out(text: &[u8]) -> Result<Done, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output could not be written: {error}")))
        }
        Ok(()) | Err(_) => Ok(Done::All),
    }
}
