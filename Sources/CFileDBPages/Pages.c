#include "CFileDBPages.h"

// `#embed` is of C23. Clang has it in older C as well, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../FileDBBrowse/Pages/index.html"
};

#define PAGE(name, bytes) {name, bytes, sizeof bytes}

static const struct filedb_page pages[] = {
    PAGE("index.html", index_html),
};

struct filedb_page filedb_page(size_t index) {
  if (index < sizeof pages / sizeof *pages) return pages[index];
  return (struct filedb_page){NULL, NULL, 0};
}
