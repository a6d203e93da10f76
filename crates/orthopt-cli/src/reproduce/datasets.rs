//! The papers' data sets: which of them are here, and what stands in for the others.

use std::path::{Path, PathBuf};

/// Where a data set comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Made by a generator of this program.
    Generated(&'static str),
    /// A file of the data folder, as the paper has it.
    File(&'static str),
    /// Another file of the data folder in its place, with options of `solve` and what it is.
    StandIn(&'static str, &'static [&'static str], &'static str),
    /// Not to be had.
    Missing,
}

/// By the papers' names.
const DATASETS: &[(&str, Source)] = &[
    ("w1a", Source::File("w1a.svm")),
    ("randn", Source::Generated("randn:500:1000")),
    ("randn100", Source::Generated("randn:100:100")),
    (
        "MNIST",
        Source::StandIn("mnist_a_5000_images.npy", &[], "5000 of its test images in place of the 60000"),
    ),
    (
        "20News",
        Source::StandIn(
            "news20_counts.mtx.gz",
            &["--features", "1000"],
            "another count matrix of 20 Newsgroups, its first 1000 terms",
        ),
    ),
    ("pcmac", Source::StandIn("pcmac.svm.gz", &["--features", "1000"], "its first 1000 terms")),
    ("TDT2", Source::Missing),
    ("sector", Source::Missing),
    ("E2006", Source::Missing),
    ("Gisette", Source::Missing),
    ("CnnCaltech", Source::Missing),
    ("Cifar", Source::Missing),
];

/// A data set that can be read.
#[derive(Clone, Debug)]
pub struct Available {
    /// DATA of `solve`.
    pub data: String,
    pub options: &'static [&'static str],
    /// What stands in for the paper's data, if anything does.
    pub stand_in: Option<&'static str>,
}

/// The data set called so, if the program knows it.
pub fn find(name: &str) -> Option<Source> {
    DATASETS.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

impl Source {
    /// Where it is, or why it is not to be had.
    ///
    /// # Errors
    /// What is missing.
    pub fn locate(self, folder: Option<&Path>) -> Result<Available, String> {
        let (file, options, stand_in) = match self {
            Self::Generated(data) => {
                return Ok(Available { data: data.into(), options: &[], stand_in: None });
            }
            Self::File(file) => (file, &[][..], None),
            Self::StandIn(file, options, what) => (file, options, Some(what)),
            Self::Missing => return Err("not distributed with this project, nothing stands in".into()),
        };
        let Some(folder) = folder else {
            return Err(format!("needs {file}: name its folder with --data-dir or ORTHOPT_DATA"));
        };
        let path: PathBuf = folder.join(file);
        if !path.is_file() {
            return Err(format!("{} is not there", path.display()));
        }
        Ok(Available { data: path.display().to_string(), options, stand_in })
    }
}
