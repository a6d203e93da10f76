#' Sparse and nonnegative principal components that are orthogonal
#'
#' Finds principal components with few nonzero loadings, or with nonnegative loadings. In contrast to most methods
#' of sparse PCA, the loadings are orthogonal to rounding, as in [prcomp()].
#'
#' @details With \eqn{C} the covariance matrix of the columns (the correlation matrix with `scale. = TRUE`, or
#' `covmat`), \eqn{n} variables and \eqn{r} components, the problem is
#' \deqn{\min_X -\frac12 \mathrm{tr}(X^T C X) + h(X) \quad \mathrm{subject~to} \quad X^T X = I,}{minimise -1/2 tr(X'CX) + h(X) subject to X'X = I,}
#' where \eqn{h} is \eqn{\lambda} times the penalty. With `nonzeros` the number of nonzeros of every column is
#' limited, and \eqn{h} is zero unless `lambda` is given too. Zeros are exact. With `maximise` another measure of
#' variance takes the place of the first term.
#'
#' Scores of sparse components are correlated, so variances of components cannot be added up. `adjusted` is the
#' variance that a component adds to those before it (Zou, Hastie and Tibshirani 2006, section 3.4), and its sum is
#' the variance of all components together.
#'
#' Ctrl-C ends a run with the best components so far, a warning, and the status `"interrupted"`.
#'
#' Invalid input is an error of class `orthopt_error`; warnings have the class `orthopt_warning`.
#'
#' @param x the data: a numeric matrix, a data frame, or a sparse matrix of the package Matrix,
#'   which is not filled: its covariance matrix is analysed, so that `stability` does not take it. Rows are
#'   samples. Words, columns that only tell rows apart, and rows of totals are left out with a warning; `columns`,
#'   `drop`, `row_names`, `drop_rows`, `strip` and `na` in `...` say otherwise, as the options of the command do.
#' @param formula,data,subset a formula without a left side, such as `~ Murder + Assault`, the data frame with its
#'   variables, and the rows to use; as for [prcomp()].
#' @param ncomp the number of components; between 0 and 1, or as `"90%"`, the share of the variance that as many
#'   components of PCA explain; `"auto"`: those whose variance is above the 95th percentile of what permuted
#'   columns have (parallel analysis; with `covmat` also `samples`, the number of rows behind it). Default: 5, or
#'   one fewer than the variables if that is less.
#' @param nonzeros the maximum number of nonzero loadings in each component: a number, one number for each
#'   component, or `"auto"`, the knee of the explained variance. `"auto"` is the default of the penalty `"l0"`
#'   without `lambda`.
#' @param lambda the weight \eqn{\lambda} of the penalty, in the units of variances. For penalties other than
#'   `"l0"` the default is a share of the largest variances.
#' @param penalty `"l0"` (the number of nonzeros), `"l1"` (the sum of absolute values), `"mcp"`, `"scad"`, or
#'   `"none"` (plain PCA).
#' @param center whether the means of the columns are subtracted, or a vector to subtract; as for [scale()].
#' @param scale. whether the columns are divided by their standard deviations, or a vector to divide by; as for
#'   [scale()].
#' @param nonneg `TRUE`: nonnegative loadings. Every variable then belongs to at most one component.
#' @param maximise what is maximised: `"variance"`, the sum of the variances of the scores; `"adjusted"`, which counts
#'   no variance twice, so that no component repeats another; `"polar"`, the same for components without an order;
#'   or `"explained"`, what regression on the scores explains. Default: `"adjusted"` with a number of nonzeros,
#'   given or chosen, but `"variance"` with `lambda` alone, `nonneg` or `constraint`.
#' @param constraint `"orthogonal"` loadings (the default); `"uncorrelated"` scores, whose loadings have length 1; or
#'   `"both"`. For the penalty `"l0"`.
#' @param time_limit seconds after which the best components so far are returned. Without a limit a run ends by its
#'   own stopping rule.
#' @param seed a whole number. The same seed gives the same components for any number of threads, unless a time
#'   limit or Ctrl-C ends the run.
#' @param effort the length of the search: `"quick"`, `"normal"` (the default) or `"thorough"`.
#' @param bound `TRUE` or a number of seconds (60) for a lower bound of the objective over all feasible loadings.
#'   If the objective equals the bound, the components are proved to be optimal.
#' @param certify `TRUE`: check whether a change of any two rows of the loadings lowers the objective; a number:
#'   check this many random pairs of rows.
#' @param retx whether the scores are returned.
#' @param covmat a covariance or correlation matrix, instead of `x`.
#' @param na.action the treatment of missing values, such as [na.omit()] or [na.exclude()]. By default they are an
#'   error that names the place.
#' @param proof `TRUE`: keep the proof of the `bound` as a text that can be cited and checked ([check_proof()]).
#' @template options
#' @returns An object of class `c("sparse_pca", "prcomp")`, which functions for `prcomp` take, too. In the
#'   conventions of [prcomp()]:
#'   \item{sdev}{the standard deviations of the scores.}
#'   \item{rotation}{the loadings, one column for each component.}
#'   \item{center, scale}{the subtracted means and the divisors of the columns, or `FALSE`.}
#'   \item{x}{the scores, if `retx` is true and data were given.}
#'
#'   Besides:
#'   \item{correlations}{the correlations of the variables with the scores, one column for each component.}
#'   \item{adjusted}{the variance that each component adds to those before it.}
#'   \item{nonzeros}{the number of nonzero loadings of each component.}
#'   \item{total_variance}{the variance of all variables.}
#'   \item{n}{the number of samples.}
#'   \item{objective}{the value of the objective.}
#'   \item{bound, gap, proof}{if `bound` was requested, or the search proved its solution: the lower bound of the objective, the difference relative
#'     to the objective, and `"optimal"` if the gap is closed.}
#'   \item{proof_file}{if `proof` is true: the text of a file with the claim and all numbers that prove it, for
#'     [check_proof()] and for `orthopt check-proof`.}
#'   \item{status}{the ending of the run: `"converged"`, `"time_limit"`, `"max_iters"`, `"interrupted"`,
#'     `"stalled"`, ...}
#'   \item{certificate}{if `certify` was requested: a list with `pairs_checked`, `pairs_total`, `max_decrease`,
#'     `mean_distance`, `criticality`, and whether it `holds`.}
#'   \item{feasibility}{the violation of the constraint: the Frobenius norm of \eqn{X^T X - I}{X'X - I}; for
#'     uncorrelated scores the error of lengths of loadings and of correlations of scores.}
#'   \item{stability}{if `stability` was given: the object of [stability()].}
#'   \item{reasons}{the reasons of automatic choices.}
#'   \item{report}{the complete result of the run, in the form of `orthopt solve --json`.}
#'   \item{na.action, call}{rows that were left out, and the call.}
#' @references H. Zou, T. Hastie, R. Tibshirani: Sparse principal component analysis. Journal of Computational and
#'   Graphical Statistics 15 (2006), 265--286.
#' @seealso [predict.sparse_pca()] and the other methods, [stability()], [prcomp()], [pitprops].
#' @keywords multivariate
#' @examples
#' found <- sparse_pca(USArrests, ncomp = 2, nonzeros = 2, scale. = TRUE)
#' found
#' summary(found)
#' screeplot(found)
#' sparse_pca(~ Murder + Assault + Rape, data = USArrests, ncomp = 1, nonzeros = 2)
#'
#' # a penalty for every loading, and a proof of optimality
#' sparse_pca(covmat = pitprops, ncomp = 2, lambda = 0.1, bound = 20)$proof
#' @name sparse_pca
#' @order 1
#' @export
sparse_pca.default <- function(x, ncomp = NULL, nonzeros = NULL, lambda = NULL, penalty = "l0", center = TRUE,
                               scale. = FALSE, nonneg = FALSE, maximise = NULL, constraint = NULL, time_limit = NULL,
                               seed = 0, effort = NULL, bound = FALSE, certify = FALSE, retx = TRUE, covmat = NULL,
                               na.action = NULL, proof = FALSE, ...) {
    further <- list(...)
    of_frame <- if (is.null(names(further))) rep(FALSE, length(further)) else names(further) %in% FRAME_OPTIONS
    reading <- lapply(further[of_frame], function(words) paste(words, collapse = ","))
    further <- do.call(named_further, further[!of_frame])
    if (missing(x) == is.null(covmat)) fail("give either data 'x' or their covariances 'covmat'")
    if (missing(x)) {
        refuse_idle(c(center = !isTRUE(center), scale. = !isFALSE(scale.), na.action = !is.null(na.action),
                      retx = !isTRUE(retx)), "'covmat'", "rows, and there are none")
    }
    if (flag(proof, "proof") && (is.null(bound) || isFALSE(bound))) {
        fail("'proof' keeps what proves a bound: give 'bound' too, or leave it out")
    }
    data <- if (missing(x)) from_covariances(covmat)
        else if (is_sparse(x)) from_sparse(x, center, scale., na.action)
        else from_samples(x, center, scale., na.action, reading)
    # the rule takes the covariances and the number of rows behind them
    if (data$gram && !is.na(data$rows) && identical(ncomp, "auto")) further$samples <- data$rows
    own <- list(penalty = word(penalty, "penalty"), nonneg = flag(nonneg, "nonneg"), gram = data$gram,
                centered = !isFALSE(data$center), scaled = !data$gram && isTRUE(scale.), proof = proof)
    given <- list(ncomp = ncomp, nonzeros = nonzeros, lambda = lambda, maximise = maximise, constraint = constraint,
                  time_limit = time_limit, seed = seed, effort = effort, bound = bound, certify = certify)
    found <- run(data$matrix, run_options(own, given, further))
    tell(found, certify)
    call <- match.call()
    call[[1L]] <- as.name("sparse_pca")
    result(found, data, flag(retx, "retx"), call)
}

# Error for the first argument that is not its default and does not apply.
refuse_idle <- function(given, beside, meant) {
    idle <- names(given)[given]
    if (length(idle) > 0L) fail("'", idle[1L], "' does not apply with ", beside, ": it is for ", meant, "; leave it out")
}

# What the user should know.
tell <- function(found, certify) {
    for (note in c(unlist(found$report$notes), found$notes)) warn(note)
    if (nzchar(found$broken)) warn("there is no bound: ", found$broken)
    interrupted <- found$report$status == "interrupted"
    if (interrupted) warn("interrupted: these are the best components so far")
    if (!isFALSE(certify) && is.null(found$report$certificate) && !interrupted) {
        warn("pairs of rows cannot be checked for this problem",
             if (!is.null(found$report$limits)) ", because the number of nonzeros is limited; use 'bound'")
    }
}

# What is analysed: A with C = A'A, in the units of variances, and how it came about.
from_samples <- function(x, center, scale., na.action, reading = list()) {
    x <- samples(x, na.action, reading)
    scaled <- prepared(x, center, scale.)
    units <- lapply(c(center = "scaled:center", scale = "scaled:scale"), function(name) {
        value <- attr(scaled, name)
        if (is.null(value)) FALSE else value
    })
    attr(scaled, "scaled:center") <- attr(scaled, "scaled:scale") <- NULL
    shrink <- sqrt(max(1, nrow(scaled) - 1))
    dropped <- attr(x, "na.action")
    attr(scaled, "na.action") <- NULL
    list(matrix = scaled / shrink, scores = scaled, gram = FALSE, names = colnames(scaled), center = units$center,
         scale = units$scale, variances = colSums(scaled^2) / shrink^2, rows = nrow(scaled), dropped = dropped)
}

from_covariances <- function(covmat) {
    covmat <- look_at_covariances(covariances(covmat))
    list(matrix = covmat, gram = TRUE, names = colnames(covmat), center = FALSE, scale = FALSE,
         variances = diag(covmat), rows = NA_integer_)
}

# The object in the conventions of prcomp.
result <- function(found, data, retx, call) {
    report <- found$report
    rotation <- found$rotation
    components <- paste0("PC", seq_len(ncol(rotation)))
    dimnames(rotation) <- list(data$names, components)
    total <- sum(data$variances)
    shares <- lapply(report$explained_variance[c("ratio", "adjusted")], unlist)
    structure(class = c("sparse_pca", "prcomp"), list(
        sdev = sqrt(pmax(shares$ratio, 0) * total),
        rotation = rotation,
        center = data$center,
        scale = data$scale,
        x = if (retx && !is.null(data$scores)) scores(data, rotation),
        correlations = with_scores(data, rotation),
        adjusted = setNames(shares$adjusted * total, components),
        nonzeros = setNames(unlist(report$components), components),
        total_variance = total,
        n = data$rows,
        objective = report$objective,
        bound = report$bound,
        gap = report$gap,
        proof = report$proof,
        proof_file = if (nzchar(found$proof_file)) found$proof_file,
        status = report$status,
        certificate = certificate(report, found$certified),
        feasibility = report$feasibility,
        stability = stability_of(report$stability, rotation),
        reasons = unlist(report$reasons),
        report = report,
        na.action = data$dropped,
        call = call
    ))
}

scores <- function(data, rotation) {
    if (is_sparse(data$scores)) return(sparse_scores(data$scores, rotation, data$center, data$scale))
    scores <- data$scores %*% rotation
    if (is.null(data$dropped)) scores else napredict(data$dropped, scores)
}

# Correlations of the variables with the scores, 0 for constant ones; of C itself those of samples that are centred.
with_scores <- function(data, rotation) {
    found <- data$matrix %*% rotation
    variances <- data$variances
    if (data$gram) {
        of_scores <- colSums(rotation * found)
    } else {
        scores <- sweep(found, 2L, colMeans(found))
        centred <- sweep(data$matrix, 2L, colMeans(data$matrix))
        found <- crossprod(centred, scores)
        variances <- colSums(centred^2)
        of_scores <- colSums(scores^2)
    }
    inverse <- function(variances) ifelse(variances > 0, 1 / sqrt(variances), 0)
    found <- sweep(found * inverse(variances), 2L, inverse(of_scores), `*`)
    dimnames(found) <- dimnames(rotation)
    found
}

# What is known of the point, where that was asked for.
certificate <- function(report, certified) {
    if (is.null(report$certificate)) return(NULL)
    c(report$certificate, list(criticality = report$criticality, holds = certified))
}
