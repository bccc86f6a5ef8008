//! The arguments of `watch`, `events` and `service`.

/// The arguments of `backissue watch`.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Print events as JSON to standard output, one per line
    #[arg(long)]
    pub(super) follow: bool,
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

/// The actions of `backissue service` on the systemd unit.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum ServiceAction {
    /// Write the unit and start it
    Install,
    /// Stop it and remove the unit
    Remove,
    /// Show whether it is running
    Status,
}
