# Components along numbers of nonzeros.
library(orthopt)

set.seed(1)
factors <- matrix(rnorm(240), 120)
x <- cbind(factors[, rep(1, 3)], factors[, rep(2, 3)], matrix(rnorm(360), 120)) + 0.3 * matrix(rnorm(1080), 120)
colnames(x) <- paste0("v", 1:9)
state <- .Random.seed
found <- sparse_path(x, ncomp = 2, counts = c(5, 1, 3, 2), cv = 4, bound = 5)
stopifnot(identical(state, .Random.seed)) # the session's random numbers are left alone
stopifnot(found$counts == c(1, 2, 3, 5), found$nonzeros == 3, found$counts[found$knee] == 3)
stopifnot(diff(found$shares) >= 0, found$bounds >= found$shares - 1e-9, found$bounds <= 1)
stopifnot(found$held_out > 0, found$held_out < 1, found$held_out_error > 0)

# numbers of a point are those of its own components
point <- found$path[[2]]
stopifnot(max(abs(crossprod(point$rotation) - diag(2))) < 1e-12, colSums(point$rotation != 0) <= 2)
stopifnot(all.equal(point$objective, sparse_pca(x, 2, nonzeros = 2)$objective, tolerance = 1e-6))

# what is held out is judged with the means of the others: a shift of the data changes nothing
moved <- sparse_path(x + 1000, ncomp = 2, counts = c(2, 3), cv = 4)
still <- sparse_path(x, ncomp = 2, counts = c(2, 3), cv = 4)
stopifnot(all.equal(moved$held_out, still$held_out, tolerance = 1e-6))

# sparse rows
if (requireNamespace("Matrix", quietly = TRUE)) {
    thin <- x * (abs(x) > 1)
    stopifnot(all.equal(sparse_path(Matrix::Matrix(thin, sparse = TRUE), 2, c(2, 3), cv = 3)$held_out,
                        sparse_path(thin, 2, c(2, 3), cv = 3)$held_out, tolerance = 1e-6))
}

text <- capture.output(print(found))
stopifnot(any(grepl("cross-validation", text)), any(grepl("at_most", text)))
pdf(NULL)
plot(found)
error <- function(expr) tryCatch({ expr; "none" }, orthopt_error = conditionMessage)
stopifnot(grepl("'counts' is 10: expected whole numbers from 1 to 9", error(sparse_path(x, 2, counts = 10))))
stopifnot(grepl("'cv' is 1", error(sparse_path(x, 2, cv = 1))))
stopifnot(grepl("'cv' is 500: the data have 120 rows", error(sparse_path(x, 2, cv = 500))))
