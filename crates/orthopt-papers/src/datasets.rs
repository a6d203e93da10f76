//! The papers' data sets: files that are available, and replacements for the others.

use std::path::{Path, PathBuf};

use orthopt_data::{DataError, LoadOptions, load};

/// Source of a data set.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Made by a generator of this program: another draw than the paper's.
    Generated(&'static str, Preparation),
    /// A file of the data folder, by its usual names without extension, and its relation to the paper's data.
    File(&'static [&'static str], Likeness),
    /// A file, and a replacement if it is missing.
    FileOr(&'static [&'static str], Likeness, (&'static str, Preparation, &'static str)),
    /// Facts in files of the data folder.
    Facts(&'static [&'static str]),
}

/// Relation of data to those of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Numbers equal to those of the paper.
    Same,
    /// Another draw of the same distribution.
    Draw,
    /// The data set of the paper, which uses an unspecified random part of it.
    Part,
    /// Other data in their place, and which.
    StandIn(&'static str),
}

impl Likeness {
    /// Remark on data that differ from the paper's.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            Self::Same => None,
            Self::Draw => Some("another draw of the paper's distribution"),
            Self::Part => {
                Some("your own file; the paper uses a random part of this data set and does not say which")
            }
            Self::StandIn(what) => Some(what),
        }
    }

    /// True if the paper's numbers say something about these data: not of a part or a stand-in.
    pub fn is_comparable(self) -> bool {
        matches!(self, Self::Same | Self::Draw)
    }
}

/// Preparation of data, by an item or by the kind of data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preparation {
    /// Maximum number of columns.
    pub features: Option<usize>,
    /// True if means are subtracted.
    pub center: bool,
    /// As `--scale` has it.
    pub scale: Option<&'static str>,
}

impl Preparation {
    /// None.
    pub const NONE: Self = Self { features: None, center: false, scale: None };

    const fn columns(n: usize) -> Self {
        Self { features: Some(n), ..Self::NONE }
    }

    /// Both: the fewer columns, and the scale of `self` first.
    pub fn and(self, data: Self) -> Self {
        let fewer = self.features.into_iter().chain(data.features).min();
        Self { features: fewer, center: self.center || data.center, scale: self.scale.or(data.scale) }
    }

    /// As options of `solve`.
    pub fn words(self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.features.map(|n| ["--features".into(), n.to_string()]).into_iter().flatten());
        words.extend(self.center.then(|| "--center".into()));
        words.extend(self.scale.map(|how| ["--scale".into(), how.into()]).into_iter().flatten());
        words
    }
}

/// Pixels from 0..255 to 0..1.
const PIXELS: Preparation = Preparation { scale: Some("0.00392156862745098"), ..Preparation::NONE };

/// By the papers' names.
const DATASETS: &[(&str, Source)] = &[
    ("w1a", Source::File(&["w1a"], Likeness::Same)),
    ("randn", Source::Generated("randn:500:1000", Preparation::NONE)),
    ("randn10", Source::Generated("randn:10:10", Preparation::columns(10))),
    ("randn100", Source::Generated("randn:100:100", Preparation::columns(100))),
    ("randn1000", Source::Generated("randn:1000:1000", Preparation::columns(1000))),
    ("randn5000", Source::Generated("randn:5000:100", Preparation::columns(100))),
    (
        "MNIST",
        Source::FileOr(
            &["mnist", "mnist.scale"],
            Likeness::Part,
            (
                "mnist_a_5000_images.npy",
                PIXELS,
                "5000 of its test images in place of the 60000, pixels from 0 to 1 unless variables are scaled",
            ),
        ),
    ),
    (
        "20News",
        Source::FileOr(
            &["20news", "20newsgroups"],
            Likeness::Part,
            (
                "news20_counts.mtx.gz",
                Preparation::columns(1000),
                "another count matrix of 20 Newsgroups, its first 1000 terms",
            ),
        ),
    ),
    (
        "news20",
        Source::FileOr(
            &["news20", "news20.scale"],
            Likeness::Part,
            (
                "news20_top100words.mtx.gz",
                Preparation::NONE,
                "counts of frequent words of 20 Newsgroups in place of 7967 of its documents",
            ),
        ),
    ),
    ("FB15k", Source::Facts(&["fb15k_partial_valid.tsv.gz", "fb15k_partial_test.tsv.gz"])),
    ("WN18RR", Source::Facts(&["wn18rr_train.tsv.gz"])),
    ("TDT2", Source::File(&["tdt2"], Likeness::Part)),
    ("sector", Source::File(&["sector", "sector.scale"], Likeness::Part)),
    ("E2006", Source::File(&["e2006", "e2006.train", "e2006.test"], Likeness::Part)),
    ("Gisette", Source::File(&["gisette", "gisette_scale", "gisette_train"], Likeness::Part)),
    ("CnnCaltech", Source::File(&["cnncaltech", "caltech"], Likeness::Part)),
    ("Cifar", Source::File(&["cifar", "cifar10", "cifar-10"], Likeness::Part)),
];

/// A data set that can be read.
#[derive(Clone, Debug)]
pub struct Available {
    /// DATA of `solve`.
    pub data: String,
    /// Preparation of the data.
    pub preparation: Preparation,
    /// Relation to the paper's data.
    pub likeness: Likeness,
}

impl Available {
    /// Removes the number of columns to keep if a file of the user has no more columns.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn measured(mut self) -> Result<Self, DataError> {
        if let Some(most) = self.preparation.features
            && self.likeness == Likeness::Part
            && load(&self.data, &LoadOptions::default())?.matrix.ncols() <= most
        {
            self.preparation.features = None;
        }
        Ok(self)
    }
}

/// The data set called so, if the program knows it.
pub fn find(name: &str) -> Option<Source> {
    DATASETS.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

/// Number of variables kept of data that may have many more than the papers' data.
const WIDEST: usize = 1000;

impl Source {
    /// Location of the data, or the reason why they are not available.
    ///
    /// # Errors
    /// Description of the missing file.
    pub fn locate(self, folder: Option<&Path>) -> Result<Available, String> {
        let (names, likeness, stand_in) = match self {
            Self::Generated(data, preparation) => {
                return Ok(Available { data: data.into(), preparation, likeness: Likeness::Draw });
            }
            Self::File(names, likeness) => (names, likeness, None),
            Self::FileOr(names, likeness, stand_in) => (names, likeness, Some(stand_in)),
            Self::Facts(_) => return Err("facts of a knowledge graph are not a matrix".into()),
        };
        let Some(folder) = folder else {
            return Err(format!(
                "needs a file {}.*: name its folder with --data-dir or ORTHOPT_DATA",
                names[0]
            ));
        };
        let found = |data: PathBuf, preparation, likeness| {
            Ok(Available { data: data.display().to_string(), preparation, likeness })
        };
        if let Some(path) = named(folder, names) {
            let wide = likeness == Likeness::Part;
            return found(
                path,
                if wide { Preparation::columns(WIDEST) } else { Preparation::NONE },
                likeness,
            );
        }
        if let Some((file, preparation, what)) = stand_in
            && folder.join(file).is_file()
        {
            return found(folder.join(file), preparation, Likeness::StandIn(what));
        }
        let (names, known) = (names.join(", "), extensions().join(", "));
        Err(format!(
            "no file in {} has the name {names}, alone or with one of the extensions {known} (each also with .gz, .bz2, .xz)",
            folder.display()
        ))
    }

    /// The files of a graph; of other data none.
    ///
    /// # Errors
    /// Description of the missing file.
    pub fn facts(self, folder: Option<&Path>) -> Result<Vec<PathBuf>, String> {
        let Self::Facts(files) = self else { return Err("no knowledge graph".into()) };
        files.iter().map(|file| in_folder(folder, file)).collect()
    }
}

/// A file of the data folder, or why it is not there.
fn in_folder(folder: Option<&Path>, file: &str) -> Result<PathBuf, String> {
    let Some(folder) = folder else {
        return Err(format!("needs {file}: name its folder with --data-dir or ORTHOPT_DATA"));
    };
    let path = folder.join(file);
    if !path.is_file() {
        return Err(format!("{} is not there", path.display()));
    }
    Ok(path)
}

/// Extensions of the readers, without dots.
fn extensions() -> Vec<String> {
    let dotted = orthopt_data::formats().into_iter().map(|format| format.0);
    let apart =
        |word: String| word.split(|c: char| !c.is_alphanumeric()).map(String::from).collect::<Vec<_>>();
    dotted.flat_map(apart).filter(|end| !end.is_empty()).collect()
}

/// The first file of the folder, by name, with this name, in any case and any readable format.
fn named(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let known = extensions();
    let fits = |file: &str| {
        let file = file.to_lowercase();
        let plain = orthopt_data::uncompressed(Path::new(&file)).display().to_string();
        let ends = |(stem, end): (&str, &str)| names.contains(&stem) && known.iter().any(|k| k == end);
        names.contains(&plain.as_str()) || plain.rsplit_once('.').is_some_and(ends)
    };
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| path.is_file() && path.file_name().and_then(|n| n.to_str()).is_some_and(fits)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_any_of_its_names_and_formats() {
        let dir = tempfile::tempdir().expect("a folder");
        let tdt2 = find("TDT2").expect("known");
        assert!(tdt2.locate(Some(dir.path())).unwrap_err().contains("tdt2"));
        for (file, there) in [
            ("TDT2.rds", false),
            ("tdt2x.svm", false),
            ("TDT2.mat", true),
            ("TDT2.MTX.gz", true),
            ("TDT2.csv", true),
        ] {
            std::fs::write(dir.path().join(file), "1\n").expect("written");
            let found = tdt2.locate(Some(dir.path()));
            assert_eq!(found.is_ok(), there, "{file}");
            if let Ok(found) = found {
                assert!(found.likeness == Likeness::Part && !found.likeness.is_comparable());
            }
        }
        assert!(find("sector").expect("known").locate(Some(dir.path())).is_err());
        for (set, file) in [
            ("sector", "sector.scale.bz2"),
            ("w1a", "w1a"),
            ("E2006", "E2006.train"),
            ("Gisette", "gisette_scale.XZ"),
        ] {
            std::fs::write(dir.path().join(file), "1 1:1\n").expect("written");
            assert!(find(set).expect("known").locate(Some(dir.path())).is_ok(), "{file}");
        }
    }

    #[test]
    fn an_owners_file_goes_before_what_stands_in() {
        let dir = tempfile::tempdir().expect("a folder");
        let mnist = find("MNIST").expect("known");
        std::fs::write(dir.path().join("mnist_a_5000_images.npy"), "").expect("written");
        let likeness = |source: Source| source.locate(Some(dir.path())).expect("there").likeness;
        assert!(matches!(likeness(mnist), Likeness::StandIn(_)));
        std::fs::write(dir.path().join("mnist.scale.svm"), "").expect("written");
        assert_eq!(likeness(mnist), Likeness::Part);
    }
}
