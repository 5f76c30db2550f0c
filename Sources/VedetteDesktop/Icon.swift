// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// The icon of a bubble.
enum Icon {
    /// What a bubble shows when its sink names none.
    static let standard = name()

    /// The icon that a configuration names, if it is one: a daemon would say nothing of another and show none.
    static func checked(_ icon: String) throws(OptionProblem) -> String {
        let isPath = icon.hasPrefix("/")
        let isLine = icon.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard isLine, isPath || !(icon.isEmpty || icon.contains("/") || icon.contains(":")) else {
            throw OptionProblem("icon", detail: "is a name in the icon theme, as mail-unread, or an absolute path")
        }
        return icon
    }

    /// Our own where it is installed (XDG Base Directory, Icon Theme specifications), else one that every theme has.
    private static func name() -> String {
        let home = environment("XDG_DATA_HOME") ?? (environment("HOME") ?? "") + "/.local/share"
        let system = environment("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        let directories = [home] + system.split(separator: ":").map(String.init)
        let isInstalled = directories.contains {
            access($0 + "/icons/hicolor/scalable/apps/vedette.svg", R_OK) == 0
        }
        return isInstalled ? "vedette" : "dialog-information"
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
