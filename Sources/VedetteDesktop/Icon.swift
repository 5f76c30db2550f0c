// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The icon of a bubble.
enum Icon {
    /// Our own where it is installed (XDG Base Directory, Icon Theme specifications), else one that every theme has.
    static func name() -> String {
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
