// SPDX-License-Identifier: Apache-2.0
#ifndef CXML2_SHIM_H
#define CXML2_SHIM_H

// With ICU switched on, libxml2's headers draw in <unicode/ucnv.h>, which collides with the ICU inside Foundation.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <iconv.h>
#include <libxml/HTMLparser.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <string.h>

// Macros and globals that Swift cannot see.
static inline unsigned int cx_sax2_magic(void) { return XML_SAX2_MAGIC; }

// Without first bytes: the options must be set before the parser sees any. It copies the handler.
static inline xmlParserCtxtPtr cx_push_parser(xmlSAXHandlerPtr handler, void *user) {
    return xmlCreatePushParserCtxt(handler, user, NULL, 0, NULL);
}

// Entities replaced (else attribute values keep `&#38;` for `&amp;`), no network, the encoding
// declaration ignored (the bytes are UTF-8 already). Never XML_PARSE_HUGE, DTDLOAD or XINCLUDE.
static inline int cx_use_options(xmlParserCtxtPtr parser) {
    return xmlCtxtUseOptions(parser, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);
}

static inline int cx_is_fatal(const xmlError *error) { return error->level == XML_ERR_FATAL; }

// For trees: CDATA becomes text, so that a text node is a text node.
static inline int cx_use_tree_options(xmlParserCtxtPtr parser) {
    return xmlCtxtUseOptions(
        parser, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_IGNORE_ENC | XML_PARSE_NOCDATA | XML_PARSE_COMPACT);
}

// Ignores the encoding that the page names, because the bytes are UTF-8 already.
static inline xmlDocPtr cx_read_html(htmlParserCtxtPtr parser, const char *bytes, int count) {
    return htmlCtxtReadMemory(
        parser, bytes, count, NULL, "UTF-8",
        HTML_PARSE_RECOVER | HTML_PARSE_NODEFDTD | HTML_PARSE_NONET | HTML_PARSE_COMPACT | HTML_PARSE_IGNORE_ENC);
}

// A few errors of XPath go past every handler to standard error, thread by thread.
static void cx_print_nothing(void *user, const char *format, ...) {
    (void)user;
    (void)format;
}
static inline void cx_be_silent(void) { xmlSetGenericErrorFunc(NULL, cx_print_nothing); }

static inline void cx_free(void *memory) { xmlFree(memory); }

#endif
