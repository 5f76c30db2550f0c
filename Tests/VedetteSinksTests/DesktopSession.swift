// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

/// A desktop of its own: a bus, an X server without a screen, and dunst. Every process is ended by its id.
final class DesktopSession {
    static let programs = ["dbus-daemon", "gdbus", "Xvfb", "dunst", "dunstctl"]
    static let missing = programs.filter { find($0) == nil }

    /// One address for all sessions, told to libnotify through this process's environment once, before its first use.
    private static let directory: URL = {
        let directory = FileManager.default.temporaryDirectory.appending(path: "vedette-desktop-\(getpid())")
        let bin = directory.appending(path: "bin")
        do {
            try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
            // A stand-in for the browser: it writes its arguments to a pipe.
            let browser = bin.appending(path: "xdg-open")
            try write(
                """
                { cut -d' ' -f1,6 /proc/$$/stat; find /proc/$$/fd -lname '*/opened' ! -name 1 -exec echo leaked ';'
                printf '%s\\n' "$@"; } > '\(directory.path)/opened'
                """, to: browser)
            // A stand-in for dunst's menu: it chooses the line that holds the wanted text.
            try write(
                "tee '\(directory.path)/menu' | grep -m1 -F -f '\(directory.path)/wanted'",
                to: bin.appending(path: "choose"))
        } catch { Issue.record(error) }
        mkfifo(directory.path + "/opened", 0o600)
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(directory.path)/bus", 1)
        setenv("PATH", bin.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"), 1)
        atexit { try? FileManager.default.removeItem(at: DesktopSession.directory) }
        return directory
    }()

    private static func write(_ script: String, to file: URL) throws {
        try "#!/bin/sh\n\(script)\n".write(to: file, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    /// The id that dunst gives its first notification.
    let firstID: Int64 = 2

    private var bus: Process?
    private var screen: Process?
    private var daemon: Process?
    private(set) var display = ""

    /// Nothing runs yet; the address leads nowhere.
    init() throws {
        try? FileManager.default.removeItem(atPath: DesktopSession.directory.path + "/bus")
        // No <servicedir>: nothing is started by asking for it.
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>unix:path=\(DesktopSession.directory.path)/bus</listen>
        <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
        <allow own="*"/></policy></busconfig>
        """.write(toFile: DesktopSession.directory.path + "/bus.conf", atomically: false, encoding: .utf8)
        // The history names no urgency, but each notification's timeout.
        try """
        [global]
        markup = full
        history_length = 400
        dmenu = \(DesktopSession.directory.path)/bin/choose
        [urgency_low]
        timeout = 501
        [urgency_normal]
        timeout = 502
        [urgency_critical]
        timeout = 503

        """.write(toFile: DesktopSession.directory.path + "/dunstrc", atomically: false, encoding: .utf8)
    }

    deinit {
        for process in [daemon, screen, bus] { DesktopSession.end(process) }
    }

    func startBus() throws {
        (bus, _) = try start(
            "dbus-daemon", "--config-file=\(DesktopSession.directory.path)/bus.conf", "--nofork", "--print-address")
        if screen == nil {
            let number: String
            (screen, number) = try start("Xvfb", "-displayfd", "1", "-screen", "0", "800x400x24", "-nolisten", "tcp")
            display = ":" + number
        }
    }

    func stopBus() {
        DesktopSession.end(daemon)
        DesktopSession.end(bus)
    }

    func startDaemon() throws {
        daemon = try spawn("dunst", ["-conf", DesktopSession.directory.path + "/dunstrc"]).process
        try run("gdbus", "wait", "--session", "--timeout", "20", "org.freedesktop.Notifications")
    }

    func killDaemon() { DesktopSession.end(daemon) }

    /// Stops the daemon, as if it hung.
    func freezeDaemon() throws {
        kill(try #require(daemon?.processIdentifier), SIGSTOP)
    }

    /// Bubbles on the screen.
    func displayed() throws -> String { try run("dunstctl", "count", "displayed") }

    /// Closes every notification and returns what they were, latest first.
    func shown() throws -> [DesktopNotification] {
        try run("dunstctl", "close-all")
        let text = try run("dunstctl", "history")
        let rows = try JSON(parsing: text.utf8)["data"]?.array?.first?.array ?? []
        return rows.map { row in
            func field(_ name: String) -> JSON? { row[name]?["data"] }
            return DesktopNotification(
                id: field("id")?.int64 ?? -1, title: field("summary")?.string ?? "", body: field("body")?.string ?? "",
                timeout: (field("timeout")?.int64 ?? 0) / 1_000_000,
                category: field("category")?.string ?? "")
        }
    }

    struct DesktopNotification: Equatable {
        var id: Int64
        var title: String
        var body: String
        /// In seconds.
        var timeout: Int64
        var category: String
    }

    /// Chooses a button of the latest notification from dunst's menu.
    func choose(_ label: String) throws {
        try label.write(toFile: DesktopSession.directory.path + "/wanted", atomically: false, encoding: .utf8)
        try run("dunstctl", "context")
    }

    /// The lines of the menu from which a button was chosen last.
    func menu() throws -> [String] {
        try String(contentsOfFile: DesktopSession.directory.path + "/menu", encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// The browser's process and arguments.
    struct Opened {
        var process: pid_t
        /// Of processes, which a terminal or a service ends together.
        var session: pid_t
        /// `leaked` before them if it holds a descriptor that it should not have.
        var arguments: [String]

        /// Waits until the process is gone and reaped; false when it is not.
        var isCollected: Bool {
            for _ in 0..<2000 {
                if kill(process, 0) != 0 { return true }
                poll(nil, 0, 10)
            }
            return false
        }
    }

    /// Presses a button and waits for the browser.
    func opened(by press: () throws -> Void) throws -> Opened {
        let pipe = open(DesktopSession.directory.path + "/opened", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        // A descriptor that children inherit unless they are started without it. Its number is a free one: with a fixed one,
        // the descriptor of another test was replaced.
        let inherited = fcntl(pipe, F_DUPFD, 3)
        defer {
            close(pipe)
            close(inherited)
        }
        try press()
        var (text, buffer, count) = ("", [UInt8](repeating: 0, count: 4096), 0)
        repeat {
            var wait = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            try #require(poll(&wait, 1, 20_000) == 1, "the browser was not started")
            count = max(0, read(pipe, &buffer, buffer.count))
            text += String(decoding: buffer[..<count], as: UTF8.self)
        } while count > 0
        let lines = text.split(separator: "\n").map(String.init)
        let numbers = (lines.first ?? "").split(separator: " ").compactMap { pid_t($0) }
        try #require(numbers.count == 2)
        return Opened(process: numbers[0], session: numbers[1], arguments: Array(lines.dropFirst()))
    }

    /// Another daemon than dunst.
    func startStandIn(_ capabilities: String..., named name: String = "stand-in") throws -> DesktopStandIn {
        try DesktopStandIn(
            bus: "unix:path=\(DesktopSession.directory.path)/bus", name: name, capabilities: capabilities)
    }

    @discardableResult
    func run(_ program: String, _ arguments: String...) throws -> String {
        let (process, output) = try spawn(program, arguments)
        let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
        try #require(process.waitForEnd() == 0, "\(program) \(arguments): \(text)")
        return text.trimmed()
    }

    /// Starts a program whose first line says that it is ready.
    private func start(_ program: String, _ arguments: String...) throws -> (Process, line: String) {
        let (process, output) = try spawn(program, arguments)
        var line: [UInt8] = []
        while let byte = try output.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
        try #require(!line.isEmpty, "\(program) did not start")
        return (process, String(decoding: line, as: UTF8.self))
    }

    private func spawn(_ program: String, _ arguments: [String]) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = DesktopSession.find(program)
        process.arguments = arguments
        process.environment = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": DesktopSession.directory.path, "DISPLAY": display,
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(DesktopSession.directory.path)/bus", "LC_ALL": "C.UTF-8",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.runUnblocked()
        return (process, pipe.fileHandleForReading)
    }

    private static func end(_ process: Process?) {
        guard let process, process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitForEnd()
    }

    private static func find(_ program: String) -> URL? {
        ["/usr/local/bin", "/usr/bin", "/bin"].map { URL(filePath: $0).appending(path: program) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
