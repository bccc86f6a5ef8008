//! Programs that open certain addresses or files: the section `[open]` of the configuration.

use super::external_command::ExternalCommand;
use backissue_core::{InputFlaw, flaw};

/// A program that opens the addresses or files that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRule {
    pattern: OpenPattern,
    command: ExternalCommand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OpenPattern {
    /// A media type, such as `audio/mpeg`, or all types of one kind, such as `audio/`.
    Media(String),
    /// A host, which includes its subdomains, and the beginning of a path, which may be empty.
    Site { host: String, path: String },
}

impl OpenRule {
    /// Reads a pattern: `audio/*`, `application/pdf`, `youtube.com` or `example.org/videos`. The error is a sentence.
    pub fn new(pattern: &str, command: ExternalCommand) -> Result<Self, InputFlaw> {
        const KINDS: [&str; 6] = ["audio/", "video/", "image/", "text/", "application/", "font/"];
        let lower = pattern.trim().to_ascii_lowercase();
        if KINDS.iter().any(|kind| lower.starts_with(kind)) {
            let media = lower.strip_suffix('*').unwrap_or(&lower).to_owned();
            return Ok(Self { pattern: OpenPattern::Media(media), command });
        }
        let written = pattern.trim();
        let bare = written.split_once("://").map_or(written, |(_, rest)| rest);
        let bare = bare.strip_prefix("www.").unwrap_or(bare);
        let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || "*@?#".contains(c)) {
            return Err(flaw!(
                "'{pattern}' is neither a site, such as youtube.com, nor a media type, such as audio/*"
            ));
        }
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        Ok(Self { pattern: OpenPattern::Site { host: host.to_ascii_lowercase(), path }, command })
    }

    /// Returns how closely the rule fits an address, as the length of its pattern; `None` if it does not fit.
    fn fit_of_link(&self, link: &str) -> Option<usize> {
        let OpenPattern::Site { host: wanted, path } = &self.pattern else { return None };
        let (host, rest) = host_and_path(link)?;
        let below = host.strip_suffix(wanted.as_str())?;
        let is_host = below.is_empty() || below.ends_with('.');
        let fits = is_host && rest.starts_with(path.as_str());
        fits.then(|| wanted.len().saturating_add(path.len()))
    }

    fn fit_of_media(&self, media_type: &str) -> Option<usize> {
        let OpenPattern::Media(wanted) = &self.pattern else { return None };
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let fits = if wanted.ends_with('/') {
            media_type.to_ascii_lowercase().starts_with(wanted.as_str())
        } else {
            media_type.eq_ignore_ascii_case(wanted)
        };
        fits.then_some(wanted.len())
    }
}

/// Returns the host of an address, and what follows it.
fn host_and_path(link: &str) -> Option<(String, String)> {
    let url = url::Url::parse(link).ok()?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some((url.host_str()?.trim_end_matches('.').to_owned(), format!("{}{query}", url.path())))
}

/// Returns the program for an address. The longest pattern that fits decides.
pub fn command_for_link<'r>(rules: &'r [OpenRule], link: &str) -> Option<&'r ExternalCommand> {
    let fitting = rules.iter().filter_map(|rule| Some((rule.fit_of_link(link)?, rule)));
    fitting.max_by_key(|(fit, _)| *fit).map(|(_, rule)| &rule.command)
}

/// Returns the program for a media type. The longest pattern that fits decides.
pub fn command_for_media<'r>(
    rules: &'r [OpenRule],
    media_type: &str,
) -> Option<&'r ExternalCommand> {
    let fitting = rules.iter().filter_map(|rule| Some((rule.fit_of_media(media_type)?, rule)));
    fitting.max_by_key(|(fit, _)| *fit).map(|(_, rule)| &rule.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(patterns: &[&str]) -> Vec<OpenRule> {
        let rule = |pattern: &&str| {
            OpenRule::new(pattern, ExternalCommand::typed(&format!("p '{pattern}'")).unwrap())
        };
        patterns.iter().map(|pattern| rule(pattern).unwrap()).collect()
    }

    #[test]
    fn the_longest_fitting_pattern_opens_an_address() {
        let rules = rules(&[
            "youtube.com",
            "www.Example.org",
            "example.org/Videos",
            "audio/*",
            "audio/mpeg",
        ]);
        let program = |link: &str| {
            command_for_link(&rules, link).map(|command| command.arguments()[0].clone())
        };
        for (link, pattern) in [
            ("https://youtube.com/watch?v=1", Some("youtube.com")),
            ("https://www.youtube.com/", Some("youtube.com")),
            ("HTTPS://M.YouTube.com:443/x", Some("youtube.com")),
            ("https://notyoutube.com/", None),
            ("https://youtube.com.evil.example/", None),
            ("https://evil.example/youtube.com", None),
            ("https://youtube.com@evil.example/", None),
            ("https://example.org/", Some("www.Example.org")),
            ("https://example.org/Videos/1", Some("example.org/Videos")),
            ("mailto:a@youtube.com", None),
        ] {
            assert_eq!(program(link).as_deref(), pattern, "{link}");
        }
        for (media, pattern) in [
            ("audio/ogg", Some("audio/*")),
            ("Audio/MPEG; charset=x", Some("audio/mpeg")),
            ("video/mp4", None),
            ("", None),
        ] {
            let found =
                command_for_media(&rules, media).map(|command| command.arguments()[0].clone());
            assert_eq!(found.as_deref(), pattern, "{media}");
        }
        for wrong in ["", "*.example", "a b", "/path", "me@example.org"] {
            let command = ExternalCommand::typed("mpv").unwrap();
            assert!(OpenRule::new(wrong, command).is_err(), "{wrong}");
        }
    }
}
