// SPDX-License-Identifier: Apache-2.0

/// A status or a class of them (RFC 9110 §15): `204`, `2xx`.
struct StatusPattern: Sendable {
    let text: String
    private let range: Range<Int>

    init?(_ text: String) {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        guard let first = digits.first, (0x31...0x35).contains(first), text.utf8.count == 3 else { return nil }
        if digits.count == 3, let status = Int(text) {
            range = status..<status + 1
        } else if digits.count == 1, text.dropFirst().lowercased() == "xx" {
            let start = Int(first - 0x30) * 100
            range = start..<start + 100
        } else {
            return nil
        }
        self.text = text
    }

    func matches(_ status: Int) -> Bool { range.contains(status) }
}

extension [UInt8] {
    /// Returns whether these bytes contain others as one sequence.
    func holds(_ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        var at = startIndex
        while let found = self[at...].firstIndex(of: first), found + part.count <= count {
            if self[found...].starts(with: part) { return true }
            at = found + 1
        }
        return false
    }
}
