//! Formats that are known and not read: how to come from there to one that is.

use std::path::Path;

use crate::error::DataError;

/// A format of other programs.
pub(super) struct Foreign {
    extensions: &'static [&'static str],
    about: &'static str,
    /// Two lines that convert a file; `{in}` and `{out}` stand for its names.
    lines: [&'static str; 2],
    /// The extension that they give it.
    to: &'static str,
}

#[rustfmt::skip]
const FOREIGN: &[Foreign] = &[
    Foreign { extensions: &["h5ad"], about: "an AnnData file. In Python", to: "npz",
        lines: ["import anndata, scipy.sparse; a = anndata.read_h5ad(\"{in}\")",
            "scipy.sparse.save_npz(\"{out}\", scipy.sparse.csr_matrix(a.X)); a.var_names.to_series().to_csv(\"names.txt\", index=False, header=False)"] },
    Foreign { extensions: &["h5"], about: "an HDF5 file. In Python (of 10x Genomics; h5py opens others)", to: "npz",
        lines: ["import scanpy, scipy.sparse; a = scanpy.read_10x_h5(\"{in}\")",
            "scipy.sparse.save_npz(\"{out}\", scipy.sparse.csr_matrix(a.X)); a.var_names.to_series().to_csv(\"names.txt\", index=False, header=False)"] },
    Foreign { extensions: &["hdf5"], about: "an HDF5 file. In Python (its first dataset)", to: "npy",
        lines: ["import h5py, numpy; f = h5py.File(\"{in}\"); print(list(f))", "numpy.save(\"{out}\", f[list(f)[0]])"] },
    Foreign { extensions: &["loom"], about: "a loom file. In Python", to: "npz",
        lines: ["import scanpy, scipy.sparse; a = scanpy.read_loom(\"{in}\")",
            "scipy.sparse.save_npz(\"{out}\", scipy.sparse.csr_matrix(a.X)); a.var_names.to_series().to_csv(\"names.txt\", index=False, header=False)"] },
    Foreign { extensions: &["arff"], about: "a file of Weka. In Python", to: "csv",
        lines: ["import pandas, scipy.io.arff; d = pandas.DataFrame(scipy.io.arff.loadarff(\"{in}\")[0])", "d.to_csv(\"{out}\", index=False)"] },
    Foreign { extensions: &["vcf"], about: "a file of genotypes. In Python (scikit-allel; numbers of alternative alleles)", to: "npy",
        lines: ["import allel, numpy; g = allel.read_vcf(\"{in}\", fields=[\"GT\"])[\"calldata/GT\"]",
            "numpy.save(\"{out}\", allel.GenotypeArray(g).to_n_alt().T)"] },
    Foreign { extensions: &["rds"], about: "a file of R. In R", to: "csv",
        lines: ["x <- readRDS(\"{in}\")", "write.csv(as.data.frame(x), \"{out}\")"] },
    Foreign { extensions: &["rdata", "rda"], about: "a workspace of R. In R", to: "csv",
        lines: ["x <- get(load(\"{in}\")[1])", "write.csv(as.data.frame(x), \"{out}\")"] },
    Foreign { extensions: &["sav", "zsav"], about: "an SPSS file. In Python", to: "csv",
        lines: ["import pyreadstat; d, _ = pyreadstat.read_sav(\"{in}\")", "d.to_csv(\"{out}\", index=False)"] },
    Foreign { extensions: &["por"], about: "an SPSS file. In Python", to: "csv",
        lines: ["import pyreadstat; d, _ = pyreadstat.read_por(\"{in}\")", "d.to_csv(\"{out}\", index=False)"] },
    Foreign { extensions: &["dta"], about: "a Stata file. In Python", to: "csv",
        lines: ["import pandas; d = pandas.read_stata(\"{in}\", convert_categoricals=False)", "d.to_csv(\"{out}\", index=False)"] },
    Foreign { extensions: &["xpt"], about: "a SAS file. In Python", to: "csv",
        lines: ["import pyreadstat; d, _ = pyreadstat.read_xport(\"{in}\")", "d.to_csv(\"{out}\", index=False)"] },
    Foreign { extensions: &["sas7bdat"], about: "a SAS file. In Python", to: "csv",
        lines: ["import pyreadstat; d, _ = pyreadstat.read_sas7bdat(\"{in}\")", "d.to_csv(\"{out}\", index=False)"] },
    Foreign { extensions: &["pkl", "pickle"], about: "a pickle of Python. In Python", to: "csv",
        lines: ["import pandas; d = pandas.read_pickle(\"{in}\")", "d.to_csv(\"{out}\")"] },
    Foreign { extensions: &["7z"], about: "an archive. In a shell (of one table)", to: "csv",
        lines: ["7z x -so \"{in}\" > \"{out}\"", "orthopt data info \"{out}\""] },
    Foreign { extensions: &["tar", "tgz"], about: "an archive. In a shell (of one table)", to: "csv",
        lines: ["tar -xOf \"{in}\" > \"{out}\"", "orthopt data info \"{out}\""] },
    Foreign { extensions: &["rar"], about: "an archive. In a shell (of one table)", to: "csv",
        lines: ["unrar p -inul \"{in}\" > \"{out}\"", "orthopt data info \"{out}\""] },
    Foreign { extensions: &["zst"], about: "a compressed file. In a shell", to: "",
        lines: ["unzstd \"{in}\"", "orthopt data info \"{out}\""] },
    Foreign { extensions: &["numbers"], about: "a spreadsheet of Apple Numbers", to: "csv",
        lines: ["File, Export To, CSV...", "orthopt data info \"{out}\""] },
];

/// The foreign format of this extension, in small letters.
pub(super) fn find(extension: &str) -> Option<&'static Foreign> {
    FOREIGN.iter().find(|format| format.extensions.contains(&extension))
}

impl Foreign {
    /// Error that says how to convert the file.
    pub(super) fn error(&self, path: &Path) -> DataError {
        let name =
            |path: &Path| path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let lines = self.lines.map(|line| {
            line.replace("{in}", &name(path)).replace("{out}", &name(&path.with_extension(self.to)))
        });
        let [first, second] = lines;
        let problem =
            format!("this is {}, two lines make a file that is read: `{first}` and `{second}`", self.about);
        DataError::File { path: path.display().to_string(), problem }
    }
}
