// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// Returns the text without white space at both ends.
    public func trimmed() -> String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
