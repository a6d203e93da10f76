# What is wrong is an error of class orthopt_error that says what and where.
library(orthopt)

refused <- function(expr, pattern) {
    error <- tryCatch({ expr; NULL }, orthopt_error = identity)
    if (is.null(error)) stop("not refused: ", pattern)
    if (!grepl(pattern, conditionMessage(error))) stop("'", conditionMessage(error), "' has no '", pattern, "'")
}
warned <- function(expr, pattern) {
    found <- character()
    value <- withCallingHandlers(expr, orthopt_warning = function(w) {
        found <<- c(found, conditionMessage(w))
        invokeRestart("muffleWarning")
    })
    stopifnot(any(grepl(pattern, found)))
    value
}

# words are left out, numbers with something beside them are refused
found <- warned(sparse_pca(iris, ncomp = 2), "column `Species` holds words and is left out")
stopifnot(all.equal(found$rotation, sparse_pca(iris[1:4], ncomp = 2)$rotation))
refused(sparse_pca(transform(iris[1:4], mass = rep(c("5 kg", "7 lb"), 75))), "`5 kg` in column 5 \\(`mass`\\) is a number with the unit")
found <- sparse_pca(transform(iris[1:4], mass = paste(1:150 %% 7, "kg")), ncomp = 2)
stopifnot(all.equal(found$rotation, sparse_pca(transform(iris[1:4], mass = 1:150 %% 7), ncomp = 2)$rotation))
# rows that are no samples, and columns that tell rows apart, as in files
total <- rbind(USArrests, Total = colSums(USArrests))
found <- warned(sparse_pca(total, ncomp = 2), "row `Total` is no sample by the name \\(a total\\); drop_rows = \"none\" keeps it")
stopifnot(all.equal(found$rotation, sparse_pca(USArrests, ncomp = 2)$rotation), nrow(found$x) == 50L)
stopifnot(nrow(sparse_pca(total, ncomp = 2, drop_rows = "none")$x) == 51L)
warned(sparse_pca(as.matrix(total), ncomp = 2), "row `Total` is no sample by the name")
whole <- unname(as.matrix(total))
warned(sparse_pca(whole, ncomp = 2), "row 51, the last one, is the sum of the others and is read as a sample; x\\[-nrow\\(x\\), \\] leaves it out")
x <- whole
stopifnot(all.equal(unname(sparse_pca(x[-nrow(x), ], ncomp = 2)$sdev), unname(sparse_pca(USArrests, ncomp = 2)$sdev)))
# a row without a value is none, as in files
empty <- rbind(USArrests, "Source: survey" = NA)
found <- warned(sparse_pca(empty, ncomp = 2), "row `Source: survey` with nothing but a name is left out")
stopifnot(all.equal(found$rotation, sparse_pca(USArrests, ncomp = 2)$rotation), nrow(found$x) == 50L)
refused(sparse_pca(empty, ncomp = 2, drop_rows = "none"), "NA in row 51")
found <- warned(sparse_pca(cbind(USArrests, id = c(3:49, 2:0) * 7), ncomp = 2), "column `id` .* tells the rows apart and is no variable")
stopifnot(nrow(found$rotation) == 4L)
stopifnot(nrow(sparse_pca(cbind(USArrests, id = c(3:49, 2:0) * 7), ncomp = 2, row_names = "none")$rotation) == 5L)
refused(sparse_pca(USArrests, ncomp = 2, drop = "Rape,Theft"), "drop: there is no column `Theft`")
# what looks like something else
warned(sparse_pca(as.data.frame(cor(mtcars)), ncomp = 2), "it looks like a correlation matrix and is read as samples; covmat takes it as C itself")
warned(sparse_pca(covmat = diag(c(2, 1, -1)), ncomp = 1, lambda = 0.1), "C is indefinite: its smallest eigenvalue is -1.0000 .* Matrix::nearPD takes the nearest")
half <- cor(mtcars)
half[upper.tri(half)] <- 0
warned(sparse_pca(covmat = half, ncomp = 1), "the table is triangular: its lower triangle is used for both")
refused(sparse_pca(matrix("a")), "type character")
refused(sparse_pca(mtcars[0, ]), "empty: 0 x 11")
refused(sparse_pca(), "either data")
refused(sparse_pca(mtcars, covmat = cor(mtcars)), "either data")
refused(sparse_pca(airquality), "NA in row 5, column 1 \\(Ozone\\) \\(44 such")
refused(sparse_pca(matrix(c(1, 2, 3, Inf), 2)), "Inf in row 2, column 2;")
refused(sparse_pca(cbind(a = 1:3, b = 2), scale. = TRUE), "column 2 \\(b\\) is constant")
refused(sparse_pca(covmat = matrix(1:6, 2)), "2 x 3, not square")

# Arguments that do not apply are refused: every argument that covariances, a penalty, a named solver or a limit leaves without a
# meaning.
refused(sparse_pca(covmat = cor(mtcars), center = FALSE), "'center' does not apply with 'covmat'")
refused(sparse_pca(covmat = cor(mtcars), scale. = TRUE), "'scale.' does not apply")
refused(sparse_pca(covmat = cor(mtcars), na.action = na.omit), "'na.action' does not apply")
refused(sparse_pca(covmat = cor(mtcars), retx = FALSE), "'retx' does not apply")
refused(sparse_pca(mtcars, ncomp = 2, penalty = "none", lambda = 1), "lambda does not apply to pca")
refused(sparse_pca(mtcars, ncomp = 2, nonneg = TRUE, lambda = 1), "lambda does not apply to nonneg-pca")
refused(sparse_pca(mtcars, ncomp = 2, nonneg = TRUE, relative_lambda = 0.1), "relative_lambda does not apply")
refused(sparse_pca(mtcars, ncomp = 2, penalty = "l1", nonzeros = 3), "nonzeros does not apply to l1-pca")
refused(sparse_pca(mtcars, ncomp = 2, penalty = "mcp", variables = 3), "variables does not apply to mcp-pca")
refused(sparse_pca(mtcars, ncomp = 2, lambda = 1, solver = "obcd", effort = "quick"), "effort does not apply to obcd")
refused(sparse_pca(mtcars, ncomp = 2, lambda = 1, restarts = 2, effort = "quick"), "effort does not apply")
refused(sparse_pca(mtcars, ncomp = 2, nonzeros = 3, certify = 10), "certify does not apply to l0-pca")
refused(sparse_pca(covmat = matrix(c(1, 2, 3, 4), 2)), "not symmetric")
refused(sparse_pca(mtcars, ncomp = 20), "rank 20 exceeds the 11 columns")
refused(sparse_pca(mtcars, ncomp = 1.5), "'ncomp' is 1.5: expected a whole number")
refused(sparse_pca(mtcars, ncomp = "101%"), "above 0% and below 100%")
refused(sparse_pca(covmat = cor(mtcars), ncomp = "auto"), "C itself does not say how much of it is noise")
refused(sparse_pca(mtcars, ncomp = "auto", samples = 32), "samples")
refused(sparse_pca(mtcars, nonzeros = 0), "'nonzeros' is 0")
refused(sparse_pca(mtcars, ncomp = 2, nonzeros = 1:3), "3")
refused(sparse_pca(mtcars, nonzeros = 2, total_nonzeros = 3), "not several")
refused(sparse_pca(mtcars, lambda = NA_real_), "'lambda' is NA")
refused(sparse_pca(mtcars, penalty = "l7"), "there is no penalty 'l7'; choose one of: l0, l1")
refused(sparse_pca(mtcars, penalty = "l1", nonneg = TRUE), "nonneg needs the penalty l0 or none")
refused(sparse_pca(mtcars, effort = "great"), "quick, normal, thorough")
refused(sparse_pca(mtcars, seed = -1), "'seed'")
refused(sparse_pca(mtcars, solver = "magic"), "there is no solver 'magic'")
named <- formals(orthopt:::sparse_pca.default)
refused(do.call(sparse_pca, c(list(mtcars), named[2:(length(named) - 1)], list(1))), "need names")
refused(sparse_pca(mtcars, scad_b = 1), "'scad_b' \\(similar: .*scad_a")
refused(sparse_pca(mtcars, lambda = 1, penalty = "mcp", mcp_gamma = -1), "mcp.gamma is -1")
refused(sparse_pca(mtcars, init = matrix(1, 11, 2), ncomp = 2, lambda = 1), "not orthonormal")
refused(sparse_pca(mtcars, penalty = "mcp", lambda = 1, bound = TRUE), "no bound")
found <- warned(sparse_pca(mtcars, ncomp = 2, nonzeros = 2, certify = TRUE, effort = "quick"), "cannot be checked")

# Uncorrelated scores have loadings of length 1 that are not orthogonal: what is violated is another constraint.
apart <- sparse_pca(mtcars, ncomp = 2, nonzeros = 6, constraint = "uncorrelated", scale. = TRUE)
stopifnot(abs(cor(apart$x)[1, 2]) < 1e-8, all(apart$nonzeros <= 6), apart$feasibility < 1e-8)
stopifnot(abs(crossprod(apart$rotation)[1, 2]) > 1e-3)

# Tables that look like something else are told as a file is.
said <- function(expr) {
    words <- character()
    withCallingHandlers(expr, orthopt_warning = function(w) {
        words <<- c(words, conditionMessage(w))
        invokeRestart("muffleWarning")
    })
    words
}
correlations <- cor(mtcars)
stopifnot(any(grepl("looks like a correlation matrix", said(sparse_pca(correlations, ncomp = 1, nonzeros = 2)))))
stopifnot(any(grepl("looks like distances", said(sparse_pca(as.matrix(dist(mtcars[1:5, ])), ncomp = 1, nonzeros = 2)))))
stopifnot(length(said(sparse_pca(mtcars, ncomp = 1, nonzeros = 2))) == 0L)
triangle <- correlations
triangle[upper.tri(triangle)] <- 0
stopifnot(any(grepl("its lower triangle is used for both", said(half <- sparse_pca(covmat = triangle, ncomp = 1, nonzeros = 2)))))
stopifnot(identical(half$rotation, sparse_pca(covmat = correlations, ncomp = 1, nonzeros = 2)$rotation))
indefinite <- matrix(c(1, 0.9, 0.9, 0.9, 1, -0.9, 0.9, -0.9, 1), 3L)
stopifnot(any(grepl("C is indefinite", said(sparse_pca(covmat = indefinite, ncomp = 1, nonzeros = 2)))))

# No time at all is a limit of the whole call: the start, with the word for it.
none <- sparse_pca(mtcars, ncomp = 2, nonzeros = 3, scale. = TRUE, time_limit = 0)
stopifnot(none$status == "time_limit", none$feasibility < 1e-10)

# What is maximised where nobody says it.
maximised <- function(..., ncomp = 2) sparse_pca(mtcars, ncomp = ncomp, scale. = TRUE, ...)$report$explained_variance$maximised
stopifnot(maximised(nonzeros = 4) == "adjusted", maximised(nonzeros = 4, maximise = "polar") == "polar")
stopifnot(maximised(nonzeros = 4, constraint = "uncorrelated") == "variance", maximised(lambda = 0.3) == "variance")
stopifnot(maximised(nonneg = TRUE) == "variance", maximised(ncomp = 1, nonzeros = 4) == "variance",
          maximised() == "adjusted", maximised(nonzeros = 4, solver = "ladmm", maximise = "variance") == "variance")
refused(maximised(nonzeros = 4, solver = "ladmm"), "maximise = \"variance\"")

# Two threads where a package is checked, unless the call says otherwise.
Sys.setenv("_R_CHECK_LIMIT_CORES_" = "TRUE")
stopifnot(sparse_pca(mtcars, ncomp = 1, nonzeros = 2)$report$threads == 2)
stopifnot(sparse_pca(mtcars, ncomp = 1, nonzeros = 2, threads = 3)$report$threads == 3)

# Options of the table that have no argument of their own.
shared <- sparse_pca(mtcars, ncomp = 2, lambda = 0.3, penalty = "l1", lambda_share = NULL, working_set = "cyclic", solver = "obcd",
                     max_iters = 50)
stopifnot(identical(shared$report$settings$working_set, "cyclic"))
refused(sparse_pca(mtcars, lambda = 1, lambda_share = 0.1), "not several")
refused(sparse_pca(mtcars, lambda = 1, solver = "irpg", penalty = "l1", working_set = "cyclic"), "working_set does not apply")
refused(sparse_pca(mtcars, constraint = 3), "constraint is 3")
refused(sparse_pca(mtcars, ridge = 1), "no argument is called 'ridge'")

# Rows with missing values.
dropped <- sparse_pca(airquality[1:4], ncomp = 2, nonzeros = 2, na.action = na.omit)
padded <- sparse_pca(airquality[1:4], ncomp = 2, nonzeros = 2, na.action = na.exclude)
complete <- sparse_pca(na.omit(airquality[1:4]), ncomp = 2, nonzeros = 2)
stopifnot(identical(dropped$rotation, complete$rotation), identical(dropped$x, complete$x))
stopifnot(nrow(padded$x) == nrow(airquality), all(is.na(padded$x[5, ])), length(dropped$na.action) == 42L)

# Whole numbers and logicals are numbers.
stopifnot(sparse_pca(matrix(c(1:9, 4L), 5), ncomp = 1, nonzeros = 1)$nonzeros == 1)
