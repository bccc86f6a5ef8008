//! Keeps a description of the last steps of a simulation.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

/// Number of steps to keep and print.
const STEPS: usize = 400;

/// Descriptions of the last steps, oldest first.
#[derive(Debug, Default)]
pub struct Story(VecDeque<String>);

impl Story {
    pub fn note(&mut self, at: DateTime<Utc>, words: impl FnOnce() -> String) {
        if self.0.len() >= STEPS {
            self.0.pop_front();
        }
        self.0.push_back(format!("{}  {}", at.format("%a %m-%d %H:%M:%S%.3f"), words()));
    }

    pub fn told(&self) -> String {
        self.0.iter().fold(String::new(), |story, line| story + "  " + line + "\n")
    }
}
