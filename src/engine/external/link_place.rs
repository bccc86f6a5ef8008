//! Where an address may stand in a command of the reader's own: a publisher wrote it, so it must never become text that
//! a shell or another interpreter runs.

use super::text_runners::{LINK, check_for_runners, is_text_option};

/// Says whether an address may be put into a command; the error is a sentence with the right form.
pub(super) fn check_link_place(words: &[String]) -> Result<(), String> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.iter().rposition(|word| word.contains(LINK)) {
        // What stands behind it does not get it.
        Some(last) => words.truncate(last.saturating_add(1)),
        // Without a place of its own the address is the last word.
        None => words.push(LINK),
    }
    check_for_runners(&words)?;
    if words.first().is_some_and(|program| program.contains(LINK)) {
        return Err(format!("{LINK} must not name the program that is started"));
    }
    if let Some(word) = words.iter().find(|word| word.contains(LINK) && !is_alone(word)) {
        return Err(format!(
            "{LINK} must be a word of its own, or stand behind '=' and a name: '{word}' is neither"
        ));
    }
    match words.iter().zip(words.iter().skip(1)).find(|(before, word)| is_text(before, word)) {
        Some((option, word)) => Err(format!(
            "'{word}' behind '{option}' may be text to run, and with it what a publisher wrote into an address; name the program that is to get the address behind '{option}', or a script of your own"
        )),
        None => Ok(()),
    }
}

/// Whether the address is a word of its own, or the value of what stands before it. A name without blanks and quotes is none of
/// a program with its arguments, which a terminal would hand to a shell.
fn is_alone(word: &str) -> bool {
    let Some(before) = word.strip_suffix(LINK) else { return false };
    let is_name = |char: char| char.is_alphanumeric() || "-_.:/+,=".contains(char);
    before.is_empty() || (before.ends_with('=') && before.chars().all(is_name))
}

/// Whether a word with the address is all that an option would have run, as `-e` of a terminal.
fn is_text(before: &str, word: &str) -> bool {
    let own = word.strip_prefix("--").is_some_and(is_text_option);
    let behind = before == "-e" || before.strip_prefix("--").is_some_and(is_text_option);
    word.contains(LINK) && (own || behind)
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
            "timeout 10 bash -c {link}",
            "bash -c -o pipefail {link}",
            "bash -co pipefail {link}",
            "bash -euo pipefail -c {link}",
            "bash -c -- {link}",
            "bash --rcfile x -c {link}",
            "bash --rcfile -c x {link}",
            "bash {link}",
            "bash --rcfile {link}",
            "sh -s {link}",
            "docker run --entrypoint sh image -ce {link}",
            "ksh93 -c {link}",
            "/opt/bash-5.2 -c {link}",
            "bash.exe -c {link}",
            "busybox sh -c {link}",
            "sh -c 'exec \"$@\"' sh sh -c {link}",
            "fish -C {link}",
            "nu -e {link}",
            "tcsh -c {link}",
            "nodejs -e {link}",
            "nodejs -pe {link}",
            "node {link}",
            "node -r x -e {link}",
            "perl -I lib -e {link}",
            "perl -MFile::Spec -e {link}",
            "perl -e 1 -e {link}",
            "ruby3.2 -ne {link}",
            "python3 -W ignore -c {link}",
            "python3.12 {link}",
            "python3 -m {link}",
            "C:\\\\Python\\\\python.exe -c {link}",
            "lua5.4 -e {link}",
            "osascript -e {link}",
        ] {
            let why = told(text).expect_err(text);
            assert!(
                why.contains("must not stand in the text that") && why.contains("; write "),
                "{why}"
            );
            assert!(!why.contains('\n'), "{why}");
        }
        let why = told("fish -c {link}").unwrap_err();
        assert!(why.ends_with("write sh -c 'firefox \"$1\"' sh {link}"), "{why}");
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
            "tmux new-window {link}",
            "tmux new-window -n {link} w3m",
            "tmux new-window -c {link} w3m x",
            "tmux new-window htop ; run-shell {link}",
            "tmux new-window 'htop;' run-shell {link}",
            "tmux send-keys w3m {link}",
            "tmux display-popup w3m {link}",
            "tmux -L own new-window w3m {link}",
            "tmux",
            "timeout 10 ssh desk mpv {link}",
            "nice -n 5 ssh desk mpv {link}",
            "sudo -u me ssh desk mpv {link}",
            "xterm -e ssh desk w3m {link}",
            "tmux new-window ssh desk w3m {link}",
            "flatpak-spawn --host ssh desk mpv {link}",
            "flatpak-spawn --host /usr/bin/ssh desk mpv {link}",
            "sh -c 'exec \"$@\"' sh ssh desk mpv {link}",
            "gcloud compute ssh desk --command={link}",
            "cmd.exe /c start {link}",
            "/mnt/c/Windows/System32/CMD.EXE /c start {link}",
            "powershell.exe -c start {link}",
            "pwsh -c start {link}",
            "wsl.exe firefox {link}",
            "adb shell am start -d {link}",
            "deno eval {link}",
            "deno run {link}",
            "npx {link}",
            "su me -c 'firefox {link}'",
            "su -c {link}",
            "runuser -c {link} me",
            "watch {link}",
            "watch -n 5 curl {link}",
            "script -c {link}",
            "parallel mpv ::: {link}",
            "make open URL={link}",
            "gawk {link}",
            "kitten @ send-text {link}",
            "zellij action write-chars {link}",
            "terminator -x w3m {link}",
            "nix run {link}",
            "riverctl spawn {link}",
        ] {
            let why = told(text).expect_err(text);
            assert!(why.contains("hands its words to a shell"), "{text}: {why}");
        }
    }

    #[test]
    fn options_whose_value_may_be_run_get_no_address() {
        for text in [
            "env -S 'sh -c' {link}",
            "env -iS 'sh -c' {link}",
            "env --split-string='sh -c' {link}",
            "env --split 'sh -c' {link}",
            "sudo -s {link}",
            "sudo -iu me {link}",
            "sudo --login mpv {link}",
            "flock f -c x={link}",
            "flock f -c {link}",
            "screen -X exec mpv {link}",
            "vim -c {link}",
            "nvim --cmd {link}",
            "gdb -ex {link}",
            "xterm -e {link}",
            "xterm -e a={link}",
            "gnome-terminal --command={link}",
            "gnome-terminal --command {link}",
            "emacsclient -e {link}",
            "emacsclient --eval {link}",
        ] {
            let why = told(text).expect_err(text);
            assert!(
                why.contains("may take text to run") || why.contains("may be text to run"),
                "{why}"
            );
        }
    }

    /// Commands in which an address is no more than a word.
    const ACCEPTED: &[&str] = &[
        "firefox",
        "firefox {link}",
        "firefox --url={link} -x",
        "mpv --no-video -- {link}",
        "sh -c 'firefox \"$1\"' sh {link}",
        "sh -c 'firefox \"$0\"'",
        "bash my-script",
        "my-python-script {link}",
        "dbus-send string:x url={link}",
        "mpv {link}",
        "mpv --ytdl-format=best {link}",
        "mpv --script-opts=a=1,url={link}",
        "!mpv",
        "firefox --new-tab {link}",
        "firefox --new-window {link} -P me",
        "w3m {link}",
        "lynx -accept_all_cookies {link}",
        "xdg-open {link}",
        "gio open {link}",
        "wget -c {link}",
        "yt-dlp -x {link}",
        "emacsclient -c {link}",
        "qutebrowser --target window {link}",
        "flatpak run org.mozilla.firefox {link}",
        "flatpak-spawn --host firefox {link}",
        "firejail firefox {link}",
        "/mnt/c/Windows/explorer.exe {link}",
        "wslview {link}",
        "timeout 10 mpv {link}",
        "nice -n 5 mpv {link}",
        "sudo -u me mpv {link}",
        "env A=1 mpv {link}",
        "env URL={link} sh -c 'firefox \"$URL\"'",
        "systemd-run --user mpv {link}",
        "flock /run/lock/x mpv {link}",
        "xterm -e w3m {link}",
        "foot w3m {link}",
        "kitty w3m {link}",
        "alacritty -e w3m {link}",
        "wezterm start -- w3m {link}",
        "gnome-terminal -- w3m {link}",
        "screen w3m {link}",
        "tmux new-window w3m {link}",
        "tmux split-window -h w3m -cookie {link}",
        "bash -euo pipefail -c 'mpv \"$1\"' bash {link}",
        "bash --norc -c 'mpv \"$1\"' bash {link}",
        "bash -lc 'mpv \"$1\"' bash {link}",
        "sh -c 'mpv \"$@\"' sh --no-video {link}",
        "timeout 10 sh -c 'mpv \"$1\"' sh {link}",
        "xterm -e sh -c 'w3m \"$1\"' sh {link}",
        "tmux new-window sh -c 'w3m \"$1\"' sh {link}",
        "fish -c 'mpv $argv[1]' {link}",
        "bash my-script -c {link}",
        "bash -x my-script {link}",
        "python3 my-script.py --url={link}",
        "python3 -u my-script.py {link}",
        "python3 -m webbrowser -t {link}",
        "python3 -c 'import sys' {link}",
        "perl -we 'exec \"mpv\", @ARGV' {link}",
        "node my-script.js {link}",
    ];

    #[test]
    fn an_address_is_a_word_of_its_own_or_stands_behind_an_equals_sign() {
        for text in ACCEPTED {
            assert_eq!(told(text), Ok(()), "{text}");
        }
        for text in [
            "firefox x{link}",
            "firefox {link}x",
            "firefox a={link}{link}",
            "wget 'x {link}'",
            "xterm -e 'firefox --url={link}'",
            "flock f 'x --url={link}'",
            "firefox '\"a\"={link}'",
            "firefox '$(x)={link}'",
            "firefox 'a;b={link}'",
        ] {
            assert!(told(text).unwrap_err().contains("a word of its own"), "{text}");
        }
        assert!(told("{link}").unwrap_err().contains("must not name the program"));
    }
}
