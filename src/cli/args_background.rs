//! The arguments of `watch`, `events` and `service`.

/// `watch`.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Write what happens as JSON to standard output, one line an event
    #[arg(long)]
    pub(super) follow: bool,
}

/// `events`.
#[derive(Debug, clap::Args)]
pub(super) struct EventsArgs {
    /// Go on with what happens from now on, until interrupted
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
    /// Say whether it runs
    Status,
}
