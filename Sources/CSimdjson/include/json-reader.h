// SPDX-License-Identifier: Apache-2.0
//
// Walks over a JSON document once, validates all of it, and gives the requested cells as positions.
//
// A reader is a compiled plan of paths; the parser is the thread's. It belongs to one thread at a time.
// Cells are positions in the document, or in the reader's own buffer of unescaped strings; both end with the next read.
#ifndef JSON_READER_H
#define JSON_READER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang assume_nonnull begin
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// simdjson reads this far past the end and interprets those bytes, so they must exist and be zero.
#define CJ_PADDING 64

enum {
    CJ_MISSING = 0,
    CJ_NULL,
    CJ_FALSE,
    CJ_TRUE,
    CJ_NUMBER,
    CJ_STRING,
    CJ_RAW_ARRAY,
    CJ_RAW_OBJECT,
};

enum {
    CJ_OK = 0,
    CJ_SYNTAX,
    CJ_TOO_DEEP,
    CJ_TOO_MANY_ROWS,
    CJ_STRING_TOO_LONG,
    CJ_DOCUMENT_TOO_LONG,
    CJ_ITEMS_MISSING,
    CJ_ITEMS_NULL,
    CJ_ITEMS_OBJECT,
    CJ_ITEMS_SCALAR,
    CJ_ITEMS_ARRAY,
    CJ_MEMORY,
};

typedef struct {
    uint32_t offset;
    uint32_t length;
    uint8_t kind;
    /// The bytes are in the reader's buffer, not in the document.
    uint8_t unescaped;
} cj_cell;

typedef struct {
    uint32_t depth;
    uint32_t rows;
    uint32_t string_bytes;
} cj_limits;

typedef struct cj_reader cj_reader;

/// NULL when there is no memory.
cj_reader *_Nullable cj_reader_new(cj_limits limits);
void cj_reader_free(cj_reader *reader);

/// A path is added step by step: `cj_begin`, then `cj_step` for each name, then one `cj_end_...`.
/// A step whose name is an array index is marked by `index >= 0`; it matches the member of that name, too.
void cj_begin(cj_reader *reader, int in_row);
void cj_step(cj_reader *reader, const char *name, size_t length, int64_t index);
/// With `of_members` the rows are the members of an object, else the elements of an array.
void cj_end_items(cj_reader *reader, int of_members);
/// Adds a row cell that holds the name of the member that the row is; missing for an element of an array.
void cj_add_member_name(cj_reader *reader);
/// Cells are numbered from 0 in the order in which they are added, for the rows and for the document apart.
void cj_end_cell(cj_reader *reader);

/// `body[length ..< length + CJ_PADDING]` must be zero.
int cj_read(cj_reader *reader, const uint8_t *body, size_t length);

size_t cj_row_count(const cj_reader *reader);
/// 1 when the one row is an object that is no element of an array.
int cj_is_single(const cj_reader *reader);
/// 1 when a row has an array where the path of its column asks for a name.
int cj_is_in_list(const cj_reader *reader, size_t column);
/// Row after row, each with as many cells as there are row paths; NULL when there are none.
const cj_cell *_Nullable cj_rows(const cj_reader *reader);
const cj_cell *_Nullable cj_document(const cj_reader *reader);
const uint8_t *_Nullable cj_unescaped(const cj_reader *reader);

/// 1 when the bytes are well-formed UTF-8.
int cj_valid_utf8(const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
