//! Where an address may stand in a command of the reader's own: a publisher wrote it, so it must never become text that
//! a shell or another interpreter runs.

/// What stands for an address in a command.
pub(super) const LINK: &str = "{link}";

/// Shells: the word behind `-c` is text that they run.
const SHELLS: [&str; 13] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "yash", "nu",
];
/// Other interpreters, and programs that start a shell: each with the letters of the options that bring text to run.
const INTERPRETERS: [(&str, &str); 10] = [
    ("python", "c"),
    ("perl", "eE"),
    ("ruby", "e"),
    ("node", "ep"),
    ("deno", "e"),
    ("lua", "e"),
    ("php", "rBRE"),
    ("osascript", "e"),
    ("su", "c"),
    ("script", "c"),
];
/// Programs that hand all their words to a shell.
const JOINERS: [&str; 9] =
    ["ssh", "eval", "watch", "swaymsg", "i3-msg", "hyprctl", "parallel", "tmux", "rsh"];

/// Programs that start the one behind them.
const STARTERS: [&str; 12] = [
    "env",
    "nohup",
    "setsid",
    "nice",
    "ionice",
    "sudo",
    "doas",
    "exec",
    "command",
    "time",
    "timeout",
    "systemd-run",
];

/// Says whether an address may be put into a command; the error is a sentence with the right form.
pub(super) fn check_link_place(words: &[String]) -> Result<(), String> {
    let program = words.first().map_or("", String::as_str);
    let is_placed = words.iter().any(|word| word.contains(LINK));
    if let Some(name) = started_name(words).filter(|name| JOINERS.contains(name)) {
        return Err(format!(
            "'{name}' hands its words to a shell, which would run what a publisher wrote into an address; name a program that takes the address as a word"
        ));
    }
    let script = find_script(words);
    let is_script = |at: usize| script.is_some_and(|script| script.at == at);
    // Without a place of its own the address is the last word.
    let added = if is_placed { None } else { Some(words.len()) };
    let stands_in_it =
        words.iter().enumerate().any(|(at, word)| word.contains(LINK) && is_script(at));
    if let Some(script) = script.filter(|_| stands_in_it || added.is_some_and(is_script)) {
        return Err(format!(
            "{LINK} must not stand in the text that {} runs: what a publisher wrote into an address would be run with it; write {}",
            script.program,
            script.right_form()
        ));
    }
    let is_alone = |word: &&String| {
        let before = word.strip_suffix(LINK);
        before.is_some_and(|before| {
            before.is_empty() || (before.ends_with('=') && !before.contains(LINK))
        })
    };
    match words.iter().skip(1).filter(|word| word.contains(LINK)).find(|word| !is_alone(word)) {
        Some(word) => Err(format!(
            "{LINK} must be a word of its own, or stand behind '=': '{word}' is neither"
        )),
        None if program.contains(LINK) => {
            Err(format!("{LINK} must not name the program that is started"))
        }
        None => Ok(()),
    }
}

/// Text that an interpreter runs.
#[derive(Clone, Copy)]
struct Script<'a> {
    /// Its place among the words.
    at: usize,
    /// The interpreter.
    program: &'a str,
    is_shell: bool,
}

impl Script<'_> {
    fn right_form(self) -> String {
        let name = self.program;
        if self.is_shell {
            format!("{name} -c 'firefox \"$1\"' {name} {LINK}")
        } else {
            format!("a script of your own, and {LINK} as its argument")
        }
    }
}

/// Finds the text that the first interpreter among the words runs: `env`, `nohup` and the like may stand before it.
fn find_script(words: &[String]) -> Option<Script<'_>> {
    let named = words.iter().enumerate().find_map(|(at, word)| {
        let name = name_of(word);
        if SHELLS.contains(&name) {
            return Some((at, name, "c", true));
        }
        let found = INTERPRETERS.iter().find(|(known, _)| {
            // python3, python3.13
            name.strip_prefix(known)
                .is_some_and(|rest| rest.chars().all(|char| char.is_ascii_digit() || char == '.'))
        });
        found.map(|(_, letters)| (at, name, *letters, false))
    });
    let (at, program, letters, is_shell) = named?;
    let begin = at.saturating_add(1);
    let option = words.iter().enumerate().skip(begin).find(|(_, word)| brings_text(word, letters));
    let (option, word) = option?;
    // `--command=TEXT`, `-eTEXT`
    let holds_it = word.contains(LINK);
    let text = if holds_it { Some(option) } else { first_operand(words, option) };
    // Nothing stands behind the option: the address would.
    Some(Script { at: text.unwrap_or(words.len()), program, is_shell })
}

/// The first word behind a place that is no option.
fn first_operand(words: &[String], behind: usize) -> Option<usize> {
    let mut rest = words.iter().enumerate().skip(behind.saturating_add(1));
    rest.find(|(_, word)| !word.starts_with(['-', '+'])).map(|(at, _)| at)
}

/// Whether a word is an option that brings text to run.
fn brings_text(word: &str, letters: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or_default();
        return matches!(name, "command" | "eval" | "exec" | "print" | "execute");
    }
    word.strip_prefix('-').is_some_and(|short| short.chars().any(|char| letters.contains(char)))
}

/// The name of the program that is started in the end.
fn started_name(words: &[String]) -> Option<&str> {
    let is_before = |word: &&String| {
        STARTERS.contains(&name_of(word)) || word.starts_with('-') || word.contains('=')
    };
    words.iter().find(|word| !is_before(word)).map(|word| name_of(word))
}

/// The name of a program, without its folder.
fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::engine::external::external_command::ExternalCommand;

    fn told(text: &str) -> Result<(), String> {
        ExternalCommand::typed(text).unwrap().check_for_links()
    }

    #[test]
    fn an_address_in_the_text_of_a_shell_is_refused_with_the_right_form() {
        for text in [
            "sh -c 'firefox {link}'",
            "sh -c 'firefox \"{link}\"'",
            "/bin/bash -c 'x={link}'",
            "bash -lc {link}",
            "sh -c",
            "sh -e -c {link}",
            "env A=1 zsh -c 'open {link}'",
            "nohup fish --command='open {link}'",
            "fish --command {link}",
            "!sh -c 'less {link}'",
            "python3.13 -c 'open(\"{link}\")'",
            "perl -e {link}",
            "node --eval={link}",
            "su me -c 'firefox {link}'",
        ] {
            let why = told(text).expect_err(text);
            assert!(
                why.contains("must not stand in the text that") && why.contains("; write "),
                "{why}"
            );
            assert!(!why.contains('\n'), "{why}");
        }
        let why = told("bash -c 'firefox {link}'").unwrap_err();
        assert!(why.ends_with("write bash -c 'firefox \"$1\"' bash {link}"), "{why}");
    }

    #[test]
    fn programs_that_hand_their_words_to_a_shell_get_no_address() {
        for text in [
            "ssh desk firefox {link}",
            "ssh desk mpv",
            "env A=1 ssh desk {link}",
            "swaymsg exec {link}",
            "tmux new-window",
        ] {
            assert!(told(text).unwrap_err().contains("hands its words to a shell"), "{text}");
        }
    }

    #[test]
    fn an_address_is_a_word_of_its_own_or_stands_behind_an_equals_sign() {
        for text in [
            "firefox",
            "firefox {link}",
            "firefox --url={link} -x",
            "mpv --no-video -- {link}",
            "sh -c 'firefox \"$1\"' sh {link}",
            "sh -c 'firefox \"$0\"'",
            "bash my-script",
            "my-python-script {link}",
            "dbus-send string:x url={link}",
        ] {
            assert_eq!(told(text), Ok(()), "{text}");
        }
        for text in
            ["firefox x{link}", "firefox {link}x", "firefox a={link}{link}", "wget 'x {link}'"]
        {
            assert!(told(text).unwrap_err().contains("a word of its own"), "{text}");
        }
        assert!(told("{link}").unwrap_err().contains("must not name the program"));
    }
}
