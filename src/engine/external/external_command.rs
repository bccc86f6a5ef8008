//! A user's external command: a program with its arguments. The command is not run by a shell.
//!
//! A command line is split into words as a shell would split it, with no other shell syntax. To use a shell, write `sh -c '...'`.
//! A leading `!` gives the command the terminal until it ends.

use serde::{Deserialize, Serialize};

use super::link_place::{LINK, check_link_place};
use backissue_core::{InputFlaw, flaw};

/// Placeholder for the title of an entry in a command.
const TITLE: &str = "{title}";
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

    /// Checks that a step of an own command does not use an address or a title as code (SPEC G.52). The error is a sentence.
    pub fn check_for_values(&self) -> Result<(), InputFlaw> {
        let words: Vec<String> = self.words.iter().map(|word| word.replace(TITLE, LINK)).collect();
        let has_any = words.iter().any(|word| word.contains(LINK));
        if has_any { check_link_place(&words) } else { Ok(()) }
    }

    /// Returns the command with the address inserted for `{link}` and the title for `{title}`. Neither is ever split into several
    /// words. A title cannot be mistaken for an option.
    #[must_use]
    pub fn with_values(&self, link: &str, title: &str) -> Self {
        let title = title.trim_start_matches(['-', ' ']);
        let words = self.words.iter().map(|word| match word.split_once(TITLE) {
            Some((before, after)) => format!("{before}{title}{after}"),
            None => word.replace(LINK, link),
        });
        Self { words: words.collect(), ..*self }
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

#[cfg(test)]
mod tests {
    use crate::engine::external::external_command::*;

    fn typed(text: &str) -> (Vec<String>, bool, bool) {
        let command = ExternalCommand::typed(text).unwrap();
        (command.words, command.on_terminal, command.json)
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
            ("true", "x", vec!["true"]),
        ] {
            let command = ExternalCommand::typed(text).unwrap();
            assert_eq!(command.check_for_values(), Ok(()));
            assert_eq!(command.with_values(link, title).words, words);
        }
        for text in ["sh -c {link}", "sh -c {title}", "sh -c 'add {link}'", "{title}", "x a{title}"]
        {
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
