//! Where the document of a feed comes from: an address of the web, a file, or a program, written as in newsboat.
//!
//! | address | document |
//! | --- | --- |
//! | `https://a.example/feed` | the response |
//! | `file:///home/me/feed.xml` | the file |
//! | `exec:COMMAND ARGS` | the standard output of the command |
//! | `filter:COMMAND ARGS:https://a.example/feed` | the output of the command, which reads the response on its standard input |

/// Source of a feed's document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedSource<'a> {
    /// A response to a request for the address.
    Web,
    /// A file.
    File,
    /// The output of a command line.
    Program(&'a str),
    /// The output of a command line that reads the response to a request.
    Filter {
        /// Command line.
        command: &'a str,
        /// Address of the response, with `http:` or `https:`; empty if it is missing.
        url: &'a str,
    },
}

impl<'a> FeedSource<'a> {
    /// Returns the source that an address names.
    pub fn of(address: &'a str) -> Self {
        if address.starts_with("file:") {
            return Self::File;
        }
        if let Some(command) = address.strip_prefix("exec:") {
            return Self::Program(command.trim());
        }
        let Some(filter) = address.strip_prefix("filter:") else { return Self::Web };
        let begins = [":http://", ":https://"].into_iter().filter_map(|begin| filter.find(begin));
        let (command, url) = begins.min().map_or((filter, ""), |at| filter.split_at(at));
        Self::Filter { command: command.trim(), url: url.strip_prefix(':').unwrap_or_default() }
    }

    /// Returns the part of an address that is requested over the network.
    pub fn web_part(address: &'a str) -> Option<&'a str> {
        match Self::of(address) {
            Self::Web => Some(address),
            Self::Filter { url, .. } => Some(url),
            Self::File | Self::Program(_) => None,
        }
    }

    /// Checks whether a program of the user makes the document.
    pub const fn is_program(self) -> bool {
        matches!(self, Self::Program(_) | Self::Filter { .. })
    }

    /// Returns the reason that a feed from this source has no history, or `None` for a feed of the web.
    pub const fn without_history(self) -> Option<&'static str> {
        match self {
            Self::Web => None,
            Self::File => Some("a file has no archives"),
            Self::Program(_) | Self::Filter { .. } => Some("a program has no archives"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_of_a_feed_follows_from_its_address() {
        let filter = |command, url| FeedSource::Filter { command, url };
        for (address, source, web) in [
            ("https://a.example/", FeedSource::Web, Some("https://a.example/")),
            ("executive.example", FeedSource::Web, Some("executive.example")),
            ("file:///f.xml", FeedSource::File, None),
            ("exec: a.sh 'b c'", FeedSource::Program("a.sh 'b c'"), None),
            ("exec:curl https://a.example/", FeedSource::Program("curl https://a.example/"), None),
            (
                "filter:sed s:a:b: :https://a.example/?u=http://b.example/",
                filter("sed s:a:b:", "https://a.example/?u=http://b.example/"),
                Some("https://a.example/?u=http://b.example/"),
            ),
            ("filter:f.py", filter("f.py", ""), Some("")),
        ] {
            assert_eq!((FeedSource::of(address), FeedSource::web_part(address)), (source, web));
            assert_eq!(source.without_history().is_none(), source == FeedSource::Web);
        }
    }
}
