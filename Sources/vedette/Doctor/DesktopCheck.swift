// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteDesktop

/// What is installed for the desktop (XDG Base Directory, Desktop Entry and Icon Theme specifications).
struct DesktopFiles: Sendable, Hashable {
    var entry: String?
    var icon: String?
    var opener: String?
    /// Where a user's own belong.
    var home: String

    init(entry: String? = nil, icon: String? = nil, opener: String? = nil, home: String) {
        (self.entry, self.icon, self.opener, self.home) = (entry, icon, opener, home)
    }

    init(_ environment: [String: String]) {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = absolute("XDG_DATA_HOME") ?? (environment["HOME"] ?? "") + "/.local/share"
        let system = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        let directories = [home] + system.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        func find(_ path: String) -> String? {
            directories.map { $0 + "/" + path }.first { access($0, R_OK) == 0 }
        }
        self.init(
            entry: find("applications/vedette.desktop"), icon: find("icons/hicolor/scalable/apps/vedette.svg"),
            opener: LocalCheck(environment: environment).find("xdg-open"), home: home)
    }
}

/// Whether a bubble would come, and with what. Pure.
struct DesktopCheck {
    let subject: String
    /// Nil when the bus did not answer in time.
    let look: ServerCapabilities?
    let files: DesktopFiles

    var findings: [Finding] { bubble + installed }

    private var bubble: [Finding] {
        guard let look else {
            return [
                .failure(
                    subject, "the session bus does not answer; bubbles wait for it", remedy: "log out and in again")
            ]
        }
        switch look.state {
        case .noBus(let reason), .noDaemon(let reason): return [.failure(subject, reason)]
        case .ready(let daemon, let capabilities):
            return [.ok(subject, "\(name(daemon)) shows bubbles, on \(look.bus ?? "the session bus")")]
                + missing(capabilities)
        }
    }

    private func name(_ daemon: ServerCapabilities.Daemon) -> String {
        let vendor = daemon.vendor.isEmpty || daemon.vendor == daemon.name ? "" : " of \(daemon.vendor)"
        let version = [daemon.name, daemon.version].filter { !$0.isEmpty }.joined(separator: " ")
        let specification = daemon.specification.isEmpty ? "" : " (specification \(daemon.specification))"
        return version + vendor + specification
    }

    private func missing(_ capabilities: Set<String>) -> [Finding] {
        let able = ["actions", "body-markup", "persistence"].filter(capabilities.contains)
        if !capabilities.contains("actions") {
            return [
                .warning(
                    subject, "this daemon has no buttons: Open, Snooze and Mute are not shown",
                    remedy: "`vedette snooze` and `vedette mute` do the same")
            ]
        }
        return [.ok(subject, "buttons work there; it can do: \(able.joined(separator: ", "))")]
    }

    private var installed: [Finding] {
        var findings: [Finding] = []
        if let entry = files.entry, let icon = files.icon {
            findings.append(.ok(subject, "entry and icon are installed: \(entry), \(icon)"))
        }
        if files.entry == nil {
            findings.append(
                .warning(
                    subject, "vedette.desktop is not installed: the desktop's settings do not know Vedette",
                    remedy: "copy contrib/vedette.desktop to \(files.home)/applications/"))
        }
        if files.icon == nil {
            findings.append(
                .warning(
                    subject, "the icon is not installed: bubbles have one of the theme's",
                    remedy: "copy contrib/icons/hicolor to \(files.home)/icons/"))
        }
        if files.opener == nil {
            findings.append(
                .warning(subject, "xdg-open is not there: Open opens nothing", remedy: "install xdg-utils"))
        }
        return findings
    }
}
