//! Starts the user's external commands and reports their results. If the user has configured no program that opens an address,
//! those in the variable `BROWSER` do, or else those of the desktop. Feeds may come from files and programs, too: which addresses
//! name one, and whether its program may run.

use backissue_core::InputFlaw;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::text::one_line;

use super::external_command::{ExternalCommand, command_for_link, command_for_media};
use super::external_run::{ExternalRun, RunFailure, RunInput, RunPurpose};
use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::feeds::addition::Subscribe;
use crate::engine::feeds::addresses::address_of;
use crate::engine::request::Effect;
use crate::engine::settings::NetworkSettings;
use crate::engine::state::Engine;

/// Commands that show the log, scrolled to its end, and the output of a command, in the order in which to try them.
const LOG_PAGERS: [&str; 2] = ["!less +G", "!more"];
const PAGERS: [&str; 2] = ["!less", "!more"];
/// Maximum number of characters of a command's output in a notice.
const TOLD_CHARS_MAX: usize = 300;

/// Returns the effect that passes an entry to a command.
pub fn pipe(
    engine: &Engine,
    entry: LoadedEntry,
    command: ExternalCommand,
    purpose: RunPurpose,
) -> Effect {
    let input = RunInput::Entry(Box::new(engine.view_of(entry)));
    Effect::Run(Box::new(ExternalRun::new(purpose, command, input)))
}

/// Returns the effect that shows the log in a pager, scrolled to the end of the log.
pub fn show_log() -> Option<Effect> {
    show_in_pager(&LOG_PAGERS, RunInput::Log)
}

fn show_in_pager(pagers: &[&str], input: RunInput) -> Option<Effect> {
    let pagers = pagers.iter().filter_map(|pager| ExternalCommand::typed(pager).ok());
    let run = ExternalRun::showing(pagers.collect(), input)?;
    Some(Effect::Run(Box::new(run)))
}

/// Returns the effect that opens an address, in the configured command or else in the browser.
pub fn show(engine: &Engine, link: String) -> Effect {
    let commands = &engine.settings.commands;
    started(command_for_link(&commands.rules, &link).or(commands.open.as_ref()), link)
}

/// Returns the effect that opens an attached file of a media type: in the command for the type or the address, or else in the command
/// for attached files, or else in the command for addresses, or else in the browser.
pub fn play(engine: &Engine, link: String, media_type: &str) -> Effect {
    let commands = &engine.settings.commands;
    let command = command_for_media(&commands.rules, media_type)
        .or_else(|| command_for_link(&commands.rules, &link))
        .or(commands.enclosure.as_ref())
        .or(commands.open.as_ref());
    if let (address, Some(from)) = split_media_time(&link)
        && let Some(player) = command.filter(|command| command.is_mpv())
    {
        return started(Some(&player.clone().starting_at(from)), address.to_owned());
    }
    started(command, link)
}

/// What is before a time in the address of a file: a temporal fragment (W3C Media Fragments, section 4.2.1).
const MEDIA_TIME: &str = "#t=";

/// Returns the address of a file with a time in seconds at which a player begins.
pub fn with_media_time(address: &str, seconds: u32) -> String {
    format!("{address}{MEDIA_TIME}{seconds}")
}

/// Splits the address of a file into the address and the time in seconds at which a player begins.
pub fn split_media_time(address: &str) -> (&str, Option<u32>) {
    let parts = address.rsplit_once(MEDIA_TIME);
    let parts = parts.and_then(|(file, seconds)| Some((file, Some(seconds.parse().ok()?))));
    parts.unwrap_or((address, None))
}

fn started(command: Option<&ExternalCommand>, link: String) -> Effect {
    match command.filter(|_| is_web_address(&link)) {
        Some(command) => {
            let (purpose, command) = (RunPurpose::Show, command.with_link(&link));
            Effect::Run(Box::new(ExternalRun::new(purpose, command, RunInput::Nothing)))
        }
        None => Effect::Open(link),
    }
}

/// Checks whether an address is safe to pass to a user's program: the address must start with `http://` or `https://`, so that the
/// program cannot mistake it for an option or a file (SPEC G.52).
pub fn is_web_address(address: &str) -> bool {
    let begins = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    (begins("http://") || begins("https://")) && !address.contains(|char: char| char.is_control())
}

/// Shows the result of a command: its output, in a pager if it has several lines, or an error.
pub fn tell_end(
    engine: &mut Engine,
    purpose: RunPurpose,
    ended: Result<Option<String>, RunFailure>,
) {
    match (purpose, ended) {
        (_, Err(why)) => {
            let why = one_line(&why.to_string(), TOLD_CHARS_MAX);
            if purpose == RunPurpose::News {
                engine.notifications.failure = Some(why.clone());
            }
            engine.complain(why);
        }
        (RunPurpose::Pipe, Ok(Some(text))) if text.trim().contains('\n') => {
            engine.effects.extend(show_in_pager(&PAGERS, RunInput::Text(text)));
        }
        (RunPurpose::Pipe, Ok(Some(text))) => engine.say(one_line(&text, TOLD_CHARS_MAX)),
        (RunPurpose::Pipe, Ok(None)) => engine.say("the command has finished"),
        (
            RunPurpose::Show | RunPurpose::News | RunPurpose::Step(_) | RunPurpose::Play(_),
            Ok(_),
        ) => {}
    }
}

/// Describes where the document of a feed comes from, or returns `None` if it comes from the web as it is.
pub fn source_words(url: &str) -> Option<String> {
    match FeedSource::of(url) {
        FeedSource::Web => None,
        FeedSource::File => Some(format!("its document is the file {url}")),
        FeedSource::Program(command) => {
            Some(format!("its document is the output of the program '{command}'"))
        }
        FeedSource::Filter { command, url } => {
            Some(format!("its document is {url}, passed through the program '{command}'"))
        }
    }
}

/// Checks that the program of a feed may run: always if the feed has no program. The error is a sentence that names the setting.
pub fn check_allowed(url: &str, settings: &NetworkSettings) -> Result<(), InputFlaw> {
    if settings.allow_sources || !FeedSource::of(url).is_program() {
        return Ok(());
    }
    Err("this feed runs a program: to allow that, set allow_sources = true under [commands] in your configuration".into())
}

/// Parses the address of a feed to subscribe to. Refuses a program that may not run, and a file or program in an account, because
/// the server can neither name nor read one of this machine. The error is a sentence.
pub(in crate::engine) fn allowed_address(
    wanted: &Subscribe,
    settings: &NetworkSettings,
) -> Result<String, InputFlaw> {
    let url = address_of(&wanted.address)?;
    if wanted.feed_settings.account.is_some() && FeedSource::of(&url) != FeedSource::Web {
        return Err("a server cannot subscribe to files and programs of this machine".into());
    }
    check_allowed(&url, settings).map(|()| url)
}

/// Programs of desktops that open an address, with the arguments before it. Under Windows, its own browser comes first.
const DESKTOP: [&str; 8] = [
    "/usr/bin/open",
    "wslview",
    "rundll32.exe url.dll,FileProtocolHandler",
    "xdg-open",
    "gio open",
    "kde-open6",
    "kde-open5",
    "kde-open",
];
/// Programs of [`DESKTOP`] that need no display: those of other systems, and one that starts a browser on the terminal then.
const WITHOUT_DISPLAY: usize = 4;
/// Browsers that run on the terminal.
const ON_TERMINAL: [&str; 6] = ["www-browser", "links2", "elinks", "links", "lynx", "w3m"];

/// Returns the commands that open an address, in the order in which to try them. `named` is the value of `BROWSER`.
pub fn browsers(named: &str, has_display: bool, address: &str) -> Vec<ExternalCommand> {
    let of = |text: &str| ExternalCommand::of_browser(text, address);
    let named: Vec<_> = named.split(':').filter_map(of).collect();
    if !named.is_empty() {
        return named;
    }
    if has_display {
        return DESKTOP.into_iter().filter_map(of).collect();
    }
    let desktop = DESKTOP.into_iter().take(WITHOUT_DISPLAY);
    let lent = |text: &'static str| if text == "xdg-open" { "!xdg-open" } else { text };
    desktop.map(lent).chain(ON_TERMINAL).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use crate::engine::settings::Settings;
    use crate::engine::start_external::*;

    fn engine() -> Engine {
        let mut settings = Settings::default();
        settings.commands.open = Some(ExternalCommand::typed("firefox").unwrap());
        settings.commands.enclosure = Some(ExternalCommand::typed("mpv --quiet").unwrap());
        let now = chrono::DateTime::UNIX_EPOCH;
        Engine::new(settings, chrono_tz::Tz::UTC, 0, Vec::new(), now)
    }

    /// Returns the command that an effect starts, or `None` if the effect opens the browser.
    fn command(effect: Effect) -> Option<String> {
        let Effect::Run(run) = effect else { return None };
        Some(format!("{:?}", run.command))
    }

    #[test]
    fn links_and_attachments_open_in_their_own_commands() {
        let link = || "https://a.example/1".to_owned();
        let shown = command(show(&engine(), link())).unwrap();
        assert!(shown.contains("firefox") && shown.contains("a.example/1"), "{shown}");
        let played = command(play(&engine(), link(), "")).unwrap();
        assert!(played.contains("mpv") && !played.contains("firefox"), "{played}");
    }

    #[test]
    fn links_like_options_or_files_never_reach_a_command() {
        // Only addresses that are safe to open are passed to a command (SPEC G.52).
        for link in [
            "--config=x",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "mailto:a@b.example?attach=/etc/passwd",
            "https:x",
            " https://a.example/",
            "https://a.example/\u{1b}",
        ] {
            assert_eq!(command(show(&engine(), link.to_owned())), None, "{link}");
        }
        for link in ["HTTPS://a.example/", "Http://a.example/"] {
            assert!(command(show(&engine(), link.to_owned())).is_some(), "{link}");
        }
    }
}

#[cfg(test)]
mod feed_sources_tests {
    use super::*;
    use crate::engine::settings::Settings;

    #[test]
    fn addresses_of_files_and_programs_are_stored_in_one_form() {
        for (typed, stored) in [
            (" file:///f/a b.xml ", "file:///f/a%20b.xml"),
            ("file:/f.xml", "file:///f.xml"),
            ("exec: ~/bin/a 'b  c' ", "exec:~/bin/a 'b  c'"),
            ("exec:sh -c 'a | b'", "exec:sh -c 'a | b'"),
            ("filter:f.py:https://A.example", "filter:f.py:https://a.example/"),
        ] {
            assert_eq!(address_of(typed).as_deref(), Ok(stored));
            assert_eq!(address_of(stored).as_deref(), Ok(stored), "it stays the same");
        }
    }

    #[test]
    fn wrong_address_of_a_program_says_what_to_do() {
        for (typed, why) in [
            ("exec:", "contains no program"),
            ("exec:a 'b", "is not closed"),
            ("exec:./a b", "write its whole path"),
            ("filter:../a:https://a.example/", "write its whole path"),
            ("exec:a/b", "write its whole path"),
            ("exec:a | b", "type sh -c 'a | b'"),
            ("exec:a\nb", "must be one line"),
            ("exec:curl https://me:secret@a.example/", "leave the login out of the command"),
            ("filter:a", "filter:COMMAND:https://site.example/feed"),
            ("filter::https://a.example/", "contains no program"),
            ("filter:a:https://me:secret@a.example/", "leave the login out of the address"),
            ("filter:a:https://word/", "the host name has no dot"),
            ("file:x.xml", "file:///home/me/feed.xml"),
            ("file://host/x.xml", "file:///home/me/feed.xml"),
            ("file:///", "file:///home/me/feed.xml"),
        ] {
            let told = address_of(typed).unwrap_err();
            assert!(told.contains(why) && !told.contains("secret"), "{typed}: {told}");
        }
        assert!(address_of(&format!("exec:{}", "x".repeat(8_192))).is_err());
    }

    #[test]
    fn programs_run_only_if_the_user_allows_them() {
        let mut network = Settings::default().network;
        let program = ["exec:a", "filter:a:https://a.example/"];
        for url in ["file:///x", "https://a.example/"].iter().chain(&program) {
            assert_eq!(check_allowed(url, &network).is_err(), program.contains(url), "{url}");
        }
        let wanted = |address: &str, account: Option<&str>| {
            let mut wanted = Subscribe { address: address.to_owned(), ..Subscribe::default() };
            wanted.feed_settings.account = account.map(str::to_owned);
            wanted
        };
        network.allow_sources = true;
        for url in ["file:///x"].iter().chain(&program) {
            assert_eq!(allowed_address(&wanted(url, None), &network).as_deref(), Ok(*url));
            let why = allowed_address(&wanted(url, Some("me")), &network).unwrap_err();
            assert!(why.starts_with("a server cannot subscribe"), "{why}");
        }
        assert_eq!(program.map(|url| check_allowed(url, &network)), [Ok(()), Ok(())]);
    }
}

#[cfg(test)]
mod browsers_tests {
    use super::*;

    #[test]
    fn browser_is_read_as_other_programs_read_it() {
        let link = "https://a.example/?q=%73;x&y";
        for (named, expected) in [
            ("firefox", vec![vec!["firefox", link]]),
            ("firefox --new-window", vec![vec!["firefox", "--new-window", link]]),
            ("firefox %s &", vec![vec!["firefox", link]]),
            (
                "chromium --app=%s:w3m",
                vec![vec!["chromium", "--app=https://a.example/?q=%73;x&y"], vec!["w3m", link]],
            ),
            (
                "flatpak run org.mozilla.firefox",
                vec![vec!["flatpak", "run", "org.mozilla.firefox", link]],
            ),
            (
                "'/opt/my browser/run' -u 100%% a%cb %s",
                vec![vec!["/opt/my browser/run", "-u", "100%", "a:b", link]],
            ),
            (" : lynx: ", vec![vec!["lynx", link]]),
            // An address never becomes code.
            ("sh -c 'firefox %s':w3m", vec![vec!["w3m", link]]),
        ] {
            let read = browsers(named, true, link);
            let words = |command: &ExternalCommand| {
                let program = [command.program().to_owned()];
                [&program, command.arguments()].concat()
            };
            assert_eq!(read.iter().map(words).collect::<Vec<_>>(), expected, "{named}");
        }
    }

    #[test]
    fn without_a_display_browsers_get_the_terminal() {
        let lent = |named: &str, has_display: bool| {
            let commands = browsers(named, has_display, "https://a.example/");
            let lent = commands.iter().filter(|command| command.on_terminal);
            lent.map(|command| command.program().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(lent("", true), [""; 0]);
        let expected = ["xdg-open", "www-browser", "links2", "elinks", "links", "lynx", "w3m"];
        assert_eq!(lent("", false), expected);
        // A program that the user names may show the page on another machine.
        assert_eq!(lent("my-browser:/usr/bin/w3m", false), ["/usr/bin/w3m"]);
    }
}
