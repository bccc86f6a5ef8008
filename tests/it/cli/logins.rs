//! Addresses with a login in them while the credentials file cannot be written.

use std::os::unix::fs::symlink;

use crate::support::binary::{Ended, Program};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Starts a site that serves its feed only to `me:secret`.
fn site() -> Site {
    Site::start(|request| match request.header("authorization") {
        Some("Basic bWU6c2VjcmV0") => answer(200, &[], rss("Orchard", "e", 3)),
        _ => answer(401, &[], ""),
    })
}

/// An installation in its default locations whose configuration folder cannot be created.
struct Unwritable(Program);

impl Unwritable {
    fn new() -> Self {
        let program = Program::new();
        symlink("nowhere", program.path(".config")).unwrap();
        Self(program)
    }

    fn mend(&self) {
        std::fs::remove_file(self.0.path(".config")).unwrap();
    }

    fn run(&self, args: &[&str]) -> Ended {
        self.0.run_bare(args)
    }

    /// Polls the feed and returns the HTTP status of the response.
    fn polled(&self) -> u64 {
        let polled = self.run(&["poll", "--all", "--json", "--tolerant"]).with(0).json();
        polled["feeds"][0]["status"].as_u64().unwrap_or_else(|| panic!("{polled}"))
    }
}

#[test]
fn unsaved_login_is_reported_and_saved_when_retyped() {
    let (site, program) = (site(), Unwritable::new());
    let address = site.at("/feed.xml").replace("http://", "http://me:secret@");
    let added = program.run(&["add", &address, "--no-poll"]).with(1);
    assert!(added.out.contains("subscribed: "), "{added:?}");
    assert!(
        added.err.contains("cannot be saved in") && !added.err.contains("is kept"),
        "{added:?}"
    );
    assert!(!added.err.contains("secret") && !added.out.contains("secret"), "{added:?}");
    assert_eq!(program.polled(), 401, "it is polled without the login, as reported");

    program.mend();
    let again = program.run(&["add", &address]).with(0);
    assert!(again.err.contains("is kept in ") && !again.err.contains("cannot"), "{again:?}");
    let after = program.run(&["add", &address]).with(0);
    assert!(!after.err.contains("is kept in "), "now it is known: {after:?}");
}

#[test]
fn import_reports_logins_it_could_not_save() {
    let (site, program) = (site(), Unwritable::new());
    let address = site.at("/feed.xml").replace("http://", "http://me:secret@");
    let list = program.0.write("list.txt", format!("{address}\n"));
    let imported = program.run(&["import", &list]).with(1);
    assert!(imported.out.contains("1 added"), "{imported:?}");
    assert!(imported.err.contains("cannot be saved in"), "{imported:?}");
    program.mend();
    let again = program.run(&["import", &list]).with(0);
    assert!(again.err.contains("is kept in "), "{again:?}");
    assert_eq!(program.polled(), 200);
}
