/*
 * An event loop as C programs have it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

struct conn {
	int fd;
	struct conn *next;
};

#define list_for_each(pos, head) \
	for (pos = (head); pos; pos = pos->next)

static int old_style(a, b)
	int a;
	char *b;
{
	while (a--)
		*b++ = 0;
	return 0;
}

static int handle(struct conn *c, const char *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		switch (buf[i]) {
		case 'q':
			return -1;
		case 'a' ... 'f':
			putchar(buf[i]);
			break;
		default:
			break;
		}
	}

	if (len > 4096)
		goto fail;
	else if (len == 0)
		return 0;
#if defined(__linux__) && \
    !defined(NO_SPLICE)
	splice(c->fd, NULL, 1, NULL, len, 0);
#elif defined(BSD)
	for (;;)
		;
#endif
	return ({ int r = write(1, buf, len); r < 0 ? -1 : 0; });

fail:
	perror("handle");
	return -1;
}

int main(int argc, char *argv[])
{
	struct conn *head = NULL, *c;
	char buf[512];

	while (fgets(buf, sizeof buf, stdin) != NULL) {
		list_for_each(c, head) {
			if (handle(c, buf, sizeof buf) < 0)
				break;
		}
	}
	do { argc--; } while (argc > 0);
	return 0;
}
