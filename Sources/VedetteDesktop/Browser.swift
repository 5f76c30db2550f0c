// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// Starts the user's browser.
enum Browser {
    /// Opens a link with `xdg-open`, in a session of its own that outlives the watcher.
    /// - Parameter link: as `link` returns it: systemd-run expands `${NAME}` in its arguments.
    static func open(_ link: String) {
        let words = words(for: link, process: getpid(), cgroup: cgroup()) { getenv($0).map { String(cString: $0) } }
        // Where both fail there is nobody to tell: the user sees that nothing opens.
        for words in [words, ["xdg-open", link]] where (try? ChildProcess.launch(words)) != nil { return }
    }

    /// Returns the URL in a form that a browser opens and that nothing on the way expands: `$` and braces (systemd-run),
    /// quotes, blanks, controls and everything outside ASCII are percent-encoded, and escapes are kept. Returns nil for
    /// anything but http and https: another scheme could start a program of a stranger's choice.
    static func link(_ url: String) -> String? {
        let bytes = Array(url.utf8)
        var link = ""
        for (i, byte) in bytes.enumerated() {
            let isEscape = byte == UInt8(ascii: "%") && bytes[(i + 1)...].prefix(2).count(where: isHexDigit) == 2
            if isEscape || plain.contains(byte) {
                link.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                link += WebURL.encoded(byte)
            }
        }
        return link.utf8.count <= 8192 ? WebURL(link)?.text : nil
    }

    /// Characters of a URL that are kept: RFC 3986 §2.2 and §2.3 without `$` and `'`.
    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!&()*+,;=".utf8)

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

    /// The variables of a desktop session that a browser needs.
    private static let session = [
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "BROWSER",
    ]

    /// Returns the command that opens a link.
    ///
    /// The main process of a user's systemd unit asks the user's manager to start the browser. As one of the unit's own
    /// processes it would end with the watcher (`KillMode=`), and it would inherit `NoNewPrivileges=`, with which a
    /// browser from a snap cannot start.
    /// - Parameters:
    ///   - process: the id of this process, which `$SYSTEMD_EXEC_PID` names (systemd.exec(5)); a shell started by a unit
    ///     inherits the variable with another number.
    ///   - cgroup: the content of /proc/self/cgroup; a unit of the system has no user's manager.
    static func words(
        for link: String, process: pid_t, cgroup: String, _ environment: (String) -> String?
    ) -> [String] {
        let plain = ["xdg-open", link]
        guard environment("SYSTEMD_EXEC_PID") == "\(process)", cgroup.contains("/user@") else { return plain }
        let variables = session.compactMap { name in environment(name).map { "--setenv=\(name)=\($0)" } }
        // Its unit is there until the last of its processes has ended.
        return ["systemd-run", "--user", "--quiet", "--collect", "--property=ExitType=cgroup"] + variables + plain
    }

    private static func cgroup() -> String {
        let file = Glibc.open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
