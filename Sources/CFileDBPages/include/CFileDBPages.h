#include <stddef.h>

/// A file of Sources/FileDBBrowse/Pages.
struct filedb_page {
  const char *name;
  const unsigned char *bytes;
  size_t length;
};

/// The file at `index`; after the last one, a file without a name.
struct filedb_page filedb_page(size_t index);
