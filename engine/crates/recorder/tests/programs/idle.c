/* Works without a progress point. */
int main(void) {
  for (volatile long i = 0;; i = i + 1) {}
}
