//! Custom key bindings, reloading of the configuration, and the help, which shows the custom keys.

use backissue::engine::request::Input;
use backissue::engine::settings::Settings;
use backissue::ui::keys::command_table::COMMANDS;
use backissue::ui::keys::key::{Code, Key, sequence};
use backissue::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
use backissue::ui::keys::mouse::{Gesture, Mouse};
use backissue::ui::settings::ScreenSettings;
use backissue::ui::update::{Reconfigured, ScreenInput};

use crate::support::world::{World, rss};

fn world() -> World {
    let document = rss("Garden", &[("a", "Frost", 1, ""), ("b", "Wax", 2, "")]);
    World::subscribed(100, 30, &[("https://garden.example/feed", &document, &[])])
}

fn bound(keys: &[(&str, &str)]) -> ScreenSettings {
    let own: Vec<OwnKeys> = (1..)
        .zip(keys)
        .map(|(line, (command, keys))| OwnKeys {
            place: place_of(command).unwrap(),
            sequences: vec![sequence(keys).unwrap()],
            line,
        })
        .collect();
    ScreenSettings { keys: Keymap::new(&own).0, ..ScreenSettings::default() }
}

fn configured(world: &mut World, screen: ScreenSettings) {
    let appearance = Box::new(world.app.ui.appearance.clone());
    let settings = Box::new(world.app.engine.settings.clone());
    let (screen, notes) = (Box::new(screen), Vec::new());
    let read = Reconfigured::Read { settings, screen, appearance, notes };
    world.tell(ScreenInput::Reconfigured(Box::new(read)));
}

#[test]
fn custom_keys_work_at_once_in_help_and_palette() {
    let mut world = world();
    configured(&mut world, bound(&[("star", "g s"), ("first", "g g")]));
    assert_eq!(world.notice(), "the configuration was reloaded");
    world.press("lg");
    assert!(world.draw().contains(" g …"), "{}", world.draw());
    world.press("s");
    assert_eq!(world.app.engine.starred(), 1);
    world.press("s");
    assert_eq!(world.notice(), "s does nothing here · ? shows the keys");
    world.press("gx");
    assert_eq!(world.notice(), "g x does nothing here · ? shows the keys");
    world.press("g<esc>:star");
    assert!(world.draw().contains("g\u{a0}s"), "{}", world.draw());
    world.press("<esc>?/star");
    assert!(world.draw().contains("g\u{a0}s"), "{}", world.draw());
}

#[test]
fn invalid_configuration_is_reported_and_ignored() {
    let mut world = world();
    configured(&mut world, bound(&[("star", "x")]));
    world.tell(ScreenInput::Reconfigured(Box::new(Reconfigured::Wrong("line 3: no".into()))));
    assert_eq!(world.notice(), "line 3: no; the previous configuration stays in use");
    world.press("lx");
    assert_eq!(world.app.engine.starred(), 1);
}

#[test]
fn new_bounds_make_new_plans() {
    let mut world = world();
    let before = world.feed(1).plan.next_poll.unwrap();
    let mut settings = Settings::default();
    settings.poll.min_minutes = 600;
    world.tell(Input::Reconfigured(Box::new(settings)));
    let after = world.feed(1).plan.next_poll.unwrap();
    assert!((after - before).num_minutes() > 300, "{before} {after}");
}

#[test]
fn the_help_is_searched_by_keys_names_and_words() {
    let mut world = world();
    world.press("?/less often");
    assert!(world.draw().contains("poll the feed less often"));
    assert!(!world.draw().contains("previous unread entry"));
    world.press("<enter>");
    assert!(world.draw().contains("Keys matching 'less often'"), "{}", world.draw());
    world.press("<esc>");
    assert!(world.draw().contains("previous unread entry"), "all keys are shown again");
    world.press("/zzz");
    assert!(world.draw().contains("no key that works here matches"));
    world.press("<esc><esc>");
    assert!(world.app.ui.overlay.is_none());
}

#[test]
fn the_help_over_a_plan_shows_what_works_there() {
    let mut world = world();
    world.press("hGi?");
    assert!(world.draw().contains("in a plan: switch between UTC"), "{}", world.draw());
    assert!(!world.draw().contains("mark this list read"), "{}", world.draw());
}

#[test]
fn every_command_but_the_link_numbers_can_be_bound() {
    for row in COMMANDS {
        assert!(place_of(row.name).is_some());
    }
    let mut world = world();
    configured(&mut world, bound(&[("toggle-read", "F5")]));
    world.press("l");
    world.tell(ScreenInput::Key(Key::code(Code::Function(5))));
    assert_eq!(world.feed(1).counters.unread, 1);
}

#[test]
fn click_or_paste_ends_a_started_key_sequence() {
    let mut world = world();
    configured(&mut world, bound(&[("star", "g s")]));
    let click = Mouse { gesture: Gesture::Click, column: 50, row: 8 };
    let wheel = Mouse { gesture: Gesture::WheelDown, ..click };
    for (msg, ends) in [
        (ScreenInput::Mouse(click), true),
        (ScreenInput::Pasted("no address".into()), true),
        (ScreenInput::Mouse(wheel), false),
    ] {
        world.press("lg");
        assert!(!world.app.ui.begun.is_empty());
        world.tell(msg.clone());
        assert_eq!(world.app.ui.begun.is_empty(), ends, "{msg:?}");
        world.press("<esc>");
    }
}
