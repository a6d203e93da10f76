# Ctrl-C and limits end a run with what it has found.
library(orthopt)

set.seed(1)
x <- matrix(rnorm(300 * 150), 300)

warned <- character()
noting <- function(expr) {
    withCallingHandlers(expr, orthopt_warning = function(w) {
        warned <<- c(warned, conditionMessage(w))
        invokeRestart("muffleWarning")
    })
}

limited <- noting(sparse_pca(x, ncomp = 10, nonzeros = 12, effort = "thorough", time_limit = 0))
stopifnot(identical(limited$status, "time_limit"), limited$feasibility < 1e-10)
# within a second the best point may have converged; the search that went on is what the limit ends
warned <- character()
limited <- noting(sparse_pca(x, ncomp = 10, nonzeros = 12, effort = "thorough", time_limit = 1))
stopifnot(limited$status %in% c("time_limit", "converged", "optimal"), limited$feasibility < 1e-10)
stopifnot(!any(grepl("interrupted", warned)))

if (.Platform$OS.type == "unix") {
    # a signal from outside, two seconds from now; without it the run has a minute
    system(paste("(sleep 2; kill -INT", Sys.getpid(), ") >/dev/null 2>&1 &"))
    ended <- noting(sparse_pca(x, ncomp = 10, nonzeros = 12, effort = "thorough", time_limit = 60))
    stopifnot(identical(ended$status, "interrupted"), ended$feasibility < 1e-10)
    stopifnot(any(grepl("interrupted", warned)))
    stopifnot(all(colSums(ended$rotation != 0) <= 12))

    # a limit of R itself is an error, and the next run is not disturbed by the one that was left
    left <- tryCatch({
        setTimeLimit(elapsed = 1, transient = TRUE)
        sparse_pca(x, ncomp = 10, nonzeros = 12, effort = "thorough", time_limit = 60)
    }, error = conditionMessage)
    setTimeLimit()
    stopifnot(is.character(left), grepl("time limit", left))
}
after <- sparse_pca(USArrests, ncomp = 2, nonzeros = 2, scale. = TRUE)
stopifnot(after$status %in% c("converged", "optimal"))

# Forked children have threads of their own.
if (.Platform$OS.type == "unix") {
    fits <- parallel::mclapply(1:2, function(i) sparse_pca(USArrests, 2, 2, scale. = TRUE, seed = i), mc.cores = 2)
    stopifnot(all(vapply(fits, function(fit) abs(fit$objective - after$objective) < 1e-9, NA)))
}
