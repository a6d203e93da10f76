#' From a table to sparse components
#'
#' Says how many components a table has, how many variables each needs, which they are, how sure that is and how
#' far from the best.
#'
#' @details The number of variables in each component is the knee of the variance along 1, 2, 3, 5, 7, 10, 14, 20
#' and 30 of them. The components are those of `sparse_pca(x, ncomp, nonzeros)`. Where pairs of halves of the rows do not
#' agree on all variables of a component, there are components with as many as they agree on, too.
#'
#' @param x a numeric matrix or data frame, samples in rows; for the methods, the object.
#' @param ncomp the number of components, or `"auto"`: those that exceed noise (parallel analysis).
#' @param center,scale.,seed,na.action as for [sparse_pca()]; columns are scaled by default.
#' @param maximise the measure to maximise, as for [sparse_pca()].
#' @param time_limit seconds of all steps together; `NULL`: each step does a fixed amount of work, and the same table has
#'   the same answers.
#' @param xlab,ylab,... passed on to [plot()].
#' @returns An object of class `"explore"`: `components`, the object of [sparse_pca()], and `fewer`, another one or `NULL`;
#'   `answers`, a list of texts by their questions; `counts` and `shares` of the path; `nonzeros`, the number that was
#'   chosen, and whether the curve `bends` there.
#' @seealso [sparse_pca()], [stability()].
#' @keywords multivariate
#' @examples
#' \donttest{
#' found <- explore(USArrests, ncomp = 2, time_limit = 5)
#' found
#' plot(found)
#' }
#' @export
explore <- function(x, ncomp = "auto", center = TRUE, scale. = TRUE, maximise = NULL, time_limit = NULL,
                    seed = 0, na.action = NULL) {
    call <- match.call()
    data <- if (is_sparse(x)) from_sparse(x, center, scale., na.action) else from_samples(x, center, scale., na.action)
    # the rule takes the covariances and the number of rows behind them
    further <- if (data$gram) list(samples = data$rows) else list()
    own <- list(penalty = "l0", nonneg = FALSE, gram = data$gram, centered = !isFALSE(data$center),
                scaled = !data$gram && isTRUE(scale.), proof = FALSE)
    given <- list(ncomp = if (!identical(ncomp, "auto")) ncomp, maximise = maximise, time_limit = time_limit, seed = seed)
    found <- run(data$matrix, run_options(own, given, further), begin_explore)
    if (found$interrupted) warn("interrupted: these are the answers so far")
    components <- result(found$components, data, TRUE, call)
    structure(class = "explore", list(
        components = components,
        fewer = if (!is.null(found$fewer)) result(found$fewer, data, TRUE, call),
        answers = setNames(found$answers, found$questions),
        counts = found$counts, shares = found$shares, nonzeros = found$nonzeros, bends = found$bends,
        maximise = components$report$explained_variance$maximised, reasons = components$reasons, call = call
    ))
}

#' @rdname explore
#' @export
print.explore <- function(x, ...) {
    for (question in names(x$answers)) {
        cat(toupper(substring(question, 1L, 1L)), substring(question, 2L), "?\n", sep = "")
        for (answer in x$answers[[question]]) cat(strwrap(answer, indent = 2L, exdent = 2L), sep = "\n")
    }
    cat("\n")
    print(x$components)
    if (!is.null(x$fewer)) {
        cat("\nWith as many variables as halves of the rows agree on:\n")
        print(x$fewer)
    }
    invisible(x)
}

#' @rdname explore
#' @export
plot.explore <- function(x, xlab = "variables in each component", ylab = "share of the variance", ...) {
    plot(x$counts, x$shares, type = "b", xlab = xlab, ylab = ylab, ...)
    place <- match(x$nonzeros, x$counts)
    points(x$nonzeros, x$shares[place], cex = 2.5)
    invisible(x)
}
