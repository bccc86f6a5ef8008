//! The examples in the help of each subcommand.

use std::fmt::Write as _;

use clap::Command;

/// The examples that the `--help` of each subcommand shows, by its name. The name of a nested subcommand is both words, as in
/// `filters add`.
const EXAMPLES: [(&str, &str); 58] = [
    ("demo", "backissue demo"),
    ("account", "backissue account add https://rss.example --user ann\nbackissue account sync"),
    (
        "account add",
        "backissue account add https://rss.example --user ann\n\
         backissue account add https://rss.example --user ann --password-command 'pass show rss'",
    ),
    ("account list", "backissue account list\nbackissue account list --json"),
    ("account remove", "backissue account remove rss.example --keep"),
    ("account sync", "backissue account sync\nbackissue account sync rss.example --whole"),
    ("account log", "backissue account log\nbackissue account log rss.example --json"),
    (
        "add",
        "backissue add https://site.example\n\
         backissue add https://site.example/feed.xml --tag news/local --title 'Our town'",
    ),
    (
        "import",
        "backissue import subscriptions.opml\ncurl -s https://site.example/list.opml | backissue import -",
    ),
    (
        "export",
        "backissue export subscriptions.opml\n\
         backissue export --state state.jsonl\n\
         backissue export --starred starred.html\n\
         backissue export --entries 'label:frost after:30d' frost.epub",
    ),
    (
        "feeds",
        "backissue feeds orchard\n\
         backissue feeds --tag news --unread\n\
         backissue feeds --failing --json",
    ),
    ("downloads", "backissue downloads\nbackissue downloads --json"),
    ("downloads add", "backissue downloads add 7.41\nbackissue downloads add 7.41 --file 2"),
    ("downloads run", "backissue downloads run"),
    ("downloads pause", "backissue downloads pause 3"),
    ("downloads resume", "backissue downloads resume 3 4"),
    ("downloads remove", "backissue downloads remove 3\nbackissue downloads remove 3 --delete"),
    (
        "unsubscribe",
        "backissue unsubscribe 7\nbackissue unsubscribe orchard https://b.example/feed",
    ),
    (
        "unread",
        "backissue unread\n\
         backissue unread orchard\n\
         backissue unread --json",
    ),
    (
        "entries",
        "backissue entries orchard --unread\n\
         backissue entries --since 2026-03-01 --limit 20 --json",
    ),
    (
        "search",
        "backissue search late frost\n\
         backissue search '\"late frost\" tag:garden is:unread after:7d'",
    ),
    (
        "filters",
        "backissue filters\n\
         backissue filters add --hide --title sponsored\n\
         backissue filters remove 1",
    ),
    (
        "filters add",
        "backissue filters add --hide --title sponsored\n\
         backissue filters add --label frost --tag garden --text '/late +frost/' --until 6m",
    ),
    ("filters remove", "backissue filters remove 1"),
    ("show", "backissue show 3.14\nbackissue show 3.14 --text | less"),
    ("open", "backissue open 3.14\nbackissue open 3.14 --keep-unread"),
    (
        "mark",
        "backissue mark read 3.14 3.15\n\
         backissue mark read --feed orchard --before 2026-03-01\n\
         backissue mark starred --search 'title:frost is:unread'\n\
         backissue mark read --all",
    ),
    ("label", "backissue label later 3.14 3.15\nbackissue label later 3.14 --remove"),
    ("undo", "backissue undo"),
    (
        "poll",
        "backissue poll\n\
         backissue poll orchard\n\
         backissue poll --quiet --tolerant",
    ),
    ("history", "backissue history orchard\nbackissue history orchard --continue"),
    ("watch", "backissue watch\nbackissue watch --follow\nbackissue watch --serve 8086"),
    ("events", "backissue events --follow | jq .event"),
    ("service", "backissue service install\nbackissue service status"),
    ("plan", "backissue plan orchard --next 5"),
    (
        "set",
        "backissue set orchard --pace more --min 30m\n\
         backissue set orchard --rule 'Mon-Fri 9:00-18:00 45m' --tag news",
    ),
    ("drip", "backissue drip orchard 1d\nbackissue drip orchard auto"),
    ("subscribe-again", "backissue subscribe-again orchard"),
    ("resume", "backissue resume orchard"),
    (
        "move",
        "backissue move orchard accept\nbackissue move 7 refuse\n\
         backissue move orchard https://site.example/new.xml",
    ),
    (
        "parse",
        "backissue parse feed.xml\ncurl -s https://site.example/feed.xml | backissue parse - --json",
    ),
    (
        "lint",
        "backissue lint https://site.example/feed.xml\nbackissue lint feed.xml --url https://site.example/feed.xml",
    ),
    (
        "publish",
        "backissue publish orchard --out public --base-url https://site.example/feeds/\n\
         backissue publish 7 --out public --archives 100 --interval",
    ),
    ("serve", "backissue serve public --port 8080\nbackissue serve --sync 8086"),
    ("device", "backissue device add phone\nbackissue device list"),
    ("device add", "backissue device add phone"),
    ("device allow", "backissue device allow phone"),
    ("device answer", "backissue device answer"),
    ("device list", "backissue device list\nbackissue device list --json"),
    ("device remove", "backissue device remove phone"),
    ("device undo", "backissue device undo phone"),
    (
        "simulate",
        "backissue simulate --feed orchard\nbackissue simulate --table\nbackissue simulate --figure --svg figures.svg\n\
         backissue simulate --feeds times.jsonl --table",
    ),
    ("config", "backissue config\nbackissue config --print-default > config.toml"),
    ("doctor", "backissue doctor\nbackissue doctor --repair"),
    ("backup", "backissue backup backissue.backup"),
    ("restore", "backissue restore backissue.backup"),
    (
        "completions",
        "backissue completions bash > ~/.local/share/bash-completion/completions/backissue",
    ),
    ("man", "backissue man | man -l -"),
];

/// The subcommands by use, as the help of the program lists them.
const GROUPS: [(&str, &str); 7] = [
    ("Begin", "demo add import account"),
    ("Read and find", "unread entries search show open mark label filters downloads undo"),
    ("Feeds", "feeds set plan poll history drip unsubscribe subscribe-again resume move"),
    ("In the background", "watch device service events"),
    ("Keep and move", "export backup restore"),
    ("For publishers", "lint parse publish serve simulate"),
    ("The program", "config doctor completions man"),
];

/// Lists the subcommands in groups in the help of the program.
pub(super) fn group_commands(command: Command) -> Command {
    let style = *command.get_styles().get_header();
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (heading, names) in GROUPS {
        let rows = names.split(' ').filter_map(|name| {
            let about = command.find_subcommand(name)?.get_about().cloned();
            Some(Command::new(name).about(about.unwrap_or_default()))
        });
        let mut group = Command::new("group")
            .max_term_width(100)
            .disable_help_subcommand(true)
            .help_template("{subcommands}")
            .subcommands(rows);
        let rows = group.render_help().ansi().to_string();
        write!(text, "\n{style}{heading}:{style:#}\n{}\n", rows.trim_end()).ok();
    }
    write!(text, "\n{style}Options:{style:#}\n{{options}}{{after-help}}").ok();
    command
        .after_help("'backissue COMMAND --help' shows the options of a command and examples, 'backissue man guide' the guide.")
        .help_template(text)
}

/// Adds the examples to the help of each subcommand.
pub(super) fn add_examples(command: Command) -> Command {
    add_below(command, "")
}

/// Adds the examples to the help of all subcommands below `command`. `above` is the full name of `command`.
fn add_below(command: Command, above: &str) -> Command {
    command.mut_subcommands(|inner| {
        let name = format!("{above}{}", inner.get_name());
        let examples = EXAMPLES.iter().find(|(known, _)| *known == name);
        let inner = add_below(inner, &format!("{name} "));
        let Some((_, lines)) = examples else { return inner };
        let lines = lines.replace('\n', "\n  ");
        let before = inner.get_after_help().map(|text| format!("{text}\n\n"));
        inner.after_help(format!("{}Examples:\n  {lines}", before.unwrap_or_default()))
    })
}
