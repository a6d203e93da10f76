//! The examples run and hold what they say; each checks itself.

#[path = "../../examples/j_orthogonal.rs"]
mod j_orthogonal;
#[path = "../../examples/observer.rs"]
mod observer;
#[path = "../../examples/sparse_pca.rs"]
mod sparse_pca;

#[test]
fn j_orthogonal_example() {
    j_orthogonal::main().unwrap();
}

#[test]
fn observer_example() {
    observer::main().unwrap();
}

#[test]
fn sparse_pca_example() {
    sparse_pca::main().unwrap();
}

/// The pages show the program of the README of this crate, which is a doctest.
#[test]
fn the_pages_show_the_program_that_is_tested() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = |path: &str| {
        let page = std::fs::read_to_string(root.join(path)).unwrap();
        let block = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
        block.unwrap_or_else(|| panic!("{path} has no Rust")).to_owned()
    };
    let tested = program("crates/orthopt/README.md");
    assert!(tested.contains("SparsePca::l0"));
    for path in ["README.md", "docs/for-numerical-analysts.md"] {
        assert_eq!(program(path), tested, "{path}");
    }
}
