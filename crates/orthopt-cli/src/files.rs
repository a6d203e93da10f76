//! The files of a command: none is written twice, and none that is read is written.

use std::fs;
use std::path::{Path, PathBuf};

use orthopt_data::{check_writable, written_file};

use crate::failure::usage;
use crate::options::SolveOptions;
use crate::settings::asked;

/// The files that options name, checked before work begins.
#[derive(Debug, Default)]
pub struct Files {
    read: Vec<Named>,
    written: Vec<Named>,
    outputs: Vec<PathBuf>,
}

/// A file, with the option that names it.
#[derive(Debug)]
struct Named {
    option: &'static str,
    typed: PathBuf,
    file: PathBuf, // without links
}

impl Files {
    /// The files of the options that `solve` shares with others.
    pub fn of(options: &SolveOptions) -> Self {
        let read = [
            ("DATA", options.data.as_deref()),
            ("--gram", options.gram.as_deref()),
            ("--names", options.names.as_deref()),
            ("--labels", options.labels.as_deref()),
            ("--map", options.map.as_deref().map(Path::new)),
            ("--signature", options.signature.as_deref().map(Path::new)),
            ("--distances", options.distances.as_deref()),
            ("--linear", options.linear.as_deref().map(Path::new)),
            ("--init", options.init.as_deref().map(Path::new)),
        ];
        let files = read.into_iter().fold(Self::default(), |files, (option, path)| files.reads(option, path));
        let files = options.more.iter().fold(files, |files, path| files.reads("DATA", Some(path)));
        let outputs = asked(options).into_iter();
        outputs
            .fold(files, |files, (what, path)| files.writes(what.option(), path))
            .writes("--json", options.json.as_deref())
    }

    /// What may be a file to read; names of other things are none.
    pub fn reads(mut self, option: &'static str, path: Option<&Path>) -> Self {
        let file = path.filter(|path| path.is_file()).and_then(|path| fs::canonicalize(path).ok());
        self.read.extend(path.zip(file).map(|(typed, file)| Named { option, typed: typed.into(), file }));
        self
    }

    /// A file to write; `-` is stdout.
    pub fn writes(mut self, option: &'static str, path: Option<&Path>) -> Self {
        let path = path.filter(|path| *path != Path::new("-"));
        self.outputs.extend(path.map(PathBuf::from));
        let file = path.and_then(written_file);
        self.written.extend(path.zip(file).map(|(typed, file)| Named { option, typed: typed.into(), file }));
        self
    }

    /// # Errors
    /// Two names of one file, of which one is written; a file that cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        for (k, output) in self.written.iter().enumerate() {
            let name = output.typed.display();
            if let Some(input) = self.read.iter().find(|input| input.file == output.file) {
                return Err(usage(format!(
                    "{} {name} is the file that {} reads: nothing that is read is overwritten, give another name",
                    output.option, input.option
                )));
            }
            if let Some(other) = self.written[..k].iter().find(|other| other.file == output.file) {
                return Err(usage(format!(
                    "{} and {} both write {name}: give each a file of its own",
                    other.option, output.option
                )));
            }
        }
        self.outputs.iter().try_for_each(|path| Ok(check_writable(path)?))
    }
}
