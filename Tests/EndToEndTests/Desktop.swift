// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A desktop of its own for a watcher: a bus, an X server without a screen, and dunst. All three end with it.
final class Desktop: Sendable {
    static let missing = ["dbus-daemon", "gdbus", "Xvfb", "dunst", "dunstctl"].filter { program in
        !["/usr/local/bin", "/usr/bin", "/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    let environment: [String: String]
    private let directory: URL
    private let children: [Child]

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "vedette-desk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let address = "unix:path=\(directory.path)/bus"
        let bus = try await Desktop.bus(in: directory, address)
        let screen = try Child(
            "/usr/bin/env", ["Xvfb", "-displayfd", "1", "-screen", "0", "800x400x24", "-nolisten", "tcp"])
        let display = try await screen.wait { !$0.isEmpty }[0]
        environment = [
            "DBUS_SESSION_BUS_ADDRESS": address, "DISPLAY": ":\(display)", "HOME": directory.path,
            "LC_ALL": "C.UTF-8",
        ]
        let settings = directory.appending(path: "dunstrc")
        try "[global]\nhistory_length = 400\n".write(to: settings, atomically: true, encoding: .utf8)
        let daemon = try Child("/usr/bin/env", ["dunst", "-conf", settings.path], environment: environment)
        children = [daemon, screen, bus]
        try await run("gdbus", "wait", "--session", "--timeout", "20", "org.freedesktop.Notifications")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private static func bus(in directory: URL, _ address: String) async throws -> Child {
        let settings = directory.appending(path: "bus.conf")
        // No <servicedir>: nothing is started by asking for it.
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>\(address)</listen>
        <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
        <allow own="*"/></policy></busconfig>
        """.write(to: settings, atomically: true, encoding: .utf8)
        let bus = try Child(
            "/usr/bin/env", ["dbus-daemon", "--config-file=\(settings.path)", "--nofork", "--print-address"])
        try await bus.wait { !$0.isEmpty }
        return bus
    }

    func end() async { for child in children { await child.destroy() } }

    @discardableResult
    func run(_ arguments: String...) async throws -> String {
        let child = try Child("/usr/bin/env", arguments, environment: environment)
        guard await child.end() == 0 else { throw Trouble("\(arguments): \(child.text(of: .err))") }
        return child.text(of: .out).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Bubbles on the screen.
    func displayed() async throws -> Int { Int(try await run("dunstctl", "count", "displayed")) ?? -1 }

    /// Closes every bubble and returns their titles and texts, latest first.
    func shown() async throws -> [(title: String, text: String)] {
        try await run("dunstctl", "close-all")
        let history = Program.object(try await run("dunstctl", "history"))
        let rows = (history?["data"] as? [[[String: Any]]])?.first ?? []
        return rows.map { ($0.text("summary", "data") ?? "", $0.text("body", "data") ?? "") }
    }
}
