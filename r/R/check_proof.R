# Proofs that can be cited.

#' Check a proof
#'
#' Checks a proof of [sparse_pca()] with `proof = TRUE`, or of the command `orthopt bound --proof`, for the data of the
#' reader. Nothing is searched for, and no code is shared with what makes proofs.
#'
#' @details Problem, centring and scaling are those of the file. What is given here has to be the same: a proof for other
#' data, another number of components, another limit or another measure is an error that says which. Centres and scales
#' that were vectors, and those of a sparse matrix, are given again.
#'
#' @param proof the element `proof_file` of [sparse_pca()], or the name of a file.
#' @param x,covmat the data, or a covariance or correlation matrix; as for [sparse_pca()].
#' @param ncomp,nonzeros,lambda,penalty,nonneg,maximise,center,scale.,na.action as for [sparse_pca()]; `NULL`: those of
#'   the file.
#' @param ... further options of data and problem, as for [sparse_pca()].
#' @returns An object of class `"checked_proof"`: `claim`, what is proved, in one sentence, which `print` shows;
#'   `proof`, `"optimal"` or `"supports"` as in [sparse_pca()]; the `objective` of the loadings of the file, its lower
#'   `bound` and the `gap`; `elsewhere`, the bound of all other choices of variables; `version`, the program that wrote
#'   the file.
#' @seealso [sparse_pca()].
#' @keywords multivariate
#' @examples
#' found <- sparse_pca(USArrests, ncomp = 2, nonzeros = 2, scale. = TRUE, bound = 20, proof = TRUE)
#' file <- tempfile(fileext = ".json")
#' writeLines(found$proof_file, file)
#' check_proof(file, USArrests)
#' @export
check_proof <- function(proof, x, ncomp = NULL, nonzeros = NULL, lambda = NULL, penalty = NULL, center = NULL,
                        scale. = NULL, nonneg = NULL, maximise = NULL, covmat = NULL, na.action = NULL, ...) {
    further <- list(...)
    of_frame <- if (is.null(names(further))) rep(FALSE, length(further)) else names(further) %in% FRAME_OPTIONS
    reading <- lapply(further[of_frame], function(words) paste(words, collapse = ","))
    further <- do.call(named_further, further[!of_frame])
    if (missing(x) == is.null(covmat)) fail("give either data 'x' or their covariances 'covmat'")
    text <- proof_text(proof)
    of <- checked(proof_data(text))
    if (missing(x)) {
        refuse_idle(c(center = !is.null(center), scale. = !is.null(scale.), na.action = !is.null(na.action)),
                    "'covmat'", "rows, and there are none")
    }
    if (is.null(center)) center <- of$gram || of$centered
    if (is.null(scale.)) scale. <- !of$gram && of$scale %in% c("unit", "std")
    data <- if (missing(x)) from_covariances(covmat)
        else if (is_sparse(x)) from_sparse(x, center, scale., na.action)
        else from_samples(x, center, scale., na.action, reading)
    # sums of squares, not variances
    sums <- !of$gram && !of$covariance && of$scale != "unit"
    if (sums && !missing(x)) {
        rows <- max(1, data$rows - 1)
        data$matrix <- data$matrix * (if (data$gram) rows else sqrt(rows))
    }
    any <- is.null(penalty) && is.null(nonneg)
    own <- list(gram = data$gram, any = any, penalty = if (is.null(penalty)) "l0" else word(penalty, "penalty"),
                nonneg = !is.null(nonneg) && flag(nonneg, "nonneg"))
    given <- list(ncomp = ncomp, nonzeros = nonzeros, lambda = lambda, maximise = maximise)
    structure(class = "checked_proof", checked(checked_proof(text, data$matrix, run_options(own, given, further))))
}

# A proof, or what is in the file of this name.
proof_text <- function(proof) {
    proof <- word(proof, "proof")
    if (is.null(proof)) fail("'proof' is NULL: sparse_pca(..., bound = 60, proof = TRUE) keeps one")
    if (startsWith(trimws(proof, "left"), "{")) return(proof)
    if (!file.exists(proof)) fail("'proof' is neither a proof nor the name of a file: ", proof)
    paste(readLines(proof, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
}

#' @rdname check_proof
#' @export
print.checked_proof <- function(x, ...) {
    cat(strwrap(x$claim), sep = "\n")
    invisible(x)
}
