# Sparse matrices of the package Matrix: the same components, scores and errors as of the table with its zeros.
library(orthopt)

if (requireNamespace("Matrix", quietly = TRUE)) {
    same <- function(a, b, tol = 1e-8) stopifnot(isTRUE(all.equal(a, b, tolerance = tol)))
    error <- function(expr) tryCatch({ expr; "none" }, orthopt_error = conditionMessage)
    set.seed(1)
    filled <- matrix(rbinom(200 * 12, 1, 0.2) * rexp(200 * 12), 200, dimnames = list(paste0("r", 1:200), letters[1:12]))
    filled[, 1:4] <- filled[, 1:4] + filled[, c(1, 1, 1, 1)]
    thin <- Matrix::Matrix(filled, sparse = TRUE)
    stopifnot(is(thin, "dgCMatrix"))
    for (given in list(list(TRUE, FALSE), list(TRUE, TRUE), list(FALSE, FALSE), list(FALSE, TRUE),
                       list(rep(0.1, 12), rep(c(1, 2), 6)))) {
        fit <- function(x) sparse_pca(x, ncomp = 2, nonzeros = 4, center = given[[1]], scale. = given[[2]], effort = "quick")
        of_filled <- fit(filled)
        for (kind in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix")) {
            of_thin <- fit(as(thin, kind))
            for (part in c("rotation", "sdev", "x", "objective", "total_variance")) same(of_thin[[part]], of_filled[[part]])
            same(unname(of_thin$center), unname(of_filled$center))
            same(unname(of_thin$scale), unname(of_filled$scale))
        }
        same(predict(of_thin, thin[1:5, ]), predict(of_filled, filled[1:5, ]))
        same(predict(of_thin, thin[1:5, 12:1]), predict(of_filled, filled[1:5, ]))
        same(predict(of_filled, thin[1:5, ]), predict(of_filled, filled[1:5, ]))
        same(predict(of_thin, filled[1:5, ]), predict(of_filled, filled[1:5, ]))
    }
    by_rule <- sparse_pca(thin, ncomp = "auto", nonzeros = 4, scale. = TRUE, effort = "quick")
    same(by_rule$rotation, sparse_pca(covmat = cor(filled), samples = 200, ncomp = "auto", nonzeros = 4, effort = "quick")$rotation)
    # of logical entries, and with more rows than would fit with their zeros (8e9 of them)
    found <- sparse_pca(thin > 1, ncomp = 1, nonzeros = 3, effort = "quick")
    same(found$rotation, sparse_pca((filled > 1) + 0, ncomp = 1, nonzeros = 3, effort = "quick")$rotation)
    rows <- 1e8
    long <- Matrix::sparseMatrix(i = seq(1, rows, length.out = 800), j = rep(1:80, 10), x = 1 + (1:800) %% 7, dims = c(rows, 80))
    one <- sparse_pca(long, ncomp = 1, nonzeros = 2, effort = "quick", retx = FALSE)
    stopifnot(sum(one$rotation != 0) <= 2, one$n == rows, is.null(one$x))
    thin[3, 4] <- NA
    stopifnot(grepl("not finite", error(sparse_pca(thin, ncomp = 1))))
    thin[, 4] <- 0
    stopifnot(grepl("column 4 (d) is constant", error(sparse_pca(thin, ncomp = 1, scale. = TRUE)), fixed = TRUE))
    stopifnot(grepl("'na.action' does not apply", error(sparse_pca(thin, na.action = na.omit))))
    stopifnot(grepl("'center' is 1:3: expected", error(sparse_pca(thin, center = 1:3))))
}
