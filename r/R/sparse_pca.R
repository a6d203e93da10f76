sparse_pca.default <- function(x, ncomp = NULL, nonzeros = NULL, lambda = NULL, penalty = "l0", center = TRUE,
                               scale. = FALSE, nonneg = FALSE, time_limit = NULL, seed = 0, effort = NULL,
                               bound = FALSE, certify = FALSE, retx = TRUE, covmat = NULL, na.action = NULL, ...) {
    further <- named_further(...)
    if (missing(x) == is.null(covmat)) fail("give either data 'x' or their covariances 'covmat'")
    if (missing(x)) {
        refuse_idle(c(center = !isTRUE(center), scale. = !isFALSE(scale.), na.action = !is.null(na.action),
                      retx = !isTRUE(retx)), "'covmat'", "rows, and there are none")
    }
    data <- if (missing(x)) from_covariances(covmat)
        else if (is_sparse(x)) from_sparse(x, center, scale., na.action)
        else from_samples(x, center, scale., na.action)
    # the rule takes the covariances and the number of rows behind them
    if (data$gram && !is.na(data$rows) && identical(ncomp, "auto")) further$samples <- data$rows
    own <- list(penalty = word(penalty, "penalty"), nonneg = flag(nonneg, "nonneg"), gram = data$gram,
                centered = !isFALSE(data$center), scaled = !data$gram && isTRUE(scale.))
    given <- list(ncomp = ncomp, nonzeros = nonzeros, lambda = lambda, time_limit = time_limit, seed = seed,
                  effort = effort, bound = bound, certify = certify)
    further$maximise <- measure(given, further, own)
    found <- run(data$matrix, run_options(own, given, further))
    tell(found, certify)
    call <- match.call()
    call[[1L]] <- as.name("sparse_pca")
    result(found, data, flag(retx, "retx"), call)
}

# What is maximised where nobody says it: with numbers of nonzeros, given or chosen, what counts nothing twice.
measure <- function(given, further, own) {
    told <- c("maximise", "constraint", "solver", "relative_lambda", "lambda_share", "variables", "map")
    if (any(told %in% names(further))) return(further$maximise)
    if (is.null(given$lambda) && own$penalty == "l0" && !own$nonneg) "adjusted"
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
from_samples <- function(x, center, scale., na.action) {
    x <- samples(x, na.action)
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
    covmat <- covariances(covmat)
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
        adjusted = setNames(shares$adjusted * total, components),
        nonzeros = setNames(unlist(report$components), components),
        total_variance = total,
        n = data$rows,
        objective = report$objective,
        bound = report$bound,
        gap = report$gap,
        proof = report$proof,
        status = report$status,
        certificate = certificate(report, found$certified),
        orthogonality = report$feasibility,
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

# What is known of the point, where that was asked for.
certificate <- function(report, certified) {
    if (is.null(report$certificate)) return(NULL)
    c(report$certificate, list(criticality = report$criticality, holds = certified))
}
