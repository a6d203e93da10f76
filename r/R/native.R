# What the package takes from others, for NAMESPACE.

#' @useDynLib orthopt, .registration = TRUE
#' @importFrom grDevices hcl.colors
#' @importFrom graphics abline arrows axis barplot image legend lines par plot points rect segments strheight strwidth text
#' @importFrom methods as is
#' @importFrom stats biplot model.matrix napredict predict sd setNames terms
#' @importFrom utils head
NULL

# The routines of the compiled half, by the names that it registers them under.

begin_run <- function(x, options) .Call(wrap__orthopt_begin, x, options)
begin_explore <- function(x, options) .Call(wrap__orthopt_explore, x, options)
wait_run <- function(run, seconds) .Call(wrap__orthopt_wait, run, seconds)
stop_run <- function(run) .Call(wrap__orthopt_stop, run)
finish_run <- function(run) .Call(wrap__orthopt_finish, run)
proof_data <- function(text) .Call(wrap__orthopt_proof_data, text)
checked_proof <- function(text, x, options) .Call(wrap__orthopt_check_proof, text, x, options)
known_options <- function() .Call(wrap__orthopt_options)
known_constants <- function() .Call(wrap__orthopt_constants)
frame_of <- function(names, cells, rows, index, options) .Call(wrap__orthopt_frame, names, cells, rows, index, options)
remarks_on <- function(x, gram) .Call(wrap__orthopt_remarks, x, gram)
has_one_triangle <- function(x) .Call(wrap__orthopt_has_one_triangle, x)
similar_names <- function(name) .Call(wrap__orthopt_similar, name)
