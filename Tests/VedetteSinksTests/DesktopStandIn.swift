// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

/// A second notification daemon, with the capabilities that a test names. It prints each call and presses buttons on
/// command. It honours any `replaces_id`, as dunst does. It ends with its standard input, and after a minute.
final class DesktopStandIn {
    /// A Python with GLib's bus (python3-gi): the system's, since the user's own may lack it.
    static let python: URL? = ["/usr/bin/python3", "/usr/local/bin/python3"].map { URL(filePath: $0) }.first { python in
        let process = Process()
        process.executableURL = python
        process.arguments = ["-c", "from gi.repository import Gio, GLib"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.runUnblocked()) != nil else { return false }
        return process.waitForEnd() == 0
    }

    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(bus: String, name: String, capabilities: [String]) throws {
        process.executableURL = DesktopStandIn.python
        process.arguments = ["-c", DesktopStandIn.script, bus, name] + capabilities
        (process.standardInput, process.standardOutput) = (input, output)
        try process.runUnblocked()
        try #require(try line() == "ready")
    }

    deinit { end() }

    func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitForEnd()
    }

    func freeze() { kill(process.processIdentifier, SIGSTOP) }

    func thaw() { kill(process.processIdentifier, SIGCONT) }

    /// The next call of `Notify`.
    func notified() throws -> Call { try Call(line()) }

    /// How many calls of `Notify` came so far; ask only when `notified` has told all of them.
    func calls() throws -> Int {
        try tell("count")
        return try #require(Int(line()))
    }

    /// From now on it accepts notifications and answers nothing.
    func hush() throws {
        try tell("hush")
        try #require(try line() == "hushed")
    }

    func press(_ action: String, on id: Int64) throws { try tell("press \(id) \(action)") }

    func close(_ id: Int64) throws { try tell("close \(id)") }

    struct Call {
        let json: JSON

        init(_ line: String) throws { json = try JSON(parsing: line.utf8) }

        var id: Int64 { json["id"]?.int64 ?? -1 }
        var replaces: Int64 { json["replaces"]?.int64 ?? -1 }
        /// Keys and labels, by turns.
        var actions: [String] { json["actions"]?.array?.compactMap(\.string) ?? [] }
        func text(_ name: String) -> String? { json[name]?.string }
        func hint(_ name: String) -> JSON? { json["hints"]?[name] }
    }

    private func tell(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    }

    private func line() throws -> String {
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == 10 { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw POSIXError(.EPIPE)
    }
}

extension DesktopStandIn {
    private static let script = """
        import json, sys
        from gi.repository import Gio, GLib

        NAME, PATH = 'org.freedesktop.Notifications', '/org/freedesktop/Notifications'
        interface = Gio.DBusNodeInfo.new_for_xml('''<node><interface name='org.freedesktop.Notifications'>
          <method name='GetCapabilities'><arg type='as' direction='out'/></method>
          <method name='GetServerInformation'><arg type='s' direction='out'/><arg type='s' direction='out'/>
            <arg type='s' direction='out'/><arg type='s' direction='out'/></method>
          <method name='Notify'><arg type='s' direction='in'/><arg type='u' direction='in'/><arg type='s' direction='in'/>
            <arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='as' direction='in'/>
            <arg type='a{sv}' direction='in'/><arg type='i' direction='in'/><arg type='u' direction='out'/></method>
          <method name='CloseNotification'><arg type='u' direction='in'/></method>
          </interface></node>''').interfaces[0]
        loop, commands = GLib.MainLoop(), open(0, 'rb', buffering=0)
        last, calls, answers = 0, 0, True

        def say(line):
            print(line, flush=True)

        def called(connection, sender, path, name, method, parameters, invocation):
            global last, calls
            if method == 'GetCapabilities':
                invocation.return_value(GLib.Variant('(as)', (sys.argv[3:],)))
            elif method == 'GetServerInformation':
                invocation.return_value(GLib.Variant('(ssss)', (sys.argv[2], 'test', '1', '1.2')))
            elif method == 'Notify':
                app, replaces, icon, title, body, actions, hints, timeout = parameters.unpack()
                last = last if replaces else last + 1
                calls += 1
                number = replaces or last
                say(json.dumps(dict(id=number, replaces=replaces, app=app, icon=icon, title=title, body=body,
                                    actions=actions, hints=hints)))
                if answers:
                    invocation.return_value(GLib.Variant('(u)', (number,)))
            else:
                invocation.return_value(None)

        def told(source, condition):
            global answers
            global calls
            words = commands.readline().decode().split()
            if not words:
                loop.quit()
            elif words[0] == 'press':
                emit('ActionInvoked', GLib.Variant('(us)', (int(words[1]), words[2])))
            elif words[0] == 'hush':
                answers = False
                say('hushed')
            elif words[0] == 'close':
                emit('NotificationClosed', GLib.Variant('(uu)', (int(words[1]), 2)))
            else:
                say(calls)
            return True

        def emit(signal, value):
            connection.emit_signal(None, PATH, NAME, signal, value)
            connection.flush_sync(None)

        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        connection = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
        connection.register_object(PATH, interface, called, None, None)
        Gio.bus_own_name_on_connection(connection, NAME, 0, lambda *_: say('ready'), None)
        GLib.unix_fd_add_full(0, 0, GLib.IO_IN | GLib.IO_HUP, told)
        GLib.timeout_add_seconds(60, loop.quit)
        loop.run()
        """
}
