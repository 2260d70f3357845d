#include <stddef.h>

/// A file of Sources/FileDBBrowse/Pages.
struct filedb_page {
  const char *name;
  const unsigned char *bytes;
  size_t length;
};

/// The file at `index`; without a name behind the last one.
struct filedb_page filedb_page(size_t index);
