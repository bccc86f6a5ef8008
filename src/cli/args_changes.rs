//! The arguments of the subcommands that change stored data. Each row of the feed settings table that has a flag becomes a flag of
//! `backissue set`.

use backissue_core::InputFlaw;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, Subcommand, ValueEnum};

use crate::engine::feeds::setting_row::{FeedSettingRow, SettingFlag};
use crate::engine::feeds::setting_table::FEED_SETTINGS;

/// The arguments of `backissue mark`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which")
    .args(["entries", "feeds", "tags", "search", "all", "before"])
    .multiple(true)
    .required(true))]
// Replaces the usage line that clap generates, because clap puts the required group before `<AS>`.
#[command(override_usage = "backissue mark [OPTIONS] <AS> <ENTRY>...\n       \
    backissue mark [OPTIONS] <AS> <--feed <FEED>|--tag <T>|--search <WORDS>|--before <DATE>|--all>")]
pub(super) struct MarkArgs {
    /// How to mark the entries
    #[arg(value_name = "AS")]
    pub(super) mark: MarkWord,
    /// Entry numbers, as 'backissue entries' lists them
    #[arg(value_name = "ENTRY", conflicts_with_all = ["feeds", "tags", "search", "all"])]
    pub(super) entries: Vec<String>,
    /// Entries of a feed: its number, address, or part of its title; may be repeated
    #[arg(long = "feed", value_name = "FEED")]
    pub(super) feeds: Vec<String>,
    /// Entries of feeds with this tag or one below it; may be repeated
    #[arg(long = "tag", value_name = "T")]
    pub(super) tags: Vec<String>,
    /// Entries that a search finds, written as in 'backissue search'
    #[arg(long, value_name = "WORDS")]
    pub(super) search: Option<String>,
    /// Entries of all feeds
    #[arg(long)]
    pub(super) all: bool,
    /// Only entries before a date (2026-03-01) or time (2026-03-01T12:00:00Z)
    #[arg(long, value_name = "DATE")]
    pub(super) before: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue label`.
#[derive(Debug, clap::Args)]
pub(super) struct LabelArgs {
    /// Name of the label
    #[arg(value_name = "LABEL")]
    pub(super) name: String,
    /// Entry numbers, as 'backissue entries' lists them
    #[arg(value_name = "ENTRY", required = true)]
    pub(super) entries: Vec<String>,
    /// Remove the label from the entries
    #[arg(long)]
    pub(super) remove: bool,
}

/// The marks that `backissue mark` can set on entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MarkWord {
    /// Read.
    Read,
    /// Not read.
    Unread,
    /// With a star.
    Starred,
    /// Without a star.
    Unstarred,
}

/// The answer to the question of a command.
#[derive(Debug, clap::Args)]
pub(super) struct YesArgs {
    /// Also if subscriptions are removed, here or from the server of an account
    #[arg(long)]
    pub(super) yes: bool,
}

/// The arguments of `backissue unsubscribe`.
#[derive(Debug, clap::Args)]
pub(super) struct FeedsRemoved {
    #[command(flatten)]
    pub(super) named: FeedsNamed,
    /// Also if an account loses more than five feeds, or more than a tenth, on its server
    #[arg(long)]
    pub(super) yes: bool,
}

/// The arguments of `backissue subscribe-again`.
#[derive(Debug, clap::Args)]
pub(super) struct FeedsNamed {
    /// Feeds: numbers, addresses, or parts of titles
    #[arg(required = true, value_name = "FEED")]
    pub(super) feeds: Vec<String>,
}

/// The arguments of `backissue resume`.
#[derive(Debug, clap::Args)]
pub(super) struct FeedNamed {
    /// A feed: its number, address, or part of its title
    #[arg(value_name = "FEED")]
    pub(super) feed: String,
}

/// The arguments of `backissue move`.
#[derive(Debug, clap::Args)]
pub(super) struct MoveArgs {
    /// A feed: its number, address, or part of its title
    #[arg(value_name = "FEED")]
    pub(super) feed: String,
    /// 'accept' or 'refuse' the address that the feed announced, or another address to read it from
    #[arg(value_name = "ANSWER", value_parser = MoveAnswer::of)]
    pub(super) answer: MoveAnswer,
}

/// The ways in which `backissue move` changes the address of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MoveAnswer {
    /// Use the announced address.
    Accept,
    /// Keep the current address.
    Refuse,
    /// Use this address, if a feed is found there.
    To(String),
}

impl MoveAnswer {
    /// Parses the argument. An address contains a dot, a colon or a slash, which tells it from a mistyped word.
    fn of(typed: &str) -> Result<Self, InputFlaw> {
        match typed {
            "accept" => Ok(Self::Accept),
            "refuse" => Ok(Self::Refuse),
            address if address.contains(['.', ':', '/']) => Ok(Self::To(address.to_owned())),
            _ => Err("write 'accept', 'refuse' or an address".into()),
        }
    }
}

/// The arguments of `backissue unread`.
#[derive(Debug, clap::Args)]
pub(super) struct UnreadArgs {
    /// Only entries of these feeds: numbers, addresses, or parts of titles
    #[arg(value_name = "FEED")]
    pub(super) feeds: Vec<String>,
    /// Print one JSON document, with the number of unread entries for each feed
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue open`.
#[derive(Debug, clap::Args)]
pub(super) struct OpenArgs {
    /// The entry's number, as 'backissue entries' lists it
    #[arg(value_name = "ENTRY")]
    pub(super) entry: String,
    /// Do not mark the entry read
    #[arg(long)]
    pub(super) keep_unread: bool,
}

/// The arguments of `backissue downloads`.
#[derive(Debug, clap::Args)]
pub(super) struct DownloadsArgs {
    #[command(subcommand)]
    pub(super) change: Option<DownloadsChange>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The subcommands of `backissue downloads`.
#[derive(Debug, Subcommand)]
pub(super) enum DownloadsChange {
    /// Add the attached files of entries; a reader or watch receives them, or 'backissue downloads run'
    Add(DownloadsAddArgs),
    /// Receive all waiting files now, until none is left; for cron
    Run,
    /// Pause downloads
    Pause(DownloadsNamed),
    /// Resume downloads that are paused or failed, or fetch complete files again
    Resume(DownloadsNamed),
    /// Remove downloads from the list; incomplete files are deleted, complete files stay
    Remove(DownloadsRemoveArgs),
}

/// The arguments of `backissue downloads add`.
#[derive(Debug, clap::Args)]
pub(super) struct DownloadsAddArgs {
    /// Entry numbers, as 'backissue entries' lists them
    #[arg(required = true, value_name = "ENTRY")]
    pub(super) entries: Vec<String>,
    /// Which of the attached files: 1 is the first, as 'backissue entries --json' lists them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) file: Option<u16>,
}

/// The arguments of `backissue downloads pause` and `backissue downloads resume`.
#[derive(Debug, clap::Args)]
pub(super) struct DownloadsNamed {
    /// Numbers of downloads, as 'backissue downloads' lists them
    #[arg(required = true, value_name = "NUMBER")]
    pub(super) numbers: Vec<u32>,
}

/// The arguments of `backissue downloads remove`.
#[derive(Debug, clap::Args)]
pub(super) struct DownloadsRemoveArgs {
    /// Numbers of downloads, as 'backissue downloads' lists them
    #[arg(required = true, value_name = "NUMBER")]
    pub(super) numbers: Vec<u32>,
    /// Delete complete files, too
    #[arg(long)]
    pub(super) delete: bool,
}

/// The arguments of `backissue filters`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct FiltersArgs {
    #[command(subcommand)]
    pub(super) change: Option<FilterChange>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The subcommands of `backissue filters`, which add or remove a filter.
#[derive(Debug, Subcommand)]
pub(super) enum FilterChange {
    /// Add a filter and also apply it to existing entries; all conditions must match
    Add(FilterAddArgs),
    /// Remove a filter; entries it hid are shown again
    Remove(FilterRemoveArgs),
}

/// The arguments of `backissue filters add`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("action").required(true))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct FilterAddArgs {
    /// Match entries that this query finds, as 'backissue search' does
    #[arg(value_name = "QUERY")]
    pub(super) query: Option<String>,
    /// Hide matching entries
    #[arg(long, group = "action")]
    pub(super) hide: bool,
    /// Mark matching entries read
    #[arg(long, group = "action")]
    pub(super) mark_read: bool,
    /// Star matching entries
    #[arg(long, group = "action")]
    pub(super) star: bool,
    /// Download the first attached file of matching entries that are new
    #[arg(long, group = "action")]
    pub(super) download: bool,
    /// Label matching entries; lists show the label and 'tag:' finds it
    #[arg(long, group = "action", value_name = "L")]
    pub(super) label: Option<String>,
    /// Only entries of this feed: its number, address, or part of its title
    #[arg(long, value_name = "FEED", conflicts_with = "tag")]
    pub(super) feed: Option<String>,
    /// Only entries of feeds with this tag or one below it
    #[arg(long, value_name = "T")]
    pub(super) tag: Option<String>,
    /// Match letters anywhere in the title: words, "a phrase" or /expression/
    #[arg(long, value_name = "WORDS")]
    pub(super) title: Option<String>,
    /// Match letters anywhere in the author's name
    #[arg(long, value_name = "WORDS")]
    pub(super) author: Option<String>,
    /// Match letters anywhere in the text
    #[arg(long, value_name = "WORDS")]
    pub(super) text: Option<String>,
    /// How long the filter applies: 7d, 2w, 6m, 1y, or its last day (2026-03-01); forever if omitted
    #[arg(long, value_name = "DATE")]
    pub(super) until: Option<String>,
}

/// The arguments of `backissue filters remove`.
#[derive(Debug, clap::Args)]
pub(super) struct FilterRemoveArgs {
    /// The filter's number, as 'backissue filters' lists it
    #[arg(value_name = "NUMBER")]
    pub(super) number: u32,
}

/// The arguments of `backissue import`.
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// A list, a file or the folder of another reader, or - for standard input
    #[arg(value_name = "FILE", required_unless_present = "from")]
    pub(super) file: Option<String>,
    /// Import from another reader, with the entries that were read or starred there
    #[arg(long, value_name = "READER")]
    pub(super) from: Option<OtherReader>,
    /// Only print what would be imported
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Write newsboat's settings to the configuration file, if there is none yet
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) write_config: bool,
}

/// Another feed reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OtherReader {
    /// The folder with urls, cache.db and config
    Newsboat,
    /// newsraft.sqlite3, and the file feeds beside it
    Newsraft,
    /// database.sqlite; also of Newsflash
    Eilmeldung,
    /// `feedr_data.json`
    Feedr,
    /// liferea.db
    Liferea,
    /// database.db of RSS Guard
    Rssguard,
    /// An exported OPML file, starred.json or another list of entries
    Freshrss,
    /// An exported OPML file
    Miniflux,
    /// An exported OPML file
    Netnewswire,
}

/// Returns the name of a reader, as typed after `--from`.
pub(super) fn reader_name(reader: OtherReader) -> String {
    reader.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The arguments of `backissue drip`.
#[derive(Debug, clap::Args)]
pub(super) struct DripArgs {
    /// A feed: its number, address, or part of its title
    #[arg(value_name = "FEED")]
    feed: String,
    /// Time between two entries, the oldest first, like 1d; auto: no more
    #[arg(value_name = "D")]
    every: String,
}

impl DripArgs {
    /// Returns the arguments of `backissue set` that do the same.
    pub(super) fn as_set(&self) -> SetArgs {
        let row = FEED_SETTINGS.iter().find(|row| row.name == "drip");
        let settings = row.map(|row| (row, vec![self.every.clone()])).into_iter().collect();
        SetArgs { feed: self.feed.clone(), address: None, settings }
    }
}

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
