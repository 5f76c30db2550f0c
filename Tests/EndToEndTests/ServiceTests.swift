// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

/// The socket of a service manager (sd_notify(3)).
private final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw Trouble("bind: \(String(cString: strerror(errno)))") }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The next message but the watchdog's, line by line; empty when none came within 30 s.
    func next(_ wanted: (String) -> Bool = { $0 != "WATCHDOG=1" }) async -> [String] {
        while true {
            let text = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [descriptor] in
                    var bytes = [UInt8](repeating: 0, count: 4096)
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    continuation.resume(returning: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
                }
            }
            if text.isEmpty || wanted(text) { return text.split(separator: "\n").map(String.init) }
        }
    }
}

@Suite("A service of systemd", .timeLimit(.minutes(10)))
struct ServiceTests {
    @Test(
        "the watcher reports READY with what it watches, WATCHDOG, RELOADING with its time, READY again, and STOPPING")
    func notifications() async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "vedette-service-\(UUID())")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        try Data(#"{"items": []}"#.utf8).write(to: home.appending(path: "items.json"))
        let configuration = """
            sources: {items: {kind: json, url: "file://\(home.path)/items.json", items: items, key: id}}
            sinks: {here: {kind: stdout, format: line}}
            rules: [{name: new, when: {source: items, appears: true}, notify: [here]}]
            """
        try Data(configuration.utf8).write(to: home.appending(path: "one.yaml"))
        let socket = try NotifySocket(home.appending(path: "notify").path)
        let watcher = try Child(
            Program.path, ["run", "--config", home.path, "--state", home.path + "/state"],
            environment: ["NOTIFY_SOCKET": socket.path])
        #expect(await socket.next() == ["READY=1", "STATUS=watching 1 source"], "\(watcher.text(of: .err))")
        #expect(await socket.next { $0.contains("WATCHDOG") } == ["WATCHDOG=1"])
        watcher.kill(SIGHUP)
        let reloading = await socket.next()
        #expect(reloading.first == "RELOADING=1")
        let time = try #require(reloading.last?.split(separator: "=").last.flatMap { UInt64($0) })
        #expect(reloading.last?.hasPrefix("MONOTONIC_USEC=") == true && time > 0)
        #expect(await socket.next() == ["READY=1", "STATUS=watching 1 source"])
        watcher.kill(SIGTERM)
        #expect(await socket.next() == ["STOPPING=1"])
        #expect(await watcher.end(within: 20) == 0)
    }
}
