// SPDX-License-Identifier: Apache-2.0

import Yams

extension YAMLNode {
    /// Returns the place in the file of the character at `offset` (in Unicode scalars) of this scalar's text, for errors inside
    /// a pattern or template. For a folded scalar it is the place of the scalar.
    func place(ofScalarAt offset: Int) -> Place {
        guard let scalar = node.scalar, let mark = scalar.mark, mark.line >= 1, mark.line <= source.lines.count
        else { return place }
        switch scalar.style {
        case .literal: return literalPlace(scalar.string, offset, below: mark.line) ?? place
        case .plain, .any: return linePlace(scalar.string, offset, mark, quote: nil) ?? place
        case .singleQuoted: return linePlace(scalar.string, offset, mark, quote: "'") ?? place
        case .doubleQuoted: return linePlace(scalar.string, offset, mark, quote: "\"") ?? place
        case .folded: return place
        }
    }

    /// Returns the place of a line and column of the text, both from 1.
    func place(ofLine line: Int, column: Int) -> Place {
        let lines = Array((node.scalar?.string ?? "").unicodeScalars).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard line <= lines.count else { return place }
        return place(ofScalarAt: lines[..<(line - 1)].reduce(0) { $0 + $1.count + 1 } + column - 1)
    }

    /// Returns the place in a `|` scalar: in the lines below, after their common indentation.
    private func literalPlace(_ text: String, _ offset: Int, below line: Int) -> Place? {
        let before = Array(text.unicodeScalars.prefix(offset))
        let row = before.count { $0 == "\n" }
        let column = before.count - ((before.lastIndex(of: "\n") ?? -1) + 1)
        let first = text.unicodeScalars.prefix { $0 != "\n" }
        guard !first.isEmpty, line + row < source.lines.count,
            let indentation = indentation(of: Array(first), in: source.lines[line])
        else { return nil }
        return Place(
            file: source.file.path, line: line + row + 1, column: indentation + column + 1,
            expansion: source.expansion)
    }

    private func indentation(of text: [Unicode.Scalar], in line: [Unicode.Scalar]) -> Int? {
        var line = line
        if line.last == "\r" { line.removeLast() }
        let indentation = line.count - text.count
        guard indentation >= 0, line[..<indentation].allSatisfy({ $0 == " " }) else { return nil }
        return line[indentation...].elementsEqual(text) ? indentation : nil
    }

    /// A scalar on one line: walks source and text side by side, over escapes.
    private func linePlace(_ text: String, _ offset: Int, _ mark: Mark, quote: Unicode.Scalar?) -> Place? {
        let line = source.lines[mark.line - 1]
        var column = mark.column - 1 + (quote == nil ? 0 : 1)
        for scalar in text.unicodeScalars.prefix(offset) {
            guard column < line.count else { return nil }
            if quote == "\"", line[column] == "\\" {
                column += escapeLength(line, column)
            } else if line[column] != scalar {
                return nil
            } else {
                // '' stands for one quote.
                column += quote == "'" && scalar == "'" ? 2 : 1
            }
        }
        return Place(
            file: source.file.path, line: mark.line, column: column + 1, expansion: source.expansion)
    }

    private func escapeLength(_ line: [Unicode.Scalar], _ column: Int) -> Int {
        guard column + 1 < line.count else { return 2 }
        switch line[column + 1] {
        case "x": return 4
        case "u": return 6
        case "U": return 10
        default: return 2
        }
    }
}
