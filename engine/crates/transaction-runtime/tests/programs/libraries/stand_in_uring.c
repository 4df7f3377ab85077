/* Says that it has submitted three operations. */
int io_uring_submit(void *ring) { return 3; }
void *io_uring_get_probe(void) { return 0; }
