//! docs/adding-a-penalty.md: its penalty, problem and solver are files that are compiled and tested in their crates, or stand here.

use orthopt::family::{Kind, ProblemInfo};

/// The problem of the page.
#[rustfmt::skip]
const PROBLEMS: &[ProblemInfo] = &[
    ProblemInfo {
        name: "log-pca",
        kind: Kind::Pca,
        penalty: "log",
        uses_lambda: true,
        doc: "sparse PCA with a logarithm: min -1/2 <X, CX> + h(X), X'X = I",
    },
];

#[test]
fn the_page_shows_what_is_compiled() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let page = read("docs/adding-a-penalty.md");
    let blocks: Vec<&str> =
        page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [penalty, lines, bound, problem, solver] = blocks[..] else {
        panic!("{} blocks of Rust", blocks.len())
    };
    assert_eq!(penalty, read("crates/orthopt-core/src/penalty/tests/log.rs"));
    assert_eq!(solver, read("crates/orthopt-solvers/src/tests/prox_project.rs"));
    assert!(include_str!("walkthrough.rs").contains(problem), "{problem}");
    assert_eq!(PROBLEMS.len(), 1);
    // each line of code of a list stands in the list that is compiled
    let list = read("crates/orthopt-core/src/penalty/tests/mod.rs");
    for line in lines.lines().filter(|line| !line.starts_with("//")) {
        assert!(list.lines().any(|own| own == line), "{line}");
    }
    let folded = bound.replace(" | AnyPenalty::Log(_)", "");
    assert!(folded != bound && read("crates/orthopt-bound/src/of_penalty.rs").contains(&folded), "{bound}");
    let list = read("crates/orthopt-solvers/src/tests/mod.rs");
    for line in ["mod prox_project;", "prox_project::INFO,"] {
        assert!(page.contains(&format!("{line}`")) && list.lines().any(|own| own.trim() == line), "{line}");
    }
}
