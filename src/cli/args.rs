//! The command-line arguments, parsed by clap and shown by `--help`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::args_changes::{
    DownloadsArgs, DripArgs, FeedNamed, FeedsNamed, FeedsRemoved, FiltersArgs, ImportArgs,
    LabelArgs, MarkArgs, MoveArgs, OpenArgs, SetArgs, UnreadArgs, YesArgs,
};
use super::args_publish::{DeviceArgs, PublishArgs, ServeArgs, SimulateArgs};
use crate::io::devices::front::read_address;

/// A terminal feed reader that checks each feed when its publisher recommends, fills gaps from archives, and shows why.
///
/// Without a command, it opens the reader and polls in the background.
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
    pub(super) command: Option<CliCommand>,
}

/// The options that every command accepts.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Options {
    /// Keep subscriptions and entries in this folder
    #[arg(long, global = true, value_name = "DIR", env = "BACKISSUE_DATA_DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Read the configuration from this file
    #[arg(long, global = true, value_name = "FILE", env = "BACKISSUE_CONFIG")]
    pub(super) config: Option<PathBuf>,
    /// Work offline
    #[arg(long, global = true)]
    pub(super) offline: bool,
    /// Show words instead of lines and symbols, one pane at a time, for screen readers
    #[arg(long, global = true)]
    pub(super) plain: bool,
    /// Print more detail
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
}

/// The subcommands of the program.
#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
    /// Try the reader with sample feeds: needs no network, leaves no files
    Demo,
    /// Subscribe to sites or feeds by address
    Add(AddArgs),
    /// Import subscriptions from a file: OPML, a newsboat or newsraft urls file, or addresses
    Import(ImportArgs),
    /// Export all subscriptions as OPML, the state of all entries, or entries with their texts
    Export(ExportArgs),
    /// List the subscriptions
    Feeds(FeedsArgs),
    /// Unsubscribe from feeds; for a week, 'undo' restores the last and 'subscribe-again' any of them
    Unsubscribe(FeedsRemoved),
    /// Restore feeds that you unsubscribed from in the last week, as they were
    SubscribeAgain(FeedsNamed),
    /// Print the number of unread entries, fast enough for status bars
    Unread(UnreadArgs),
    /// List entries, newest first
    Entries(EntriesArgs),
    /// Search all entries: words, "phrases", -exclusion, OR, feed: tag: title: is: age: and more
    Search(SearchArgs),
    /// List your filters: what they hide, mark, star or label, and how many entries they match
    #[command(alias = "rules")]
    Filters(FiltersArgs),
    /// Show one entry
    Show(ShowArgs),
    /// List the downloads of attached files, or add, run, pause, resume or remove them
    Downloads(DownloadsArgs),
    /// Open an entry's page in the browser and mark the entry read
    Open(OpenArgs),
    /// Mark entries read, unread, starred or unstarred
    Mark(MarkArgs),
    /// Label entries, or remove a label from them
    Label(LabelArgs),
    /// Undo the last change, including one made in the reader
    Undo(YesArgs),
    /// Sync feeds, entries and marks with a server that other readers use, too
    Account(AccountArgs),
    /// Poll feeds now: those that are due, or those you name
    #[command(alias = "refresh")]
    Poll(PollArgs),
    /// Show a feed's archives and what is missing from its history, or fetch more
    History(HistoryArgs),
    /// Poll in the background without a screen, until interrupted
    Watch(WatchArgs),
    /// Print events as JSON, one per line: new entries, failures, moves, gaps
    Events(EventsArgs),
    /// Let systemd or launchd poll in the background while you are logged in
    Service(ServiceArgs),
    /// Show when a feed is polled next, and why
    Plan(PlanArgs),
    /// Change a feed's settings, such as its polling pace, title and tags
    Set(SetArgs),
    /// Read a feed's old entries as if they were new: one at a time becomes unread
    Drip(DripArgs),
    /// Resume polling a feed that ended
    Resume(FeedNamed),
    /// Accept or refuse a feed's new address, or read the feed from another address
    Move(MoveArgs),
    /// Show how a feed document is parsed
    Parse(ParseArgs),
    /// Check a feed and its archives for problems, for publishers
    Lint(LintArgs),
    /// Write feeds with their whole known history as Atom documents with archives
    Publish(PublishArgs),
    /// Serve your store to your own devices, or a folder of published feeds on this machine, to try them
    Serve(ServeArgs),
    /// Let phones and other devices sync with this store: add, list or remove them, or take back what one changed
    Device(DeviceArgs),
    /// Compare polling strategies on recorded publication times
    Simulate(SimulateArgs),
    /// Show where the configuration file is, and check it
    Config(ConfigArgs),
    /// Check the store, the configuration and the terminal
    Doctor(DoctorArgs),
    /// Back up everything to one compressed file: subscriptions, entries, marks, configuration
    Backup(BackupArgs),
    /// Restore a backup; the current data is set aside
    Restore(RestoreArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page of backissue or of a command
    Man(ManArgs),
}

/// The arguments of `backissue add`.
#[derive(Debug, clap::Args)]
pub(super) struct AddArgs {
    /// Addresses of sites or feeds
    #[arg(required = true, value_name = "URL")]
    pub(super) urls: Vec<String>,
    /// Add a tag to the subscriptions; may be repeated
    #[arg(long = "tag", value_name = "T")]
    pub(super) tags: Vec<String>,
    /// Title to show for the feed
    #[arg(long, value_name = "S")]
    pub(super) title: Option<String>,
    /// Subscribe to the address as given, without fetching it
    #[arg(long)]
    pub(super) no_poll: bool,
    /// Subscribe on the server of this account, too
    #[arg(long, value_name = "NAME")]
    pub(super) account: Option<String>,
}

/// The arguments of `backissue export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The file to write; standard output if omitted or -
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Subscriptions with the state of all entries, as JSON lines that 'backissue import' reads
    #[arg(long, group = "what")]
    pub(super) state: bool,
    /// Starred entries with their texts
    #[arg(long, groups = ["what", "chosen"])]
    pub(super) starred: bool,
    /// Entries that this query finds, as 'backissue search' does
    #[arg(long, value_name = "QUERY", groups = ["what", "chosen"])]
    pub(super) entries: Option<String>,
    /// The entry with this number, as 'backissue entries' lists it; may be repeated
    #[arg(long = "entry", value_name = "ENTRY", groups = ["what", "chosen"])]
    pub(super) numbers: Vec<String>,
    /// Format of the entries; if omitted, the end of the file's name chooses it
    #[arg(long, value_name = "FORMAT", requires = "chosen")]
    pub(super) format: Option<EntryFormat>,
    /// Overwrite an existing file of any kind
    #[arg(long)]
    pub(super) force: bool,
}

/// A format of exported entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum EntryFormat {
    /// Links that browsers import (.html); the default for --starred
    Bookmarks,
    /// A JSON Feed with the texts (.json)
    JsonFeed,
    /// Texts as Markdown (.md); otherwise the default
    Markdown,
    /// A book with the texts (.epub)
    Epub,
}

/// The arguments of `backissue feeds`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct FeedsArgs {
    /// Only feeds with all these words in their title, address or tags
    #[arg(value_name = "WORDS")]
    pub(super) words: Vec<String>,
    /// Only feeds with this tag or one below it; may be repeated
    #[arg(long = "tag", value_name = "T")]
    pub(super) tags: Vec<String>,
    /// Only feeds with unread entries
    #[arg(long)]
    pub(super) unread: bool,
    /// Only feeds that fail or have ended; Attention in the reader also has those that moved or are silent
    #[arg(long)]
    pub(super) failing: bool,
    /// List feeds you unsubscribed from in the last week; 'subscribe-again' restores them
    #[arg(long, conflicts_with_all = ["tags", "unread", "failing"])]
    pub(super) removed: bool,
    /// Count feeds by interval, format and schedule hint instead of listing them
    #[arg(long, conflicts_with = "removed")]
    pub(super) stats: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue entries`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct EntriesArgs {
    /// A feed: its number, address, or part of its title
    #[arg(value_name = "FEED")]
    pub(super) feed: Option<String>,
    /// Only unread entries
    #[arg(long)]
    pub(super) unread: bool,
    /// Only starred entries
    #[arg(long, conflicts_with = "unread")]
    pub(super) starred: bool,
    /// Only entries that filters hide; they are normally left out
    #[arg(long, conflicts_with_all = ["unread", "starred"])]
    pub(super) hidden: bool,
    /// Only entries that this query finds, as 'backissue search' does
    #[arg(long, value_name = "QUERY")]
    pub(super) search: Option<String>,
    /// Only entries since a date (2026-03-01) or time (2026-03-01T12:00:00Z)
    #[arg(long, value_name = "T")]
    pub(super) since: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue search`.
#[derive(Debug, clap::Args)]
#[command(after_help = SEARCH_HELP)]
pub(super) struct SearchArgs {
    /// What to search for; see below
    #[arg(required = true, value_name = "WORDS")]
    pub(super) words: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(super) limit: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// A short description of the query language, printed at the end of `backissue search --help`.
const SEARCH_HELP: &str = "\
All words must occur. Case and accents are ignored; a word ending in * matches longer words.
  'late frost'         both words
  '\"late frost\"'       exact phrase
  'frost -apple'       without the second; put -- before an argument that starts with -
  'frost OR hail'      one of them; parentheses group
  '*ros*' '/fr.st/'    letters inside words; a regular expression
  title: author: text: link: category: feed: tag: label:
  is:unread is:read is:starred is:hidden is:gap
  'age:<3d' after:2014 before:2014-03-05 after:7d";

/// The arguments of `backissue show`.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The entry's number, as 'backissue entries' lists it
    #[arg(value_name = "ENTRY")]
    pub(super) entry: String,
    /// Only the text, without the header
    #[arg(long)]
    pub(super) text: bool,
    /// The publisher's HTML, as stored
    #[arg(long, conflicts_with = "text")]
    pub(super) html: bool,
}

/// The arguments of `backissue poll`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct PollArgs {
    /// Feeds: numbers, addresses, or parts of titles
    #[arg(value_name = "FEED")]
    pub(super) feeds: Vec<String>,
    /// All feeds that can be polled by hand, due or not
    #[arg(long, conflicts_with = "feeds")]
    pub(super) all: bool,
    /// Then fetch what entries need to be read offline, for those that a query finds: pages, pictures, files; list what is missing
    #[arg(long, value_name = "QUERY")]
    pub(super) ahead: Option<String>,
    /// Fetch the whole document again, without validators
    #[arg(long)]
    pub(super) force: bool,
    /// Do not fetch archives
    #[arg(long)]
    pub(super) no_history: bool,
    /// Print nothing to standard output, and only errors of the command itself to standard error
    #[arg(short, long, conflicts_with = "json")]
    pub(super) quiet: bool,
    /// Exit with status 0 even if some feeds fail
    #[arg(long)]
    pub(super) tolerant: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue history`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct HistoryArgs {
    /// A feed: its number, address, or part of its title
    #[arg(value_name = "FEED")]
    pub(super) feed: String,
    /// Continue where a limit stopped the last run, or load the next older page
    #[arg(long = "continue")]
    pub(super) go_on: bool,
    /// Retry archives that could not be fetched
    #[arg(long)]
    pub(super) retry: bool,
    /// Forget which archives were fetched and fetch all of them again; entries are kept
    #[arg(long, conflicts_with_all = ["go_on", "retry"])]
    pub(super) reread: bool,
    /// Read older entries from elsewhere: wordpress, internet-archive, or the address of a published history
    #[arg(long, value_name = "SOURCE", conflicts_with = "reread")]
    pub(super) archives: Option<String>,
    /// Forget the copy at this host or address, and hide the entries that it brought
    #[arg(long, value_name = "HOST", conflicts_with = "archives")]
    pub(super) forget: Option<String>,
    /// Draw a row for each year: entries a month, their source, and what is missing
    #[arg(long, conflicts_with = "json")]
    pub(super) figure: bool,
    /// Write the figure to this file as SVG instead
    #[arg(long, value_name = "FILE", requires = "figure")]
    pub(super) svg: Option<PathBuf>,
    /// Overwrite an existing file of any kind
    #[arg(long, requires = "svg")]
    pub(super) force: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue plan`.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// A feed: its number, address, or part of its title
    #[arg(value_name = "FEED")]
    pub(super) feed: String,
    /// Also show the next N polls if nothing changes; at most 1000
    #[arg(long, value_name = "N")]
    pub(super) next: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue parse`.
#[derive(Debug, clap::Args)]
pub(super) struct ParseArgs {
    /// A feed document, or - for standard input
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    /// Address of the document, for relative links
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Content-Type it was served with
    #[arg(long, value_name = "CT")]
    pub(super) content_type: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue lint`.
#[derive(Debug, clap::Args)]
pub(super) struct LintArgs {
    /// An address to fetch with its archives, a file, or - for standard input
    #[arg(value_name = "URL|FILE")]
    pub(super) file: String,
    /// Address of the document in the file, for relative links
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "format")]
    pub(super) json: bool,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LintFormat::Text)]
    pub(super) format: LintFormat,
    /// Exit with status 1 for findings of this severity or a higher one
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = FailOn::Warning)]
    pub(super) fail_on: FailOn,
}

/// The formats of `backissue lint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LintFormat {
    /// Text for people
    Text,
    /// One JSON document
    Json,
    /// SARIF, for programs that show results of checks
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// The severities that `backissue lint` can fail on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FailOn {
    /// Warnings and errors
    Warning,
    /// Errors only
    Error,
}

/// The arguments of `backissue config`.
#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    /// Print a configuration with every key, its default and its purpose
    #[arg(long)]
    pub(super) print_default: bool,
}

/// The arguments of `backissue completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}

/// The arguments of `backissue man`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Print the page of this command, for example: filters add; or the guide: guide, or one of its pages: guide recipes
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Write all pages to a folder: backissue.1, backissue-add.1 and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(super) all: Option<PathBuf>,
    /// Overwrite existing files of any kind
    #[arg(long, requires = "all")]
    pub(super) force: bool,
}

/// The arguments of `backissue account`.
#[derive(Debug, clap::Args)]
pub(super) struct AccountArgs {
    #[command(subcommand)]
    pub(super) action: AccountAction,
}

impl AccountArgs {
    /// Checks whether the command uses the network.
    pub(super) const fn fetches(&self) -> bool {
        matches!(self.action, AccountAction::Add(_) | AccountAction::Sync(_))
    }
}

/// The actions of `backissue account`.
#[derive(Debug, clap::Subcommand)]
pub(super) enum AccountAction {
    /// Log in to a server with the Google Reader API or the one of Miniflux, and fetch its feeds, entries and marks
    Add(AccountAddArgs),
    /// List the accounts
    List(AccountListArgs),
    /// Remove an account and unsubscribe from its feeds; nothing changes on the server
    Remove(AccountRemoveArgs),
    /// Sync now: fetch what is new on the server, and send the marks made here
    Sync(AccountSyncArgs),
    /// Show the last syncs: what they brought, what they sent, and why they failed
    Log(AccountLogArgs),
}

/// The arguments of `backissue account add`.
#[derive(Debug, clap::Args)]
pub(super) struct AccountAddArgs {
    /// Address of the server, such as rss.example or rss.example/api/greader.php
    #[arg(value_name = "ADDRESS")]
    pub(super) address: String,
    /// Name of the user on the server; if omitted, the password is an API token of Miniflux
    #[arg(long, value_name = "U")]
    pub(super) user: Option<String>,
    /// Command that prints the password or token on its first line, such as 'pass show rss'; it runs at each login
    #[arg(long, value_name = "CMD")]
    pub(super) password_command: Option<String>,
    /// Name of the account here; the host of the server if omitted
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
}

/// The arguments of `backissue account list`.
#[derive(Debug, clap::Args)]
pub(super) struct AccountListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue account remove`.
#[derive(Debug, clap::Args)]
pub(super) struct AccountRemoveArgs {
    /// Name of the account
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Keep its feeds, entries and marks; the feeds are polled here from then on
    #[arg(long)]
    pub(super) keep: bool,
}

/// The arguments of `backissue account sync`.
#[derive(Debug, clap::Args)]
pub(super) struct AccountSyncArgs {
    /// Names of accounts; all accounts if omitted
    #[arg(value_name = "NAME")]
    pub(super) names: Vec<String>,
    /// Compare all subscriptions and entries, as once a day
    #[arg(long)]
    pub(super) whole: bool,
    /// Do on the server what waits for your answer, such as many removals
    #[arg(long)]
    pub(super) yes: bool,
    /// Drop what waits for your answer: restore here what is still on the server
    #[arg(long, conflicts_with = "yes")]
    pub(super) no: bool,
}

/// The arguments of `backissue account log`.
#[derive(Debug, clap::Args)]
pub(super) struct AccountLogArgs {
    /// Name of an account; all accounts if omitted
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// The arguments of `backissue watch`.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Print events as JSON to standard output, one per line
    #[arg(long)]
    pub(super) follow: bool,
    /// Serve the store to your own devices, too, at this port of this machine or at this address and port
    #[arg(long, value_name = "ADDRESS", value_parser = read_address)]
    pub(super) serve: Option<SocketAddr>,
}

/// The arguments of `backissue events`.
#[derive(Debug, clap::Args)]
pub(super) struct EventsArgs {
    /// Keep printing new events until interrupted
    #[arg(long)]
    pub(super) follow: bool,
}

/// The arguments of `backissue service`.
#[derive(Debug, clap::Args)]
pub(super) struct ServiceArgs {
    /// What to do with the service
    #[arg(value_name = "WHAT")]
    pub(super) what: ServiceAction,
}

/// The actions of `backissue service` on the file of systemd or launchd.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum ServiceAction {
    /// Write the service file and start the service
    Install,
    /// Stop the service and remove its file
    Remove,
    /// Show whether the service is running
    Status,
}

/// The arguments of `backissue backup`.
#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// The file to write
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Overwrite an existing file of any kind
    #[arg(long)]
    pub(super) force: bool,
}

/// The arguments of `backissue restore`.
#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// A file written by 'backissue backup'
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
}

/// The arguments of `backissue doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Compact the store's files
    #[arg(long)]
    pub(super) compact: bool,
    /// Repair what can be repaired
    #[arg(long)]
    pub(super) repair: bool,
    /// Delete the damaged files that an earlier repair kept
    #[arg(long)]
    pub(super) discard_damaged: bool,
}
