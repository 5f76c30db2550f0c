// SPDX-License-Identifier: Apache-2.0

/// Lays out what ArgumentParser prints. It fits a page of help to the terminal, but neither the line of usage nor an error.
enum ParserMessage {
    private static let heads = ["USAGE: ", "Usage: ", "Error: ", "Help:  "]

    /// - Parameters:
    ///   - columns: of the terminal; nil for a pipe.
    ///   - isOwn: whether all of it is the program's own text, such as a script of completions, which may have tabs. An error
    ///     repeats arguments, which are escaped.
    static func lines(_ message: String, columns: Int?, isOwn: Bool) -> [StyledText] {
        message.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            let line = String(line)
            let text = isOwn ? StyledText(painted: line, width: CellWidth.of(line)) : StyledText(line)
            return text.wrapped(to: heads.contains(where: line.hasPrefix) ? columns : nil, hanging: 7)
        }
    }
}
