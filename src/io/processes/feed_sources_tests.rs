//! Tests that run real programs as feeds: hanging, flooding, failing and forking ones.

use super::*;
use crate::engine::poll::fetch::FetchId;
use crate::engine::settings::Settings;
use crate::io::http::Limits;

const LIMITS: ProgramLimits = ProgramLimits { time: Duration::from_secs(1), bytes: 1024 };

/// Runs a program with a generous time limit. Returns its output, or the reason for its failure.
async fn ran(command: &str, input: &[u8], limits: ProgramLimits) -> Result<String, String> {
    let output = run(command, input, limits).await.map_err(|failure| failure.to_string());
    output.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[tokio::test]
async fn program_runs_without_a_shell_within_its_limits() {
    let patient = ProgramLimits { time: Duration::from_secs(30), ..LIMITS };
    for (command, input, expected) in [
        ("echo 'a  b' $HOME", "", Ok("a  b $HOME\n")),
        ("tr a b", "aa", Ok("bb")),
        ("true", "unread", Ok("")),
        ("sh -c 'printf x%.0s $(seq 1024)'", "", Ok("")),
        ("sh -c 'echo one >&2; echo two >&2; exit 3'", "", Err("sh exited with status 3: one")),
        ("sh -c 'printf \"\\033[31mred\\n\" >&2; exit 1'", "", Err("status 1: [31mred")),
        ("sh -c 'kill -9 $$'", "", Err("sh was killed by a signal")),
        ("no-such-program-here", "", Err("there is no program 'no-such-program-here'")),
        ("yes", "", Err("yes was stopped after more than 1 KiB")),
        ("sh -c 'yes & exit 0'", "", Err("sh was stopped after more than 1 KiB")),
        ("sh -c 'sleep 1000 & echo x'", "", Err("kept the output open")),
    ] {
        let found = ran(command, input.as_bytes(), patient).await;
        match (found, expected) {
            (Ok(found), Ok(expected)) => {
                let is_filled = found.len() == 1024 && command.contains("seq");
                assert!(is_filled || found == expected, "{command}: {found}");
            }
            (Err(found), Err(expected)) => {
                assert!(found.contains(expected), "{command}: {found}");
                assert!(!found.contains(char::is_control), "{found:?}");
            }
            (found, _) => panic!("{command}: {found:?}"),
        }
    }
}

#[cfg(target_os = "linux")]
/// All processes that the program started have ended, in whichever session. Each one holds the writing end of a pipe, so that
/// reading the pipe ends only when all have ended.
#[tokio::test]
async fn processes_of_a_hanging_program_are_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (script, is_dropped) in [
        ("exec 3>PIPE; sleep 1000 & sleep 1000", false),
        ("exec 3>PIPE; sleep 1000 & sleep 1000", true),
        ("exec 3>PIPE; sleep 1000 & exit 1", false),
        ("exec 3>PIPE; setsid sleep 1000 & sleep 1000", false),
        ("exec 3>PIPE; setsid sleep 1000 & sleep 1000", true),
        ("exec 3>PIPE; setsid sh -c \"setsid sleep 1000 & sleep 1000\" & exit 1", false),
    ] {
        let script = script.replace("PIPE", pipe.to_str().unwrap());
        let reads = pipe.clone();
        let read = tokio::task::spawn_blocking(move || std::fs::read(reads).unwrap().len());
        let command = format!("sh -c '{script}'");
        if is_dropped {
            // The wait for the program ends, as when backissue ends.
            let waited = timeout(Duration::from_millis(300), run(&command, &[], LIMITS));
            assert!(waited.await.is_err());
        } else {
            let told = ran(&command, b"", LIMITS).await.unwrap_err();
            assert!(told.contains("was stopped after 1 s") || told.contains("status 1"), "{told}");
        }
        assert_eq!(timeout(Duration::from_secs(30), read).await.unwrap().unwrap(), 0);
    }
}

#[tokio::test]
async fn file_or_program_is_read_only_from_a_typed_address() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a b.xml");
    let feed = "<rss version='2.0'><channel><title>A</title></channel></rss>";
    std::fs::write(&file, feed).unwrap();
    let file = url::Url::from_file_path(&file).unwrap().to_string();
    let mut network = Settings::default().network;
    let http = Http::new(&network, Limits::default()).unwrap();
    let program = format!("exec:echo \"{feed}\"");
    let typed = AddressSource::Typed;
    let named = AddressSource::Supplied { by: "https://a.example/".into(), public: false };
    for (url, allowed, source, expected) in [
        (&file, false, &typed, ""),
        (&program, true, &typed, ""),
        (&program, false, &typed, "allow_sources = true"),
        (&file, true, &named, "only http and https"),
        (&program, true, &named, "only http and https"),
        (&"file:///dev/zero".to_owned(), true, &typed, "it is not a regular file"),
        (&"exec:echo '<html><title>x</title></html>'".to_owned(), true, &typed, "a web page"),
    ] {
        network.allow_sources = allowed;
        let mut request = FetchRequest::typed(FetchId(1), url.clone());
        request.address_source = source.clone();
        let fetched = fetch(&http, &network, request).await;
        let found = fetched.result.map(|answer| answer.body.feed().is_some());
        match found {
            Ok(is_feed) => assert!(is_feed && expected.is_empty(), "{url}"),
            Err(why) => {
                assert!(!expected.is_empty() && why.to_string().contains(expected), "{why}");
            }
        }
    }
}
