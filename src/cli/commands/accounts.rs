//! `backissue account`: accounts on servers. An account is added in the process that the user started, because the user may have
//! to type the password. The first sync then runs in the process that has the store.

use std::io::{BufRead, IsTerminal, Read};

use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use serde_json::json;

use crate::cli::Done;
use crate::cli::args::{
    AccountAction, AccountAddArgs, AccountArgs, AccountLogArgs, AccountRemoveArgs, AccountSyncArgs,
    Options,
};
use crate::cli::context::{CommandContext, JsonList};
use crate::cli::session::{self, Failure, block_on};
use crate::engine::entries::account_sync::{self, feeds_of};
use crate::engine::politeness::host_queue::is_loopback;
use crate::io::accounts::account_file::{Account, AccountFile};
use crate::io::accounts::server::{self, NO_FOLDER, server_address};
use crate::io::accounts::session::SyncWish;
use crate::io::accounts::sync_clock::{sync, words};
use crate::io::http::{Http, Limits};
use crate::io::processes::run_command::ACCOUNT_PASSWORD;
use crate::io::{clock, console};

/// Runs `backissue account`.
pub(in crate::cli) fn run(context: &CommandContext, args: &AccountArgs) -> Result<Done, Failure> {
    match &args.action {
        AccountAction::Add(args) => sync_first(context, args),
        AccountAction::List(args) => list(context, args.json),
        AccountAction::Remove(args) => remove(context, args),
        AccountAction::Sync(args) => sync_named(context, args),
        AccountAction::Log(args) => log(context, args),
    }
}

/// Returns the file of accounts, and the accounts.
fn read_accounts(context: &CommandContext) -> Result<(AccountFile, Vec<Account>), Failure> {
    let file = context.inspect(|engine| AccountFile::of(&engine.settings))?;
    let file = file.ok_or_else(|| Failure::new(NO_FOLDER))?;
    let accounts = file.read().map_err(Failure::new)?;
    Ok((file, accounts))
}

/// Checks that there is an account with this name.
pub(super) fn check_name(context: &CommandContext, name: &str) -> Result<(), Failure> {
    let (_, accounts) = read_accounts(context)?;
    if accounts.iter().any(|account| account.name == name) {
        return Ok(());
    }
    Err(Failure::new(format!("there is no account '{name}': see 'backissue account list'")))
}

/// Syncs one account and prints a line about it.
pub(super) fn sync_one(context: &CommandContext, name: &str) -> Result<Done, Failure> {
    let (file, _) = read_accounts(context)?;
    sync_accounts(context, &file, &[name.to_owned()], false)
}

/// Maximum length of a password that is read, in bytes.
const PASSWORD_MAX: u64 = 4_096;

/// Logs in and stores the account.
pub(in crate::cli) fn log_in(options: &Options, args: &AccountAddArgs) -> Result<(), Failure> {
    let settings = session::read_settings(options)?;
    let file = AccountFile::of(&settings).ok_or_else(|| Failure::new(NO_FOLDER))?;
    if options.offline {
        return Err(Failure::new("an account cannot be added with --offline"));
    }
    let url = server_address(&args.address).map_err(Failure::new)?;
    if url.scheme() == "http" && !is_loopback(url.as_str()) {
        console::tell("this server is not encrypted: others could read your password");
    }
    let user = match &args.user {
        Some(user) if user.trim().is_empty() => {
            let why = "the user name is empty: leave out --user to log in with an API token";
            return Err(Failure::new(why));
        }
        Some(user) => user.clone(),
        None => typed_user()?,
    };
    let account = server::new_account(&file, &url, args.name.as_deref(), &user);
    let mut account = account.map_err(Failure::new)?;
    if let Some(command) = &args.password_command {
        account.password_command = Some(command.clone());
    } else {
        let given = std::env::var(ACCOUNT_PASSWORD).ok();
        account.password = Some(typed_password(given, account.user.is_empty())?);
    }
    let path = file.path().display().to_string();
    let typed = args.address.clone();
    let account = block_on(async move {
        let runtime = tokio::runtime::Handle::current();
        let http = Http::new(&settings.network, Limits::default()).map_err(Failure::new)?;
        let logged_in = tokio::task::spawn_blocking(move || {
            server::log_in(http.into(), runtime, &file, account, &typed)
        });
        let logged_in = logged_in.await.map_err(|_| Failure::new("the login failed"))?;
        logged_in.map_err(Failure::new)
    })?;
    console::tell(&format!(
        "logged in at {}; the account is stored in {path}, readable only by you",
        account.api
    ));
    if let Some(sentence) = server::without_labels(&account) {
        console::tell(sentence);
    }
    Ok(())
}

/// Runs the first sync of the account that was just added.
fn sync_first(context: &CommandContext, args: &AccountAddArgs) -> Result<Done, Failure> {
    let url = server_address(&args.address).map_err(Failure::new)?;
    let name = server::name_of(args.name.as_deref(), &url);
    let (file, _) = read_accounts(context)?;
    sync_accounts(context, &file, &[name], true)
}

/// Returns the password from the environment, the terminal, or standard input.
fn typed_password(given: Option<String>, is_token: bool) -> Result<String, Failure> {
    let (what, prompt) = if is_token {
        ("API token", "API token: ")
    } else {
        ("password", "password (FreshRSS: the API password): ")
    };
    let password = if let Some(password) = given {
        password
    } else if std::io::stdin().is_terminal() {
        let hidden = hidden_line(prompt);
        hidden.map_err(|error| Failure::new(format!("the {what} cannot be read: {error}")))?
    } else {
        first_line(PASSWORD_MAX)?
    };
    if password.is_empty() {
        return Err(Failure::new(format!(
            "the {what} is empty: type it, set {ACCOUNT_PASSWORD}, or name a command with --password-command"
        )));
    }
    Ok(password)
}

/// Returns the name of the user, or an empty text to log in with an API token.
fn typed_user() -> Result<String, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(String::new());
    }
    console::put_piece("user name (empty for an API token): ");
    first_line(PASSWORD_MAX)
}

fn first_line(max: u64) -> Result<String, Failure> {
    let mut line = String::new();
    let read = std::io::stdin().lock().take(max).read_line(&mut line);
    read.map_err(|error| Failure::new(format!("standard input cannot be read: {error}")))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Reads a line from the terminal without echo.
fn hidden_line(prompt: &str) -> std::io::Result<String> {
    console::put_piece(prompt);
    enable_raw_mode()?;
    let typed = hidden_keys();
    disable_raw_mode()?;
    console::put("");
    typed
}

fn hidden_keys() -> std::io::Result<String> {
    let mut typed = String::new();
    loop {
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let code = key.code;
        let is_cancel = is_control && matches!(code, KeyCode::Char('c' | 'd'));
        if code == KeyCode::Enter {
            return Ok(typed);
        } else if code == KeyCode::Esc || is_cancel {
            return Err(std::io::Error::other("cancelled"));
        } else if code == KeyCode::Backspace {
            typed.pop();
        } else if let KeyCode::Char(char) = code
            && !is_control
        {
            typed.push(char);
        }
    }
}

/// Runs `backissue account list`.
fn list(context: &CommandContext, in_json: bool) -> Result<Done, Failure> {
    let (_, accounts) = read_accounts(context)?;
    let states = context.look(|store| store.account_states())?;
    let mut document = in_json.then(|| JsonList::new(context));
    if accounts.is_empty() && !in_json {
        context.tell("no accounts: 'backissue account add ADDRESS' adds one");
    }
    for account in accounts {
        let name = account.name.clone();
        let feeds = context.inspect(move |engine| feeds_of(engine, &name).count())?;
        let newest = states.get(&account.name).and_then(|state| state.log.last());
        if let Some(list) = &mut document {
            list.push(&json!({
                "name": account.name,
                "api": account.api,
                "user": account.user,
                "feeds": feeds,
                "last_sync": newest.map(|line| line.at.to_rfc3339()),
                "failure": newest.and_then(|line| line.failure.clone()),
            }));
        } else {
            let told = newest.map_or_else(
                || "never synced".to_owned(),
                |line| format!("{}: {}", line.at.format("%Y-%m-%d %H:%M UTC"), words(line)),
            );
            context.put(&format!("{}  {}  {feeds} feeds\n  {told}", account.name, account.place()));
        }
    }
    if let Some(list) = document {
        list.end();
    }
    Ok(Done::All)
}

/// Runs `backissue account log`.
fn log(context: &CommandContext, args: &AccountLogArgs) -> Result<Done, Failure> {
    if let Some(name) = &args.name {
        check_name(context, name)?;
    }
    let states = context.look(|store| store.account_states())?;
    let wanted = |name: &String| args.name.as_ref().is_none_or(|wanted| wanted == name);
    let mut document = args.json.then(|| JsonList::new(context));
    for (name, state) in states.iter().filter(|(name, _)| wanted(name)) {
        for line in &state.log {
            if let Some(list) = &mut document {
                list.push(&json!({
                    "account": name,
                    "at": line.at.to_rfc3339(),
                    "ms": line.ms,
                    "requests": line.requests,
                    "bytes_sent": line.sent_bytes,
                    "bytes_received": line.received_bytes,
                    "new": line.new,
                    "changed_here": line.marked,
                    "sent": line.sent,
                    "subscriptions_changed": line.feeds,
                    "unsubscribed": line.unsubscribed,
                    "kept": line.kept,
                    "held": line.held,
                    "held_marks": line.held_marks,
                    "not_taken": line.untaken,
                    "dropped": line.dropped,
                    "refused": line.refused,
                    "failure": line.failure,
                }));
            } else {
                let at = line.at.format("%Y-%m-%d %H:%M:%S UTC");
                context.put(&format!("{at}  {name}: {}", words(line)));
            }
        }
    }
    if let Some(list) = document {
        list.end();
    }
    Ok(Done::All)
}

/// Runs `backissue account remove`. Its feeds are first removed from the account, so that after an undo the restored feeds are
/// polled here.
fn remove(context: &CommandContext, args: &AccountRemoveArgs) -> Result<Done, Failure> {
    check_name(context, &args.name)?;
    let (file, _) = read_accounts(context)?;
    let (name, keep, at) = (args.name.clone(), args.keep, clock::now());
    let (requests, feeds, count) = context.inspect(move |engine| {
        let feeds = || feeds_of(engine, &name);
        let brought = feeds().filter(|feed| account_sync::is_brought(feed)).count();
        let keys: Vec<FeedKey> = feeds().map(|feed| feed.key).collect();
        (account_sync::leave(engine, &name, keep, at), keys, brought)
    })?;
    let all = feeds.len();
    let unsent = context.look(move |store| store.unsent_marks(&feeds))?;
    if unsent > 0 {
        let marks = counted_words(unsent, "mark was", "marks were");
        context.tell(&format!("{marks} never sent to '{}'", args.name));
    }
    for request in requests {
        context.change(request)?;
    }
    server::forget(Some(file), &args.name).map_err(Failure::new)?;
    let name = args.name.clone();
    context.look(move |store| store.change_account_state(&name, |_| None))?;
    let feeds = |count| counted_words(count, "feed", "feeds");
    if args.keep {
        context.put(&format!(
            "'{}' removed; {} kept and polled here from now on",
            args.name,
            feeds(all)
        ));
    } else {
        let own = all.saturating_sub(count);
        let own = match own {
            0 => String::new(),
            1 => "; 1 feed of yours stays".to_owned(),
            own => format!("; {} of yours stay", feeds(own)),
        };
        context.put(&format!(
            "'{}' removed, and unsubscribed from {} here{own}; nothing changed on the server · 'backissue undo' restores the feeds",
            args.name,
            feeds(count)
        ));
    }
    Ok(Done::All)
}

/// Runs `backissue account sync`.
fn sync_named(context: &CommandContext, args: &AccountSyncArgs) -> Result<Done, Failure> {
    let (file, accounts) = read_accounts(context)?;
    let names = if args.names.is_empty() {
        accounts.into_iter().map(|account| account.name).collect()
    } else {
        args.names.clone()
    };
    if names.is_empty() {
        return Err(Failure::new("there is no account: add one with 'backissue account add'"));
    }
    if args.yes || args.no {
        for name in &names {
            answer(context, name, args.yes)?;
        }
    }
    sync_accounts(context, &file, &names, args.whole)
}

/// Applies the user's answer about changes that wait for it.
fn answer(context: &CommandContext, name: &str, yes: bool) -> Result<(), Failure> {
    let mut states = context.look(|store| store.account_states())?;
    let held = states.remove(name).map(|state| state.held).unwrap_or_default();
    let (name, at) = (name.to_owned(), clock::now());
    let requests =
        context.inspect(move |engine| account_sync::answer(engine, &name, held, at, yes))?;
    for request in requests {
        context.change(request)?;
    }
    Ok(())
}

/// Syncs these accounts and prints a line for each.
fn sync_accounts(
    context: &CommandContext,
    file: &AccountFile,
    names: &[String],
    whole: bool,
) -> Result<Done, Failure> {
    let mut done = Done::All;
    for name in names {
        let progress = |what: &str, part: usize, all: usize| {
            context.show_progress(format!("{name}: {what}"), part as u64, all as u64);
        };
        let synced = sync(context.handle(), file, name, SyncWish { whole }, &progress);
        context.end_progress();
        match synced {
            Ok(line) => {
                context.put(&format!("{name}: {}", words(&line)));
                if line.untaken > 0
                    || line.held > 0
                    || line.held_marks > 0
                    || line.refused.is_some()
                {
                    done = Done::WithFailures;
                }
            }
            Err(failure) if names.len() == 1 => return Err(Failure::new(failure.text)),
            Err(failure) => {
                context.tell(&format!("backissue: {}", failure.text));
                done = Done::WithFailures;
            }
        }
    }
    Ok(done)
}
