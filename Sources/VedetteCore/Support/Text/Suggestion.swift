// SPDX-License-Identifier: Apache-2.0

/// Returns the candidate that was probably meant: the nearest one to `word`, if it is near enough.
public func suggestion(for word: String, among candidates: some Sequence<String>) -> String? {
    let near = candidates.map { (distance(word.lowercased(), $0.lowercased()), $0) }.min { $0 < $1 }
    guard let (distance, candidate) = near else { return nil }
    // One edit turns any letter into any other, so a name that shares fewer than two characters is a guess at random.
    let shared = max(word.count, candidate.count) - distance
    return distance == 0 || (distance <= max(1, word.count / 3) && shared >= 2) ? candidate : nil
}

/// Returns the number of edits between two words (optimal string alignment: insert, delete, replace, swap of neighbours).
func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.unicodeScalars), Array(b.unicodeScalars))
    var rows = [Array(0...b.count)]
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
