#pragma once

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGPIPE 13
#define SIGTERM 15
#define SIGXFSZ 25

typedef void (*sig_t)(int);

void (*signal(int, void (*)(int)))(int);
