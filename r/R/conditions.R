# Errors and warnings of this package have classes, so that programs can tell them from others.

fail <- function(...) {
    stop(structure(class = c("orthopt_error", "error", "condition"),
                   list(message = paste0(...), call = NULL)))
}

warn <- function(...) {
    warning(structure(class = c("orthopt_warning", "warning", "condition"),
                      list(message = paste0(...), call = NULL)))
}

# The value of a result of the compiled half; what went wrong there is raised here.
checked <- function(result) {
    if (!is.null(result$error)) fail(result$error)
    result$ok
}
