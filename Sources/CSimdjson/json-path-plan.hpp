// SPDX-License-Identifier: Apache-2.0
//
// The paths of a reader, as two trees of names: one from the root of the document, one from each row.
#ifndef JSON_PATH_PLAN_HPP
#define JSON_PATH_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace json_path {

/// A step of a path. `below` lists every cell under it: a repeated member replaces all of the earlier one.
struct Node {
    struct Child {
        std::string name;
        int64_t index;
        Node *node;
    };
    std::vector<Child> children;
    std::vector<int> slots;
    std::vector<int> below;
    bool items = false;
    bool items_below = false;
    /// The document that is being read has an array here.
    bool is_list = false;
    size_t hint = 0;
    /// Bit n: a child's name is n bytes long, or n + 64, n + 128…
    uint64_t lengths = 0;

    /// Members mostly come in the same order in every row, so the search goes on where the last one ended.
    Node *named(std::string_view name) {
        if (!(lengths >> (name.size() & 63) & 1)) { return nullptr; }
        size_t n = children.size();
        for (size_t i = 0; i < n; ++i) {
            size_t at = hint + i < n ? hint + i : hint + i - n;
            if (children[at].name == name) {
                hint = at + 1 < n ? at + 1 : 0;
                return children[at].node;
            }
        }
        return nullptr;
    }

    Node *at(int64_t index) {
        for (auto &child : children) {
            if (child.index == index) { return child.node; }
        }
        return nullptr;
    }
};

/// The trees, which are built path by path: `begin`, `step` for each name, and one `end_…`.
class Plan {
    /// A deque, because nodes point to each other.
    std::deque<Node> nodes;
    /// The nodes of the path that is being added.
    std::vector<Node *> trail;

  public:
    Node *const document;
    Node *const row;
    /// The number of cells of the document, and of each row.
    size_t document_cells = 0;
    size_t columns = 0;
    /// The rows are the members of an object.
    bool of_members = false;
    std::vector<size_t> member_names;

    Plan() : document(&nodes.emplace_back()), row(&nodes.emplace_back()) {}
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;

    void begin(bool in_row);
    void step(std::string_view name, int64_t index);
    void end_items(bool of_members);
    void end_cell();
    void add_member_name();
    void forget_lists();
};

}  // namespace json_path

#endif
