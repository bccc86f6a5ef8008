//! Commands that are really started: what they read, what is told of them, and that none outlives its time.

use chrono::DateTime;

use super::*;
use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::history::rank::{Position, Rank};
use crate::history::{EntryBody, EntryKey, FeedKey, Flags, KeptEntry};

fn told() -> Box<HandedEntry> {
    let mut entry = crate::feed::Entry { title: Some("Wax & <b>".into()), ..Default::default() };
    entry.link = Some("https://a.example/1".into());
    entry.content = Some("<p>Warm it <a href='/2'>slowly</a>.</p>".into());
    let rank = Rank {
        entry_time: None,
        document_time: None,
        position: Position::Subscription,
        fetched_at: DateTime::UNIX_EPOCH,
    };
    let kept = KeptEntry::from_copy(&entry, DateTime::UNIX_EPOCH, rank);
    let entry = LoadedEntry {
        key: EntryKey { feed: FeedKey(1), seq: 2 },
        kept,
        flags: Flags::NEW,
        body: Some(EntryBody::from_copy(&entry)),
        text_gone: false,
        ruled: Vec::new(),
        place: None,
        full: None,
    };
    let (feed_title, feed_url) = ("Notes".into(), "https://a.example/feed".into());
    Box::new(HandedEntry { entry, feed_title, feed_url })
}

async fn run_typed(text: &str, seconds: u64) -> Result<Option<String>, String> {
    let command = ExternalCommand::typed(text).unwrap();
    let input = RunInput::Entry(told());
    let external = ExternalRun { purpose: RunPurpose::Pipe, command, input };
    run(external, Duration::from_secs(seconds)).await
}

#[tokio::test]
async fn an_entry_is_handed_over_as_text_json_and_environment() {
    for (typed, line) in [
        ("head -n 1", "Wax & <b>"),
        ("tail -n 1", "[1] https://a.example/2"),
        ("json: cut -c 1-15", "{\"kind\":\"entry\""),
        (
            "sh -c 'cat > /dev/null; echo \"$BACKISSUE_TITLE - $BACKISSUE_FEED\"'",
            "Wax & <b> - Notes",
        ),
        ("true", ""),
        ("sh -c 'yes | head -n 100000'", "y"),
    ] {
        let said = run_typed(typed, 20).await;
        assert_eq!(said, Ok(Some(line.to_owned()).filter(|line| !line.is_empty())), "{typed}");
    }
}

#[tokio::test]
async fn what_goes_wrong_is_told_in_one_sentence() {
    for (typed, why) in [
        ("no-such-program-here", "there is no program 'no-such-program-here' to start"),
        ("false", "false ended with status 1"),
        ("sh -c 'echo one >&2; echo two >&2; exit 7'", "sh ended with status 7: two"),
        ("sh -c 'kill -9 $$'", "sh was ended by a signal"),
    ] {
        assert_eq!(run_typed(typed, 20).await, Err(why.to_owned()));
    }
}

#[tokio::test]
async fn a_command_that_does_not_end_is_ended_with_what_it_started() {
    let ended = run_typed("sh -c 'sleep 1000 & sleep 1000'", 1).await;
    assert_eq!(ended, Err("sh was ended after 1 s".to_owned()));
}
