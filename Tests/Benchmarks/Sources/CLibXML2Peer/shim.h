// libxml2 for the peer alone, under another name than FileDB's own CLibXML2. ICU is left out for the reason given in
// Sources/CLibXML2/shim.h.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
