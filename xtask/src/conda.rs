//! The recipe of the conda package, read and filled in by rattler-build. Building it takes a conda channel.

use anyhow::Context;

use crate::cargo::{Run, Workspace};
use crate::venv::Venv;

/// Fills the recipe in for one Python and says what came of it.
const RENDER: &str = "\
import sys
from rattler_build import Stage0Recipe, VariantConfig
variants = {'c_compiler': ['gcc'], 'c_stdlib': ['sysroot'], 'c_stdlib_version': ['2.17'], 'rust_compiler': ['rust'],
            'python': ['3.12.* *_cpython']}
found = Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig(variants))
assert len(found) == 1, found
recipe = found[0].recipe.to_dict()
named, build = recipe['package'], recipe['build']
assert build['python']['entry_points'] and recipe['requirements']['run'], recipe
print(named['name'], named['version'], build['string'], 'needs', ', '.join(recipe['requirements']['run']))
";

/// # Errors
/// rattler-build does not understand the recipe.
pub fn render(workspace: &Workspace) -> anyhow::Result<()> {
    let venv = Venv::fresh(&workspace.target.join("conda").join("venv"))?;
    venv.install().args(["py-rattler-build>=0.73,<0.74"]).run()?;
    let recipe = workspace.root.join("packaging/conda/recipe.yaml");
    Run::new(venv.path()).args(["-c", RENDER]).args([&recipe]).run().context("packaging/conda/recipe.yaml")
}
