//! The arguments of `watch`, `events` and `service`.

/// `watch`.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Print events as JSON to standard output, one per line
    #[arg(long)]
    pub(super) follow: bool,
}

/// `events`.
#[derive(Debug, clap::Args)]
pub(super) struct EventsArgs {
    /// Keep printing new events until interrupted
    #[arg(long)]
    pub(super) follow: bool,
}

/// `service`.
#[derive(Debug, clap::Args)]
pub(super) struct ServiceArgs {
    /// What to do with the service
    #[arg(value_name = "WHAT")]
    pub(super) what: ServiceAction,
}

/// What is done with the service.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum ServiceAction {
    /// Write the unit and start it
    Install,
    /// Stop it and remove the unit
    Remove,
    /// Show whether it is running
    Status,
}
