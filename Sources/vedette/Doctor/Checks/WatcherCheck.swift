// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// The running watcher, as far as /proc shows it to this user.
struct WatcherFacts: Sendable, Hashable {
    var pid: Int32
    /// The machine that it runs on; nil for this one. Of another one nothing else is known.
    var host: String?
    /// The systemd unit that it belongs to, from its path in the cgroup tree; nil outside units.
    var unit: String?
    /// Whether a user's manager runs the unit: it ends with the user's last session unless lingering is enabled.
    var isUserUnit = false
    var lingers = true
    /// The session bus that it was started with; nil when there was none, or the environment cannot be read.
    var bus: String?
    var hasReadableEnvironment = false
}

/// Checks that a watcher runs, goes on after log-out, and uses this session's bus. Pure.
struct WatcherCheck {
    let facts: WatcherFacts?
    /// The bus on which this process would show a notification; nil when no sink needs one.
    let bus: String?
    /// Whether a sink works without a desktop.
    let hasOtherSinks: Bool

    @Findings var findings: [Finding] {
        if let facts {
            .ok(
                "watcher",
                "\(WatcherProcess(pid: facts.pid, host: facts.host).text)\(facts.unit.map { " of \($0)" } ?? "") is watching"
            )
            if facts.isUserUnit, !facts.lingers, hasOtherSinks {
                .warning(
                    "watcher", "it ends when you log out, and delivers nothing until you are back",
                    remedy: "loginctl enable-linger")
            }
            if let bus, facts.hasReadableEnvironment, facts.bus.map(address) != address(bus) {
                .warning(
                    "watcher",
                    "it was started with \(facts.bus ?? "no session bus"), this shell with the session bus \(bus)",
                    remedy: "start it inside the desktop session, or set DBUS_SESSION_BUS_ADDRESS for it")
            }
        } else {
            .warning(
                "watcher", "no watcher runs", remedy: "start `vedette run`, or `systemctl --user enable --now vedette`")
        }
    }

    /// The server's id follows a comma and does not matter here.
    private func address(_ bus: String) -> Substring { bus.prefix { $0 != "," } }
}

extension WatcherFacts {
    static func read(_ watcher: WatcherProcess) -> WatcherFacts {
        let pid = watcher.pid
        var facts = WatcherFacts(pid: pid, host: watcher.host)
        guard watcher.host == nil else { return facts }
        let path = processFile("/proc/\(pid)/cgroup").split(separator: "\n").first { $0.hasPrefix("0::") } ?? ""
        let units = path.split(separator: "/").filter { $0.hasSuffix(".service") }
        facts.unit = path.hasSuffix(".service") ? units.last.map(String.init) : nil
        facts.isUserUnit = facts.unit != nil && units.dropLast().contains { $0.hasPrefix("user@") }
        if facts.isUserUnit, let user = getpwuid(geteuid()) {
            facts.lingers = access("/var/lib/systemd/linger/" + String(cString: user.pointee.pw_name), F_OK) == 0
        }
        let environment = processFile("/proc/\(pid)/environ").split(separator: "\0")
        func value(_ name: String) -> String? {
            environment.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        facts.hasReadableEnvironment = !environment.isEmpty
        facts.bus = value("DBUS_SESSION_BUS_ADDRESS") ?? value("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
        return facts
    }
}
