//! The arguments of `account`.

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
