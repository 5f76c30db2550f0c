// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The environment variables that a child process inherits. It is a list of what may pass: the rest of the watcher's own
/// environment holds secrets (`{env: NAME}`, `CREDENTIALS_DIRECTORY`) and what systemd tells the watcher alone.
public enum ChildEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM",
        // The user's session, for a browser or a notification of the child's own.
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "BROWSER",
        // Password managers and ssh: places, no secrets.
        "GNUPGHOME", "GPG_TTY", "PASSWORD_STORE_DIR", "SSH_AUTH_SOCK",
    ]
    private static let prefixes = ["LC_", "XDG_"]

    /// This process's variables that are on the list.
    public static var inherited: [String: String] { current.filter { isInherited($0.key) } }

    /// Whether the variable is on the list.
    static func isInherited(_ name: String) -> Bool {
        names.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    /// All variables of this process.
    private static var current: [String: String] {
        var (variables, next) = ([String: String](), environ)
        while let variable = next.pointee {
            let parts = String(cString: variable).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return variables
    }
}
