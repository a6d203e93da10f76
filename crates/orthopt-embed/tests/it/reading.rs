//! Files of triples, good and bad.

use std::io::Write;
use std::path::PathBuf;

use orthopt_embed::{Error, Triple, read_graph};
use tempfile::TempDir;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::File::create(&path).unwrap().write_all(text.as_ref()).unwrap();
        path
    }
}

fn triple(head: u32, relation: u32, tail: u32) -> Triple {
    Triple { head, relation, tail }
}

#[test]
fn names_duplicates_and_what_train_does_not_know() {
    let files = Files::new();
    let train = files
        .write("train.tsv", "\u{feff}anna\tmother of\tbob\r\n\nbob\tlikes\tanna\nanna\tmother of\tbob\n");
    let valid = files.write("valid.tsv", "bob\tlikes\tcarl\nbob\tlikes\tanna\n");
    let test = files.write("test.tsv", "");
    let (graph, found) = read_graph(&train, Some(&valid), Some(&test), None).unwrap();
    assert_eq!(graph.entities, ["anna", "bob", "carl"]);
    assert_eq!(graph.relations, ["mother of", "likes"]);
    assert_eq!(graph.train, [triple(0, 0, 1), triple(1, 1, 0)]);
    assert_eq!(graph.valid, [triple(1, 1, 2), triple(1, 1, 0)]);
    assert!(graph.test.is_empty());
    assert_eq!((found.duplicates, found.repeated), (1, 1));
    assert_eq!((found.unknown_entities, found.unknown_relations), (1, 0));
    assert_eq!(graph.learned(), [true, true, false]);
}

#[test]
fn words_without_tabs_and_the_format_of_openke() {
    let files = Files::new();
    let plain = files.write("plain.txt", "a r b\nb  r c\n");
    let (graph, _) = read_graph(&plain, None, None, None).unwrap();
    assert_eq!(graph.train, [triple(0, 0, 1), triple(1, 0, 2)]);
    let openke = files.write("train2id.txt", "2\n5 6 0\n6 7 1\n");
    let (graph, _) = read_graph(&openke, None, None, None).unwrap();
    assert_eq!(
        (graph.entities, graph.relations),
        (vec!["5".into(), "6".into(), "7".into()], vec!["0".into(), "1".into()])
    );
}

#[test]
fn bad_files_are_named_with_the_line() {
    let files = Files::new();
    let cases = [
        ("a\tr\tb\na\tr\n", "x.tsv:2: `a\\tr` is not a triple"),
        ("a\tr\t\n", "x.tsv:1: `a\\tr\\t` is not a triple"),
        ("a b c d\n", "x.tsv:1: `a b c d` is not a triple"),
        ("3\n0 1 0\n1 2 0\n", "announces 3 triples, but there are 2"),
        ("2\n0 1 0\n1 x 0\n", "x.tsv:3: `x` is not a number"),
        ("", "train has no triples"),
        ("\n\n", "train has no triples"),
    ];
    for (text, problem) in cases {
        let path = files.write("x.tsv", text);
        let error = read_graph(&path, None, None, None).unwrap_err().to_string();
        assert!(error.contains(problem), "{text:?}: {error}");
    }
    let path = files.write("x.tsv", b"a\tr\t\xff\xfe\n");
    assert!(read_graph(&path, None, None, None).unwrap_err().to_string().contains("not UTF-8"));
    let missing = files.0.path().join("none.tsv");
    assert!(matches!(read_graph(&missing, None, None, None), Err(Error::Data(_))));
    let many: String = (0..5000).map(|i| format!("a{i}\tr\tb{i}\n")).collect();
    let path = files.write("x.tsv", many);
    let error = read_graph(&path, None, None, Some(100_000)).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}
