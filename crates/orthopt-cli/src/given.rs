//! The options that the user gave: those whose value is not what it is when nothing is said. What does not apply here
//! is refused ([`orthopt::request::OPTIONS`]).

use std::path::Path;

use orthopt::family::{Call, Case, Named, Plan, PoseOptions, ProblemInfo, Run};
use orthopt::report::Role;
use orthopt::request::Request;

use crate::failure::usage;
use crate::input::Input;

/// Options of samples that sums of `orthopt data gram` take too, where they are given as C.
const OF_SUMS: [&str; 3] = ["center", "scale", "covariance"];

/// A call of the command with the options that were given.
#[derive(Clone, Debug)]
pub struct Asked {
    call: Call,
    options: Vec<&'static str>,
}

impl Asked {
    /// The options of `call` that are not their defaults.
    pub fn new(call: Call, request: &Request) -> Self {
        Self { call, options: request.given() }
    }

    /// The same with options of the call alone.
    #[must_use]
    pub fn and(mut self, more: &[(&'static str, bool)]) -> Self {
        self.options.extend(more.iter().filter(|(_, given)| *given).map(|(name, _)| *name));
        self
    }

    /// Refuses what means nothing, as far as that is known before the data are read.
    ///
    /// # Errors
    /// An option that means nothing; exit code 2.
    pub fn check(&self, info: &ProblemInfo, pose: &PoseOptions) -> anyhow::Result<()> {
        let case = self.case(info, pose);
        case.check(self.names())?;
        if self.names().any(|name| name == "gram") {
            case.of_gram(true).check(self.names().filter(|name| !OF_SUMS.contains(name)))?;
        }
        Ok(())
    }

    /// The same where the data are known.
    ///
    /// # Errors
    /// An option that means nothing; exit code 2.
    pub fn check_data(&self, info: &ProblemInfo, pose: &PoseOptions, input: &Input) -> anyhow::Result<()> {
        let gram = input.info.role == Role::Gram;
        Ok(self.case(info, pose).of_gram(gram).check(self.names())?)
    }

    /// The same where the solvers are known; `runs` are the plans with the number of further starts.
    ///
    /// # Errors
    /// An option that does not apply to any of them; exit code 2.
    pub fn check_runs(
        &self,
        (info, pose): (&ProblemInfo, &PoseOptions),
        problem: &Named,
        runs: &[(&Plan, Option<u64>)],
    ) -> anyhow::Result<()> {
        let all = runs.iter().map(|(plan, restarts)| Run::of(problem, plan, *restarts)).reduce(Run::and);
        let run = all.unwrap_or_else(|| Run::none(problem));
        Ok(self.case(info, pose).run_by(run).check(self.names())?)
    }

    /// The same of an X that is given; `draws` says whether random pairs or blocks of its rows are looked at.
    ///
    /// # Errors
    /// An option that means nothing; exit code 2.
    pub fn check_x(
        &self,
        (info, pose): (&ProblemInfo, &PoseOptions),
        problem: &Named,
        draws: bool,
    ) -> anyhow::Result<()> {
        let case = self.case(info, pose).run_by(Run::none(problem)).drawing(draws);
        Ok(case.check(self.names())?)
    }

    fn case(&self, info: &ProblemInfo, pose: &PoseOptions) -> Case {
        Case::new(info, pose).in_call(self.call)
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.options.iter().copied()
    }
}

/// Options that mean something only together with others.
///
/// # Errors
/// One of them without the others.
pub fn check_together(options: &Request) -> anyhow::Result<()> {
    let pictures = [&options.plot_scores, &options.plot_biplot, &options.report];
    let labels = options.labels.as_deref().filter(|labels| Path::new(labels).exists());
    if labels.is_some() && pictures.iter().all(|path| path.is_none()) {
        return Err(usage(
            "--labels is for pictures of samples: give --plot-scores, --plot-biplot or --report too, or leave it out",
        ));
    }
    let drawn = [
        &options.plot,
        &options.plot_loadings,
        &options.plot_scores,
        &options.plot_biplot,
        &options.plot_variance,
        &options.plot_scree,
        &options.plot_stability,
    ];
    let sizes = [("plot-width", options.plot_width), ("font-size", options.font_size)];
    if let Some((name, _)) = sizes.iter().find(|(_, size)| size.is_some())
        && drawn.iter().all(|path| path.is_none())
    {
        return Err(usage(format!(
            "--{name} is for pictures: give --plot or another one too, or leave it out"
        )));
    }
    if options.plot_stability.is_some() && options.stability.is_none() {
        return Err(usage("--plot-stability draws what --stability finds: give that too, or leave it out"));
    }
    if options.reproducible == Some(true) && options.stream == Some(false) {
        return Err(usage(
            "--reproducible is for rows that are read part by part, but --stream=false excludes that",
        ));
    }
    if options.given().contains(&"top") && options.json.as_deref() == Some(Path::new("-")) {
        return Err(usage("--top is for the summary, but --json - prints no summary: leave one of them out"));
    }
    Ok(())
}
