//! Formats numbers of bytes for display.

/// Formats a number of bytes in the largest unit that fits: `0 B`, `1.2 kB`, `24 MB`.
pub fn words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| bytes >= *unit) else {
        return format!("{bytes} B");
    };
    let (whole, tenth) = (bytes / unit, bytes % unit * 10 / unit);
    if whole >= 10 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_use_a_fitting_unit() {
        let words =
            [0, 999, 1000, 1234, 12_499, 999_999, 1_000_000, 3_449_999, 3_000_000_000].map(words);
        let expected =
            ["0 B", "999 B", "1.0 kB", "1.2 kB", "12 kB", "999 kB", "1.0 MB", "3.4 MB", "3.0 GB"];
        assert_eq!(words, expected);
    }
}
