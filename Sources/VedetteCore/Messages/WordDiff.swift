// SPDX-License-Identifier: Apache-2.0

/// The difference of two texts, word by word. White space separates words and is not compared.
public struct WordDiff: Sendable, Hashable {
    /// A run of words.
    public enum Part: Sendable, Hashable {
        /// Words of both texts.
        case same([String])
        /// Words of the old text that became words of the new one; one side may be empty.
        case changed(from: [String], to: [String])
    }

    /// The texts in order.
    public let parts: [Part]

    /// Bytes of both texts that are compared; beyond it there is no difference to show.
    public static let maximumBytes = 200_000
    /// Words that may differ. The time is proportional to its square: the whole takes less than 50 ms. Texts that differ more
    /// are one change from the first different word to the last.
    static let maximumEdits = 1000

    /// Compares two texts. Returns nil when they are too long.
    public init?(from old: String, to new: String) {
        guard old.utf8.count + new.utf8.count <= WordDiff.maximumBytes else { return nil }
        let (old, new) = (WordDiff.words(old), WordDiff.words(new))
        var (start, ends) = (0, (old.count, new.count))
        while start < min(ends.0, ends.1), old[start] == new[start] { start += 1 }
        while ends.0 > start, ends.1 > start, old[ends.0 - 1] == new[ends.1 - 1] {
            ends = (ends.0 - 1, ends.1 - 1)
        }
        var parts: [Part] = []
        if start > 0 { parts.append(.same(Array(old[..<start]))) }
        parts += WordDiff.differences(Array(old[start..<ends.0]), Array(new[start..<ends.1]))
        if ends.0 < old.count { parts.append(.same(Array(old[ends.0...]))) }
        self.parts = parts
    }

    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// Returns the shortest edit (E. Myers, An O(ND) Difference Algorithm and Its Variations, 1986), or one change when that
    /// is too long.
    private static func differences(_ old: [String], _ new: [String]) -> [Part] {
        guard !old.isEmpty || !new.isEmpty else { return [] }
        let whole = [Part.changed(from: old, to: new)]
        guard !old.isEmpty, !new.isEmpty else { return whole }
        // Numbers are compared faster than words.
        var numbers: [String: Int] = [:]
        func number(_ word: String) -> Int {
            if let known = numbers[word] { return known }
            numbers[word] = numbers.count
            return numbers.count - 1
        }
        let (a, b) = (old.map(number), new.map(number))
        guard let steps = shortestEdit(a, b) else { return whole }
        return merged(steps, old, new)
    }

    /// Returns for each diagonal run the indices where both texts are equal, in order; nil when more words differ than the
    /// maximum.
    private static func shortestEdit(_ a: [Int], _ b: [Int]) -> [(old: Int, new: Int)]? {
        let limit = min(a.count + b.count, maximumEdits)
        var furthest = [Int](repeating: 0, count: 2 * limit + 3)
        var trace: [[Int]] = []
        for edits in 0...limit {
            // Only the diagonals that this many edits reach: half of the square.
            trace.append(Array(furthest[(limit + 1 - edits)...(limit + 1 + edits)]))
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                let at = limit + 1 + diagonal
                let isDown = diagonal == -edits || (diagonal != edits && furthest[at - 1] < furthest[at + 1])
                var x = isDown ? furthest[at + 1] : furthest[at - 1] + 1
                while x < a.count, x - diagonal < b.count, a[x] == b[x - diagonal] { x += 1 }
                furthest[at] = x
                if x >= a.count, x - diagonal >= b.count { return path(trace, a.count, b.count) }
            }
        }
        return nil
    }

    private static func path(_ trace: [[Int]], _ oldCount: Int, _ newCount: Int) -> [(old: Int, new: Int)] {
        var (x, y) = (oldCount, newCount)
        var equal: [(old: Int, new: Int)] = []
        for edits in stride(from: trace.count - 1, through: 1, by: -1) {
            let row = trace[edits]
            // A row begins at the diagonal -edits.
            func furthest(_ diagonal: Int) -> Int { abs(diagonal) > edits ? 0 : row[diagonal + edits] }
            let diagonal = x - y
            let isDown = diagonal == -edits || (diagonal != edits && furthest(diagonal - 1) < furthest(diagonal + 1))
            let previous = isDown ? diagonal + 1 : diagonal - 1
            let (startX, startY) = (furthest(previous), furthest(previous) - previous)
            while x > startX, y > startY {
                (x, y) = (x - 1, y - 1)
                equal.append((x, y))
            }
            (x, y) = (startX, startY)
        }
        while x > 0, y > 0 {
            (x, y) = (x - 1, y - 1)
            equal.append((x, y))
        }
        return equal.reversed()
    }

    private static func merged(_ equal: [(old: Int, new: Int)], _ old: [String], _ new: [String]) -> [Part] {
        var parts: [Part] = []
        var same: [String] = []
        var (x, y) = (0, 0)
        for pair in equal + [(old.count, new.count)] {
            if pair.old > x || pair.new > y {
                if !same.isEmpty { parts.append(.same(same)) }
                same = []
                parts.append(.changed(from: Array(old[x..<pair.old]), to: Array(new[y..<pair.new])))
            }
            if pair.old < old.count { same.append(old[pair.old]) }
            (x, y) = (pair.old + 1, pair.new + 1)
        }
        if !same.isEmpty { parts.append(.same(same)) }
        return parts
    }
}

extension WordDiff {
    /// A piece of an excerpt, which a terminal may colour.
    public enum Piece: Sendable, Hashable {
        case plain(String), removed(String), added(String)

        /// The text.
        public var text: String {
            switch self {
            case .plain(let text), .removed(let text), .added(let text): text
            }
        }
    }

    /// Words that are shown on each side of a change.
    private static let context = 3
    /// Changes that are shown.
    private static let shownChanges = 5
    /// Characters of one side of a change.
    static let shownCharacters = 200

    /// The changes with some words around each: `… the price is 10 → 12 euros …`. An addition has a `+`, a removal a `−`.
    public var excerpt: [Piece] {
        var pieces: [Piece] = []
        var (shown, count) = (0, 0)
        for (i, part) in parts.enumerated() {
            switch part {
            case .same(let words):
                guard shown == count, shown < WordDiff.shownChanges || i == parts.count - 1 else { continue }
                pieces.append(.plain(gap(words, isFirst: i == 0, isLast: i == parts.count - 1)))
            case .changed(let from, let to):
                count += 1
                guard shown < WordDiff.shownChanges else { continue }
                shown += 1
                pieces += WordDiff.pieces(from, to)
            }
        }
        if count == 0 { return [.plain("only white space changed")] }
        if count > shown { pieces.append(.plain(" (and \(counted(count - shown, "more change")))")) }
        return pieces
    }

    /// The words between two changes, of which the middle is left out.
    private func gap(_ words: [String], isFirst: Bool, isLast: Bool) -> String {
        let side = WordDiff.context
        func join(_ words: ArraySlice<String>) -> String { words.joined(separator: " ") }
        if isFirst { return (words.count > side ? "… " : "") + join(words.suffix(side)) + " " }
        if isLast { return " " + join(words.prefix(side)) + (words.count > side ? " …" : "") }
        guard words.count > 2 * side else { return " " + join(words[...]) + " " }
        return " " + join(words.prefix(side)) + " … " + join(words.suffix(side)) + " "
    }

    private static func pieces(_ from: [String], _ to: [String]) -> [Piece] {
        func text(_ words: [String]) -> String {
            let text = words.joined(separator: " ")
            return text.count > shownCharacters ? text.prefix(shownCharacters) + "…" : text
        }
        if from.isEmpty { return [.added("+" + text(to))] }
        if to.isEmpty { return [.removed("−" + text(from))] }
        return [.removed(text(from)), .plain(" → "), .added(text(to))]
    }
}
