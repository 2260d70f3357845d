#if !__has_include(<sqlite3.h>)
#error "FileDBSQLite needs SQLite's headers (libsqlite3-dev, sqlite-devel or the like); please install them."
#endif
#include <sqlite3.h>

// By default, SQLite takes a name in double quotes for a string if there is no such column. Then a misspelled name in a
// query is its own answer. This makes it an error. Swift cannot call `sqlite3_db_config`, which is variadic.
static inline void filedb_sqlite_refuse_quoted_strings(sqlite3 *connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
}
