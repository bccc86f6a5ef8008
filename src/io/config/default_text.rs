//! The commented configuration with every key and its default, as printed by `backissue config --print-default` and shown in
//! the README.

/// The text of the configuration. A line that begins with `# ` is a key without a default, or a comment.
pub const DEFAULT_CONFIG: &str = include_str!("../../../assets/config.toml");

#[cfg(test)]
mod tests {
    use crate::engine::settings::Settings;
    use crate::io::config::config_file::parse;
    use crate::io::config::default_text::*;

    /// Returns the default configuration with all commented-out keys enabled.
    fn with_everything() -> String {
        let is_key = |line: &str| {
            let name = line.split(['=', ' ']).next().unwrap_or_default();
            let named =
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-');
            line.starts_with('[') || (named && line.contains(" = "))
        };
        let taken = DEFAULT_CONFIG.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if is_key(rest) => rest,
            Some(_) | None => line,
        });
        taken.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_printed_configuration_means_the_defaults() {
        let read = parse(DEFAULT_CONFIG).unwrap();
        assert_eq!(read.settings, Settings::default());
        assert_eq!(read.notes, Vec::<String>::new());
    }

    #[test]
    fn every_key_that_is_read_is_printed() {
        let everything = with_everything();
        assert!(parse(&everything).is_ok(), "{:?}", parse(&everything));
        for section in ["network", "poll", "history", "ui", "commands", "notify"] {
            let why = parse(&format!("[{section}]\nzzzzzzzz = 1")).unwrap_err();
            let (_, known) = why.split_once("the keys here are ").unwrap();
            let inside = everything.split(&format!("[{section}]")).nth(1).unwrap();
            let inside = inside.split("\n[").next().unwrap();
            for name in known.split(", ") {
                let written = inside.lines().any(|line| line.split(" = ").next() == Some(name))
                    || everything.contains(&format!("[[{section}.{name}]]"));
                assert!(written, "[{section}] {name} is read and not printed");
            }
        }
    }
}
