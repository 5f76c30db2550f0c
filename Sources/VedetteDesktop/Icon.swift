// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// The icon of a notification.
enum Icon {
    /// The icon when the sink configures none.
    static let standard = name()

    /// Validates a configured icon: for an invalid one a daemon shows none, without an error.
    static func checked(_ icon: String) throws(OptionProblem) -> String {
        let isPath = icon.hasPrefix("/")
        let isLine = icon.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard isLine, isPath || !(icon.isEmpty || icon.contains("/") || icon.contains(":")) else {
            throw OptionProblem("icon", detail: "is a name in the icon theme, as mail-unread, or an absolute path")
        }
        return icon
    }

    /// Returns Vedette's icon where it is installed (XDG Base Directory, Icon Theme specifications), else one of every theme.
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
