// SPDX-License-Identifier: Apache-2.0

import Glibc
public import VedetteCore

extension WatcherProcess {
    /// This process, with the name of its machine.
    static var current: WatcherProcess { WatcherProcess(pid: getpid(), host: hostName) }

    /// The same process without a host where that is this machine.
    var local: WatcherProcess { WatcherProcess(pid: pid, host: host == WatcherProcess.hostName ? nil : host) }

    /// The name of this machine.
    public static var hostName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        // The last byte stays 0, since gethostname(2) may leave a long name without one.
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
        return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
