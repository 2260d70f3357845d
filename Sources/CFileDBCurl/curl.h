// What FileDBCluster needs of libcurl, which it loads when a program first connects to etcd: so nobody needs libcurl's
// headers. See Decisions/039.

// Swift cannot call these functions, which are variadic. `function` is their address.
static inline int filedb_curl_set_number(void *function, void *request, int option, long value) {
  return ((int (*)(void *, int, ...))function)(request, option, value);
}

static inline int filedb_curl_set_size(void *function, void *request, int option, long long value) {
  return ((int (*)(void *, int, ...))function)(request, option, value);
}

static inline int filedb_curl_set_pointer(void *function, void *request, int option, const void *value) {
  return ((int (*)(void *, int, ...))function)(request, option, value);
}

static inline int filedb_curl_get_number(void *function, void *request, int what, long *value) {
  return ((int (*)(void *, int, ...))function)(request, what, value);
}

// libcurl's `CURLMsg`.
struct filedb_curl_message {
  int kind;
  void *request;
  union {
    void *whatever;
    int result;
  } data;
};
