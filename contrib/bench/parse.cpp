// SPDX-License-Identifier: Apache-2.0
//
// What reading costs without Vedette: parse atom FILE | json FILE | copy FILE
//
// atom: libxml2's SAX2 push parser with callbacks that copy the texts of an entry's elements. json: simdjson's on-demand walk that
// copies the cells that Vedette is asked for. copy: memcpy. Each prints bytes per second, the best of seven rounds of a tenth of a second.
#include <libxml/parser.h>
#include <simdjson.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static std::string read_file(const char *path) {
  std::string bytes;
  FILE *file = fopen(path, "rb");
  if (!file) return bytes;
  char block[1 << 16];
  for (size_t count; (count = fread(block, 1, sizeof block, file)) > 0;) bytes.append(block, count);
  fclose(file);
  return bytes;
}

template <class Work> static double best(Work work) {
  double best = 1e9;
  for (int round = 0; round < 7; round++) {
    double elapsed = 0, count = 0;
    while (elapsed < 0.1) {
      auto begin = std::chrono::steady_clock::now();
      work();
      elapsed += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      count++;
    }
    if (elapsed / count < best) best = elapsed / count;
  }
  return best;
}

struct Entries {
  std::vector<std::vector<std::string>> rows;
  std::string text;
  bool inside = false;
};

static bool is(const xmlChar *name, const char *text) { return strcmp(reinterpret_cast<const char *>(name), text) == 0; }

static void start(void *user, const xmlChar *name, const xmlChar *, const xmlChar *, int, const xmlChar **, int count, int,
                  const xmlChar **attributes) {
  auto *entries = static_cast<Entries *>(user);
  if (is(name, "entry")) {
    entries->inside = true;
    entries->rows.emplace_back();
  }
  if (entries->inside && is(name, "link"))
    for (int i = 0; i < count; i++)
      if (is(attributes[5 * i], "href"))
        entries->rows.back().emplace_back(reinterpret_cast<const char *>(attributes[5 * i + 3]),
                                          attributes[5 * i + 4] - attributes[5 * i + 3]);
  entries->text.clear();
}

static void characters(void *user, const xmlChar *text, int length) {
  auto *entries = static_cast<Entries *>(user);
  if (entries->inside) entries->text.append(reinterpret_cast<const char *>(text), length);
}

static void end(void *user, const xmlChar *name, const xmlChar *, const xmlChar *) {
  auto *entries = static_cast<Entries *>(user);
  if (is(name, "entry")) entries->inside = false;
  else if (entries->inside) entries->rows.back().push_back(entries->text);
}

static size_t atom(const std::string &bytes) {
  Entries entries;
  xmlSAXHandler handler = {};
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = start;
  handler.endElementNs = end;
  handler.characters = characters;
  handler.cdataBlock = characters;
  xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, &entries, nullptr, 0, nullptr);
  xmlCtxtUseOptions(parser, XML_PARSE_NONET);
  xmlParseChunk(parser, bytes.data(), static_cast<int>(bytes.size()), 1);
  xmlFreeParserCtxt(parser);
  return entries.rows.size();
}

static size_t json(const std::string &bytes) {
  simdjson::ondemand::parser parser;
  simdjson::padded_string padded(bytes);
  std::vector<std::vector<std::string>> rows;
  simdjson::ondemand::document document = parser.iterate(padded);
  for (simdjson::ondemand::object object : document.get_array()) {
    rows.emplace_back();
    auto &row = rows.back();
    for (auto member : object) {
      std::string_view name = member.unescaped_key();
      if (name == "id") row.push_back(std::string(std::string_view(member.value().raw_json_token())));
      else if (name == "title" || name == "status") row.push_back(std::string(std::string_view(member.value().get_string())));
      else if (name == "owner") row.push_back(std::string(std::string_view(member.value()["name"].get_string())));
    }
  }
  return rows.size();
}

int main(int count, char **arguments) {
  if (count != 3) return 64;
  std::string bytes = read_file(arguments[2]);
  if (bytes.empty()) return 66;
  std::string what = arguments[1];
  size_t sum = 0;
  std::vector<char> copy(bytes.size());
  double seconds = 0;
  if (what == "atom") seconds = best([&] { sum += atom(bytes); });
  else if (what == "json") seconds = best([&] { sum += json(bytes); });
  else if (what == "copy")
    seconds = best([&] {
      memcpy(copy.data(), bytes.data(), bytes.size());
      asm volatile("" : : "r"(copy.data()) : "memory");
      sum++;
    });
  if (sum == 0) return 65;
  printf("%.1f\n", static_cast<double>(bytes.size()) / seconds);
  return 0;
}
