//! The arguments of `simulate`.

use std::path::PathBuf;

use backissue_core::simulate::PollPolicy;

/// `simulate`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct SimulateArgs {
    /// Publication times: one JSON object a line with name, start, end and minutes
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    pub(super) feeds: Option<PathBuf>,
    /// Try on the history of this subscription: its number, address, or a part of its title
    #[arg(long, value_name = "FEED", conflicts_with_all = ["feeds", "stdio", "rules", "budget", "retrievals", "policies", "min", "max", "train_days"])]
    pub(super) feed: Option<String>,
    /// Ways of polling; may be repeated, all if left out
    #[arg(long = "policy", value_name = "POLICY", value_enum)]
    pub(super) policies: Vec<SimulatePolicy>,
    /// Interval rules by the names of feeds; marked from the training weeks if left out
    #[arg(long, value_name = "FILE")]
    pub(super) rules: Option<PathBuf>,
    /// Polls a week by the names of feeds, kept to by every policy; one common price if left out
    #[arg(long, value_name = "FILE")]
    pub(super) budget: Option<PathBuf>,
    /// Shortest time between polls, minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=527_040))]
    pub(super) min: u32,
    /// Longest time between polls, minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 240, value_parser = clap::value_parser!(u32).range(1..=527_040))]
    pub(super) max: u32,
    /// Days to learn from; the rest is the test
    #[arg(long, value_name = "DAYS", default_value_t = 42, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(super) train_days: u32,
    /// Runs of each feed, each starting a minute later
    #[arg(long, value_name = "N", default_value_t = 240, value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(super) shifts: u32,
    /// Follow rules and learned plans through the schedule itself, spread included, as the reader does
    #[arg(long)]
    pub(super) jitter: bool,
    /// Show the rows of the paper's Table III, in training and in test weeks
    #[arg(long)]
    pub(super) table: bool,
    /// Write the polls of every run in the test weeks, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(super) retrievals: Option<PathBuf>,
    /// Overwrite an existing file of any kind
    #[arg(long, requires = "retrievals")]
    pub(super) force: bool,
    /// Be driven over standard input and output, one JSON object a line
    #[arg(long)]
    pub(super) stdio: bool,
}

/// Ways of polling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SimulatePolicy {
    /// One fixed interval
    Linear,
    /// The paper's interval rules
    Rules,
    /// The learned plan, learned again each day
    Learned,
    /// The week's entries say the interval
    EntryFrequency,
    /// Sooner after a hit, later after a miss
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
