//! The arguments of `backissue set`. Each row of the feed settings table that has a flag becomes a flag of the command.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, Error};

use crate::engine::feeds::setting_row::{FeedSettingRow, SettingFlag};
use crate::engine::feeds::setting_table::FEED_SETTINGS;

/// Name of the flag for the address, which is not in the table of settings, because a new address is requested first.
const ADDRESS: &str = "address";

/// The arguments of `backissue set`.
#[derive(Debug, Clone)]
pub(super) struct SetArgs {
    /// The number, address or part of a title that names the feed, as the user typed it.
    pub(super) feed: String,
    /// The address to read the feed from.
    pub(super) address: Option<String>,
    /// The settings named on the command line, each with its values.
    pub(super) settings: Vec<(&'static FeedSettingRow, Vec<String>)>,
}

/// Returns the flags of `backissue set` in the order of its `--help`: the schedule settings first, then all others.
fn list_flags() -> Vec<(&'static FeedSettingRow, SettingFlag)> {
    let flags = FEED_SETTINGS.iter().filter_map(|row| Some((row, row.flag?)));
    let (schedule, names): (Vec<_>, Vec<_>) = flags.partition(|(row, _)| row.in_opml);
    schedule.into_iter().chain(names).collect()
}

impl clap::Args for SetArgs {
    fn augment_args(command: Command) -> Command {
        let feed = Arg::new("feed")
            .value_name("FEED")
            .required(true)
            .help("A feed: its number, address, or part of its title");
        let address = Arg::new(ADDRESS).long(ADDRESS).value_name("URL").help(
            "Read the feed from this address, if a feed is found there; entries and marks stay",
        );
        command.arg(feed).arg(address).args(list_flags().into_iter().map(|(row, flag)| {
            let action = if row.is_repeated { ArgAction::Append } else { ArgAction::Set };
            let arg = Arg::new(row.name)
                .long(flag.long)
                .value_name(flag.value_name)
                .action(action)
                .help(flag.help);
            if flag.words.is_empty() {
                arg
            } else {
                arg.value_parser(PossibleValuesParser::new(flag.words))
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SetArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let feed = matches.get_one::<String>("feed").cloned().unwrap_or_default();
        let given = |(row, _): (&'static FeedSettingRow, _)| {
            Some((row, matches.get_many::<String>(row.name)?.cloned().collect()))
        };
        let address = matches.get_one::<String>(ADDRESS).cloned();
        Ok(Self { feed, address, settings: list_flags().into_iter().filter_map(given).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
