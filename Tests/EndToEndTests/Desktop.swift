// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

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
    /// The first, and those that followed it.
    private let daemons = Mutex<[Child]>([])

    /// A place for a desktop, before there is one.
    static func place() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "vedette-desk-\(UUID().uuidString)")
    }

    /// Where the bus of a desktop at that place will be.
    static func address(at place: URL) -> String { "unix:path=\(place.path)/bus" }

    init(at place: URL = Desktop.place()) async throws {
        directory = place
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let address = Desktop.address(at: place)
        let bus = try await Desktop.bus(in: directory, address)
        let screen = try Child(
            "/usr/bin/env", ["Xvfb", "-displayfd", "1", "-screen", "0", "800x400x24", "-nolisten", "tcp"])
        let display = try await screen.wait { !$0.isEmpty }[0]
        let bin = directory.appending(path: "bin")
        try Desktop.write(programs: bin, for: directory)
        environment = [
            "DBUS_SESSION_BUS_ADDRESS": address, "DISPLAY": ":\(display)", "HOME": directory.path,
            "LC_ALL": "C.UTF-8",
            "PATH": bin.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"),
        ]
        let settings = directory.appending(path: "dunstrc")
        // On a busy machine seconds pass between two changes, and a bubble that has expired is not replaced.
        try "[global]\nhistory_length = 400\ndmenu = \(bin.path)/choose\n[never-expire]\nappname = *\ntimeout = 0\n"
            .write(to: settings, atomically: true, encoding: .utf8)
        children = [screen, bus]
        try await startDaemon()
    }

    private func startDaemon() async throws {
        let settings = directory.appending(path: "dunstrc").path
        let daemon = try Child("/usr/bin/env", ["dunst", "-conf", settings], environment: environment)
        daemons.withLock { $0.append(daemon) }
        try await run("gdbus", "wait", "--session", "--timeout", "20", "org.freedesktop.Notifications")
    }

    func restartDaemon() async throws {
        await daemons.withLock { $0.last }?.destroy()
        try await startDaemon()
    }

    /// Stand-ins for the browser, which tells what it was given, and for dunst's menu, which takes the line that holds
    /// what is wanted.
    private static func write(programs bin: URL, for directory: URL) throws {
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        mkfifo(directory.path + "/opened", 0o600)
        let programs = [
            "xdg-open": "printf '%s\\n' \"$@\" > '\(directory.path)/opened'",
            "choose": "grep -m1 -F -f '\(directory.path)/wanted'",
        ]
        for (name, script) in programs {
            let file = bin.appending(path: name)
            try "#!/bin/sh\n\(script)\n".write(to: file, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }
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

    func end() async { for child in daemons.withLock({ $0 }) + children { await child.destroy() } }

    @discardableResult
    func run(_ arguments: String...) async throws -> String {
        let child = try Child("/usr/bin/env", arguments, environment: environment)
        guard await child.end() == 0 else { throw Trouble("\(arguments): \(child.text(of: .err))") }
        return child.text(of: .out).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Chooses a button of the latest notification from dunst's menu.
    func choose(_ label: String) async throws {
        try label.write(to: directory.appending(path: "wanted"), atomically: false, encoding: .utf8)
        try await run("dunstctl", "context")
    }

    /// Waits for the browser, and returns what it was given.
    func opened() async throws -> String {
        let reader = try Child("/usr/bin/env", ["cat", directory.path + "/opened"])
        let words = try await reader.wait { !$0.isEmpty }
        _ = await reader.end()
        return words.joined(separator: " ")
    }

    /// As if the daemon hung.
    func freezeDaemon() { daemons.withLock { $0.last }?.kill(SIGSTOP) }

    /// As if the bus itself hung.
    func freezeBus() { children[1].kill(SIGSTOP) }

    /// Bubbles on the screen.
    func displayed() async throws -> Int { Int(try await run("dunstctl", "count", "displayed")) ?? -1 }

    /// Closes every notification and returns their titles and texts, latest first.
    func shown() async throws -> [(title: String, text: String)] {
        try await run("dunstctl", "close-all")
        let history = Program.object(try await run("dunstctl", "history"))
        let rows = (history?["data"] as? [[[String: Any]]])?.first ?? []
        return rows.map { ($0.text("summary", "data") ?? "", $0.text("body", "data") ?? "") }
    }
}
