// A library for LD_PRELOAD on Linux with glibc; see FaultInjection.c for its settings.

/// From now on every call is carried out. Found with `dlsym`, for the worker runs without the library too.
void stopFaults(void);
