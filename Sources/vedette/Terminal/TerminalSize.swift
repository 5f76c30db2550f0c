// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The size of a terminal.
struct TerminalSize: Sendable, Hashable {
    var columns: Int
    var rows: Int

    /// - Parameters:
    ///   - columns: 0 when the terminal does not tell, as on a serial line; then it has 80.
    ///   - rows: the same; then it has 24.
    init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns > 0 ? columns : 80, rows > 0 ? rows : 24)
    }

    /// The size of the one that shows standard output.
    static var current: TerminalSize? { of(STDOUT_FILENO) }

    /// The size now; nil for a descriptor that is no terminal, so that a pipe gets whole lines.
    static func of(_ descriptor: Int32) -> TerminalSize? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return TerminalSize(columns: 0, rows: 0) }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
