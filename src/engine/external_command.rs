//! A user's external command: a program with its arguments. The command is not run by a shell.
//!
//! A command line is split into words as a shell would split it, with no other shell syntax. To use a shell, write `sh -c '...'`.
//! A leading `!` gives the command the terminal until it ends.
//!
//! A publisher wrote the address that a command uses, so it must never become code that a shell or another interpreter runs.
//!
//! 1. `{link}` must be a separate word, or the value in `name={link}`.
//! 2. `{link}` must not be the name of the program.
//! 3. After an option that takes code (`-c`, `-e`, `--eval`, …), the code must come first, and `{link}` after the code.
//!
//! A program that passes all its arguments to a shell, such as `ssh`, cannot be recognized. In such a command, the user must quote
//! `{link}`.
//!
//! Section `[open]` of the configuration names programs for certain addresses or files.

use backissue_core::{InputFlaw, flaw};
use serde::{Deserialize, Serialize};

/// Placeholder for the title of an entry in a command.
const TITLE: &str = "{title}";
/// Placeholder for the name of its feed.
const FEED: &str = "{feed}";
/// Prefix of a command that reads an entry as JSON from standard input.
const JSON: &str = "json:";

/// Words by which a shell connects programs and files.
const SHELL_WORDS: [&str; 7] = ["|", "<", "&", "&&", "||", ";", "&>"];

/// Programs that need the terminal even without a leading `!`.
const ON_TERMINAL: [&str; 27] = [
    "less",
    "more",
    "most",
    "vi",
    "vim",
    "view",
    "nvim",
    "nano",
    "micro",
    "hx",
    "kak",
    "joe",
    "mcedit",
    "w3m",
    "lynx",
    "links",
    "links2",
    "elinks",
    "felinks",
    "cha",
    "browsh",
    "carbonyl",
    "www-browser",
    "edbrowse",
    "fzf",
    "mutt",
    "aerc",
];

/// A command that can be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalCommand {
    /// Program and arguments; never empty.
    words: Vec<String>,
    /// `true` if the command needs the terminal; the screen is hidden until it ends.
    pub on_terminal: bool,
    /// `true` if the command reads JSON instead of text from standard input.
    pub json: bool,
}

impl ExternalCommand {
    /// Parses a command as the user types it. The error is a sentence.
    pub fn typed(text: &str) -> Result<Self, InputFlaw> {
        let words =
            shell_words::split(text).map_err(|_| format!("a quote in '{text}' is not closed"))?;
        Self::listed(words)
    }

    /// Parses a command as the user types it at a prompt, and refuses the words by which a shell connects programs and files, because
    /// the program would get them as arguments. The error is a sentence that shows what to type.
    pub fn typed_at_prompt(text: &str) -> Result<Self, InputFlaw> {
        let command = Self::typed(text)?;
        // A word within quotes was meant as it is.
        let is_bare = |word: &&String| text.split_whitespace().any(|bare| bare == word.as_str());
        let is_of_shell = |word: &&String| {
            SHELL_WORDS.contains(&word.as_str()) || word.starts_with('>') || word.starts_with("2>")
        };
        match command.words.iter().find(|word| is_of_shell(word) && is_bare(word)) {
            Some(word) => Err(flaw!(
                "no shell runs the command, so '{word}' would be an argument: type sh -c '{}'",
                text.trim()
            )),
            None => Ok(command),
        }
    }

    /// Parses a command from a list of words. The error is a sentence.
    pub fn listed(words: Vec<String>) -> Result<Self, InputFlaw> {
        let (mut asked, mut json) = (false, false);
        let mut words = std::collections::VecDeque::from(words);
        while let Some(first) = words.front_mut() {
            if let Some(rest) = first.strip_prefix('!') {
                (asked, *first) = (true, rest.to_owned());
            } else if let Some(rest) = first.strip_prefix(JSON) {
                (json, *first) = (true, rest.to_owned());
            } else if first.is_empty() {
                words.pop_front();
            } else {
                break;
            }
        }
        let Some(program) = words.front() else {
            return Err("the command contains no program".into());
        };
        // The program env starts another one.
        let is_of_env = |word: &&String| word.as_str() == "env" || word.contains('=');
        let program = words.iter().find(|word| !is_of_env(word)).unwrap_or(program);
        let name = program.rsplit('/').next().unwrap_or_default();
        let on_terminal = asked || ON_TERMINAL.contains(&name);
        Ok(Self { on_terminal, json, words: words.into() })
    }

    /// Parses one of the commands in the variable `BROWSER`: `%s` is the address, which is added if there is none, `%c` a colon and
    /// `%%` a percent sign. An ampersand at the end has no meaning here. Returns `None` if there is no command, or if it would use the
    /// address as code.
    pub fn of_browser(text: &str, address: &str) -> Option<Self> {
        let text = text.trim();
        let words = shell_words::split(text.strip_suffix('&').unwrap_or(text)).ok()?;
        let words = words.into_iter().map(|word| {
            let parts = word.split("%%");
            let parts = parts.map(|part| part.replace("%s", LINK).replace("%c", ":"));
            parts.collect::<Vec<_>>().join("%")
        });
        let command = Self::listed(words.collect()).ok()?;
        if command.needs_link() {
            command.check_for_links().ok()?;
        }
        Some(command.with_link(address))
    }

    /// Returns the name or path of the program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Returns the arguments of the program.
    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Checks that the command does not use an address as code for an interpreter (SPEC G.52). The error is a sentence that shows
    /// the right form.
    pub fn check_for_links(&self) -> Result<(), InputFlaw> {
        check_link_place(&self.words)
    }

    /// Returns whether the command has a place for an address.
    pub fn needs_link(&self) -> bool {
        self.words.iter().any(|word| word.contains(LINK))
    }

    /// Checks that a step of an own command does not use an address or a name as code (SPEC G.52). The error is a sentence.
    pub fn check_for_values(&self) -> Result<(), InputFlaw> {
        let words = self.words.iter().map(|word| word.replace(TITLE, LINK).replace(FEED, LINK));
        let words: Vec<String> = words.collect();
        let has_any = words.iter().any(|word| word.contains(LINK));
        if has_any { check_link_place(&words) } else { Ok(()) }
    }

    /// Returns the command with the address inserted for `{link}`, the title for `{title}` and the name of the feed for `{feed}`. None
    /// is ever split into several words. A name cannot be mistaken for an option.
    #[must_use]
    pub fn with_values(&self, link: &str, title: &str, feed: &str) -> Self {
        let words = self.words.iter().map(|word| {
            for (place, name) in [(TITLE, title), (FEED, feed)] {
                if let Some((before, after)) = word.split_once(place) {
                    return format!("{before}{}{after}", name.trim_start_matches(['-', ' ']));
                }
            }
            word.replace(LINK, link)
        });
        Self { words: words.collect(), ..*self }
    }

    /// Checks whether the program is mpv, whose position can be read and set.
    pub fn is_mpv(&self) -> bool {
        self.program().rsplit('/').next() == Some("mpv")
    }

    /// Returns the command of a player so that it begins at a time in seconds, if that can be said to the player.
    #[must_use]
    pub fn starting_at(self, seconds: u32) -> Self {
        if self.is_mpv() && seconds > 0 {
            return self.with_options(vec![format!("--start={seconds}")]);
        }
        self
    }

    /// Returns the command with these options before its other arguments.
    #[must_use]
    pub fn with_options(&self, options: Vec<String>) -> Self {
        let (program, rest) = (self.words.iter().take(1), self.words.iter().skip(1));
        let words = program.cloned().chain(options).chain(rest.cloned()).collect();
        Self { words, ..*self }
    }

    /// Returns the command with the address inserted for `{link}`, or added as the last word if there is no `{link}`. The address
    /// is never split into several words, whatever characters it contains.
    #[must_use]
    pub fn with_link(&self, link: &str) -> Self {
        let mut words: Vec<String> =
            self.words.iter().map(|word| word.replace(LINK, link)).collect();
        if !self.words.iter().any(|word| word.contains(LINK)) {
            words.push(link.to_owned());
        }
        Self { words, ..*self }
    }
}

/// Placeholder for the address in a command.
pub(super) const LINK: &str = "{link}";

/// Maximum number of characters in a group of single-letter options, such as `-lc`, of a program that is not in
/// [`INTERPRETERS`]. A longer word, such as `-cookie`, is one option.
const LETTERS_MAX: usize = 4;

/// Long options that take code. Programs accept abbreviations of them.
const CODE_OPTIONS: [&str; 11] = [
    "command",
    "commands",
    "init-command",
    "session-command",
    "eval",
    "eval-command",
    "exec",
    "execute",
    "print",
    "run",
    "cmd",
];

/// Programs that run code after `-c`, `-e`, `-r` or `-p`, and whose groups of options can be long. A version may follow the name.
const INTERPRETERS: [&str; 24] = [
    "sh",
    "ash",
    "bash",
    "csh",
    "dash",
    "fish",
    "ksh",
    "mksh",
    "tcsh",
    "zsh",
    "busybox",
    "perl",
    "php",
    "python",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "lua",
    "luajit",
    "julia",
    "tclsh",
    "pwsh",
    "powershell",
];

/// Checks that a command does not use an address as code. The error is a sentence that shows the right form.
fn check_link_place(words: &[String]) -> Result<(), InputFlaw> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    // Without a placeholder, the address is added as the last word.
    if !words.iter().any(|word| word.contains(LINK)) {
        words.push(LINK);
    }
    if words.first().is_some_and(|program| program.contains(LINK)) {
        return Err(flaw!("{LINK} must not name the program that is started"));
    }
    for (place, word) in words.iter().enumerate().filter(|(_, word)| word.contains(LINK)) {
        if !is_alone(word) {
            return Err(flaw!(
                "{LINK} must be a separate word, or the value in 'name={LINK}': '{word}' is neither"
            ));
        }
        let before = words.get(..place).unwrap_or_default();
        if let Some(option) = code_option(before, word) {
            return Err(flaw!(
                "{LINK} must not be the code that '{option}' runs, because the publisher wrote the address. Put \
                 the code after '{option}' and {LINK} after the code, as in sh -c 'firefox \"$1\"' sh {LINK}; if \
                 '{option}' takes no code, put {LINK} before it"
            ));
        }
    }
    Ok(())
}

/// Returns `true` if the word is `{link}` or has the form `name={link}`. The name may not contain blanks or quotes, so that a
/// quoted command line with arguments does not count as a name.
fn is_alone(word: &str) -> bool {
    let Some(before) = word.strip_suffix(LINK) else { return false };
    let is_name = |char: char| char.is_alphanumeric() || "-_.:/+,=".contains(char);
    before.is_empty() || (before.ends_with('=') && before.chars().all(is_name))
}

/// Returns the option that would run the address as code: the last option before `{link}` that takes code, unless the code comes
/// between the option and `{link}`.
fn code_option<'w>(before: &[&'w str], word: &'w str) -> Option<&'w str> {
    if let Some((option, _)) = word.split_once('=')
        && takes_code(option)
    {
        return Some(option);
    }
    // A word such as 'sh -c' also contains an option.
    let words: Vec<&str> = before.iter().flat_map(|word| word.split_whitespace()).collect();
    let last = words.iter().rposition(|word| {
        takes_code(word.split('=').next().unwrap_or_default())
            || (is_interpreters_option(word) && words.iter().any(|word| is_interpreter(word)))
    })?;
    let option = *words.get(last)?;
    let is_code = |code: &&str| !code.starts_with(['-', '+']);
    let has_code = option.contains('=')
        || (!takes_name_first(option) && words.get(last + 1).is_some_and(is_code));
    (!has_code).then_some(option)
}

fn takes_code(option: &str) -> bool {
    let Some(name) = option.strip_prefix('-') else { return false };
    let long = name.strip_prefix('-').unwrap_or(name).to_ascii_lowercase();
    let is_long = |shortest: usize| {
        long.len() >= shortest && CODE_OPTIONS.iter().any(|code| code.starts_with(&long))
    };
    if name.starts_with('-') {
        return is_long(1);
    }
    let is_group = name.len() <= LETTERS_MAX
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
        && (name.contains(['c', 'C']) || name.ends_with(['e', 'E']));
    is_group || is_long(2)
}

/// Returns `true` for options such as `-euxlc`, `-0777ne`, `-r` and `-p`, after which an interpreter may expect code.
fn is_interpreters_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        letters.chars().all(|letter| letter.is_ascii_alphanumeric())
            && letters.contains(['c', 'C', 'e', 'E', 'r', 'p'])
    })
}

fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    INTERPRETERS.contains(&name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.'))
}

/// Returns `true` for a group with `o`, such as `-ceuo`: the next word is the name of an option of the shell, and the code is only
/// after that.
fn takes_name_first(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        letters.chars().all(|letter| letter.is_ascii_alphabetic())
            && letters.contains(['o', 'O'])
            && (letters.len() <= 2
                || !CODE_OPTIONS.iter().any(|code| code.starts_with(&letters.to_ascii_lowercase())))
            && !letters.starts_with(['r', 'M', 'I'])
    })
}

/// A program that opens the addresses or files that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRule {
    pattern: OpenPattern,
    command: ExternalCommand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OpenPattern {
    /// A media type, such as `audio/mpeg`, or all types of one kind, such as `audio/`.
    Media(String),
    /// A host, which includes its subdomains, and the beginning of a path, which may be empty.
    Site { host: String, path: String },
}

impl OpenRule {
    /// Reads a pattern: `audio/*`, `application/pdf`, `youtube.com` or `example.org/videos`. The error is a sentence.
    pub fn new(pattern: &str, command: ExternalCommand) -> Result<Self, InputFlaw> {
        const KINDS: [&str; 6] = ["audio/", "video/", "image/", "text/", "application/", "font/"];
        let lower = pattern.trim().to_ascii_lowercase();
        if KINDS.iter().any(|kind| lower.starts_with(kind)) {
            let media = lower.strip_suffix('*').unwrap_or(&lower).to_owned();
            return Ok(Self { pattern: OpenPattern::Media(media), command });
        }
        let written = pattern.trim();
        let bare = written.split_once("://").map_or(written, |(_, rest)| rest);
        let bare = bare.strip_prefix("www.").unwrap_or(bare);
        let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || "*@?#".contains(c)) {
            return Err(flaw!(
                "'{pattern}' is neither a site, such as youtube.com, nor a media type, such as audio/*"
            ));
        }
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        Ok(Self { pattern: OpenPattern::Site { host: host.to_ascii_lowercase(), path }, command })
    }

    /// Returns how closely the rule fits an address, as the length of its pattern; `None` if it does not fit.
    fn fit_of_link(&self, link: &str) -> Option<usize> {
        let OpenPattern::Site { host: wanted, path } = &self.pattern else { return None };
        let (host, rest) = host_and_path(link)?;
        let below = host.strip_suffix(wanted.as_str())?;
        let is_host = below.is_empty() || below.ends_with('.');
        let fits = is_host && rest.starts_with(path.as_str());
        fits.then(|| wanted.len().saturating_add(path.len()))
    }

    fn fit_of_media(&self, media_type: &str) -> Option<usize> {
        let OpenPattern::Media(wanted) = &self.pattern else { return None };
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let fits = if wanted.ends_with('/') {
            media_type.to_ascii_lowercase().starts_with(wanted.as_str())
        } else {
            media_type.eq_ignore_ascii_case(wanted)
        };
        fits.then_some(wanted.len())
    }
}

/// Returns the host of an address, and what follows it.
fn host_and_path(link: &str) -> Option<(String, String)> {
    let url = url::Url::parse(link).ok()?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some((url.host_str()?.trim_end_matches('.').to_owned(), format!("{}{query}", url.path())))
}

/// Returns the program for an address. The longest pattern that fits decides.
pub fn command_for_link<'r>(rules: &'r [OpenRule], link: &str) -> Option<&'r ExternalCommand> {
    let fitting = rules.iter().filter_map(|rule| Some((rule.fit_of_link(link)?, rule)));
    fitting.max_by_key(|(fit, _)| *fit).map(|(_, rule)| &rule.command)
}

/// Returns the program for a media type. The longest pattern that fits decides.
pub fn command_for_media<'r>(
    rules: &'r [OpenRule],
    media_type: &str,
) -> Option<&'r ExternalCommand> {
    let fitting = rules.iter().filter_map(|rule| Some((rule.fit_of_media(media_type)?, rule)));
    fitting.max_by_key(|(fit, _)| *fit).map(|(_, rule)| &rule.command)
}

#[cfg(test)]
mod tests {
    use crate::engine::external_command::*;

    fn typed(text: &str) -> (Vec<String>, bool, bool) {
        let command = ExternalCommand::typed(text).unwrap();
        (command.words, command.on_terminal, command.json)
    }

    #[test]
    fn only_mpv_begins_at_a_time() {
        for (text, expected) in [
            ("mpv --fs", "mpv --start=754 --fs"),
            ("/usr/bin/mpv", "/usr/bin/mpv --start=754"),
            ("umpv", "umpv"),
            ("vlc x", "vlc x"),
        ] {
            let command = ExternalCommand::typed(text).unwrap();
            assert_eq!(command.clone().starting_at(754).words.join(" "), expected);
            assert_eq!(command.clone().starting_at(0), command);
        }
    }

    #[test]
    fn words_of_a_shell_are_refused_at_the_prompt() {
        for (text, word) in [
            ("cat > file", ">"),
            ("a >>b", ">>b"),
            ("a | b", "|"),
            ("a 2>&1", "2>&1"),
            ("a && b", "&&"),
        ] {
            let why = ExternalCommand::typed_at_prompt(text).unwrap_err();
            assert!(why.starts_with(&format!("no shell runs the command, so '{word}'")), "{why}");
            assert!(why.ends_with(&format!("type sh -c '{text}'")), "{why}");
        }
        for text in ["sh -c 'cat > file'", "grep '>' x", "grep \"a | b\"", "mail -s a&b"] {
            assert!(ExternalCommand::typed_at_prompt(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn command_is_split_like_a_shell_without_running_one() {
        for (text, words, on_terminal, json) in [
            ("mpv --no-video", vec!["mpv", "--no-video"], false, false),
            ("sh -c 'cat > \"a b\"'", vec!["sh", "-c", "cat > \"a b\""], false, false),
            ("a $(b) ; c | d", vec!["a", "$(b)", ";", "c", "|", "d"], false, false),
            ("!htop", vec!["htop"], true, false),
            ("! vim -", vec!["vim", "-"], true, false),
            ("env LANG=C lynx", vec!["env", "LANG=C", "lynx"], true, false),
            ("/usr/bin/less -R", vec!["/usr/bin/less", "-R"], true, false),
            ("json: jq .title", vec!["jq", ".title"], false, true),
            ("!json:jq", vec!["jq"], true, true),
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_eq!(typed(text), (words, on_terminal, json), "{text}");
        }
    }

    #[test]
    fn a_command_that_names_nothing_is_refused() {
        for text in ["", "  ", "!", "json:", "''", "a 'b"] {
            assert!(ExternalCommand::typed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_step_gets_address_and_title_as_words() {
        let link = "https://a.example/?q=a b;$(rm)";
        for (text, title, words) in [
            ("add {link} --title={title}", "{link} x", vec!["add", link, "--title={link} x"]),
            ("mail -s {title} me", "--rm -x", vec!["mail", "-s", "rm -x", "me"]),
            ("keep {link} '' --of={feed}", "x", vec!["keep", link, "", "--of=A {title}"]),
            ("true", "x", vec!["true"]),
        ] {
            let command = ExternalCommand::typed(text).unwrap();
            assert_eq!(command.check_for_values(), Ok(()));
            assert_eq!(command.with_values(link, title, "A {title}").words, words);
        }
        for text in [
            "sh -c {link}",
            "sh -c {title}",
            "sh -c {feed}",
            "sh -c 'add {link}'",
            "{title}",
            "x a{title}",
        ] {
            assert!(ExternalCommand::typed(text).unwrap().check_for_values().is_err(), "{text}");
        }
    }

    #[test]
    fn address_is_one_word_at_any_position() {
        let link = "https://a.example/?q=a b;rm -rf ~";
        for (text, words) in [
            ("firefox", vec!["firefox", link]),
            (
                "firefox --url={link} -x",
                vec!["firefox", "--url=https://a.example/?q=a b;rm -rf ~", "-x"],
            ),
        ] {
            assert_eq!(ExternalCommand::typed(text).unwrap().with_link(link).words, words);
        }
    }
}

#[cfg(test)]
mod link_place_tests {
    use crate::engine::external_command::ExternalCommand;
    use backissue_core::InputFlaw;

    fn check(text: &str) -> Result<(), InputFlaw> {
        ExternalCommand::typed(text).unwrap().check_for_links()
    }

    #[test]
    fn address_in_the_code_position_is_refused() {
        for text in [
            "sh -c",
            "sh -e -c {link}",
            "sh -c 'x' sh -c {link}",
            "bash -lc {link}",
            "bash -c -o pipefail {link}",
            "bash -euo pipefail -c {link}",
            "bash -c -- {link}",
            "bash -co pipefail {link}",
            "bash -ceuo pipefail {link}",
            "bash -c -oe pipefail {link}",
            "bash -euxlc {link}",
            "sh -c +x {link}",
            "/usr/bin/zsh -euxlc {link}",
            "env A=1 bash5 -xveuc {link}",
            "perl -lanpe {link}",
            "perl -0777ne {link}",
            "pwsh -Command {link}",
            "powershell.exe -NoProfile -command {link}",
            "emacs -eval {link}",
            "php -r {link}",
            "php8.2 -r {link}",
            "node -p {link}",
            "gdb -ex {link}",
            "su --session-command={link}",
            "su --comm {link}",
            "bash -c x={link}",
            "env A=1 zsh -c {link}",
            "env -S 'sh -c' {link}",
            "docker run --entrypoint sh image -ce {link}",
            "busybox sh -c {link}",
            "su -c {link}",
            "script -c {link}",
            "fish --command {link}",
            "fish --command={link}",
            "fish -C {link}",
            "nu -e {link}",
            "node --eval={link}",
            "nodejs -pe {link}",
            "perl -E {link}",
            "perl -I lib -e {link}",
            "perl -e 1 -e {link}",
            "ruby3.2 -ne {link}",
            "osascript -e {link}",
            "vim -c {link}",
            "nvim --cmd {link}",
            "flock f -c x={link}",
            "xterm -e {link}",
            "xterm -e a={link}",
            "gnome-terminal --command {link}",
            "emacsclient --eval {link}",
        ] {
            let why = check(text).expect_err(text);
            assert!(why.contains("must not be the code"), "{text}: {why}");
        }
    }

    #[test]
    fn an_address_after_the_code_is_accepted() {
        for text in [
            "firefox",
            "firefox --url={link} -x",
            "mpv --no-video -- {link}",
            "mpv --script-opts=a=1,url={link}",
            "!mpv",
            "w3m -cookie {link}",
            "lynx -accept_all_cookies {link}",
            "wget {link} -c",
            "sh -c 'firefox \"$1\"' sh {link}",
            "sh -c 'firefox \"$0\"'",
            "bash -euo pipefail -c 'mpv \"$1\"' bash {link}",
            "timeout 10 sh -c 'mpv \"$1\"' sh {link}",
            "xterm -e sh -c 'w3m \"$1\"' sh {link}",
            "env URL={link} sh -c 'firefox \"$URL\"'",
            "xterm -e w3m {link}",
            "tmux split-window -h w3m {link}",
            "flatpak-spawn --host firefox {link}",
            "python3 -m webbrowser -t {link}",
            "ruby -rjson open.rb {link}",
            "bash -c 'ssh desk mpv \"${1@Q}\"' bash {link}",
            "mpv --profile=low {link}",
            "wget --continue {link}",
            "curl --compressed {link}",
            "perl -we 'exec \"mpv\", @ARGV' {link}",
            "node my-script.js {link}",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn an_address_inside_another_word_is_refused() {
        for text in [
            "firefox x{link}",
            "firefox {link}x",
            "firefox a={link}{link}",
            "sh -c 'firefox {link}'",
            "python3 -c 'open(\"{link}\")'",
            "su me -c 'firefox {link}'",
            "xterm -e 'firefox --url={link}'",
            "firefox '\"a\"={link}'",
            "firefox '$(x)={link}'",
        ] {
            assert!(check(text).unwrap_err().contains("a separate word"), "{text}");
        }
        assert!(check("{link}").unwrap_err().contains("must not name the program"));
    }
}

#[cfg(test)]
mod open_rules_tests {
    use super::*;

    fn rules(patterns: &[&str]) -> Vec<OpenRule> {
        let rule = |pattern: &&str| {
            OpenRule::new(pattern, ExternalCommand::typed(&format!("p '{pattern}'")).unwrap())
        };
        patterns.iter().map(|pattern| rule(pattern).unwrap()).collect()
    }

    #[test]
    fn the_longest_fitting_pattern_opens_an_address() {
        let rules = rules(&[
            "youtube.com",
            "www.Example.org",
            "example.org/Videos",
            "audio/*",
            "audio/mpeg",
        ]);
        let program = |link: &str| {
            command_for_link(&rules, link).map(|command| command.arguments()[0].clone())
        };
        for (link, pattern) in [
            ("https://youtube.com/watch?v=1", Some("youtube.com")),
            ("https://www.youtube.com/", Some("youtube.com")),
            ("HTTPS://M.YouTube.com:443/x", Some("youtube.com")),
            ("https://notyoutube.com/", None),
            ("https://youtube.com.evil.example/", None),
            ("https://evil.example/youtube.com", None),
            ("https://youtube.com@evil.example/", None),
            ("https://example.org/", Some("www.Example.org")),
            ("https://example.org/Videos/1", Some("example.org/Videos")),
            ("mailto:a@youtube.com", None),
        ] {
            assert_eq!(program(link).as_deref(), pattern, "{link}");
        }
        for (media, pattern) in [
            ("audio/ogg", Some("audio/*")),
            ("Audio/MPEG; charset=x", Some("audio/mpeg")),
            ("video/mp4", None),
            ("", None),
        ] {
            let found =
                command_for_media(&rules, media).map(|command| command.arguments()[0].clone());
            assert_eq!(found.as_deref(), pattern, "{media}");
        }
        for wrong in ["", "*.example", "a b", "/path", "me@example.org"] {
            let command = ExternalCommand::typed("mpv").unwrap();
            assert!(OpenRule::new(wrong, command).is_err(), "{wrong}");
        }
    }
}
