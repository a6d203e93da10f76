//! Options that do not apply, as far as that is known before the data are read.

use std::path::Path;

use orthopt::family::Case;
use orthopt::job::Job;
use orthopt::request::Request;

use crate::failure::usage;

/// Options of samples that sums of `orthopt data gram` take too, where they are given as C.
const OF_SUMS: [&str; 3] = ["center", "scale", "covariance"];

/// Refuses options that do not apply to the problem, or to C where it is given.
///
/// # Errors
/// One of them; exit code 2.
pub fn check_options(job: &Job) -> anyhow::Result<()> {
    job.check()?;
    if job.given.has("gram") {
        let case = Case::new(job.problem, &job.request).of_gram(true);
        job.given.clone().without(&OF_SUMS).check(case)?;
    }
    Ok(())
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
        &options.plot_correlations,
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
