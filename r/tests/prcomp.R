# With no penalty the components are those of prcomp, and all that is said of them is what prcomp says.
library(orthopt)

same <- function(a, b, tol = 1e-10) stopifnot(isTRUE(all.equal(a, b, tolerance = tol, check.attributes = FALSE)))

compare <- function(x, center, scale., ...) {
    theirs <- prcomp(x, center = center, scale. = scale.)
    ours <- sparse_pca(x, ncomp = 3, penalty = "none", center = center, scale. = scale., ...)
    stopifnot(identical(class(ours), c("sparse_pca", "prcomp")), identical(names(ours)[1:5], names(theirs)))
    same(ours$sdev, theirs$sdev[1:3])
    same(abs(ours$rotation), abs(theirs$rotation[, 1:3]))
    same(abs(ours$x), abs(theirs$x[, 1:3]))
    same(ours$center, theirs$center)
    same(ours$scale, theirs$scale)
    stopifnot(identical(dimnames(ours$rotation), dimnames(theirs$rotation[, 1:3])))
    stopifnot(identical(dimnames(ours$x), dimnames(theirs$x[, 1:3])))
    same(ours$objective, -sum(theirs$sdev[1:3]^2) / 2)
    same(ours$total_variance, sum(theirs$sdev^2))
    same(summary(ours)$importance["Proportion of Variance", ], summary(theirs)$importance[2, 1:3], 1e-4)
    same(ours$adjusted, theirs$sdev[1:3]^2)
}

compare(USArrests, TRUE, FALSE)
compare(USArrests, TRUE, TRUE)
compare(USArrests, FALSE, FALSE)
compare(as.matrix(mtcars), colMeans(mtcars) + 1, rep(2, ncol(mtcars)))

# So are they where counts do not bind, whatever is maximised.
for (data in list(USArrests, iris[, 1:4], mtcars)) {
    theirs <- prcomp(data, scale. = TRUE)
    for (measure in c("variance", "adjusted", "polar", "explained")) {
        ours <- sparse_pca(data, ncomp = 2, nonzeros = ncol(data), scale. = TRUE, maximise = measure)
        same(abs(unclass(ours$rotation)), abs(theirs$rotation[, 1:2]), 1e-8)
        same(ours$sdev, theirs$sdev[1:2], 1e-8)
    }
}
# Where nothing is asked there are fewer components than variables, with zeros.
found <- sparse_pca(USArrests, scale. = TRUE)
stopifnot(ncol(found$rotation) == 3L, all(found$nonzeros < 4))

# Numbers of sparse components, by their definitions.
found <- sparse_pca(mtcars, ncomp = 3, nonzeros = c(4, 3, 2), scale. = TRUE, effort = "thorough")
v <- found$rotation
z <- scale(mtcars) %*% v
same(found$x, z)
same(found$sdev, apply(z, 2, sd))
same(crossprod(v), diag(3), 1e-12)
stopifnot(all(colSums(v != 0) <= c(4, 3, 2)), identical(unname(found$nonzeros), as.numeric(colSums(v != 0))))
same(found$objective, -sum(found$adjusted) / 2) # what is maximised unless the call says otherwise
plain <- sparse_pca(mtcars, ncomp = 3, nonzeros = c(4, 3, 2), scale. = TRUE, maximise = "variance")
same(plain$objective, -sum(diag(t(plain$rotation) %*% cor(mtcars) %*% plain$rotation)) / 2)
same(found$adjusted, diag(qr.R(qr(z)))^2 / (nrow(mtcars) - 1))

# The same from the covariances (thorough: shorter searches end at one of two supports, by rounding).
by_cor <- sparse_pca(covmat = cor(mtcars), ncomp = 3, nonzeros = c(4, 3, 2), effort = "thorough")
same(by_cor$objective, found$objective)
same(by_cor$sdev, found$sdev)
stopifnot(is.null(by_cor$x), isFALSE(by_cor$center))

# The number of components by a rule: a share of the variance, and parallel analysis.
shares <- cumsum(prcomp(mtcars, scale. = TRUE)$sdev^2) / 11
for (share in c(0.5, 0.8, 0.9, 0.99)) {
    stopifnot(ncol(sparse_pca(mtcars, ncomp = share, penalty = "none", scale. = TRUE)$rotation) == which(shares >= share)[1L])
}
auto <- sparse_pca(mtcars, ncomp = "auto", penalty = "none", scale. = TRUE)
stopifnot(ncol(auto$rotation) == 2L, auto$report$scree$rule == "permutation", grepl("2 eigenvalues exceed", auto$reasons[1L]))
known <- sparse_pca(covmat = cor(mtcars), ncomp = "auto", samples = 32, penalty = "none")
# the limit for large data is above what 32 rows give
stopifnot(ncol(known$rotation) == 1L, known$report$scree$rule == "marchenko-pastur")

# A formula is the data frame of its variables, missing values are left to na.action, and what is wrong is said.
error <- function(expr) tryCatch({ expr; "none" }, orthopt_error = conditionMessage)
by_formula <- sparse_pca(~ Murder + Assault + Rape, data = USArrests, ncomp = 2, nonzeros = 2, scale. = TRUE)
by_frame <- sparse_pca(USArrests[c("Murder", "Assault", "Rape")], ncomp = 2, nonzeros = 2, scale. = TRUE)
for (field in c("sdev", "rotation", "center", "scale", "x")) stopifnot(identical(by_formula[[field]], by_frame[[field]]))
stopifnot(identical(by_formula$call[[1L]], quote(sparse_pca)), identical(by_formula$call$formula, quote(~ Murder + Assault + Rape)))
some <- sparse_pca(~ ., data = USArrests, subset = Murder > 8, ncomp = 1, nonzeros = 2)
same(some$rotation, sparse_pca(USArrests[USArrests$Murder > 8, ], ncomp = 1, nonzeros = 2)$rotation)
air <- sparse_pca(~ Ozone + Wind + Temp, data = airquality, ncomp = 1, nonzeros = 2, na.action = na.exclude)
stopifnot(nrow(air$x) == nrow(airquality), sum(is.na(air$x)) == sum(is.na(airquality$Ozone)))
stopifnot(grepl("is NA in row 5", error(sparse_pca(~ Ozone + Wind, data = airquality, ncomp = 1))))
stopifnot(grepl("has a response", error(sparse_pca(Murder ~ Rape, data = USArrests))))
stopifnot(grepl("not numeric: Species", error(sparse_pca(~ Sepal.Width + Species, data = iris))))
stopifnot(grepl("give either data", error(sparse_pca())))

# Functions for prcomp take it.
pdf(NULL)
screeplot(by_formula)
screeplot(by_formula, type = "lines")
stats:::biplot.prcomp(by_formula)
dev.off()
same(stats:::predict.prcomp(by_formula, USArrests), by_formula$x)
same(stats:::summary.prcomp(by_formula)$importance[1L, ], by_formula$sdev)
same(by_formula$x %*% t(by_formula$rotation), scale(USArrests[c("Murder", "Assault", "Rape")]) %*% tcrossprod(by_formula$rotation))
