#include "CFileDBPages.h"

// `#embed` is of C23. Clang has it in older C as well, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char access_js[] = {
#embed "../FileDBBrowse/Pages/access.js"
};

static const unsigned char api_js[] = {
#embed "../FileDBBrowse/Pages/api.js"
};

static const unsigned char app_js[] = {
#embed "../FileDBBrowse/Pages/app.js"
};

static const unsigned char broken_table_js[] = {
#embed "../FileDBBrowse/Pages/broken-table.js"
};

static const unsigned char cell_editor_js[] = {
#embed "../FileDBBrowse/Pages/cell-editor.js"
};

static const unsigned char clipboard_js[] = {
#embed "../FileDBBrowse/Pages/clipboard.js"
};

static const unsigned char column_edges_js[] = {
#embed "../FileDBBrowse/Pages/column-edges.js"
};

static const unsigned char column_widths_js[] = {
#embed "../FileDBBrowse/Pages/column-widths.js"
};

static const unsigned char conflict_js[] = {
#embed "../FileDBBrowse/Pages/conflict.js"
};

static const unsigned char dates_js[] = {
#embed "../FileDBBrowse/Pages/dates.js"
};

static const unsigned char dialog_js[] = {
#embed "../FileDBBrowse/Pages/dialog.js"
};

static const unsigned char dialogs_css[] = {
#embed "../FileDBBrowse/Pages/dialogs.css"
};

static const unsigned char dom_js[] = {
#embed "../FileDBBrowse/Pages/dom.js"
};

static const unsigned char drag_js[] = {
#embed "../FileDBBrowse/Pages/drag.js"
};

static const unsigned char early_js[] = {
#embed "../FileDBBrowse/Pages/early.js"
};

static const unsigned char editing_css[] = {
#embed "../FileDBBrowse/Pages/editing.css"
};

static const unsigned char editor_data_js[] = {
#embed "../FileDBBrowse/Pages/editor-data.js"
};

static const unsigned char editor_tree_js[] = {
#embed "../FileDBBrowse/Pages/editor-tree.js"
};

static const unsigned char editors_js[] = {
#embed "../FileDBBrowse/Pages/editors.js"
};

static const unsigned char event_stream_js[] = {
#embed "../FileDBBrowse/Pages/event-stream.js"
};

static const unsigned char events_worker_js[] = {
#embed "../FileDBBrowse/Pages/events-worker.js"
};

static const unsigned char events_js[] = {
#embed "../FileDBBrowse/Pages/events.js"
};

static const unsigned char filter_bar_js[] = {
#embed "../FileDBBrowse/Pages/filter-bar.js"
};

static const unsigned char filter_css[] = {
#embed "../FileDBBrowse/Pages/filter.css"
};

static const unsigned char forms_css[] = {
#embed "../FileDBBrowse/Pages/forms.css"
};

static const unsigned char grid_keys_js[] = {
#embed "../FileDBBrowse/Pages/grid-keys.js"
};

static const unsigned char grid_pointer_js[] = {
#embed "../FileDBBrowse/Pages/grid-pointer.js"
};

static const unsigned char grid_row_js[] = {
#embed "../FileDBBrowse/Pages/grid-row.js"
};

static const unsigned char grid_css[] = {
#embed "../FileDBBrowse/Pages/grid.css"
};

static const unsigned char grid_js[] = {
#embed "../FileDBBrowse/Pages/grid.js"
};

static const unsigned char index_html[] = {
#embed "../FileDBBrowse/Pages/index.html"
};

static const unsigned char layout_css[] = {
#embed "../FileDBBrowse/Pages/layout.css"
};

static const unsigned char main_js[] = {
#embed "../FileDBBrowse/Pages/main.js"
};

static const unsigned char narrow_css[] = {
#embed "../FileDBBrowse/Pages/narrow.css"
};

static const unsigned char no_access_js[] = {
#embed "../FileDBBrowse/Pages/no-access.js"
};

static const unsigned char notices_js[] = {
#embed "../FileDBBrowse/Pages/notices.js"
};

static const unsigned char picture_js[] = {
#embed "../FileDBBrowse/Pages/picture.js"
};

static const unsigned char reading_table_js[] = {
#embed "../FileDBBrowse/Pages/reading-table.js"
};

static const unsigned char record_actions_js[] = {
#embed "../FileDBBrowse/Pages/record-actions.js"
};

static const unsigned char record_list_js[] = {
#embed "../FileDBBrowse/Pages/record-list.js"
};

static const unsigned char record_sheet_js[] = {
#embed "../FileDBBrowse/Pages/record-sheet.js"
};

static const unsigned char selection_js[] = {
#embed "../FileDBBrowse/Pages/selection.js"
};

static const unsigned char sidebar_js[] = {
#embed "../FileDBBrowse/Pages/sidebar.js"
};

static const unsigned char sort_keys_js[] = {
#embed "../FileDBBrowse/Pages/sort-keys.js"
};

static const unsigned char states_css[] = {
#embed "../FileDBBrowse/Pages/states.css"
};

static const unsigned char table_dialogs_js[] = {
#embed "../FileDBBrowse/Pages/table-dialogs.js"
};

static const unsigned char table_view_js[] = {
#embed "../FileDBBrowse/Pages/table-view.js"
};

static const unsigned char theme_css[] = {
#embed "../FileDBBrowse/Pages/theme.css"
};

static const unsigned char toolbar_js[] = {
#embed "../FileDBBrowse/Pages/toolbar.js"
};

static const unsigned char values_js[] = {
#embed "../FileDBBrowse/Pages/values.js"
};

static const unsigned char viewport_js[] = {
#embed "../FileDBBrowse/Pages/viewport.js"
};

#define PAGE(name, bytes) {name, bytes, sizeof bytes}

static const struct filedb_page pages[] = {
    PAGE("access.js", access_js),
    PAGE("api.js", api_js),
    PAGE("app.js", app_js),
    PAGE("broken-table.js", broken_table_js),
    PAGE("cell-editor.js", cell_editor_js),
    PAGE("clipboard.js", clipboard_js),
    PAGE("column-edges.js", column_edges_js),
    PAGE("column-widths.js", column_widths_js),
    PAGE("conflict.js", conflict_js),
    PAGE("dates.js", dates_js),
    PAGE("dialog.js", dialog_js),
    PAGE("dialogs.css", dialogs_css),
    PAGE("dom.js", dom_js),
    PAGE("drag.js", drag_js),
    PAGE("early.js", early_js),
    PAGE("editing.css", editing_css),
    PAGE("editor-data.js", editor_data_js),
    PAGE("editor-tree.js", editor_tree_js),
    PAGE("editors.js", editors_js),
    PAGE("event-stream.js", event_stream_js),
    PAGE("events-worker.js", events_worker_js),
    PAGE("events.js", events_js),
    PAGE("filter-bar.js", filter_bar_js),
    PAGE("filter.css", filter_css),
    PAGE("forms.css", forms_css),
    PAGE("grid-keys.js", grid_keys_js),
    PAGE("grid-pointer.js", grid_pointer_js),
    PAGE("grid-row.js", grid_row_js),
    PAGE("grid.css", grid_css),
    PAGE("grid.js", grid_js),
    PAGE("index.html", index_html),
    PAGE("layout.css", layout_css),
    PAGE("main.js", main_js),
    PAGE("narrow.css", narrow_css),
    PAGE("no-access.js", no_access_js),
    PAGE("notices.js", notices_js),
    PAGE("picture.js", picture_js),
    PAGE("reading-table.js", reading_table_js),
    PAGE("record-actions.js", record_actions_js),
    PAGE("record-list.js", record_list_js),
    PAGE("record-sheet.js", record_sheet_js),
    PAGE("selection.js", selection_js),
    PAGE("sidebar.js", sidebar_js),
    PAGE("sort-keys.js", sort_keys_js),
    PAGE("states.css", states_css),
    PAGE("table-dialogs.js", table_dialogs_js),
    PAGE("table-view.js", table_view_js),
    PAGE("theme.css", theme_css),
    PAGE("toolbar.js", toolbar_js),
    PAGE("values.js", values_js),
    PAGE("viewport.js", viewport_js),
};

struct filedb_page filedb_page(size_t index) {
  if (index < sizeof pages / sizeof *pages) return pages[index];
  return (struct filedb_page){NULL, NULL, 0};
}
