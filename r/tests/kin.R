# Packages that take results of prcomp take those of sparse_pca, where they are installed.
library(orthopt)

found <- sparse_pca(USArrests, ncomp = 2, nonzeros = 2, scale. = TRUE)
if (requireNamespace("broom", quietly = TRUE) && requireNamespace("generics", quietly = TRUE)) {
    tidy <- generics::tidy
    scores <- as.data.frame(tidy(found))
    stopifnot(identical(scores, as.data.frame(tidy(found, "scores"))), all.equal(scores$value[scores$PC == 2], unname(found$x[, 2])))
    loadings <- as.data.frame(tidy(found, "loadings"))
    stopifnot(all.equal(loadings$value[loadings$PC == 1], unname(found$rotation[, 1])))
    shares <- tidy(found, "d")
    stopifnot(identical(shares, tidy(found, matrix = "eigenvalues")), all.equal(shares$std.dev, found$sdev),
              all.equal(shares$percent, found$sdev^2 / 4), all.equal(shares$cumulative[2], sum(found$adjusted) / 4),
              identical(shares$nonzeros, c(2, 2)))
    plain <- sparse_pca(USArrests, ncomp = 4, penalty = "none", scale. = TRUE)
    theirs <- as.data.frame(tidy(prcomp(USArrests, scale. = TRUE), "d"))
    ours <- tidy(plain, "d")
    stopifnot(all(abs(ours[names(theirs)] - theirs) < 1e-4)) # broom rounds them to five digits
    one <- generics::glance(found)
    stopifnot(nrow(one) == 1L, one$components == 2L, one$nonzeros == 4, one$nobs == 50L, identical(one$bound, found$bound),
              one$bound <= one$objective, all.equal(one$explained, shares$cumulative[2]))
    more <- as.data.frame(generics::augment(found, USArrests))
    stopifnot(all.equal(unname(as.matrix(more[c(".fittedPC1", ".fittedPC2")])), unname(found$x)), "Murder" %in% names(more))
}
if (requireNamespace("factoextra", quietly = TRUE)) {
    pdf(NULL)
    for (draw in c("fviz_pca_biplot", "fviz_pca_ind", "fviz_pca_var", "fviz_eig")) {
        picture <- getExportedValue("factoextra", draw)(found)
        stopifnot(inherits(picture, "ggplot"))
        print(picture)
    }
    dev.off()
    stopifnot(all.equal(unname(as.matrix(factoextra::get_pca_ind(found)$coord)), unname(found$x)))
}
if (requireNamespace("ggfortify", quietly = TRUE)) {
    picture <- ggplot2::autoplot(found, data = USArrests, loadings = TRUE, loadings.label = TRUE)
    stopifnot(inherits(picture, "ggplot"), nrow(picture$data) == 50L)
}
if (requireNamespace("vegan", quietly = TRUE)) {
    stopifnot(all.equal(unname(vegan::scores(found, display = "sites")), unname(found$x)))
}
