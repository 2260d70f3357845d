// Debian builds libxml2 with ICU, whose headers clash with those in Foundation. Without them, only
// `xmlCharEncodingHandler` differs, which is not used here.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
#include <libxml/valid.h>
#include <libxml/xmlerror.h>
