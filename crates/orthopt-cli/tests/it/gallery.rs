//! Every command of docs/gallery.md draws the pictures that are shown there.

use crate::common::{Dir, repository};

/// The commands of a page, as words.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("orthopt "));
    lines.map(|line| line.split_whitespace().collect()).collect()
}

/// The pictures of a page, by their paths from docs/.
fn pictures(page: &str) -> Vec<&str> {
    let ends = page.split("![").skip(1).filter_map(|rest| rest.split_once("]("));
    ends.filter_map(|(_, target)| target.split_once(')')).map(|(path, _)| path).collect()
}

/// The words of a picture in alphabetical order, without the numbers at its axes and what depends on time.
fn words(svg: &str) -> Vec<&str> {
    let lines = svg.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('<'));
    let named = |line: &&str| line.contains(char::is_alphabetic) && line.parse::<f64>().is_err();
    let mut words: Vec<_> = lines.filter(named).filter(|line| !timed(line)).collect();
    words.sort_unstable();
    words
}

/// True for lines below titles that differ from run to run: F and gap after a time.
fn timed(line: &str) -> bool {
    [": F = ", ": lowest F = "].iter().any(|part| line.contains(part))
}

#[test]
fn the_gallery_is_drawn_by_its_commands() {
    let page = std::fs::read_to_string(repository("docs/gallery.md")).unwrap();
    let (commands, pictures) = (commands(&page), pictures(&page));
    assert!(commands.len() >= 8 && pictures.len() >= 10, "{} {}", commands.len(), pictures.len());
    let dir = Dir::new();
    for command in &commands {
        dir.orthopt(command).arg("-q").assert().success();
    }
    for path in pictures {
        let shown = std::fs::read_to_string(repository("docs").join(path)).unwrap();
        let drawn = dir.read(path.rsplit('/').next().unwrap());
        assert!(words(&shown).len() >= 3, "{path} has no words");
        assert_eq!(words(&drawn), words(&shown), "{path} is not what its command draws");
    }
    assert!(dir.read("report.html").contains("<h2 id=\"loadings\">"));
}
