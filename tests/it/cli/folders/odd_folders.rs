//! Data folders on layered file systems, on other disks and behind symbolic links.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::store::small_disk::SmallDisk;
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Subscribes to a feed with two entries, and writes a backup to the file `backup`.
fn filled(program: &Program) -> String {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 2)));
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let backup = program.path("backup").to_str().unwrap().to_owned();
    program.run(&["backup", &backup]).with(0);
    backup
}

fn entries(program: &Program) -> usize {
    program.run(&["entries", "--json"]).with(0).json().as_array().unwrap().len()
}

#[test]
fn store_on_an_overlay_is_compacted_and_restored() {
    let program = Program::new();
    let backup = filled(&program);
    let Some(disk) = SmallDisk::mount() else { return };
    let at = |name: &str| disk.data().with_file_name(name).to_str().unwrap().to_owned();
    for name in ["upper", "work", "lower"] {
        fs::create_dir(at(name)).unwrap();
    }
    let run = |program: &str, args: &[&str]| {
        Command::new(program).args(args).status().is_ok_and(|status| status.success())
    };
    let data = program.data().to_str().unwrap().to_owned();
    assert!(run("cp", &["-a", &format!("{data}/."), &at("lower")]));
    let layers =
        format!("lowerdir={},upperdir={},workdir={}", at("lower"), at("upper"), at("work"));
    if !run("mount", &["-t", "overlay", "overlay", "-o", &layers, &data]) {
        crate::store::damages::say(format_args!("left out: no overlay can be mounted here"));
        return;
    }
    let restored = program.run(&["restore", &backup]);
    let compacted = program.run(&["doctor", "--compact"]);
    let found = program.run(&["search", "e"]);
    let count = entries(&program);
    assert!(run("umount", &[&data]));
    restored.with(0);
    compacted.with(0);
    assert!(found.with(0).out.contains("Orchard"));
    assert_eq!(count, 2);
}

#[test]
fn linked_data_folder_and_index_stay_links() {
    let program = Program::new();
    let backup = filled(&program);
    let Some(disk) = SmallDisk::mount() else { return };
    let (data, other) = (program.data(), disk.data());
    let moved = |from: &std::path::Path, to: &std::path::Path| {
        assert!(Command::new("mv").args([from, to]).status().unwrap().success());
        symlink(to, from).unwrap();
    };
    let is_link = |path: &std::path::Path| fs::read_link(path).is_ok();
    for name in ["store", "index"] {
        moved(&data.join(name), &other.with_file_name(name));
    }
    moved(&data, &other);
    program.run(&["doctor", "--compact"]).with(0);
    program.run(&["restore", &backup]).with(0);
    assert_eq!(entries(&program), 2);
    assert!(program.run(&["search", "e"]).with(0).out.contains("Orchard"));
    for path in [data.clone(), data.join("store"), data.join("index")] {
        assert!(is_link(&path), "{}", path.display());
    }
    // The file of the store is replaced at each compaction, so it cannot be a link.
    moved(&data.join("store.pack"), &other.with_file_name("pack"));
    let before = fs::read(other.with_file_name("pack")).unwrap();
    for command in [&["entries"][..], &["restore", &backup]] {
        let told = program.run(command).refused(2);
        assert!(told.contains("store.pack is a link; link the whole folder instead"), "{told}");
    }
    assert_eq!(fs::read(other.with_file_name("pack")).unwrap(), before);
}

#[test]
fn links_that_lead_nowhere_are_named_and_kept() {
    let program = Program::new();
    fs::create_dir(program.data()).unwrap();
    let nowhere = program.path("disk/that/is/not/mounted");
    for name in ["store.pack", "store", "index", "backups", ""] {
        let link = if name.is_empty() {
            fs::remove_dir_all(program.data()).unwrap();
            program.data()
        } else {
            program.data().join(name)
        };
        symlink(&nowhere, &link).unwrap();
        let told = program.run(&["feeds"]).refused(2);
        let expected = format!("{} is a link to {}", link.display(), nowhere.display());
        assert!(told.contains(&expected) || name == "store.pack", "{told}");
        assert_eq!(fs::read_link(&link).unwrap(), nowhere, "{name}");
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn empty_environment_variables_are_named() {
    let program = Program::new();
    for name in ["BACKISSUE_DATA_DIR", "BACKISSUE_CONFIG"] {
        let told = program.run_in(&[(name, "")], &["feeds"]).refused(2);
        assert!(told.contains(&format!("{name} is empty")), "{told}");
    }
}

#[test]
fn failing_hook_is_reported_in_the_reader() {
    let asked = AtomicU32::new(1);
    let site = Site::start(move |_| {
        answer(200, &[], rss("Orchard", "e", asked.fetch_add(1, Ordering::Relaxed)))
    });
    for (on_new, said) in [
        ("'no-such-program'", "there is no program 'no-such-program'"),
        ("['sh', '-c', 'echo no room >&2; exit 3']", "sh exited with status 3: no room"),
    ] {
        let program = Program::new();
        let config = format!("[network]\nspace_loopback = false\n[commands]\non_new = {on_new}\n");
        program.write("config.toml", config);
        program.run(&["add", &site.at("/feed.xml")]).with(0);
        let mut session = program.start_reader();
        session.until_it_says("Orchard");
        session.press("r");
        session.until_it_says(said);
    }
}
