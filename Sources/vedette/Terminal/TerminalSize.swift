// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The size of the terminal that shows standard output.
struct TerminalSize: Sendable, Hashable {
    var columns: Int
    var rows: Int

    /// The size now; nil where standard output is no terminal, so that a pipe gets whole lines. A terminal that does not tell
    /// its size has 80 columns and 24 rows.
    static var current: TerminalSize? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
