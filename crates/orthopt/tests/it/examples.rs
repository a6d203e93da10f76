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
