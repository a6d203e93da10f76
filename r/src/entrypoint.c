/* R calls this when it loads the library; the routines are registered in Rust. */
void R_init_orthopt_extendr(void *dll);

void R_init_orthopt(void *dll) {
    R_init_orthopt_extendr(dll);
}
