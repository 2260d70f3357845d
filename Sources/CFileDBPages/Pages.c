#include "CFileDBPages.h"

// `#embed` is of C23. Clang has it in older C as well, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct filedb_page pages[] = {
#define PAGE actions.js
#include "Page.h"
#define PAGE api.js
#include "Page.h"
#define PAGE app.js
#include "Page.h"
#define PAGE base.css
#include "Page.h"
#define PAGE columns.js
#include "Page.h"
#define PAGE connection.js
#include "Page.h"
#define PAGE dialogs.js
#include "Page.h"
#define PAGE dom.js
#include "Page.h"
#define PAGE editing.js
#include "Page.h"
#define PAGE editors.js
#include "Page.h"
#define PAGE filter.js
#include "Page.h"
#define PAGE grid.css
#include "Page.h"
#define PAGE grid.js
#include "Page.h"
#define PAGE index.html
#include "Page.h"
#define PAGE input.js
#include "Page.h"
#define PAGE layout.css
#include "Page.h"
#define PAGE messages.js
#include "Page.h"
#define PAGE panels.css
#include "Page.h"
#define PAGE table-view.js
#include "Page.h"
#define PAGE values.js
#include "Page.h"
};

struct filedb_page filedb_page(size_t index) {
  if (index < sizeof pages / sizeof *pages) return pages[index];
  return (struct filedb_page){NULL, NULL};
}
