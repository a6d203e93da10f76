//! Meaning of the options of `solve`: checked, with defaults filled in.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;

use orthopt::family::{CallOptions, ProblemInfo, find_problem};
use orthopt::job::Job;
use orthopt::request::{Request, Size};
use orthopt::threads::sensible;
use orthopt_data::allow_memory;

use crate::data_request::DataRequest;
use crate::export::{Output, What};
use crate::failure::{say, usage};
use crate::given::{check_options, check_together};
use crate::input::{read_x, short_text};
use crate::plot::PictureSize;

/// Everything `solve` and `compare` need to know.
#[derive(Clone, Debug)]
pub struct Settings {
    pub job: Job,
    pub data: DataRequest,
    pub top: usize,
    pub json: Option<PathBuf>,
    pub outputs: Vec<Output>,
    /// Size of pictures.
    pub look: PictureSize,
    pub quiet: bool,
    pub verbose: bool,
}

impl Settings {
    /// Checks `options` of a call without looking at the data, and fills defaults into `options` itself, so that they can be
    /// printed.
    ///
    /// # Errors
    /// A value that makes no sense, a file that cannot be read, an option that does not apply; exit code 2.
    pub fn resolve(given: CallOptions, options: &mut Request) -> anyhow::Result<Self> {
        if let Some(size) = options.max_memory {
            allow_memory(size.0); // of every file that is read from now on
        }
        let mut request = checked(options)?;
        request.max_memory.get_or_insert_with(|| Size(orthopt_data::default_memory()));
        let job = Job::new(problem(options.problem.as_deref())?, request, given);
        let settings = Self {
            job,
            data: DataRequest::new(options)?,
            top: options.top.unwrap_or_default(),
            json: options.json.clone(),
            outputs: outputs(options)?,
            look: look(options)?,
            quiet: options.quiet.unwrap_or_default(),
            verbose: options.verbose.unwrap_or_default(),
        };
        check_options(&settings.job)?;
        check_together(options)?;
        Ok(settings)
    }

    /// True if the command prints its summary: not with `--quiet`, and not where stdout takes the JSON.
    pub fn prints(&self) -> bool {
        !self.quiet && self.json.as_deref() != Some(Path::new("-"))
    }
}

/// Makes the pool of `threads` threads, by default one per core, before anything else uses one; very large numbers are reduced. A second call
/// changes nothing.
///
/// # Errors
/// They cannot be started.
pub fn use_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let of_environment = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok().filter(|n| *n > 0);
    let Some(wanted) = threads.or_else(of_environment) else { return Ok(()) };
    static STARTED: Mutex<bool> = Mutex::new(false);
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if *started {
        return Ok(());
    }
    let threads = sensible(wanted);
    if threads < wanted {
        say(
            "note",
            &format!("{wanted} threads are more than this machine can use: {threads} threads are started"),
        );
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| usage(format!("cannot start {threads} threads: {error}")))?;
    *started = true;
    Ok(())
}

/// The options once their files are read; `options` keeps the names of the files.
fn checked(options: &mut Request) -> anyhow::Result<Request> {
    use_threads(options.threads)?;
    options.fill();
    let mut loaded = options.clone();
    loaded.load(|option, path| read_x(&format!("--{option}"), path))?;
    loaded.signature = loaded.signature.as_deref().map(signs).transpose()?;
    Ok(loaded.checked()?)
}

fn problem(name: Option<&str>) -> anyhow::Result<&'static ProblemInfo> {
    match name {
        Some(name) => Ok(find_problem(name)?),
        None => Err(usage(
            "PROBLEM is missing: orthopt solve PROBLEM DATA; `orthopt list problems` shows all problems",
        )),
    }
}

/// P or a share as it is, or the signs in a file.
fn signs(text: &str) -> anyhow::Result<String> {
    if text.trim().parse::<f64>().is_ok() {
        return Ok(text.into());
    }
    short_text(Path::new(text))
        .with_context(|| format!("--signature: `{text}` is neither a number nor a file"))
}

/// The files that are made of a result, where they are requested.
pub fn asked(options: &Request) -> [(What, Option<&Path>); 14] {
    let asked = [
        (What::X, &options.save_x),
        (What::Loadings, &options.save_loadings),
        (What::SortedLoadings, &options.save_sorted_loadings),
        (What::Scores, &options.save_scores),
        (What::Trace, &options.trace),
        (What::Plot, &options.plot),
        (What::PlotLoadings, &options.plot_loadings),
        (What::PlotScores, &options.plot_scores),
        (What::PlotBiplot, &options.plot_biplot),
        (What::PlotCorrelations, &options.plot_correlations),
        (What::PlotVariance, &options.plot_variance),
        (What::PlotScree, &options.plot_scree),
        (What::PlotStability, &options.plot_stability),
        (What::Report, &options.report),
    ];
    asked.map(|(what, path)| (what, path.as_deref()))
}

/// Largest width of a picture in pixels, and the letters that a line has room for at least.
const WIDEST: usize = 10_000;
const LETTERS: usize = 20;

fn look(options: &Request) -> anyhow::Result<PictureSize> {
    let usual = PictureSize::default();
    let width = options.plot_width.unwrap_or(usual.width as usize);
    let font = options.font_size.unwrap_or(usual.font as usize);
    if width > WIDEST {
        return Err(invalid("plot-width", &width.to_string(), &format!("at most {WIDEST} pixels")));
    }
    if font * LETTERS > width {
        let most = format!("at most {} pixels in a picture {width} wide", width / LETTERS);
        return Err(invalid("font-size", &font.to_string(), &most));
    }
    Ok(PictureSize { width: width as u32, font: font as u32 })
}

fn outputs(options: &Request) -> anyhow::Result<Vec<Output>> {
    asked(options).into_iter().filter_map(|(what, path)| Some(Output::new(what, path?))).collect()
}

/// `value`, unless it is negative or NaN.
pub fn at_least_zero(option: &str, value: f64) -> anyhow::Result<f64> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(invalid(option, &value.to_string(), "a finite number >= 0"))
    }
}

/// `value`, unless it is 0.
pub fn at_least_one(option: &str, value: u64) -> anyhow::Result<u64> {
    if value >= 1 { Ok(value) } else { Err(invalid(option, "0", "a whole number >= 1")) }
}

fn invalid(option: &str, value: &str, expected: &str) -> anyhow::Error {
    orthopt::Error::InvalidOption { option: option.into(), value: value.into(), expected: expected.into() }
        .into()
}
