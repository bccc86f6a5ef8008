//! A command of the reader's own: words for a program to be started with, never a text for a shell.
//!
//! A text is split into words as a shell would split it, and that is all of a shell there is: who wants one writes
//! `sh -c '...'`. A `!` in front gives the command the terminal until it ends.

use serde::{Deserialize, Serialize};

use super::link_place::{LINK, check_link_place};

/// What a text in front of a piped command asks for.
const JSON: &str = "json:";

/// Programs that need the terminal also where no `!` says so.
const ON_TERMINAL: [&str; 20] = [
    "less", "more", "most", "vi", "vim", "view", "nvim", "nano", "micro", "hx", "kak", "joe",
    "mcedit", "w3m", "lynx", "links", "elinks", "fzf", "mutt", "aerc",
];

/// A command that can be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalCommand {
    /// The program and its arguments; never empty.
    words: Vec<String>,
    /// It needs the terminal: the screen makes room until it ends.
    pub on_terminal: bool,
    /// It wants JSON on its standard input where it would get text.
    pub json: bool,
}

impl ExternalCommand {
    /// A command as it is typed; an error is a sentence.
    pub fn typed(text: &str) -> Result<Self, String> {
        let words =
            shell_words::split(text).map_err(|_| format!("a quote in '{text}' is not closed"))?;
        Self::listed(words)
    }

    /// A command as a list of words; an error is a sentence.
    pub fn listed(words: Vec<String>) -> Result<Self, String> {
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
            return Err("this command names no program".into());
        };
        let name = program.rsplit('/').next().unwrap_or_default();
        let on_terminal = asked || ON_TERMINAL.contains(&name);
        Ok(Self { on_terminal, json, words: words.into() })
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Says whether addresses may be put into it (SPEC G.52); the error is a sentence with the right form.
    pub fn check_for_links(&self) -> Result<(), String> {
        check_link_place(&self.words)
    }

    /// The same for an address: in place of `{link}`, else as the last word. It is one word whatever stands in it.
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
    fn a_command_is_split_as_a_shell_splits_it_and_goes_through_none() {
        for (text, words, on_terminal, json) in [
            ("mpv --no-video", vec!["mpv", "--no-video"], false, false),
            ("sh -c 'cat > \"a b\"'", vec!["sh", "-c", "cat > \"a b\""], false, false),
            ("a $(b) ; c | d", vec!["a", "$(b)", ";", "c", "|", "d"], false, false),
            ("!htop", vec!["htop"], true, false),
            ("! vim -", vec!["vim", "-"], true, false),
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
    fn an_address_is_one_word_wherever_it_stands() {
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
