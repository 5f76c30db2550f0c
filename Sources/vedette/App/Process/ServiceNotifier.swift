// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteSystem

/// Reports the state of the service to systemd (sd_notify(3)). Without `$NOTIFY_SOCKET` it does nothing.
struct ServiceNotifier: Sendable {
    private let path: String?

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        path = environment["NOTIFY_SOCKET"]
    }

    /// - Parameter status: the line that `systemctl status` shows.
    func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }
    /// Must be sent more often than `WatchdogSec=`, else systemd restarts the service.
    func alive() { send("WATCHDOG=1") }
    /// Replaces the line that `systemctl status` shows.
    func status(_ text: String) { send("STATUS=\(text)") }
    func stopping() { send("STOPPING=1") }

    func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(KernelClock.monotonic.nanoseconds / 1000)")
    }

    private func send(_ text: String) {
        guard let path, !path.isEmpty else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract socket is written with @ in place of its leading NUL.
        var bytes = Array(path.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
