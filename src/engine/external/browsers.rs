//! The programs that open an address if the user has configured none: those in the variable `BROWSER`, or else those of the desktop.

use super::external_command::ExternalCommand;

/// Programs of desktops that open an address, with the arguments before it. Under Windows, its own browser comes first.
const DESKTOP: [&str; 8] = [
    "/usr/bin/open",
    "wslview",
    "rundll32.exe url.dll,FileProtocolHandler",
    "xdg-open",
    "gio open",
    "kde-open6",
    "kde-open5",
    "kde-open",
];
/// Programs of [`DESKTOP`] that need no display: those of other systems, and one that starts a browser on the terminal then.
const WITHOUT_DISPLAY: usize = 4;
/// Browsers that run on the terminal.
const ON_TERMINAL: [&str; 6] = ["www-browser", "links2", "elinks", "links", "lynx", "w3m"];

/// Returns the commands that open an address, in the order in which to try them. `named` is the value of `BROWSER`.
pub fn browsers(named: &str, has_display: bool, address: &str) -> Vec<ExternalCommand> {
    let of = |text: &str| ExternalCommand::of_browser(text, address);
    let named: Vec<_> = named.split(':').filter_map(of).collect();
    if !named.is_empty() {
        return named;
    }
    if has_display {
        return DESKTOP.into_iter().filter_map(of).collect();
    }
    let desktop = DESKTOP.into_iter().take(WITHOUT_DISPLAY);
    let lent = |text: &'static str| if text == "xdg-open" { "!xdg-open" } else { text };
    desktop.map(lent).chain(ON_TERMINAL).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_is_read_as_other_programs_read_it() {
        let link = "https://a.example/?q=%73;x&y";
        for (named, expected) in [
            ("firefox", vec![vec!["firefox", link]]),
            ("firefox --new-window", vec![vec!["firefox", "--new-window", link]]),
            ("firefox %s &", vec![vec!["firefox", link]]),
            (
                "chromium --app=%s:w3m",
                vec![vec!["chromium", "--app=https://a.example/?q=%73;x&y"], vec!["w3m", link]],
            ),
            (
                "flatpak run org.mozilla.firefox",
                vec![vec!["flatpak", "run", "org.mozilla.firefox", link]],
            ),
            (
                "'/opt/my browser/run' -u 100%% a%cb %s",
                vec![vec!["/opt/my browser/run", "-u", "100%", "a:b", link]],
            ),
            (" : lynx: ", vec![vec!["lynx", link]]),
            // An address never becomes code.
            ("sh -c 'firefox %s':w3m", vec![vec!["w3m", link]]),
        ] {
            let read = browsers(named, true, link);
            let words = |command: &ExternalCommand| {
                let program = [command.program().to_owned()];
                [&program, command.arguments()].concat()
            };
            assert_eq!(read.iter().map(words).collect::<Vec<_>>(), expected, "{named}");
        }
    }

    #[test]
    fn without_a_display_browsers_get_the_terminal() {
        let lent = |named: &str, has_display: bool| {
            let commands = browsers(named, has_display, "https://a.example/");
            let lent = commands.iter().filter(|command| command.on_terminal);
            lent.map(|command| command.program().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(lent("", true), [""; 0]);
        let expected = ["xdg-open", "www-browser", "links2", "elinks", "links", "lynx", "w3m"];
        assert_eq!(lent("", false), expected);
        // A program that the user names may show the page on another machine.
        assert_eq!(lent("my-browser:/usr/bin/w3m", false), ["/usr/bin/w3m"]);
    }
}
