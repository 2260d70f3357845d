// Debian builds libxml2 with ICU, whose headers clash with those inside Foundation. Only `xmlCharEncodingHandler`, which
// nobody here uses, differs without them.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
#include <libxml/valid.h>
#include <libxml/xmlerror.h>
