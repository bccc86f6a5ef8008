//! Reading: the list, the text of an entry, what is shown where, and where one was.

mod counts;
mod entries;
mod full_text;
mod joining;
mod late_rows;
mod lines;
mod ordering;
mod reading_positions;
mod seen_and_heard;
mod sideways;
mod tour;
