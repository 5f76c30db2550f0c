// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The terminal that this process was started from, of which it has at most one (tty(4)).
struct ControllingTerminal {
    /// Whether there was one at the start.
    private let wasThere: Bool

    init() { wasThere = Self.code == 0 }

    /// Whether it was there and is gone: its window was closed, or its connection broke.
    var isGone: Bool { wasThere && Self.code == ENXIO }

    /// Opens the terminal, and returns the error; 0 for none. Only ENXIO says that there is no terminal: the system may lack
    /// descriptors, and a sandbox may have no /dev/tty.
    private static var code: Int32 {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard terminal >= 0 else { return errno }
        close(terminal)
        return 0
    }
}
