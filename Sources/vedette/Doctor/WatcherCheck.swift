// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// The process that watches, as far as /proc tells this user of it.
struct WatcherFacts: Sendable, Hashable {
    var pid: Int32
    /// The unit that it is part of: the last word of its path in the cgroup tree; nil when the path is no unit's.
    var unit: String?
    /// That unit is of a user's manager, which ends with the user's last session unless lingering is enabled.
    var isUserUnit = false
    var lingers = true
    /// The bus that it was started with; nil when it was started with none, or cannot be asked.
    var bus: String?
    var canBeAsked = false

    static func of(_ pid: Int32) -> WatcherFacts {
        var facts = WatcherFacts(pid: pid)
        let path = ProcessFile.text("/proc/\(pid)/cgroup").split(separator: "\n").first { $0.hasPrefix("0::") } ?? ""
        let units = path.split(separator: "/").filter { $0.hasSuffix(".service") }
        facts.unit = path.hasSuffix(".service") ? units.last.map(String.init) : nil
        facts.isUserUnit = facts.unit != nil && units.dropLast().contains { $0.hasPrefix("user@") }
        if facts.isUserUnit, let user = getpwuid(geteuid()) {
            facts.lingers = access("/var/lib/systemd/linger/" + String(cString: user.pointee.pw_name), F_OK) == 0
        }
        let environment = ProcessFile.text("/proc/\(pid)/environ").split(separator: "\0")
        facts.canBeAsked = !environment.isEmpty
        let name = "DBUS_SESSION_BUS_ADDRESS="
        facts.bus = environment.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
        if facts.bus == nil, let runtime = environment.first(where: { $0.hasPrefix("XDG_RUNTIME_DIR=/") }) {
            facts.bus = "unix:path=" + runtime.dropFirst("XDG_RUNTIME_DIR=".count) + "/bus"
        }
        return facts
    }
}

/// Whether somebody watches, and for how long. Pure.
struct WatcherCheck {
    let facts: WatcherFacts?
    /// The bus that this process would show a bubble on; nil when no sink needs one.
    let bus: String?
    /// Sinks that work without a desktop.
    let hasOtherSinks: Bool

    var findings: [Finding] {
        guard let facts else {
            return [
                .warning(
                    "watcher", "nobody watches",
                    remedy: "start `vedette run`, or `systemctl --user enable --now vedette`")
            ]
        }
        let place = facts.unit.map { " of \($0)" } ?? ""
        return [.ok("watcher", "process \(facts.pid)\(place) watches")] + linger(facts) + bus(facts)
    }

    private func linger(_ facts: WatcherFacts) -> [Finding] {
        guard facts.isUserUnit, !facts.lingers, hasOtherSinks else { return [] }
        return [
            .warning(
                "watcher", "it ends when you log out, and nothing is delivered until you are back",
                remedy: "loginctl enable-linger")
        ]
    }

    private func bus(_ facts: WatcherFacts) -> [Finding] {
        guard let bus, facts.canBeAsked else { return [] }
        // What follows a comma is the server's id.
        func place(_ address: String) -> Substring { address.prefix { $0 != "," } }
        guard facts.bus.map(place) != place(bus) else { return [] }
        let said = facts.bus.map { "looks for it at \($0)" } ?? "has none"
        return [
            .warning(
                "watcher", "it was started with another session bus than this shell's, \(bus): it \(said)",
                remedy: "start it inside the desktop session, or set DBUS_SESSION_BUS_ADDRESS for it")
        ]
    }
}
