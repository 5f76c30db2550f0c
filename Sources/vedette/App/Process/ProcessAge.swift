// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore

enum ProcessAge {
    /// Returns how long a process has run (proc(5), field `starttime`); nil when it is gone.
    static func of(_ process: Int32) -> Duration? {
        // The name, in parentheses, may hold blanks and parentheses.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 20, let ticks = Int64(fields[20]) else { return nil }
        let start = ticks * 1000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return .milliseconds(SystemClock().now().boot.milliseconds - start)
    }
}
