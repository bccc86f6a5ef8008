//! The command-line arguments, parsed by clap and shown by `--help`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::args_background::{EventsArgs, ServiceArgs, WatchArgs};
use super::args_changes::{
    FeedNamed, FeedsNamed, FiltersArgs, MarkArgs, MoveArgs, OpenArgs, UnreadArgs,
};
use super::args_set::SetArgs;
use super::args_simulate::SimulateArgs;

/// A terminal feed reader that polls each feed when its publisher says, fills gaps from archives, and can say why.
///
/// Without a command it opens the reader and polls in the background.
#[derive(Debug, Parser)]
#[command(
    name = "backissue",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = false
)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) global: Options,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Options {
    /// Keep subscriptions and entries in this folder
    #[arg(long, global = true, value_name = "DIR", env = "BACKISSUE_DATA_DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Read the configuration from this file
    #[arg(long, global = true, value_name = "FILE", env = "BACKISSUE_CONFIG")]
    pub(super) config: Option<PathBuf>,
    /// Ask nothing of the network
    #[arg(long, global = true)]
    pub(super) offline: bool,
    /// Show words in the place of lines and signs, one pane at a time, for screen readers
    #[arg(long, global = true)]
    pub(super) plain: bool,
    /// Say more about what is done
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Look around on a bundled publisher: needs no network, leaves nothing behind
    Demo,
    /// Subscribe to sites or feeds by their addresses
    Add(AddArgs),
    /// Subscribe to everything a list names: OPML, urls of newsboat and newsraft, addresses
    Import(ImportArgs),
    /// Write all subscriptions as OPML
    Export(ExportArgs),
    /// List the subscriptions
    Feeds(FeedsArgs),
    /// Unsubscribe from feeds; within a week 'undo' brings back the last, 'subscribe-again' any of them
    Unsubscribe(FeedsNamed),
    /// Subscribe again to feeds that you unsubscribed from within a week, as they were
    SubscribeAgain(FeedsNamed),
    /// Say how many entries are not read, fast: for status bars
    Unread(UnreadArgs),
    /// List entries, newest first
    Entries(EntriesArgs),
    /// Search all entries: words, "phrases", -exclusion, feed: tag: title: author: is: after: before:
    Search(SearchArgs),
    /// List your filters for entries: what they hide, mark, star or label, and how much they hit
    #[command(alias = "rules")]
    Filters(FiltersArgs),
    /// Show one entry
    Show(ShowArgs),
    /// Open an entry's page in the browser, and mark it read
    Open(OpenArgs),
    /// Mark entries read, unread, starred or unstarred
    Mark(MarkArgs),
    /// Take the last change back, also one made in the reader
    Undo,
    /// Poll feeds now: those that are due, or those you name
    #[command(alias = "refresh")]
    Poll(PollArgs),
    /// Show a feed's archives and what is missing of its history, or fetch more of it
    History(HistoryArgs),
    /// Poll in the background without a screen, until interrupted
    Watch(WatchArgs),
    /// Write what happens as JSON, one line an event: new entries, failures, moves, gaps
    Events(EventsArgs),
    /// Let systemd poll in the background whenever you are logged in
    Service(ServiceArgs),
    /// Say when a feed is polled next, and why then
    Plan(PlanArgs),
    /// Choose how often a feed is polled, and what it is called
    Set(SetArgs),
    /// Poll a feed by plan again that has ended
    Resume(FeedNamed),
    /// Answer a feed that says that it moved to another address
    Move(MoveArgs),
    /// Show what is read in a feed document
    Parse(ParseArgs),
    /// Say what readers will make of a feed and its archives, for its publisher
    Lint(LintArgs),
    /// Try ways of polling on recorded publication times: the paper's experiment
    Simulate(SimulateArgs),
    /// Say where the configuration file is and whether it is good
    Config(ConfigArgs),
    /// Check the store, the configuration and the terminal
    Doctor(DoctorArgs),
    /// Write everything to one compressed file: subscriptions, entries, marks, configuration
    Backup(BackupArgs),
    /// Make the store from a backup; what was there before is kept aside
    Restore(RestoreArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or that of a command
    Man(ManArgs),
}

/// `add`.
#[derive(Debug, clap::Args)]
pub(super) struct AddArgs {
    /// Addresses of sites or feeds
    #[arg(required = true, value_name = "URL")]
    pub(super) urls: Vec<String>,
    /// Give the subscriptions a tag; may be repeated
    #[arg(long = "tag", value_name = "T")]
    pub(super) tags: Vec<String>,
    /// Call the feed by this title
    #[arg(long, value_name = "S")]
    pub(super) title: Option<String>,
    /// Subscribe to the address as it is, and ask nobody yet
    #[arg(long)]
    pub(super) no_poll: bool,
}

/// `import`.
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// An OPML file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(super) file: String,
}

/// `export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// Where to write; standard output if left out or -
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Overwrite an existing file of any kind
    #[arg(long)]
    pub(super) force: bool,
}

/// `feeds`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct FeedsArgs {
    /// Only those that have all these words in title, address or tags
    #[arg(value_name = "WORDS")]
    pub(super) words: Vec<String>,
    /// Only those with a tag, or with one below it; may be repeated
    #[arg(long = "tag", value_name = "T")]
    pub(super) tags: Vec<String>,
    /// Only those with entries not read
    #[arg(long)]
    pub(super) unread: bool,
    /// Only those that fail, or have ended
    #[arg(long)]
    pub(super) failing: bool,
    /// Those that you unsubscribed from within a week; 'subscribe-again' brings one back
    #[arg(long, conflicts_with_all = ["tags", "unread", "failing"])]
    pub(super) removed: bool,
    /// Count feeds by interval, format and schedule hint instead of listing them
    #[arg(long, conflicts_with = "removed")]
    pub(super) stats: bool,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// `entries`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct EntriesArgs {
    /// A feed: its number, address, or a part of its title
    #[arg(value_name = "FEED")]
    pub(super) feed: Option<String>,
    /// Only entries not read
    #[arg(long)]
    pub(super) unread: bool,
    /// Only starred entries
    #[arg(long, conflicts_with = "unread")]
    pub(super) starred: bool,
    /// Only entries that rules hide; they are left out otherwise
    #[arg(long, conflicts_with_all = ["unread", "starred"])]
    pub(super) hidden: bool,
    /// Only entries since a date (2026-03-01) or time (2026-03-01T12:00:00Z)
    #[arg(long, value_name = "T")]
    pub(super) since: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// `search`.
#[derive(Debug, clap::Args)]
#[command(after_help = SEARCH_HELP)]
pub(super) struct SearchArgs {
    /// What to look for; see below
    #[arg(required = true, value_name = "WORDS")]
    pub(super) words: Vec<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(super) limit: usize,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// The query language in short.
const SEARCH_HELP: &str = "\
All words must occur. Case and accents do not count; a word ending in * may go on.
  'late frost'         both words
  '\"late frost\"'       one behind the other
  'frost -apple'       not the second; an argument that begins with - stands behind --
  title:frost author:lee feed:orchard tag:garden
  is:unread is:read is:starred is:gap
  after:2014 before:2014-03-05 after:7d";

/// `show`.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Number of the entry, as 'backissue entries' lists it
    #[arg(value_name = "ENTRY")]
    pub(super) entry: String,
    /// Text only, without head
    #[arg(long)]
    pub(super) text: bool,
    /// The publisher's markup as it is kept
    #[arg(long, conflicts_with = "text")]
    pub(super) html: bool,
}

/// `poll`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct PollArgs {
    /// Feeds: numbers, addresses, or parts of titles
    #[arg(value_name = "FEED")]
    pub(super) feeds: Vec<String>,
    /// Everything that may be polled by hand, due or not
    #[arg(long, conflicts_with = "feeds")]
    pub(super) all: bool,
    /// Ask without validators: the whole document again
    #[arg(long)]
    pub(super) force: bool,
    /// Leave archives alone
    #[arg(long)]
    pub(super) no_history: bool,
    /// Write nothing to standard output, and only what goes wrong with the command itself to standard error
    #[arg(short, long, conflicts_with = "json")]
    pub(super) quiet: bool,
    /// End with status 0 although some feeds fail
    #[arg(long)]
    pub(super) tolerant: bool,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// `history`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "four independent flags of one command")]
pub(super) struct HistoryArgs {
    /// A feed: its number, address, or a part of its title
    #[arg(value_name = "FEED")]
    pub(super) feed: String,
    /// Go on where a limit ended the last walk, or load the next older page
    #[arg(long = "continue")]
    pub(super) go_on: bool,
    /// Ask again for archives that could not be had
    #[arg(long)]
    pub(super) retry: bool,
    /// Forget which archives were fetched and read all of them again; entries stay
    #[arg(long, conflicts_with_all = ["go_on", "retry"])]
    pub(super) reread: bool,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// `plan`.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// A feed: its number, address, or a part of its title
    #[arg(value_name = "FEED", required_unless_present = "document")]
    pub(super) feed: Option<String>,
    /// The next N polls too, if nothing changes; at most 1000
    #[arg(long, value_name = "N")]
    pub(super) next: Option<usize>,
    /// Plan for this document instead: no store, no network
    #[arg(long, value_name = "FILE", conflicts_with_all = ["feed", "next"], requires = "facts")]
    pub(super) document: Option<String>,
    /// What is known besides the document: a JSON object in a file
    #[arg(long, value_name = "FILE", requires = "document", conflicts_with = "feed")]
    pub(super) facts: Option<String>,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// `parse`.
#[derive(Debug, clap::Args)]
pub(super) struct ParseArgs {
    /// A document, or - for standard input
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    /// Address of the document, for relative links
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Content-Type it was sent with
    #[arg(long, value_name = "CT")]
    pub(super) content_type: Option<String>,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// `lint`.
#[derive(Debug, clap::Args)]
pub(super) struct LintArgs {
    /// An address, which is asked, with the archives behind it; or a document, or - for standard input
    #[arg(value_name = "URL|FILE")]
    pub(super) file: String,
    /// Address of the document that a file holds, for relative links
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Write one JSON document for a program to read
    #[arg(long)]
    pub(super) json: bool,
}

/// `config`.
#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    /// Print a configuration with every key, its default and what it is for
    #[arg(long)]
    pub(super) print_default: bool,
}

/// `backup`.
#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// The file to write
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Overwrite an existing file of any kind
    #[arg(long)]
    pub(super) force: bool,
}

/// `restore`.
#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// A file that 'backissue backup' wrote
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
}

/// `completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The command whose page is printed, like: filters add
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Write all pages into a folder: backissue.1, backissue-add.1 and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(super) all: Option<PathBuf>,
    /// Overwrite existing files of any kind
    #[arg(long, requires = "all")]
    pub(super) force: bool,
}

/// `doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Make the store's files as small as what lives in them
    #[arg(long)]
    pub(super) compact: bool,
    /// Put right what can be put right
    #[arg(long)]
    pub(super) repair: bool,
    /// Throw away the damaged files that were kept when what was sound in them was copied
    #[arg(long)]
    pub(super) discard_damaged: bool,
}
