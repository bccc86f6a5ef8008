//! Lint of third-party documents in the folder that `BACKISSUE_CORPUS` names: it never panics, and has advice for every finding.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use backissue_core::feed::Origin;
use backissue_core::lint::{Level, examine, mending, report_github, report_json, report_sarif};

use super::corpus::{corpus, tell};

/// Returns all files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for place in std::fs::read_dir(folder).unwrap() {
        let path = place.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn lint_of_all_documents_ends_with_advice() {
    let Some(folder) = corpus() else { return };
    let (mut found, mut levels, mut feeds) = (Vec::new(), BTreeMap::new(), 0);
    files(&folder, &mut found);
    for path in &found {
        let bytes = std::fs::read(path).unwrap();
        let origin = Origin { url: Some("https://a.example/feed"), content_type: None };
        let report = examine(&bytes, &origin, chrono::DateTime::UNIX_EPOCH);
        feeds += usize::from(report.kind.is_feed());
        for finding in &report.findings {
            *levels.entry(finding.level.word()).or_insert(0_u32) += 1;
            let has_advice = mending(finding).is_some();
            assert_eq!(has_advice, finding.level != Level::Note, "{}: {finding:?}", path.display());
        }
        let lines = report_github(&report, "feed");
        assert!(lines.iter().all(|line| !line.contains('\n')), "{}", path.display());
        assert!(report_sarif(&report, "feed", "1").is_object() && report_json(&report).is_object());
    }
    tell(&format!("{} files, {feeds} feeds: {levels:?}", found.len()));
    assert!(feeds > 100, "{feeds}");
}
