// SPDX-License-Identifier: Apache-2.0

extension ResponseHeaders {
    /// Whether `Link` has a relation `next` (RFC 8288). A wrong yes only costs a request that was not needed.
    public var nameNextPage: Bool {
        all("Link").contains { line in
            let words = line.lowercased().split { !$0.isLetter }
            return words.contains("rel") && words.contains("next")
        }
    }
}
