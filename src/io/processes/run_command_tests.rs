//! Tests that start real commands: their input, their reported results, and their time limit.

use chrono::DateTime;

use super::*;
use crate::engine::entries::entry_view::{EntryView, FeedOfEntry, LoadedEntry};
use backissue_core::history::kept::{Position, Rank};
use backissue_core::history::{EntryBody, EntryKey, FeedKey, Flags, KeptEntry};

fn told() -> Box<EntryView> {
    let mut entry =
        backissue_core::feed::Entry { title: Some("Wax & <b>".into()), ..Default::default() };
    entry.link = Some("https://a.example/1".into());
    entry.content = Some("<p>Warm it <a href='/2'>slowly</a>.</p>".into());
    let rank = Rank {
        entry_time: None,
        document_time: None,
        position: Position::Subscription,
        fetched_at: DateTime::UNIX_EPOCH,
    };
    let kept = KeptEntry::from_copy(&entry, DateTime::UNIX_EPOCH, rank);
    let key = EntryKey { feed: FeedKey(1), seq: 2 };
    let body = Some(EntryBody::from_copy(&entry));
    let entry =
        LoadedEntry { body, ..LoadedEntry::without_text(key, kept, Flags::NEW, Vec::new()) };
    let feed = FeedOfEntry::new("Notes", "https://a.example/feed", false);
    Box::new(EntryView::new(entry, feed))
}

async fn run_typed(text: &str, seconds: u64) -> Result<Option<String>, String> {
    let command = ExternalCommand::typed(text).unwrap();
    let input = RunInput::Entry(told());
    let external = ExternalRun::new(RunPurpose::Pipe, command, input);
    run(external, Duration::from_secs(seconds)).await.map_err(|failure| failure.to_string())
}

#[tokio::test]
async fn entry_is_passed_as_text_json_and_environment() {
    for (typed, line) in [
        ("head -n 1", "Wax & <b>"),
        ("tail -n 1", "[1] https://a.example/2"),
        ("json: cut -c 1-15", "{\"kind\":\"entry\""),
        (
            "sh -c 'cat > /dev/null; echo \"$BACKISSUE_TITLE - $BACKISSUE_FEED\"'",
            "Wax & <b> - Notes",
        ),
        ("true", ""),
        ("sh -c 'echo; echo one; echo two; echo'", "\none\ntwo"),
    ] {
        let said = run_typed(typed, 20).await;
        assert_eq!(said, Ok(Some(line.to_owned()).filter(|line| !line.is_empty())), "{typed}");
    }
}

#[tokio::test]
async fn command_failure_is_reported_in_one_sentence() {
    for (typed, why) in [
        ("no-such-program-here", "there is no program 'no-such-program-here'"),
        ("false", "false exited with status 1"),
        ("sh -c 'echo one >&2; echo two >&2; exit 7'", "sh exited with status 7: two"),
        ("sh -c 'kill -9 $$'", "sh was killed by a signal"),
    ] {
        assert_eq!(run_typed(typed, 20).await, Err(why.to_owned()));
    }
}

#[tokio::test]
async fn hanging_command_is_killed_with_its_children() {
    let ended = run_typed("sh -c 'sleep 1000 & sleep 1000'", 1).await;
    assert_eq!(ended, Err("sh was stopped after 1 s".to_owned()));
}

#[tokio::test]
async fn a_child_in_another_session_is_not_waited_for() {
    let sleeps = "sh -c 'setsid sleep 5 & echo said'";
    let (said, begun) = (run_typed(sleeps, 4), clock::instant());
    assert_eq!(said.await.map(Option::unwrap_or_default), Ok(String::new()));
    let hangs = "sh -c 'setsid sleep 5 & sleep 1000'";
    assert_eq!(run_typed(hangs, 1).await, Err("sh was stopped after 1 s".to_owned()));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn command_keeps_its_input_after_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        let made = process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        path
    };
    let (begun, go_on, got) = (pipe("begun"), pipe("go-on"), pipe("got"));
    let script = "echo > $0/begun; read line < $0/go-on; echo told >&2; cat > $0/got";
    let words = ["sh", "-c", script, folder.path().to_str().unwrap()];
    let command = ExternalCommand::listed(words.map(str::to_owned).to_vec()).unwrap();
    let (purpose, input) = (RunPurpose::News, RunInput::News(vec![*told()]));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.spawn(run(ExternalRun::new(purpose, command, input), TIME_MAX));
    std::fs::read(begun).unwrap();
    runtime.shutdown_background();
    std::fs::write(go_on, "\n").unwrap();
    let got = std::fs::read_to_string(got).unwrap();
    assert!(got.starts_with("{\"kind\":\"new_entries\"") && got.ends_with("}\n"), "{got}");
}
