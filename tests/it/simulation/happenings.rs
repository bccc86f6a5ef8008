//! How each event of a scenario changes the simulated machine and program.

use chrono::TimeDelta;

use super::acts::Act;
use super::checks::{Checks, consistency, undo};
use super::crash::{Crash, Dump};
use super::machine::Machine;

/// Delay after which an event that needs an idle program is tried again.
const LATER: TimeDelta = TimeDelta::minutes(11);

impl Machine {
    /// Performs an event of the scenario.
    pub fn act(&mut self, act: Act) {
        let needs_rest = matches!(act, Act::Undo | Act::Check);
        if needs_rest && !self.is_quiet() {
            return self.put_off(act, LATER);
        }
        self.note(|| format!("{act:?}"));
        match act {
            Act::Away(until) => self.lose_network(until),
            Act::Sleep(time) => {
                self.sleep(time);
                Checks::slept(self);
            }
            Act::SetClock(by) => {
                self.set_clock(by);
                Checks::slept(self);
            }
            Act::Crash { power_cut, writes } if self.keeper.crash.is_none() => {
                if self.keeper.is_idle() {
                    self.keeper.expect(Crash::new(power_cut, writes));
                } else {
                    self.put_off(act, TimeDelta::milliseconds(15));
                }
            }
            Act::Crash { .. } => {}
            Act::Restart(seconds) => self.end_and_start(seconds),
            Act::DiskFull(full) => {
                self.disk_full = full;
                self.disk_was_full = true;
                let measure =
                    if full { |_: &std::path::Path| Some(0) } else { |_: &std::path::Path| None };
                self.keeper.store().measure_room_by(measure);
            }
            Act::Keys => self.press_keys(),
            Act::Request => {
                if let Some(request) = self.some_request() {
                    self.ask(request);
                }
            }
            Act::Undo => undo::check(self),
            Act::Check => consistency::check(self),
        }
    }

    fn put_off(&mut self, act: Act, by: TimeDelta) {
        let at = self.real + by;
        let place = self.acts.partition_point(|(other, _)| *other <= at);
        self.acts.insert(place, (at, act));
    }

    /// Checks whether no request, store work or poll is running.
    pub fn is_quiet(&self) -> bool {
        self.keeper.is_idle()
            && self.keeper.crash.is_none()
            && self.fetches_under_way() == 0
            && self.engine().polls.is_empty()
            && self.engine().backfills.is_empty()
            && self.engine().host_queue.next_start(&self.engine().settings.network).is_none()
            && !self.disk_full
    }

    /// Writes and syncs everything that was sent to the store.
    pub fn settle(&mut self) {
        self.keeper.write(self.real);
        for _ in 0..10_000 {
            let Some(at) = self.keeper.synced_at else { return };
            self.real = self.real.max(at);
            self.synced();
        }
        self.fail("the store never finishes");
    }

    /// Ends the program in an orderly way and starts it again after this number of seconds.
    pub fn end_and_start(&mut self, seconds: i64) {
        self.note(|| format!("it ends, and starts again after {seconds} s"));
        self.drop_fetches();
        self.keeper.close(self.real);
        Checks::ended(self, true);
        self.pass(TimeDelta::seconds(seconds));
        self.start();
    }

    /// Kills the program and starts it again with the files that survived.
    pub fn die(&mut self) {
        self.drop_fetches();
        let Some(mut crash) = self.keeper.crash.take() else { return };
        let new = self.keeper.new_folder();
        let left = crash.leave(self.keeper.folder(), new);
        self.note(|| format!("it dies; power cut: {}", crash.is_power_cut()));
        self.keeper.go_on_with(left);
        let now = self.now();
        if self.keeper.open_after_crash(now) {
            // The store was rebuilt, so some of the unacknowledged writes may be missing; the repair makes the remaining data
            // consistent.
            self.keeper.store().check(true).unwrap();
        } else if let Err(why) = crash.judge(&Dump::of(self.keeper.store())) {
            return self.fail(why);
        }
        let health = self.keeper.store().check(false).unwrap();
        if !health.findings.is_empty() {
            return self.fail(format!("after a crash: {:?}", health.findings));
        }
        Checks::ended(self, false);
        let pause = self.dice.between(2, 3000);
        self.pass(TimeDelta::seconds(pause));
        self.start();
    }
}
