// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// An address of this page: a path whose segments and values are encoded. Keys of items go into the query, since a segment
/// that is empty or consists of dots would be taken for a relative path.
struct PagePath: Sendable, Hashable {
    /// As it is written in a link.
    let text: String

    /// - Parameter query: those with a value are added, in order.
    init(_ segments: String..., query: [(name: String, value: String?)] = []) {
        self.init(segments: segments, query: query)
    }

    init(segments: [String], query: [(name: String, value: String?)]) {
        let path = segments.map { "/" + WebURL.encoded($0) }.joined()
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.name)=\(WebURL.encoded($0))" } }
        text = (path.isEmpty ? "/" : path) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}
