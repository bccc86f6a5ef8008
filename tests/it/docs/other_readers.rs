//! Checks that the tables about other readers name only what exists here.

use backissue::ui::keys::command_table::COMMANDS;

use super::pages::{between, cells, page};

/// Checks that a name in code marks on our side of a table exists.
fn exists(name: &str, config: &str) -> bool {
    if let Some(field) = name.strip_prefix('[') {
        let (section, field) = field.split_once(']').unwrap();
        let Some((_, part)) = config.split_once(&format!("\n[{section}]\n")) else { return false };
        let part = part.split("\n[").next().unwrap();
        let set = format!("{} =", field.trim());
        let is_field = |line: &str| line.trim_start_matches("# ").starts_with(&set);
        return field.is_empty() || part.lines().any(is_field);
    }
    if let Some(command) = name.strip_prefix("backissue ") {
        let help = page("docs/interface.md");
        return help.contains(&format!("backissue {}", command.split(' ').next().unwrap()));
    }
    if name.starts_with("--") {
        return page("docs/interface.md").contains(&format!("`{name}`"));
    }
    let others = ["credentials.toml", "display", "!"];
    COMMANDS.iter().any(|row| row.name == name) || others.contains(&name)
}

#[test]
fn tables_about_other_readers_name_what_exists_here() {
    let config = format!("\n{}", page("assets/config.toml"));
    for (path, part, column, least) in [
        ("docs/newsboat.md", "newsboat options", 1, 100),
        ("docs/from-others.md", "eilmeldung options", 1, 35),
        ("docs/from-others.md", "newsraft options", 1, 35),
        ("docs/from-others.md", "features", 2, 35),
    ] {
        let table = page(path);
        let rows = between(&table, part).lines().skip(2);
        let here: Vec<String> = rows.filter_map(|row| cells(row).into_iter().nth(column)).collect();
        assert!(here.len() > least, "{part}: {}", here.len());
        for cell in here {
            let verdicts = ["same: ", "better: ", "not: "];
            let is_judged = verdicts.iter().any(|verdict| cell.starts_with(verdict));
            assert!(part != "features" || is_judged, "{cell}");
            for name in cell.split('`').skip(1).step_by(2) {
                // Names of the format, not of the program.
                let is_term = ["Retry-After", "skipHours"].contains(&name);
                assert!(is_term || exists(name, &config), "'{name}' of '{cell}'");
            }
        }
    }
    for absent in ["[ui] nothing", "[nothing] at_all", "backissue dance", "dance", "--dance"] {
        assert!(!exists(absent, &config), "{absent}");
    }
}
