//! The arguments of `publish`, `serve`, `device` and `simulate`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use backissue_core::feed::hints::INTERVAL_MINUTES_MAX;
use backissue_core::publish::ArchiveSize;
use backissue_core::simulate::PollPolicy;
use backissue_core::{InputFlaw, flaw};
use clap::Parser as _;

use crate::io::devices::front::read_address;
use crate::io::named_files::expand_home;

/// The arguments of `backissue publish`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct PublishArgs {
    /// The feeds: number, address, or part of the title
    #[arg(
        value_name = "FEED",
        required_unless_present = "selection",
        conflicts_with = "selection"
    )]
    pub(super) feeds: Vec<String>,
    /// One feed with the entries that this query finds, as 'backissue search' does
    #[arg(long, value_name = "QUERY", group = "selection")]
    pub(super) query: Option<String>,
    /// One feed with the entries of all feeds with this tag or one below it
    #[arg(long, value_name = "T", group = "selection")]
    pub(super) tag: Option<String>,
    /// One feed with the starred entries
    #[arg(long, group = "selection")]
    pub(super) starred: bool,
    /// Title of the feed with these entries
    #[arg(long, value_name = "TITLE", requires = "selection")]
    pub(super) title: Option<String>,
    /// The folder to write to; each feed gets a folder in it
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Address at which that folder will be published; relative links if omitted
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Size of an archive: 'month', or a number of entries
    #[arg(long, value_name = "SIZE", default_value = "month", value_parser = read_size)]
    pub(super) archives: ArchiveSize,
    /// State the learned schedule as interval rules and ttl
    #[arg(long, conflicts_with = "selection")]
    pub(super) interval: bool,
    /// State that nothing is older than the oldest entry
    #[arg(long, conflicts_with = "selection")]
    pub(super) whole: bool,
    /// Overwrite documents of other programs or other feeds
    #[arg(long)]
    pub(super) force: bool,
}

/// A line of `[publish]` in the configuration.
#[derive(Debug, clap::Parser)]
#[command(name = "publish")]
struct PublishLine {
    #[command(flatten)]
    args: PublishArgs,
}

impl PublishArgs {
    /// Reads the arguments in a line of the configuration. Folders are relative to the one of the configuration. The error is a sentence.
    pub(super) fn configured(words: &[String], folder: &Path) -> Result<Self, InputFlaw> {
        let typed = std::iter::once("publish").chain(words.iter().map(String::as_str));
        let mut args = PublishLine::try_parse_from(typed).map_err(|error| {
            let text = error.to_string();
            let why = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
            flaw!("[publish] feeds: '{}': {why}", words.join(" "))
        })?;
        args.args.out = folder.join(expand_home(&args.args.out.to_string_lossy()));
        Ok(args.args)
    }
}

/// The arguments of `backissue serve`.
#[derive(Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// The folder to serve
    #[arg(value_name = "DIR", required_unless_present = "sync")]
    pub(super) folder: Option<PathBuf>,
    /// Port on this machine; a free one if omitted
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) port: u16,
    /// Serve the store to your own devices at this port of this machine, or at this address and port, instead of a folder
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["folder", "port"], value_parser = read_address)]
    pub(super) sync: Option<SocketAddr>,
}

/// The arguments of `backissue device`.
#[derive(Debug, clap::Args)]
pub(super) struct DeviceArgs {
    #[command(subcommand)]
    pub(super) action: DeviceAction,
}

/// The actions of `backissue device`.
#[derive(Debug, clap::Subcommand)]
pub(super) enum DeviceAction {
    /// Let a device sync with this store, and print its password
    Add(DeviceNamed),
    /// List the devices, when they were seen last, and how many changes of theirs can be taken back
    List(DeviceListArgs),
    /// Let a device sync no longer
    Remove(DeviceNamed),
    /// Take back the last change of a device, or refuse what it asks for
    Undo(DeviceNamed),
    /// Unsubscribe from the feeds that a device asks to remove
    Allow(DeviceNamed),
    /// Answer a request of a device, read from standard input; for the process that serves them
    #[command(hide = true)]
    Answer,
}

/// A device.
#[derive(Debug, clap::Args)]
pub(super) struct DeviceNamed {
    /// Name of the device, such as phone
    #[arg(value_name = "NAME")]
    pub(super) name: String,
}

/// The arguments of `backissue device list`.
#[derive(Debug, clap::Args)]
pub(super) struct DeviceListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// Largest number of entries in an archive.
const ENTRIES_MAX: usize = 5_000;

fn read_size(typed: &str) -> Result<ArchiveSize, InputFlaw> {
    if typed == "month" {
        return Ok(ArchiveSize::Month);
    }
    let count = typed.parse().ok().filter(|count| (1..=ENTRIES_MAX).contains(count));
    count
        .map(ArchiveSize::Entries)
        .ok_or_else(|| flaw!("use 'month' or a number from 1 to {ENTRIES_MAX}"))
}

/// The arguments of `backissue simulate`.
#[derive(Debug, clap::Args)]
pub(super) struct SimulateArgs {
    /// File of publication times: one JSON object per line with name, start, end and minutes
    #[arg(long, value_name = "FILE")]
    pub(super) feeds: Option<PathBuf>,
    /// Use the history of this subscription: its number, address, or part of its title
    #[arg(long, value_name = "FEED", conflicts_with_all = ["feeds", "rules", "budget", "retrievals", "policies", "min", "max", "train_days"])]
    pub(super) feed: Option<String>,
    /// Polling strategy; may be repeated; all if omitted
    #[arg(long = "policy", value_name = "POLICY", value_enum)]
    pub(super) policies: Vec<SimulatePolicy>,
    /// File of interval rules by feed name; derived from the training weeks if omitted
    #[arg(long, value_name = "FILE")]
    pub(super) rules: Option<PathBuf>,
    /// File of polls per week by feed name, the same for every policy; if omitted, one price per poll for all feeds
    #[arg(long, value_name = "FILE")]
    pub(super) budget: Option<PathBuf>,
    /// Shortest time between polls, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=i64::from(INTERVAL_MINUTES_MAX)))]
    pub(super) min: u32,
    /// Longest time between polls, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 240, value_parser = clap::value_parser!(u32).range(1..=i64::from(INTERVAL_MINUTES_MAX)))]
    pub(super) max: u32,
    /// Days to learn from; the remaining days are the test
    #[arg(long, value_name = "DAYS", default_value_t = 42, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(super) train_days: u32,
    /// Runs per feed, each starting one minute later
    #[arg(long, value_name = "N", default_value_t = 240, value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(super) shifts: u32,
    /// Run rules and learned plans through the real schedule, including its random spread
    #[arg(long)]
    pub(super) jitter: bool,
    /// Compare interval rules with fixed intervals, as Table III of the paper: for the publication times of --feeds, or for your own feeds
    #[arg(long)]
    pub(super) table: bool,
    /// Draw when the feeds publish, by hour and weekday, and the delay for each number of polls; both figures if none is named
    #[arg(long, value_name = "FIGURE", value_enum, num_args = 0..=1, default_missing_value = "both", conflicts_with = "retrievals")]
    pub(super) figure: Option<FigureChoice>,
    /// Write the figures to this file as SVG instead
    #[arg(long, value_name = "FILE", requires = "figure", group = "written")]
    pub(super) svg: Option<PathBuf>,
    /// Write the polls of every run in the test weeks to this file, one JSON object per line
    #[arg(long, value_name = "FILE", group = "written")]
    pub(super) retrievals: Option<PathBuf>,
    /// Overwrite an existing file of any kind
    #[arg(long, requires = "written")]
    pub(super) force: bool,
}

impl SimulateArgs {
    /// Checks whether the table or the figures are about subscriptions.
    pub(super) const fn shows_own_feeds(&self) -> bool {
        self.feeds.is_none() && (self.table || self.figure.is_some())
    }

    /// Checks whether the command needs the store.
    pub(super) const fn needs_store(&self) -> bool {
        self.feed.is_some() || self.shows_own_feeds()
    }
}

/// The figures that `backissue simulate` can draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FigureChoice {
    /// Publications by hour and weekday
    Activity,
    /// Average delay of entries for each number of polls
    Delay,
    /// Both figures
    Both,
}

/// The polling strategies that `backissue simulate` can compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SimulatePolicy {
    /// One fixed interval
    Linear,
    /// Interval rules, as in the paper on interval rules
    Rules,
    /// The learned plan, updated each day
    Learned,
    /// Interval from the number of entries in the week
    EntryFrequency,
    /// Sooner after a poll with new entries, later after one without
    Aimd,
}

impl SimulatePolicy {
    pub(super) const fn policy(self) -> PollPolicy {
        match self {
            Self::Linear => PollPolicy::Linear,
            Self::Rules => PollPolicy::Rules,
            Self::Learned => PollPolicy::Learned,
            Self::EntryFrequency => PollPolicy::EntryFrequency,
            Self::Aimd => PollPolicy::Aimd,
        }
    }
}
