// SPDX-License-Identifier: Apache-2.0
#include "json-reader.h"

#include "json-path-plan.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <simdjson.h>
#include <string_view>
#include <vector>

namespace {

using json_path::Node;
using json_path::Plan;
namespace ondemand = simdjson::ondemand;

/// RFC 8259 §6. No number is ever converted: 9007199254740993, 1e400 and 1.10 stay as they were written.
bool is_number(std::string_view s) {
    size_t i = 0, n = s.size();
    auto digits = [&] {
        size_t from = i;
        while (i < n && s[i] >= '0' && s[i] <= '9') { ++i; }
        return i > from;
    };
    if (i < n && s[i] == '-') { ++i; }
    if (i < n && s[i] == '0') {
        ++i;
    } else if (!digits()) {
        return false;
    }
    if (i < n && s[i] == '.') {
        ++i;
        if (!digits()) { return false; }
    }
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        ++i;
        if (i < n && (s[i] == '+' || s[i] == '-')) { ++i; }
        if (!digits()) { return false; }
    }
    return i == n;
}

/// The parser of the thread, which keeps its buffers, about five times the document, from read to read: a new one for each
/// document would be most of the cost of reading it, in pages that the kernel clears. No read begins inside another.
struct SharedParser {
    static thread_local ondemand::parser of_thread;
    static constexpr size_t kept = 1 << 20;

    ~SharedParser() {
        if (of_thread.capacity() > kept) { of_thread = ondemand::parser(); }
    }
};

thread_local ondemand::parser SharedParser::of_thread;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

struct cj_reader {
    cj_limits limits;
    Plan plan;
    std::vector<cj_cell> document_cells;
    std::vector<cj_cell> row_cells;
    size_t rows = 0;
    bool single = false;
    /// By column: a row has an array where its path asks for a name.
    std::vector<bool> in_list;
    int items_state = CJ_ITEMS_MISSING;

    /// Only during a read.
    ondemand::parser *parser = nullptr;
    std::unique_ptr<uint8_t[]> unescaped;
    size_t unescaped_capacity = 0;
    uint8_t *unescaped_end = nullptr;
    const char *body = nullptr;
    const char *body_end = nullptr;
    ondemand::document *tape = nullptr;

    explicit cj_reader(cj_limits l) : limits(l) {}

    struct Place {
        Node *document;
        Node *row;
        size_t row_base;
    };

    void set(const Place &place, uint8_t kind, const char *p, size_t n, bool in_buffer = false) {
        const char *base = in_buffer ? reinterpret_cast<const char *>(unescaped.get()) : body;
        cj_cell cell{static_cast<uint32_t>(p - base), static_cast<uint32_t>(n), kind, in_buffer};
        if (place.document) {
            for (int slot : place.document->slots) { document_cells[slot] = cell; }
        }
        if (place.row) {
            for (int slot : place.row->slots) { row_cells[place.row_base + slot] = cell; }
        }
    }

    void clear(const Place &place) {
        if (place.document) {
            for (int slot : place.document->below) { document_cells[slot] = cj_cell{}; }
            if (place.document->items_below) {
                rows = 0;
                single = false;
                row_cells.clear();
                items_state = CJ_ITEMS_MISSING;
            }
        }
        if (place.row) {
            for (int slot : place.row->below) { row_cells[place.row_base + slot] = cj_cell{}; }
        }
    }

    bool wanted(const Place &place) const {
        return (place.document && !place.document->slots.empty()) || (place.row && !place.row->slots.empty());
    }

    int unescape(ondemand::raw_json_string raw, std::string_view &text) {
        if (!unescaped) {
            unescaped_capacity = static_cast<size_t>(body_end - body) + CJ_PADDING;
            unescaped.reset(new uint8_t[unescaped_capacity]);
            unescaped_end = unescaped.get();
        }
        uint8_t *end = unescaped_end;
        if (parser->unescape(raw, end).get(text)) { return CJ_SYNTAX; }
        return CJ_OK;
    }

    int string(ondemand::value &value, std::string_view token, const Place &place) {
        if (token.size() < 2 || token.back() != '"') { return CJ_SYNTAX; }
        if (token.size() - 2 > limits.string_bytes) { return CJ_STRING_TOO_LONG; }
        if (!memchr(token.data(), '\\', token.size())) {
            if (wanted(place)) { set(place, CJ_STRING, token.data() + 1, token.size() - 2); }
            return CJ_OK;
        }
        ondemand::raw_json_string raw;
        if (value.get_raw_json_string().get(raw)) { return CJ_SYNTAX; }
        std::string_view text;
        if (int rc = unescape(raw, text)) { return rc; }
        if (wanted(place)) {
            set(place, CJ_STRING, text.data(), text.size(), true);
            unescaped_end += text.size();
        }
        return CJ_OK;
    }

    int scalar(ondemand::value &value, const Place &place) {
        std::string_view token = value.raw_json_token();
        while (!token.empty() && is_space(token.back())) { token.remove_suffix(1); }
        if (token.empty()) { return CJ_SYNTAX; }
        uint8_t kind;
        switch (token.front()) {
        case '"': return string(value, token, place);
        case 't': kind = CJ_TRUE; if (token != "true") { return CJ_SYNTAX; } break;
        case 'f': kind = CJ_FALSE; if (token != "false") { return CJ_SYNTAX; } break;
        case 'n': kind = CJ_NULL; if (token != "null") { return CJ_SYNTAX; } break;
        default: kind = CJ_NUMBER; if (!is_number(token)) { return CJ_SYNTAX; }
        }
        if (wanted(place)) { set(place, kind, token.data(), token.size()); }
        return CJ_OK;
    }

    /// The name of a member; escapes are undone in the buffer, which the next string overwrites.
    int name(ondemand::raw_json_string raw, std::string_view &text) {
        const char *p = raw.raw();
        for (const char *q = p; q < body_end; ++q) {
            if (*q == '"') {
                text = std::string_view(p, static_cast<size_t>(q - p));
                return text.size() > limits.string_bytes ? CJ_STRING_TOO_LONG : CJ_OK;
            }
            if (*q == '\\') { return unescape(raw, text); }
        }
        return CJ_SYNTAX;
    }

    /// The name is a part of the document, or the last text in the buffer.
    void set_name(const Place &place, std::string_view text) {
        if (plan.member_names.empty()) { return; }
        bool in_buffer = text.data() < body || text.data() >= body_end;
        const char *base = in_buffer ? reinterpret_cast<const char *>(unescaped.get()) : body;
        cj_cell cell{static_cast<uint32_t>(text.data() - base), static_cast<uint32_t>(text.size()), CJ_STRING, in_buffer};
        for (size_t slot : plan.member_names) { row_cells[place.row_base + slot] = cell; }
        if (in_buffer) { unescaped_end += text.size(); }
    }

    int object(ondemand::object &object, const Place &place, uint32_t depth, bool items = false) {
        for (auto result : object) {
            ondemand::field field;
            if (std::move(result).get(field)) { return CJ_SYNTAX; }
            std::string_view text;
            if (int rc = name(field.key(), text)) { return rc; }
            Place inner{place.document ? place.document->named(text) : nullptr,
                        place.row ? place.row->named(text) : nullptr, place.row_base};
            if (inner.document || inner.row) { clear(inner); }
            if (items) {
                if (int rc = begin_row()) { return rc; }
                inner.row = plan.row;
                inner.row_base = row_cells.size() - plan.columns;
                set_name(inner, text);
            }
            if (int rc = walk(field.value(), inner, depth)) { return rc; }
        }
        return CJ_OK;
    }

    int array(ondemand::array &array, const Place &place, uint32_t depth, bool items) {
        int64_t index = 0;
        if (place.row && place.row != plan.row) { note_names_in(place.row); }
        for (auto result : array) {
            ondemand::value value;
            if (std::move(result).get(value)) { return CJ_SYNTAX; }
            Place inner{place.document ? place.document->at(index) : nullptr,
                        place.row ? place.row->at(index) : nullptr, place.row_base};
            if (items) {
                if (int rc = begin_row()) { return rc; }
                inner.row = plan.row;
                inner.row_base = row_cells.size() - plan.columns;
            }
            if (int rc = walk(value, inner, depth)) { return rc; }
            ++index;
        }
        // An empty array is an empty map: PHP writes one so.
        if (place.document && place.document->items && plan.of_members && index > 0) { items_state = CJ_ITEMS_ARRAY; }
        return CJ_OK;
    }

    /// Marks the columns whose path asks for a name where an array is.
    void note_names_in(Node *list) {
        if (list->is_list) { return; }
        list->is_list = true;
        for (auto &child : list->children) {
            if (child.index >= 0) { continue; }
            for (int slot : child.node->below) { in_list[slot] = true; }
        }
    }

    int begin_row() {
        if (rows >= limits.rows) { return CJ_TOO_MANY_ROWS; }
        ++rows;
        row_cells.resize(row_cells.size() + plan.columns);
        return CJ_OK;
    }

    /// The value is passed by reference: it has three words, and to copy them just after they were written stalls.
    int walk(ondemand::value &value, const Place &place, uint32_t depth) {
        if (depth >= limits.depth) { return CJ_TOO_DEEP; }
        ondemand::json_type type;
        if (value.type().get(type)) { return CJ_SYNTAX; }
        bool items = place.document && place.document->items;
        if (type != ondemand::json_type::object && type != ondemand::json_type::array) {
            if (items) { items_state = type == ondemand::json_type::null ? CJ_ITEMS_NULL : CJ_ITEMS_SCALAR; }
            return scalar(value, place);
        }
        const char *start = nullptr;
        bool raw = wanted(place);
        if (raw) { start = value.raw_json_token().data(); }
        int rc;
        if (type == ondemand::json_type::object) {
            if (items) { items_state = plan.of_members ? CJ_OK : CJ_ITEMS_OBJECT; }
            Place members = place;
            if (items && !plan.of_members) {
                if (int full = begin_row()) { return full; }
                single = true;
                members.row = plan.row;
                members.row_base = row_cells.size() - plan.columns;
            }
            ondemand::object inner;
            if (value.get_object().get(inner)) { return CJ_SYNTAX; }
            rc = object(inner, members, depth + 1, items && plan.of_members);
        } else {
            if (items) { items_state = CJ_OK; }
            ondemand::array inner;
            if (value.get_array().get(inner)) { return CJ_SYNTAX; }
            rc = array(inner, place, depth + 1, items && !plan.of_members);
        }
        if (rc == CJ_OK && raw) { close(place, type, start); }
        return rc;
    }

    /// The parser stands at the token after the container: its end is the last byte before that is no space.
    void close(const Place &place, ondemand::json_type type, const char *start) {
        const char *end;
        if (tape->current_location().get(end)) { end = body_end; }
        while (end > start && is_space(end[-1])) { --end; }
        set(place, type == ondemand::json_type::object ? CJ_RAW_OBJECT : CJ_RAW_ARRAY, start,
            static_cast<size_t>(end - start));
    }

    void reset(const uint8_t *bytes, size_t length) {
        body = reinterpret_cast<const char *>(bytes);
        body_end = body + length;
        unescaped.reset();
        unescaped_end = nullptr;
        rows = 0;
        single = false;
        row_cells.clear();
        items_state = CJ_ITEMS_MISSING;
        document_cells.assign(plan.document_cells, cj_cell{});
        in_list.assign(plan.columns, false);
        plan.forget_lists();
    }

    int read(const uint8_t *bytes, size_t length) {
        reset(bytes, length);
        SharedParser shared;
        parser = &SharedParser::of_thread;
        ondemand::document document;
        simdjson::padded_string_view view(body, length, length + CJ_PADDING);
        if (parser->iterate(view).get(document)) { return CJ_SYNTAX; }
        tape = &document;
        int rc = root(document);
        tape = nullptr;
        if (rc) { return rc; }
        const char *rest;
        if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) { return CJ_SYNTAX; }
        return items_state;
    }

    /// Only the document's own `get_array` and `get_object` look at the last byte, so the root does not go through `walk`.
    int root(ondemand::document &document) {
        ondemand::json_type type;
        if (document.type().get(type)) { return CJ_SYNTAX; }
        Place place{plan.document, nullptr, 0};
        const char *start = body;
        while (start < body_end && is_space(*start)) { ++start; }
        int rc;
        if (type == ondemand::json_type::object) {
            ondemand::object inner;
            if (document.get_object().get(inner)) { return CJ_SYNTAX; }
            if (plan.document->items) {
                items_state = CJ_OK;
                if (!plan.of_members) {
                    if (int full = begin_row()) { return full; }
                    single = true;
                    place.row = plan.row;
                }
            }
            rc = object(inner, place, 1, plan.document->items && plan.of_members);
        } else if (type == ondemand::json_type::array) {
            ondemand::array inner;
            if (document.get_array().get(inner)) { return CJ_SYNTAX; }
            if (plan.document->items) { items_state = CJ_OK; }
            rc = array(inner, place, 1, plan.document->items && !plan.of_members);
        } else {
            return CJ_SYNTAX;
        }
        if (rc == CJ_OK && wanted(place)) { close(place, type, start); }
        return rc;
    }
};

cj_reader *cj_reader_new(cj_limits limits) {
    if (limits.depth > 1000) { limits.depth = 1000; }
    return new (std::nothrow) cj_reader(limits);
}

void cj_reader_free(cj_reader *reader) { delete reader; }

void cj_begin(cj_reader *reader, int in_row) { reader->plan.begin(in_row); }

void cj_step(cj_reader *reader, const char *name, size_t length, int64_t index) {
    reader->plan.step(std::string_view(name, length), index);
}

void cj_end_items(cj_reader *reader, int of_members) { reader->plan.end_items(of_members); }
void cj_end_cell(cj_reader *reader) { reader->plan.end_cell(); }
void cj_add_member_name(cj_reader *reader) { reader->plan.add_member_name(); }

int cj_read(cj_reader *reader, const uint8_t *body, size_t length) {
    if (length > UINT32_MAX - 2 * CJ_PADDING) { return CJ_DOCUMENT_TOO_LONG; }
    try {
        return reader->read(body, length);
    } catch (const std::bad_alloc &) {
        return CJ_MEMORY;
    }
}

size_t cj_row_count(const cj_reader *reader) { return reader->rows; }
int cj_is_single(const cj_reader *reader) { return reader->single ? 1 : 0; }
int cj_is_in_list(const cj_reader *reader, size_t column) { return reader->in_list[column] ? 1 : 0; }
const cj_cell *cj_rows(const cj_reader *reader) { return reader->row_cells.data(); }
const cj_cell *cj_document(const cj_reader *reader) { return reader->document_cells.data(); }
const uint8_t *cj_unescaped(const cj_reader *reader) { return reader->unescaped.get(); }

int cj_valid_utf8(const uint8_t *bytes, size_t length) {
    return simdjson::validate_utf8(reinterpret_cast<const char *>(bytes), length) ? 1 : 0;
}
