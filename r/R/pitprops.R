#' Correlations of properties of pine props
#'
#' Correlations of 13 variables measured on 180 pine props that were used in mines: the classic example of
#' principal components that are hard to interpret. The samples themselves were never published.
#'
#' @name pitprops
#' @docType data
#' @usage pitprops
#' @format A data frame with 13 rows and 13 columns: the correlation matrix, with the names of the variables on
#'   both sides.
#'   \describe{
#'     \item{topdiam}{top diameter}
#'     \item{length}{length}
#'     \item{moist}{moisture content, per cent of the dry weight}
#'     \item{testsg}{specific gravity at the time of the test}
#'     \item{ovensg}{specific gravity, dried in an oven}
#'     \item{ringtop}{annual rings at the top}
#'     \item{ringbut}{annual rings at the base}
#'     \item{bowmax}{largest bow}
#'     \item{bowdist}{distance of the largest bow from the top}
#'     \item{whorls}{knot whorls}
#'     \item{clear}{clear length from the top}
#'     \item{knots}{knots per whorl}
#'     \item{diaknot}{diameter of the knots}
#'   }
#' @source J. N. R. Jeffers: Two case studies in the application of principal component analysis. Journal of the
#'   Royal Statistical Society C (Applied Statistics) 16 (1967), 225--236.
#' @keywords datasets
#' @examples
#' sparse_pca(covmat = pitprops, ncomp = 3, nonzeros = c(5, 3, 3))
NULL
