# Options that sparse_pca takes in '...' besides the constants of solvers and penalties.
FURTHER <- c("solver", "init", "max_iters", "restarts", "threads", "tol", "relative_lambda",
             "total_nonzeros", "variables", "constraint", "maximise", "order", "min_nonzeros", "max_nonzeros")

# Seconds of those who ask for a bound and name none.
BOUND_SECONDS <- 60

# The list that the compiled half takes. 'given' are the arguments by name, 'further' what came in '...'.
run_options <- function(given, further) {
    constants <- further[setdiff(names(further), FURTHER)]
    init <- further$init
    certify <- asked(given$certify, "certify", NULL)
    counts <- nonzero_counts(given$nonzeros)
    list(
        gram = given$gram,
        centered = given$centered,
        ncomp = whole(given$ncomp, "ncomp", 1),
        lambda = number(given$lambda, "lambda"),
        relative_lambda = number(further$relative_lambda, "relative_lambda"),
        penalty = word(given$penalty, "penalty"),
        nonneg = flag(given$nonneg, "nonneg"),
        knee = identical(counts, "auto"),
        nonzeros = if (is.list(counts)) counts,
        total_nonzeros = whole(further$total_nonzeros, "total_nonzeros", 1),
        variables = whole(further$variables, "variables", 1),
        constraint = if (is.null(further$constraint)) "orthogonal" else word(further$constraint, "constraint"),
        maximise = if (is.null(further$maximise)) "variance" else word(further$maximise, "maximise"),
        order = if (is.null(further$order)) "joint" else word(further$order, "order"),
        min_nonzeros = whole(further$min_nonzeros, "min_nonzeros", 1),
        max_nonzeros = whole(further$max_nonzeros, "max_nonzeros", 1),
        solver = if (is.null(further$solver)) "auto" else word(further$solver, "solver"),
        init = if (!is.matrix(init)) word(init, "init"),
        effort = word(given$effort, "effort"),
        seed = whole(given$seed, "seed"),
        restarts = whole(further$restarts, "restarts"),
        threads = whole(further$threads, "threads", 1),
        max_iters = whole(further$max_iters, "max_iters", 1),
        time_limit = number(given$time_limit, "time_limit"),
        tol = if (is.null(further$tol)) 1e-9 else number(further$tol, "tol"),
        certify = if (is.null(certify)) 0 else certify,
        certify_all = isTRUE(given$certify),
        bound = asked(given$bound, "bound", BOUND_SECONDS),
        constant_names = as.list(gsub("_", "-", names(constants), fixed = TRUE)),
        constant_values = unname(lapply(constants, constant_text))
    )
}

# FALSE is nothing, TRUE what 'default' says, and a number itself.
asked <- function(value, name, default) {
    if (is.logical(value)) {
        if (flag(value, name)) default
    } else {
        number(value, name)
    }
}

nonzero_counts <- function(value) {
    if (is.null(value) || identical(value, "auto")) return(value)
    good <- is.numeric(value) && length(value) > 0L && all(is.finite(value)) &&
        all(value >= 1 & value == round(value))
    if (!good) {
        fail("'nonzeros' is ", shown(value), ": expected a whole number >= 1, one for each component, or \"auto\"")
    }
    as.list(as.double(value))
}

# Every argument in '...' needs a name that is known.
named_further <- function(...) {
    further <- list(...)
    if (length(further) == 0L) return(further)
    if (is.null(names(further)) || any(!nzchar(names(further)))) fail("arguments in '...' need names")
    unknown <- setdiff(names(further), c(FURTHER, known_constants()))
    if (length(unknown) > 0L) {
        fail("no argument is called '", unknown[1L], "'", similar(unknown[1L]), "; besides those of the help page ",
             "there are the constants of solvers and penalties, such as mcp_gamma")
    }
    further
}

similar <- function(name) {
    known <- c(names(formals(sparse_pca)), FURTHER, known_constants())
    near <- head(agrep(name, known, value = TRUE), 5L)
    if (length(near) > 0L) paste0(" (similar: ", listed(near), ")") else ""
}

constant_text <- function(value) {
    if (is.logical(value)) return(tolower(as.character(value)))
    if (is.numeric(value)) format(value, digits = 17L) else as.character(value)
}
