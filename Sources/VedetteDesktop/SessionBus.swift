// SPDX-License-Identifier: Apache-2.0

import CNotify

/// This process's connection to the session bus, which libnotify shares. It is used on the notifier's thread alone.
struct SessionBus {
    private static let bus = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"
    private static let notifications = "org.freedesktop.Notifications"
    private static let notificationsPath = "/org/freedesktop/Notifications"
    /// The time limit of a call, in milliseconds. A daemon answers at once or is stopped.
    private static let timeLimit: CInt = 5000

    private let connection: OpaquePointer
    private let watch: CUnsignedInt

    /// - Parameter notifier: `gone` is called when a daemon leaves the bus; it outlives every connection.
    init(of notifier: Notifier) throws(DesktopProblem) {
        let (connection, error) = callingGLib { g_bus_get_sync(G_BUS_TYPE_SESSION, nil, $0) }
        guard let connection else { throw .noBus(error?.message ?? "unknown reason") }
        // By default GLib ends the process with SIGTERM when the bus goes, for instance at log-out.
        g_dbus_connection_set_exit_on_close(connection, 0)
        self.connection = connection
        watch = g_dbus_connection_signal_subscribe(
            connection, SessionBus.bus, SessionBus.bus, "NameOwnerChanged", SessionBus.busPath,
            SessionBus.notifications, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, _, _, _, change, notifier in
                guard let change, let notifier, let name = SessionBus.text(1, of: change), !name.isEmpty else { return }
                Unmanaged<Notifier>.fromOpaque(notifier).takeUnretainedValue().assumeIsolated { $0.gone(name) }
            }, Unmanaged.passUnretained(notifier).toOpaque(), nil)
    }

    var isClosed: Bool { g_dbus_connection_is_closed(connection) != 0 }

    func release() {
        g_dbus_connection_signal_unsubscribe(connection, watch)
        g_object_unref(UnsafeMutableRawPointer(connection))
    }

    /// Returns the unique name of the running daemon, which the bus never gives again; nil when none runs.
    func daemon() throws(DesktopProblem) -> String? {
        let (reply, error) = call(
            SessionBus.bus, SessionBus.busPath, "GetNameOwner", cn_one_string(SessionBus.notifications), "(s)")
        guard let reply else {
            if error?.isMissingName == true { return nil }
            throw .noBus(error?.message ?? "unknown reason")
        }
        return SessionBus.first(of: reply) { String(cString: g_variant_get_string($0, nil)) }
    }

    /// Returns the daemon's capabilities. The bus starts a daemon if it knows how to.
    func capabilities() throws(DesktopProblem) -> Set<String> {
        let (reply, error) = call(
            SessionBus.notifications, SessionBus.notificationsPath, "GetCapabilities", nil, "(as)")
        guard let reply else { throw .noDaemon(error?.message ?? "unknown reason") }
        return SessionBus.first(of: reply) { list in
            var names: Set<String> = []
            for i in 0..<g_variant_n_children(list) {
                guard let name = g_variant_get_child_value(list, i) else { continue }
                names.insert(String(cString: g_variant_get_string(name, nil)))
                g_variant_unref(name)
            }
            return names
        }
    }

    /// Returns the daemon's name, vendor and version, and the version of the specification that it follows.
    func information() throws(DesktopProblem) -> [String] {
        let (reply, error) = call(
            SessionBus.notifications, SessionBus.notificationsPath, "GetServerInformation", nil, "(ssss)")
        guard let reply else { throw .noDaemon(error?.message ?? "unknown reason") }
        defer { g_variant_unref(reply) }
        return (0..<4).map { SessionBus.text($0, of: reply) ?? "" }
    }

    /// The address of the session bus; nil when none is configured.
    static var address: String? {
        guard let text = callingGLib({ g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, nil, $0) }).result else {
            return nil
        }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// - Parameters:
    ///   - name: also the interface, for both objects that are asked.
    ///   - answer: the type of the reply; another one is an error.
    private func call(
        _ name: String, _ path: String, _ method: String, _ parameters: OpaquePointer?, _ answer: String
    ) -> (OpaquePointer?, GLibError?) {
        let type = g_variant_type_new(answer)
        defer { g_variant_type_free(type) }
        return callingGLib {
            g_dbus_connection_call_sync(
                connection, name, path, name, method, parameters, type, G_DBUS_CALL_FLAGS_NONE, SessionBus.timeLimit,
                nil, $0)
        }
    }

    /// Reads the only value of a reply and frees the reply.
    private static func first<Result>(of reply: OpaquePointer, _ read: (OpaquePointer) -> Result) -> Result {
        defer { g_variant_unref(reply) }
        // Never nil: the reply has the type that was asked for.
        let value: OpaquePointer = g_variant_get_child_value(reply, 0)
        defer { g_variant_unref(value) }
        return read(value)
    }

    /// Returns the text at an index of the tuple that a signal carries.
    private static func text(_ place: Int, of tuple: OpaquePointer) -> String? {
        guard place < g_variant_n_children(tuple), let value = g_variant_get_child_value(tuple, gsize(place)) else {
            return nil
        }
        defer { g_variant_unref(value) }
        return g_variant_classify(value) == G_VARIANT_CLASS_STRING
            ? String(cString: g_variant_get_string(value, nil)) : nil
    }
}
