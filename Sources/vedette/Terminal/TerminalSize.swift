// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The size of a terminal.
struct TerminalSize: Sendable, Hashable {
    var columns: Int
    var rows: Int

    /// The size of the one that shows standard output.
    static var current: TerminalSize? { of(STDOUT_FILENO) }

    /// The size now; nil for a descriptor that is no terminal, so that a pipe gets whole lines. A terminal that does not tell
    /// its size has 80 columns and 24 rows.
    static func of(_ descriptor: Int32) -> TerminalSize? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
