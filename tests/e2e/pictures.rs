//! Pictures in a real terminal: each is sent once, placed by its number, and removed when the program ends.

use super::*;

#[test]
fn picture_is_sent_to_kitty_once_and_removed() {
    let home = tempfile::tempdir().unwrap();
    let configuration = home.path().join("config.toml");
    std::fs::write(&configuration, "[ui]\nimage_protocol = \"kitty\"\n").unwrap();
    let configuration = configuration.to_str().unwrap();
    let mut session = Session::start(&["--config", configuration, "demo"], 120, 36);
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    session.until_quiet();
    session.press("/");
    session.press("thirteen colours");
    session.until_it_says("Two pictures");
    session.press("\r");
    session.until_quiet();
    session.press("\r");
    session.until_it_says("A striped lighthouse");
    session.until_quiet();
    assert!(!session.has_written("\x1b_G"), "off: no picture is fetched or sent");
    session.press("I");
    session.until_it_says("pictures on (kitty)");
    // The picture's data is sent before the first placeholder is drawn.
    for _ in 0..20 {
        session.until_quiet();
        if session.has_written("\u{10EEEE}") {
            break;
        }
    }
    assert!(session.has_written("a=T,U=1,f=32"), "{}", session.text());
    let sent = |session: &Session| {
        let written = String::from_utf8_lossy(&session.written).into_owned();
        written.matches("a=T,U=1").count()
    };
    let before = sent(&session);
    session.press("jjkk");
    session.until_quiet();
    assert_eq!(sent(&session), before, "scrolling sends nothing again");
    assert!(!session.has_written("a=d"));
    session.press("\x03");
    assert!(session.ended().success());
    let written = String::from_utf8_lossy(&session.written).into_owned();
    assert_eq!(written.matches("a=d,d=I").count(), before, "each is removed at the end");
    session.given_back();
}
