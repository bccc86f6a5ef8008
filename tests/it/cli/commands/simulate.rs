//! `simulate --feed` on the stored history of a subscription.

use chrono::{TimeDelta, Utc};

use super::new_program;
use crate::cli::simulate::row;
use crate::support::site::{Site, answer};

#[test]
fn a_subscription_is_tried_on_its_own_history() {
    let now = Utc::now();
    let items = (1..45).map(|day| {
        let at = now - TimeDelta::days(day) - TimeDelta::seconds(day % 3 * 20);
        let date = at.to_rfc2822();
        format!("<item><guid isPermaLink=\"false\">{day}</guid><title>{day}</title><pubDate>{date}</pubDate></item>")
    });
    let items: String = items.collect();
    let head = "<title>Daily</title><link>https://site.example/</link><description/>";
    let feed = |hints: &str, items: &str| {
        format!("<rss version=\"2.0\"><channel>{head}{hints}{items}</channel></rss>").into_bytes()
    };
    let (known, short) = (feed("<ttl>240</ttl>", &items), feed("", ""));
    let site = Site::start(move |request| {
        let is_known = request.path_and_query == "/known.xml";
        answer(200, &[], if is_known { known.clone() } else { short.clone() })
    });
    let program = new_program();
    program.run(&["add", &site.at("/known.xml"), &site.at("/short.xml")]).with(0);
    let told =
        program.run(&["simulate", "--feed", &site.at("/known.xml"), "--shifts", "20"]).with(0).out;
    assert!(told.contains("44 publications in"), "{told}");
    assert!(told.contains("its schedule (the publisher's ttl): 6.0 polls a day"), "{told}");
    let gains = row(&told, "gain of mean delay, %");
    assert!(gains[2] > 30.0, "every day at the same time: {told}");
    let why = program.run(&["simulate", "--feed", &site.at("/short.xml")]).refused(2);
    assert!(why.contains("too little is known") && why.contains("28 days"), "{why}");
    program.run(&["simulate", "--feed", "nobody"]).refused(2);

    let why = program.run(&["simulate", "--table"]).refused(2);
    assert!(why.contains("too little is known about 2 subscriptions"), "{why}");
    assert!(why.contains("need 56 days") && why.contains("--train-days"), "{why}");
    let table =
        program.run(&["simulate", "--table", "--train-days", "28", "--shifts", "5"]).with(0);
    assert!(table.err.contains("left out 1 subscription: "), "{}", table.err);
    assert!(
        table.out.contains("all 1 feed") || table.out.contains("1 feed where"),
        "{}",
        table.out
    );
    assert_eq!(row(&table.out, "Delay (min.)").len(), 4, "{}", table.out);
    let figure =
        program.run(&["simulate", "--figure", "--train-days", "28", "--shifts", "2"]).with(0).out;
    assert!(figure.contains("Publications by hour and weekday (UTC): Daily"), "{figure}");
    assert!(figure.contains("o fixed interval   * learned plan   + interval rules"), "{figure}");
    let svg = program.write("figure.svg", "");
    let args = ["simulate", "--figure", "activity", "--train-days", "28", "--svg", &svg];
    program.run(&args).with(0);
    assert!(std::fs::read_to_string(&svg).unwrap().contains(": Daily</text>"));
    let why = program.run(&["simulate", "--table", "--policy", "rules"]).refused(2);
    assert!(why.contains("name it with --feeds"), "{why}");
}
