//! Checks where a user's command uses an address. A publisher wrote the address, so it must never become code that a
//! shell or another interpreter runs.
//!
//! 1. `{link}` must be a separate word, or the value in `name={link}`.
//! 2. `{link}` must not be the name of the program.
//! 3. After an option that takes code (`-c`, `-e`, `--eval`, …), the code must come first, and `{link}` after the code.
//!
//! A program that passes all its arguments to a shell, such as `ssh`, cannot be recognized. In such a command, the user must quote
//! `{link}`.

use backissue_core::{InputFlaw, flaw};
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
pub(super) fn check_link_place(words: &[String]) -> Result<(), InputFlaw> {
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

#[cfg(test)]
mod tests {
    use crate::engine::external::external_command::ExternalCommand;
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
