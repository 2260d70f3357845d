#include <stddef.h>

/// A file of Sources/FileDBBrowse/Pages.
struct filedb_page {
  const char *name;
  /// UTF-8, with a zero at the end.
  const unsigned char *text;
};

/// The file at `index`; after the last one, a file without a name.
struct filedb_page filedb_page(size_t index);
