// SPDX-License-Identifier: Apache-2.0

import CNotify
import Glibc

/// The user's browser.
enum Browser {
    /// Opens an http or https URL with `xdg-open`: no shell, nothing of this process's descriptors, a session of its
    /// own that outlives the watcher. For the notifier's thread, which collects the child when it ends.
    static func open(_ link: String) {
        guard let link = DesktopNotification.webLink(link) else { return }
        var child = pid_t()
        let words = words(for: link, process: getpid(), cgroup: cgroup()) { getenv($0).map { String(cString: $0) } }
        // Nobody is left to tell when it fails: the user sees that nothing opens.
        let isStarted = spawn(words, &child) == 0 || spawn(["xdg-open", link], &child) == 0
        if isStarted { cn_collect(child) }
    }

    /// The session of a desktop, which a browser must know.
    private static let session = [
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "BROWSER",
    ]

    /// The main process of a user's systemd unit asks the user's manager to start it. As one of the unit's own processes
    /// a browser would end with the watcher (`KillMode=`), and it would inherit `NoNewPrivileges=`, with which one from a
    /// snap cannot start.
    /// - Parameters:
    ///   - process: this one's id, which `$SYSTEMD_EXEC_PID` names (systemd.exec(5)); a shell started by a unit inherits
    ///     the variable with another number.
    ///   - cgroup: what /proc/self/cgroup says; a unit of the system has no user's manager.
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

    private static func spawn(_ words: [String], _ child: inout pid_t) -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: CInt in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that the watcher ignores or blocks are the child's again.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes, Int16(CN_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ)
    }
}
