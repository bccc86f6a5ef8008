//! Runs every command of the README and the guide, each page in a new home folder, against servers on this computer.
//!
//! Blocks of `sh` are run; a block of `toml` becomes the configuration of the commands after it. Addresses below `.example` lead to
//! the servers of the test.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use chrono::{TimeDelta, Utc};

use super::pages::{page, pages, root};
use crate::support::binary::{BINARY, Program, ended};
use crate::support::greader_double::{GreaderDouble, Habits, IdForm};
use crate::support::miniflux_double::MinifluxDouble;
use crate::support::site::{Site, answer};
use crate::support::terminal_session::Session;

/// Commands that show a screen or run until they are interrupted.
const INTERACTIVE: [&str; 3] = ["backissue", "backissue demo", "backissue --offline"];
/// Beginnings of lines that build or install the program itself.
const BUILDS: [&str; 2] = ["cargo ", "assets/packaging/"];
/// Programs that the commands of the guide need, and what each prints.
const PROGRAMS: [(&str, &str); 2] = [("pass", "secret"), ("systemctl", "")];
const FRESHRSS: Habits = Habits {
    base: "/api/greader.php",
    ids: IdForm::Decimal,
    toggles: false,
    page_max: usize::MAX,
    odd_continuation: true,
    address_streams: false,
};

/// A block of code in a page: its language and its text.
type Block = (String, String);

fn blocks(text: &str) -> Vec<Block> {
    let parts = text.split("```").skip(1).step_by(2);
    let block = |part: &str| part.split_once('\n').map(|(kind, code)| (kind.into(), code.into()));
    parts.filter_map(block).collect()
}

/// Answers as the sites of the guide: a page that names a feed, the feed, one of its archives, and files.
fn document(path: &str) -> (&'static str, String) {
    let path = path.trim_start_matches('/');
    let (host, rest) = match path.split_once('/') {
        Some(parts) => parts,
        None if path.ends_with(".example") => (path, ""),
        None => ("late.example", path),
    };
    if !rest.contains("feed") && !rest.contains("archive") {
        let kind = if rest.ends_with("mp3") { "audio/mpeg" } else { "text/html" };
        let link =
            format!("<link rel='alternate' type='application/atom+xml' href='/{host}/feed.xml'>");
        return (kind, format!("<html><head>{link}</head><body><p>Frost.</p></body></html>"));
    }
    let name = host.split('.').next().unwrap_or_default();
    let is_archive = rest.contains("archive");
    let (first, role) = if is_archive {
        (12, "<fh:archive/>")
    } else if name == "gazette" {
        (0, "<link rel='prev-archive' href='archive.xml'/>")
    } else {
        (0, "")
    };
    let entry = |number: i64| {
        let date = (Utc::now() - TimeDelta::hours(7 * number)).to_rfc3339();
        format!(
            "<entry><id>tag:{name}.example,2026:{number}</id><title>Late frost {number}</title><updated>{date}</updated>\
             <link href='{number}'/><link rel='enclosure' type='audio/mpeg' href='{number}.mp3'/><summary>Pruning.</summary></entry>"
        )
    };
    let entries = (first..first + 12).map(entry).collect::<Vec<_>>().concat();
    let text = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>{role}\
         <id>tag:{name}.example,2026:feed</id><title>{name}</title><updated>{}</updated>{entries}</feed>",
        Utc::now().to_rfc3339()
    );
    ("application/atom+xml", text)
}

/// The servers that the addresses in the guide lead to.
struct Servers {
    site: Site,
    miniflux: MinifluxDouble,
    freshrss: GreaderDouble,
}

impl Servers {
    fn start() -> Self {
        let site = Site::start(|request| {
            let (kind, body) = document(&request.path_and_query);
            answer(200, &[("Content-Type", kind)], body)
        });
        let miniflux = MinifluxDouble::start(true, 100);
        let freshrss = GreaderDouble::start(FRESHRSS);
        miniflux.publish(1, 1..=3);
        freshrss.publish(1, 1..=3);
        Self { site, miniflux, freshrss }
    }

    /// Replaces the addresses of a page.
    fn lead_here(&self, text: &str) -> String {
        let known = text.replace("https://rss.example", self.miniflux.address()).replace(
            "https://freshrss.example",
            &format!("{}/api/greader.php", self.freshrss.address()),
        );
        let site = self.site.at("/");
        let address = regex::Regex::new(r"https://((?:[^/@\s']*@)?)([a-z]+\.example)").unwrap();
        let host = site.trim_start_matches("http://");
        address.replace_all(&known, format!("http://${{1}}{host}${{2}}")).into_owned()
    }
}

/// A home folder with three subscriptions and the files that the guide names.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new(servers: &Servers) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        let folder = home.folder.path();
        fs::create_dir_all(folder.join("bin")).unwrap();
        symlink(BINARY, folder.join("bin/backissue")).unwrap();
        for (name, prints) in PROGRAMS {
            let path = folder.join("bin").join(name);
            fs::write(&path, format!("#!/bin/sh\necho '{prints}'\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let list = "<opml version='2.0'><body><outline text='a' xmlUrl='https://late.example/feed.xml'/></body></opml>";
        let starred = "{\"id\":\"user/-/state/com.google/starred\",\"items\":[{\"id\":\"a\",\"title\":\"Old\",\
            \"published\":1700000000,\"canonical\":[{\"href\":\"https://late.example/a\"}],\
            \"summary\":{\"content\":\"x\"},\"origin\":{\"streamId\":\"feed/https://late.example/feed.xml\",\"title\":\"Late\"}}]}";
        home.write(".newsboat/urls", &servers.lead_here("https://orchard.example/feed.xml\n"));
        home.write("subscriptions.opml", &servers.lead_here(list));
        home.write("starred.json", &servers.lead_here(starred));
        home.write("Mail/new/1", "From: a\nSubject: Frost & hail\n\n");
        let path = root().join("tests/it/fixtures/readers/news-flash.db");
        let port = servers.site.at("").rsplit(':').next().unwrap().to_owned();
        let at = |bytes: &[u8]| bytes.windows(5).position(|five| five == b"PPPPP");
        let mut database = fs::read(path).unwrap();
        while let Some(at) = at(&database) {
            database[at..at + 5].copy_from_slice(port.as_bytes());
        }
        fs::create_dir_all(folder.join(".local/share/eilmeldung")).unwrap();
        fs::write(folder.join(".local/share/eilmeldung/database.sqlite"), database).unwrap();
        home.configure("");
        let add = "backissue add https://orchard.example\n\
                   backissue add https://gazette.example --tag news\n\
                   backissue add https://podcast.example --tag audio";
        home.run(&servers.lead_here(add));
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes the configuration.
    fn configure(&self, lines: &str) {
        let text = format!("[network]\nspace_loopback = false\n{lines}");
        self.write(".config/backissue/config.toml", &text);
    }

    /// Runs lines of shell commands, each of which must succeed.
    fn run(&self, lines: &str) {
        let folder = self.folder.path();
        let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
        let mut shell = Command::new("sh");
        shell
            .env_clear()
            .env("HOME", folder)
            .env("PATH", path)
            .env("NO_PROXY", "*")
            .env("TZ", "UTC")
            .env("BACKISSUE_ACCOUNT_PASSWORD", "secret")
            .current_dir(folder)
            .args(["-exc", lines])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let done = ended(shell.spawn().unwrap(), b"");
        done.with(0);
    }

    /// Shows a screen and leaves it.
    fn show(&self, line: &str) {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let mut session = Session::start_at_home(self.folder.path(), BINARY, &words, 100, 30);
        session.until_it_says("Feeds");
        session.take_for(Duration::from_millis(100));
        session.press("\x03");
        assert!(session.ended().success(), "{line}");
    }
}

/// Runs the commands of a page and returns their number.
fn run_page(servers: &Servers, path: &str) -> usize {
    let home = Home::new(servers);
    let mut count = 0;
    for (kind, code) in blocks(&page(path)) {
        match kind.as_str() {
            "toml" => {
                home.configure(&code);
                home.run("backissue config");
                count += 1;
            }
            "sh" => count += run_block(&home, &servers.lead_here(&code)),
            other => panic!("{path}: a block of '{other}'"),
        }
    }
    count
}

/// Runs the lines of a block: those of the shell together, screens by themselves.
fn run_block(home: &Home, code: &str) -> usize {
    let mut script = String::new();
    for line in code.lines() {
        let command = line.split("   ").next().unwrap().trim_end();
        if INTERACTIVE.contains(&command) {
            home.run(&std::mem::take(&mut script));
            home.show(command);
        } else if !BUILDS.iter().any(|begin| line.starts_with(begin)) {
            script += line;
            script.push('\n');
        }
    }
    home.run(&script);
    code.lines().filter(|line| line.contains("backissue")).count()
}

/// Returns the paths of the pages of the guide.
fn guide_pages() -> Vec<String> {
    pages().into_iter().filter(|path| path.starts_with("docs/guide/")).collect()
}

#[test]
fn every_command_of_the_readme_and_the_guide_works() {
    let servers = Servers::start();
    let mut paths = guide_pages();
    paths.push("README.md".into());
    let counts = std::thread::scope(|scope| {
        let runs: Vec<_> =
            paths.iter().map(|path| scope.spawn(|| run_page(&servers, path))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<usize>>()
    });
    assert!(counts.iter().all(|count| *count > 0), "{paths:?} {counts:?}");
    assert!(counts.iter().sum::<usize>() > 100, "{counts:?}");
}

#[test]
fn the_guide_is_listed_packed_and_shown_whole() {
    let summary = page("docs/SUMMARY.md");
    let names = summary.split("(guide/").skip(1).filter_map(|rest| rest.split(".md)").next());
    let listed: Vec<&str> = names.collect();
    assert_eq!(listed.len(), guide_pages().len());
    let program = Program::new();
    let shown = program.run_bare(&["man", "guide"]).with(0).out;
    let mut rest = shown.as_str();
    for name in listed {
        let text = page(&format!("docs/guide/{name}.md"));
        let title = text.lines().next().unwrap();
        let (_, after) = rest.split_once(title).unwrap_or_else(|| panic!("{title} in its place"));
        rest = after;
        let alone = program.run_bare(&["man", "guide", name]).with(0).out;
        assert!(alone.starts_with(title) && !alone.contains("<!--"), "{name}");
    }
    let newsboat = page("docs/newsboat.md").lines().next().unwrap().to_owned();
    assert!(!shown.contains(&newsboat), "a reference is no part of the guide");
    assert!(program.run_bare(&["man", "guide", "newsboat"]).with(0).out.starts_with(&newsboat));
    let why = program.run_bare(&["man", "guide", "none"]).refused(2);
    assert!(why.contains("first-hour") && why.contains("newsboat"), "{why}");
}

#[test]
fn there_are_twenty_recipes_and_each_has_a_block() {
    let text = page("docs/guide/recipes.md");
    let recipes: Vec<&str> = text.split("\n## ").skip(1).collect();
    assert!(recipes.len() >= 20);
    for (number, recipe) in (1..).zip(recipes) {
        assert!(recipe.starts_with(&format!("{number}. ")) && recipe.contains("```"), "{recipe}");
    }
}
