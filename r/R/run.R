# Seconds between two checks for Ctrl-C.
POLL <- 0.05

# A run of the compiled half, which works in a thread of its own: R waits in short steps and looks for Ctrl-C
# between them. Ctrl-C ends the run, and what it has found is returned.
run <- function(x, options, begin = begin_run) {
    suspendInterrupts({
        handle <- checked(begin(x, options))
        on.exit(stop_run(handle)) # whatever else ends the waiting, a time limit of R for one
        while (!wait_run(handle, POLL)) {
            tryCatch(allowInterrupts(Sys.sleep(0.001)), interrupt = function(e) stop_run(handle))
        }
        checked(finish_run(handle))
    })
}
