// SPDX-License-Identifier: Apache-2.0

enum JQProgram {
    /// Returns whether the program begins, after comments, with a directive that reads a file; jq accepts them only there.
    static func readsFiles(_ program: String) -> Bool {
        var rest = program[...]
        while let first = rest.first, first.isWhitespace || first == "#" {
            rest = first == "#" ? rest.drop { !$0.isNewline } : rest.dropFirst()
        }
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return ["import", "include", "module"].contains(word)
    }
}
