//! Sequences of commands and programs, the share menu, and programs by link, with scripts in the place of mpv, wallabag and mail.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use backissue::io::config::config_file;
use backissue_core::history::{EntryKey, FeedKey};

use crate::support::rss::{NOTES, two_feeds};
use crate::support::world::World;

/// Writes a program that stores its arguments, one per line, and its input in files named after it.
fn stand_in(folder: &Path, name: &str, ending: &str) -> String {
    let path = folder.join(name);
    let out = folder.display();
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{out}/{name}.args'\ncat > '{out}/{name}.input'\n{ending}\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn written(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// Applies a configuration, whose `DIR` is the folder of the programs. The error is a sentence.
fn configure(world: &mut World, folder: &Path, text: &str) -> Result<(), String> {
    let path = folder.join("config.toml");
    fs::write(&path, text.replace("DIR", &folder.display().to_string())).unwrap();
    let read = config_file::read(&path, true)?;
    world.app.engine.settings.commands = read.settings.commands;
    world.app.ui.settings.keys = read.screen.keys;
    world.starts_programs = true;
    Ok(())
}

fn is_read(world: &mut World, seq: u32) -> bool {
    let key = EntryKey { feed: FeedKey(1), seq };
    world.store.entry(key).unwrap().unwrap().1.is_read()
}

#[test]
fn a_key_runs_commands_one_after_the_other() {
    let (folder, mut world) = (tempfile::tempdir().unwrap(), two_feeds());
    let text = "[keys]\nfirst = \"Home\"\n\"g b\" = [\"open-in-browser\", \"next-unread\"]\nkeep-it = [\"star\", \"undo\", \"star\"]";
    configure(&mut world, folder.path(), text).unwrap();
    world.press("?/own commands<enter>");
    let help = world.draw();
    assert!(help.contains("b         open-in-browser, then next-unread"), "{help}");
    assert!(help.contains(":keep-it    star, then undo, then star"), "{help}");
    world.press("<esc><esc>");
    world.press("<enter>");
    assert!(!is_read(&mut world, 0));
    world.press("gb");
    assert_eq!(world.opened, ["https://site.example/n2"]);
    assert!(is_read(&mut world, 0), "opening it marked it read");
    assert_eq!(world.app.ui.list.selected_row().unwrap().title, "Ladders");
    world.press(":keep-it<enter>");
    let starred = EntryKey { feed: FeedKey(1), seq: 1 };
    assert!(world.store.entry(starred).unwrap().unwrap().1.is_starred());
    world.press(":ladder");
    assert!(world.draw().contains("no command that works here matches"), "{}", world.draw());
}

#[test]
fn a_step_waits_for_its_program_and_gets_the_entry() {
    let (folder, mut world) = (tempfile::tempdir().unwrap(), two_feeds());
    stand_in(folder.path(), "wallabag-add", "echo saved as 7");
    let text = "[keys]\n\", w\" = { run = [\"DIR/wallabag-add\", \"{link}\"], then = [\"toggle-read\", \"star\"] }";
    configure(&mut world, folder.path(), text).unwrap();
    world.press("<enter>,w");
    assert_eq!(written(folder.path(), "wallabag-add.args"), "https://site.example/n2\n");
    let input = written(folder.path(), "wallabag-add.input");
    assert!(input.contains("Wax") && input.contains("Orchard Notes"), "{input}");
    assert!(is_read(&mut world, 0));
    let starred = EntryKey { feed: FeedKey(1), seq: 0 };
    assert!(world.store.entry(starred).unwrap().unwrap().1.is_starred());
    assert_eq!(world.notice(), ", w: saved as 7");
}

#[test]
fn a_failing_program_stops_the_sequence_with_its_words() {
    let (folder, mut world) = (tempfile::tempdir().unwrap(), two_feeds());
    stand_in(folder.path(), "wallabag-add", "echo 'the token has expired' >&2; exit 3");
    let text = "[keys]\n\", w\" = [{ run = [\"DIR/wallabag-add\", \"{link}\"] }, \"toggle-read\", { run = \"DIR/never\" }]";
    configure(&mut world, folder.path(), text).unwrap();
    world.press("<enter>,w");
    let failed = "wallabag-add exited with status 3: the token has expired";
    let told = world.notice().to_owned();
    assert!(told.starts_with("', w' stopped: ") && told.ends_with(failed), "{told}");
    assert!(!is_read(&mut world, 0));
    assert_eq!((world.ran.len(), world.app.ui.sequences.len()), (1, 0));
    configure(
        &mut world,
        folder.path(),
        "[keys]\n\", w\" = { run = \"DIR/missing\", then = \"star\" }",
    )
    .unwrap();
    world.press(",w");
    assert!(world.notice().contains("there is no program"), "{}", world.notice());
}

#[test]
fn links_and_titles_reach_programs_as_written_and_no_shell() {
    let folder = tempfile::tempdir().unwrap();
    let link = "https://site.example/?a=$(touch${IFS}DIR/pwned)&amp;b='\"`;x"
        .replace("DIR", &folder.path().display().to_string());
    let item = format!(
        "<item><guid>1</guid><title>--exec $(touch pwned) \"quoted\"</title><link>{}</link><description>x</description></item>",
        link.replace('"', "&quot;")
    );
    let document =
        format!("<rss version=\"2.0\"><channel><title>Pod</title>{item}</channel></rss>");
    let mut world = World::subscribed(120, 36, &[(NOTES, &document, &[])]);
    stand_in(folder.path(), "mail", "");
    let text =
        "[share]\nMail = [\"DIR/mail\", \"-s\", \"{title}\", \"to=me@example.org\", \"{link}\"]";
    configure(&mut world, folder.path(), text).unwrap();
    world.press("<enter><c-b><enter>");
    let args = written(folder.path(), "mail.args");
    let lines: Vec<&str> = args.lines().collect();
    assert_eq!(lines[..3], ["-s", "exec $(touch pwned) \"quoted\"", "to=me@example.org"]);
    let kept = world.store.entry(EntryKey { feed: FeedKey(1), seq: 0 }).unwrap().unwrap().0.link;
    assert_eq!(Some(lines[3]), kept.as_deref());
    assert!(kept.unwrap().contains("$(touch"));
    assert!(!folder.path().join("pwned").exists() && !Path::new("pwned").exists());
    assert_eq!(lines.len(), 4);
}

#[test]
fn an_entry_is_shared_from_a_menu_or_by_name() {
    let (folder, mut world) = (tempfile::tempdir().unwrap(), two_feeds());
    world.press("<enter><c-b>");
    assert!(world.notice().contains("[share]"), "{}", world.notice());
    stand_in(folder.path(), "mail", "");
    stand_in(folder.path(), "wallabag-add", "");
    let text = "[share]\nMail = [\"json:DIR/mail\", \"me@example.org\"]\nWallabag = \"DIR/wallabag-add {link}\"";
    configure(&mut world, folder.path(), text).unwrap();
    world.press("<c-b>");
    let screen = world.draw();
    assert!(screen.contains("Mail") && screen.contains("Wallabag"), "{screen}");
    world.press("j<enter>");
    assert_eq!(written(folder.path(), "wallabag-add.args"), "https://site.example/n2\n");
    assert!(written(folder.path(), "mail.args").is_empty());
    world.press(":share Mail<enter>");
    assert_eq!(written(folder.path(), "mail.args"), "me@example.org\n");
    let document: serde_json::Value =
        serde_json::from_str(&written(folder.path(), "mail.input")).unwrap();
    assert_eq!(document["title"], "Wax");
    world.press(":share Nobody<enter>");
    assert_eq!(world.notice(), "[share] has no 'Nobody'");
}

#[test]
fn a_program_opens_the_links_and_files_of_its_pattern() {
    let item = "<item><guid>1</guid><title>Ep</title><description>x</description><link>https://www.youtube.com/watch?v=1</link>\
        <enclosure url=\"https://a.example/1.mp3\" type=\"audio/mpeg\" length=\"24\"/></item>";
    let document =
        format!("<rss version=\"2.0\"><channel><title>Pod</title>{item}</channel></rss>");
    let mut world = World::subscribed(120, 36, &[(NOTES, &document, &[])]);
    let folder = tempfile::tempdir().unwrap();
    let text = "[open]\n\"youtube.com\" = [\"mpv\", \"{link}\"]\n\"audio/*\" = [\"mpv\", \"--no-video\", \"{link}\"]";
    configure(&mut world, folder.path(), text).unwrap();
    world.starts_programs = false;
    world.press("<enter>o<enter>O");
    let ran: Vec<Vec<String>> =
        world.ran.iter().map(|run| run.command.arguments().to_vec()).collect();
    assert_eq!(
        ran,
        [vec!["https://www.youtube.com/watch?v=1"], vec!["--no-video", "https://a.example/1.mp3"]]
    );
    assert!(world.opened.is_empty());
}

#[test]
fn a_sequence_does_not_go_on_with_another_entry() {
    let (folder, mut world) = (tempfile::tempdir().unwrap(), two_feeds());
    let text = "[keys]\n\", w\" = { run = [\"mpv\", \"{link}\"], then = \"star\" }";
    configure(&mut world, folder.path(), text).unwrap();
    world.starts_programs = false;
    world.holds_programs = true;
    world.press("<enter>,wj");
    let purpose = world.ran[0].purpose;
    world.tell(backissue::engine::request::Input::Ran(purpose, Ok(None)));
    assert_eq!(world.notice(), "', w' stopped before star: another entry is selected");
    world.press("k,w");
    let purpose = world.ran[1].purpose;
    world.tell(backissue::engine::request::Input::Ran(purpose, Ok(None)));
    let starred = EntryKey { feed: FeedKey(1), seq: 0 };
    assert!(world.store.entry(starred).unwrap().unwrap().1.is_starred());
}

#[test]
fn wrong_own_commands_are_refused_with_their_line() {
    let (folder, mut world) = (tempfile::tempdir().unwrap(), two_feeds());
    for (text, part) in [
        ("[keys]\nstrar = \"b\"", "line 2: [keys] has an unknown command 'strar'"),
        ("[keys]\nstrar = [\"b\", \"c\"]", "unknown command 'strar'"),
        ("[keys]\n\"g b\" = \"opne\"", "line 2: g b: there is no command 'opne'"),
        ("[keys]\n\"g b\" = []", "no command is given"),
        ("[keys]\nstar = { run = \"mpv\" }", "star: it is a command of backissue"),
        ("[keys]\n\"g b\" = { run = [\"sh\", \"-c\", \"{link}\"] }", "must not be the code"),
        ("[keys]\n\"g b\" = { run = \"mpv\", than = \"star\" }", "keys must be text"),
        ("[share]\nx = \"sh -c {title}\"", "[share] x: {link} must not be the code"),
        ("[open]\n\"*.example\" = \"mpv\"", "[open] '*.example' is neither a site"),
        ("[open]\n\"a.example\" = \"sh -c\"", "[open] a.example: {link} must not be the code"),
        ("[notify]\nonly = \"titel:x\"", "[notify] only: character 1: there is no field 'titel:'"),
    ] {
        let why = configure(&mut world, folder.path(), text).expect_err(text);
        assert!(why.contains(part), "{text}: {why}");
    }
}
