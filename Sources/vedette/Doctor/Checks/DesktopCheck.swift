// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteDesktop

/// Files that the desktop needs (XDG Base Directory, Desktop Entry and Icon Theme specifications); nil when missing.
struct DesktopFiles: Sendable, Hashable {
    var entry: String?
    var icon: String?
    /// The program that opens links.
    var opener: String?
    /// The directory for a user's own files.
    var home: String
}

/// Checks that notifications can be shown, with icon and buttons. Pure.
struct DesktopCheck {
    let subject: String
    /// Nil when the bus did not answer in time.
    let server: DesktopFacts?
    let files: DesktopFiles

    @Findings var findings: [Finding] {
        switch server?.state {
        case nil:
            .failure(
                subject, "the session bus does not answer; notifications wait for it", remedy: "log out and in again")
        case .noBus(let reason), .noDaemon(let reason): .failure(subject, reason)
        case .ready(let daemon, let capabilities):
            .ok(subject, "\(name(daemon)) shows notifications on \(server?.bus ?? "the session bus")")
            if capabilities.contains("actions") {
                let known = ["actions", "body-markup", "persistence"].filter(capabilities.contains)
                Finding.ok(subject, "buttons work; its capabilities are \(known.joined(separator: ", "))")
            } else {
                .warning(
                    subject, "this daemon has no buttons: Open, Snooze and Mute are not shown",
                    remedy: "`vedette snooze` and `vedette mute` do the same")
            }
        }
        if let entry = files.entry, let icon = files.icon {
            .ok(subject, "entry and icon are installed: \(entry), \(icon)")
        }
        if files.entry == nil {
            .warning(
                subject, "vedette.desktop is not installed: the desktop's settings do not list Vedette",
                remedy: "copy contrib/vedette.desktop to \(files.home)/applications/")
        }
        if files.icon == nil {
            .warning(
                subject, "the icon is not installed: notifications have one of the theme's",
                remedy: "copy contrib/icons/hicolor to \(files.home)/icons/")
        }
        if files.opener == nil {
            .warning(subject, "xdg-open is missing: the button Open does nothing", remedy: "install xdg-utils")
        }
    }

    private func name(_ daemon: DesktopFacts.Daemon) -> String {
        let vendor = daemon.vendor.isEmpty || daemon.vendor == daemon.name ? "" : " of \(daemon.vendor)"
        let version = [daemon.name, daemon.version].filter { !$0.isEmpty }.joined(separator: " ")
        let specification = daemon.specification.isEmpty ? "" : " (specification \(daemon.specification))"
        return version + vendor + specification
    }
}

extension DesktopFiles {
    static func find(_ environment: [String: String]) -> DesktopFiles {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = absolute("XDG_DATA_HOME") ?? (environment["HOME"] ?? "") + "/.local/share"
        let system = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        let directories = [home] + system.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        func find(_ path: String) -> String? {
            directories.map { $0 + "/" + path }.first { access($0, R_OK) == 0 }
        }
        return DesktopFiles(
            entry: find("applications/vedette.desktop"), icon: find("icons/hicolor/scalable/apps/vedette.svg"),
            opener: ProgramsAndFilesCheck(environment: environment).find("xdg-open"), home: home)
    }
}
