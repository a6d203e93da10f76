# The options of the compiled half by their names here: the kind, the least number, whether TRUE and FALSE stand for
# something, and whether a matrix does.
option_table <- function() {
    table <- known_options()
    setNames(table, vapply(table, function(option) option$name, ""))
}

# The list that the compiled half takes. 'own' is what the table does not have, 'given' are arguments by name, and
# 'further' is what came in '...': options, and constants of solvers and penalties.
run_options <- function(own, given, further) {
    table <- option_table()
    options <- Filter(Negate(is.null), c(given, further))
    # CRAN allows two while it checks
    if (is.null(options$threads) && nzchar(Sys.getenv("_R_CHECK_LIMIT_CORES_"))) options$threads <- 2
    values <- Map(function(value, name) checked_option(value, name, table[[name]]), options, names(options))
    c(own, list(names = as.character(names(options)), values = unname(values)))
}

# A value of the kind that the table says; constants are checked where they are used.
checked_option <- function(value, name, option) {
    if (is.null(option)) return(constant_text(value))
    if (option$logical && is.logical(value)) return(flag(value, name))
    if (option$matrix && is.matrix(value)) return(numbers(value, name))
    switch(option$kind,
           flag = flag(value, name),
           whole = whole(value, name, option$least),
           number = number(value, name, option$least),
           counts = nonzero_counts(value),
           rank = components(value, name),
           if (is.numeric(value)) value else word(value, name))
}

nonzero_counts <- function(value) {
    if (identical(value, "auto")) return(value)
    good <- is.numeric(value) && length(value) > 0L && all(is.finite(value)) &&
        all(value >= 1 & value == round(value))
    if (!good) {
        fail("'nonzeros' is ", shown(value), ": expected a whole number >= 1, one for each component, or \"auto\"")
    }
    as.list(as.double(value))
}

# A number of components, a share of the variance, or "auto".
components <- function(value, name) {
    if (is.numeric(value) && length(value) == 1L && !is.na(value) && value > 0 && value < 1) return(as.double(value))
    if (is.character(value)) return(word(value, name))
    whole(value, name, 0)
}

# Every argument in '...' needs a name that is known.
named_further <- function(...) {
    further <- list(...)
    if (length(further) == 0L) return(further)
    if (is.null(names(further)) || any(!nzchar(names(further)))) fail("arguments in '...' need names")
    unknown <- setdiff(names(further), c(names(option_table()), known_constants()))
    if (length(unknown) > 0L) {
        near <- similar_names(unknown[1L])
        fail("no argument is called '", unknown[1L], "'", if (length(near) > 0L) paste0(" (similar: ", listed(near), ")"),
             "; besides those of the help page there are the constants of solvers and penalties, such as mcp_gamma")
    }
    further
}

constant_text <- function(value) {
    if (is.logical(value)) return(tolower(as.character(value)))
    if (is.numeric(value)) format(value, digits = 17L) else as.character(value)
}
