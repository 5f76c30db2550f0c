// SPDX-License-Identifier: Apache-2.0
#include "json-path-plan.hpp"

namespace json_path {

void Plan::begin(bool in_row) { trail.assign(1, in_row ? row : document); }

void Plan::step(std::string_view name, int64_t index) {
    Node *here = trail.back();
    for (auto &child : here->children) {
        if (child.name == name) {
            trail.push_back(child.node);
            return;
        }
    }
    Node *next = &nodes.emplace_back();
    here->children.push_back({std::string(name), index, next});
    here->lengths |= uint64_t{1} << (name.size() & 63);
    trail.push_back(next);
}

void Plan::end_items(bool of_members) {
    this->of_members = of_members;
    trail.back()->items = true;
    for (Node *node : trail) { node->items_below = true; }
}

void Plan::end_cell() {
    size_t slot = trail.front() == row ? columns++ : document_cells++;
    trail.back()->slots.push_back(static_cast<int>(slot));
    for (Node *node : trail) { node->below.push_back(static_cast<int>(slot)); }
}

void Plan::forget_lists() {
    for (auto &node : nodes) { node.is_list = false; }
}

void Plan::add_member_name() { member_names.push_back(columns++); }

}  // namespace json_path
