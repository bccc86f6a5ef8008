//! Programs that take words for text to run: shells, other interpreters, and programs that hand their words to a shell. What
//! cannot be told for sure is taken for the worse.

/// What stands for an address in a command.
pub(super) const LINK: &str = "{link}";

/// Shells whose `-c` makes the first word that is no option the text; the one behind it is `$0`, and the rest are `$1` and on.
const SHELLS: [&str; 18] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "lksh", "pdksh", "oksh", "loksh", "ash", "hush",
    "posh", "rbash", "rksh", "rzsh", "yash", "osh",
];
/// Long options of theirs that take no value.
const PLAIN_OPTIONS: [&str; 7] =
    ["login", "norc", "noprofile", "posix", "restricted", "noediting", "verbose"];
/// Other interpreters, each with the letters of the options whose next word is text to run.
const INTERPRETERS: [(&str, &str); 29] = [
    ("fish", "cC"),
    ("csh", "c"),
    ("tcsh", "c"),
    ("nu", "ce"),
    ("elvish", "c"),
    ("xonsh", "c"),
    ("python", "c"),
    ("pythonw", "c"),
    ("pypy", "c"),
    ("perl", "eE"),
    ("ruby", "e"),
    ("jruby", "e"),
    ("raku", "e"),
    ("node", "ep"),
    ("nodejs", "ep"),
    ("lua", "e"),
    ("luajit", "e"),
    ("php", "rBRE"),
    ("osascript", "e"),
    ("tclsh", "c"),
    ("wish", "c"),
    ("expect", "c"),
    ("guile", "c"),
    ("gjs", "c"),
    ("julia", "eE"),
    ("rscript", "e"),
    ("racket", "e"),
    ("elixir", "e"),
    ("janet", "e"),
];
/// How many of them, from the first, are shells: who uses one is shown the right form of `sh`.
const OTHER_SHELLS: usize = 6;
/// Programs that hand all their words to a shell, or run what they are given in another way.
const JOINERS: [&str; 64] = [
    // On another machine, or as another user
    "ssh",
    "slogin",
    "autossh",
    "mosh",
    "rsh",
    "remsh",
    "dbclient",
    "plink",
    "adb",
    "wsl",
    "su",
    "runuser",
    "sg",
    "newgrp",
    // Shells of other systems
    "cmd",
    "command.com",
    "powershell",
    "pwsh",
    // What is repeated, recorded, measured or made
    "eval",
    "watch",
    "viddy",
    "parallel",
    "sem",
    "script",
    "hyperfine",
    "make",
    "gmake",
    "just",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "gsed",
    "nix",
    "nix-shell",
    "timeit",
    // What is fetched and run
    "deno",
    "bun",
    "bunx",
    "npx",
    "pipx",
    "uvx",
    // Windows, and what is typed into them
    "swaymsg",
    "i3-msg",
    "hyprctl",
    "riverctl",
    "awesome-client",
    "qtile",
    "tilix",
    "tilda",
    "guake",
    "yakuake",
    "terminator",
    "terminology",
    "sakura",
    "lxterminal",
    "qterminal",
    "send-text",
    "send-keys",
    "write-chars",
    "stuff",
    "run-shell",
    "if-shell",
];
/// Programs that take text to run behind some of their options only.
const TEXT_OPTIONS: [(&str, &[&str]); 11] = [
    ("env", &["S", "split-string"]),
    ("sudo", &["s", "i", "shell", "login"]),
    ("flock", &["c", "command"]),
    ("screen", &["X"]),
    ("vim", &["c", "S", "cmd"]),
    ("nvim", &["c", "S", "cmd"]),
    ("gvim", &["c", "S", "cmd"]),
    ("vi", &["c", "cmd"]),
    ("view", &["c", "cmd"]),
    ("ex", &["c", "cmd"]),
    ("gdb", &["ex", "eval-command"]),
];
/// Commands of tmux that start a program themselves if it has an argument.
const TMUX_STARTERS: [&str; 6] =
    ["new-window", "neww", "split-window", "splitw", "new-session", "new"];
/// Options of theirs without a value.
const TMUX_LETTERS: &str = "adhvP";

/// What would run an address: the error is a sentence with the right form. The last word has the address.
pub(super) fn check_for_runners(words: &[&str]) -> Result<(), String> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let begin = at.saturating_add(1);
        at = match kind_of(word) {
            _ if word.contains(LINK) => begin,
            Kind::Plain => begin,
            Kind::Joiner => return Err(joins(word)),
            Kind::Tmux => behind_tmux(words, begin).ok_or_else(|| joins("tmux"))?,
            Kind::Shell => behind_shell(words, begin).ok_or_else(|| runs(word, Form::OwnShell))?,
            Kind::Interpreter { letters, form } => {
                behind_interpreter(words, begin, letters).ok_or_else(|| runs(word, form))?
            }
            Kind::TextOptions(options) => {
                check_options(word, words.get(begin..).unwrap_or_default(), options)?;
                begin
            }
        };
    }
    Ok(())
}

/// What a word is if it names a program.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Plain,
    Joiner,
    Tmux,
    Shell,
    Interpreter { letters: &'static str, form: Form },
    TextOptions(&'static [&'static str]),
}

/// What a reader is shown as the right form.
#[derive(Debug, Clone, Copy)]
enum Form {
    OwnShell,
    AnyShell,
    Script,
}

fn kind_of(word: &str) -> Kind {
    let lower = word.to_ascii_lowercase();
    let file = lower.rsplit(['/', '\\']).next().unwrap_or_default();
    let endings = [".exe", ".bat", ".cmd", "-static", ".static"];
    let whole = endings.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file);
    // python3.12, ksh93, bash-5.2
    let bare = whole.trim_end_matches(|char: char| char.is_ascii_digit() || "-._".contains(char));
    let is_named = |name: &str| name == whole || name == bare;
    if JOINERS.iter().any(|name| is_named(name)) {
        return Kind::Joiner;
    }
    if is_named("tmux") {
        return Kind::Tmux;
    }
    if SHELLS.iter().any(|name| is_named(name)) {
        return Kind::Shell;
    }
    if let Some(at) = INTERPRETERS.iter().position(|(name, _)| is_named(name)) {
        let letters = INTERPRETERS.get(at).map_or("", |(_, letters)| *letters);
        let form = if at < OTHER_SHELLS { Form::AnyShell } else { Form::Script };
        return Kind::Interpreter { letters, form };
    }
    let options = TEXT_OPTIONS.iter().find(|(name, _)| is_named(name));
    options.map_or(Kind::Plain, |(_, options)| Kind::TextOptions(options))
}

/// Where what a shell does not run begins; `None`: the address is run, or it cannot be told.
fn behind_shell(words: &[&str], begin: usize) -> Option<usize> {
    let (mut at, mut takes_text, mut is_sure, mut options_end) = (begin, false, true, false);
    loop {
        // An address that is met here is an option, the text or the name of a script.
        let word = words.get(at).filter(|word| !word.contains(LINK))?;
        at = at.saturating_add(1);
        if !options_end && matches!(*word, "--" | "-") {
            options_end = true;
        } else if let Some(long) = word.strip_prefix("--").filter(|_| !options_end) {
            is_sure &= PLAIN_OPTIONS.contains(&long);
        } else if let Some(short) = word.strip_prefix(['-', '+']).filter(|_| !options_end) {
            takes_text |= short.contains('c');
            let valued = short.matches(['o', 'O']).count();
            if valued == 1 && short.ends_with(['o', 'O']) {
                words.get(at).filter(|value| !value.contains(LINK))?;
                at = at.saturating_add(1);
            } else {
                is_sure &= valued == 0;
            }
            // `-s`, and options that have values in some shells
            is_sure &=
                !short.contains(|char: char| !char.is_ascii_alphabetic() || "sRT".contains(char));
        } else if takes_text {
            // Behind the text stands `$0`, which is often the name of a shell.
            return is_sure.then(|| at.saturating_add(1));
        } else {
            return behind_script(words, begin, at, "c");
        }
    }
}

/// The same for another interpreter.
fn behind_interpreter(words: &[&str], begin: usize, letters: &str) -> Option<usize> {
    let (mut at, mut has_text) = (begin, false);
    loop {
        let word = words.get(at)?;
        let is_operand = !word.starts_with('-') || *word == "-";
        if has_text && (is_operand || *word == "--") {
            return no_text_follows(words, at, letters);
        }
        if word.contains(LINK) {
            return None;
        }
        at = at.saturating_add(1);
        if *word == "-m" {
            // A module of Python, and its arguments.
            words.get(at).filter(|module| !module.contains(LINK))?;
            return no_text_follows(words, at, letters);
        }
        if brings_text(word, letters) {
            has_text = true;
            if !word.contains('=') {
                words.get(at).filter(|text| !text.contains(LINK) && !text.starts_with('-'))?;
                at = at.saturating_add(1);
            }
        } else if is_operand {
            return behind_script(words, begin, at, letters);
        }
    }
}

/// The place behind the name of a script. If it is not surely one (options stand before it, or what looks like an interpreter is
/// no more than a word for another program), no option behind it may bring text.
fn behind_script(words: &[&str], begin: usize, at: usize, letters: &str) -> Option<usize> {
    if (begin, at) == (1, 2) { Some(at) } else { no_text_follows(words, at, letters) }
}

/// A place, if no option behind it could bring text to run.
fn no_text_follows(words: &[&str], at: usize, letters: &str) -> Option<usize> {
    let may_bring = |word: &&str| match word.strip_prefix('-') {
        Some(short) if !short.starts_with('-') => short.contains(|char| letters.contains(char)),
        _ => brings_text(word, letters),
    };
    let rest = words.get(at..).unwrap_or_default();
    (!rest.iter().any(may_bring)).then_some(at)
}

/// Whether the word behind this one may be text to run, or text stands behind its `=`.
fn brings_text(word: &str, letters: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        return is_text_option(long);
    }
    word.strip_prefix('-').is_some_and(|short| {
        short.ends_with(|char| letters.contains(char))
            && short.chars().all(|char| char.is_ascii_alphabetic())
    })
}

/// Long options that bring text, whatever the program.
pub(super) fn is_text_option(long: &str) -> bool {
    let name = long.split('=').next().unwrap_or_default();
    matches!(
        name,
        "command" | "commands" | "init-command" | "eval" | "exec" | "execute" | "print" | "run"
    )
}

/// Where the program that tmux starts without a shell stands; `None`: a shell may get the address, or tmux reads it itself.
fn behind_tmux(words: &[&str], begin: usize) -> Option<usize> {
    words.get(begin).filter(|command| TMUX_STARTERS.contains(command))?;
    let mut at = begin.saturating_add(1);
    while let Some(letters) = words.get(at)?.strip_prefix('-') {
        if !letters.chars().all(|char| TMUX_LETTERS.contains(char)) {
            return None;
        }
        at = at.saturating_add(1);
    }
    // One word alone is text for a shell; `;` begins a command of tmux.
    let program = words.get(at).filter(|word| !word.contains(LINK) && !word.contains('='))?;
    let joined = words.get(at..).unwrap_or_default().iter().any(|word| word.ends_with(';'));
    (!program.is_empty() && !joined).then_some(at)
}

fn check_options(program: &str, words: &[&str], options: &[&str]) -> Result<(), String> {
    let is_one = |word: &str| {
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            return name.len() > 1
                && options.iter().any(|option| option.len() > 2 && option.starts_with(name));
        }
        // `-iS`, `-Sx`
        word.strip_prefix('-').is_some_and(|short| {
            short.len() < 4
                && options.iter().any(|option| option.len() < 3 && short.contains(option))
        })
    };
    match words.iter().find(|word| is_one(word)) {
        Some(option) => Err(format!(
            "behind '{option}' '{program}' may take text to run, and with it what a publisher wrote into an address; write the command without '{option}'"
        )),
        None => Ok(()),
    }
}

fn joins(word: &str) -> String {
    format!(
        "'{}' hands its words to a shell or runs them itself, and with them what a publisher wrote into an address; name a program that takes the address as a word",
        name_of(word)
    )
}

fn runs(word: &str, form: Form) -> String {
    let name = name_of(word);
    let right = match form {
        Form::OwnShell => format!("{name} -c 'firefox \"$1\"' {name} {LINK}"),
        Form::AnyShell => format!("sh -c 'firefox \"$1\"' sh {LINK}"),
        Form::Script => format!("a script of your own, and {LINK} as its argument"),
    };
    format!(
        "{LINK} must not stand in the text that {name} runs: what a publisher wrote into an address would be run with it; write {right}"
    )
}

/// The name of a program, without its folder.
fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}
