// SPDX-License-Identifier: Apache-2.0

/// Longer names are not compared, in bytes: the time for a pair grows with the product of their lengths.
private let longestName = 100
/// Candidates that are compared; a list may be as long as what a server sent.
private let mostCandidates = 20_000

/// Returns the candidate that was probably meant: the nearest one to `word`, if it is near enough. The time is bounded: a
/// long word has no suggestion, and of a long list the beginning is compared.
public func suggestion(for word: String, among candidates: some Sequence<String>) -> String? {
    guard word.utf8.count <= longestName else { return nil }
    let (wanted, length) = (Array(word.lowercased().unicodeScalars), word.count)
    // Beyond it a candidate is another word.
    let limit = max(1, length / 3)
    var nearest: (distance: Int, candidate: String)?
    for candidate in candidates.prefix(mostCandidates) where candidate.utf8.count <= longestName {
        guard
            let distance = distance(wanted, Array(candidate.lowercased().unicodeScalars), atMost: limit)
        else {
            continue
        }
        if let nearest, nearest <= (distance, candidate) { continue }
        nearest = (distance, candidate)
    }
    guard let (distance, candidate) = nearest else { return nil }
    // One edit turns any letter into any other, so a name that shares fewer than two characters is a guess at random.
    let shared = max(length, candidate.count) - distance
    return distance == 0 || shared >= 2 ? candidate : nil
}

/// Returns the end of an error's sentence that proposes the nearest candidate, `; did you mean 'team'?`; nil where none is near.
public func didYouMean(_ word: String, among candidates: some Sequence<String>) -> String? {
    suggestion(for: word, among: candidates).map { "; did you mean '\($0)'?" }
}

/// Returns the number of edits between two words (optimal string alignment: insert, delete, replace, swap of neighbours); nil
/// when there are more than `limit`.
func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar], atMost limit: Int) -> Int? {
    guard abs(a.count - b.count) <= limit else { return nil }
    var (before, last, row) = ([Int](), Array(0...b.count), [Int](repeating: 0, count: b.count + 1))
    for i in a.indices {
        row[0] = i + 1
        for j in b.indices {
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
            row[j + 1] = best
        }
        // A swap reaches over one row, so both have to be beyond the limit.
        if min(row.min() ?? 0, last.min() ?? 0) > limit { return nil }
        (before, last, row) = (last, row, before.isEmpty ? row : before)
    }
    return last[b.count] <= limit ? last[b.count] : nil
}

/// Returns a name as errors show it: in quotes, on one line, and cut where it is longer than names are.
public func quoted(_ name: String) -> String { "'\(TerminalText.safe(name, limit: longestName))'" }
