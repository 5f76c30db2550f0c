// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// What this process uses of the machine.
enum ProcessUsage {
    /// User and system time, in seconds.
    static var processorTime: Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Resident memory in bytes (proc(5), `statm`); nil when the system does not tell it.
    static var residentMemory: Int64? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int64(fields[1]).map { $0 * Int64(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}
