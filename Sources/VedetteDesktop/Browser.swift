// SPDX-License-Identifier: Apache-2.0

import CNotify
import Glibc

/// The user's browser.
enum Browser {
    /// Opens an http or https URL with `xdg-open`: no shell, nothing of this process's descriptors, a session of its
    /// own that outlives the watcher. For the notifier's thread, which collects the child when it ends.
    static func open(_ link: String) {
        guard let link = Bubble.webLink(link) else { return }
        var child = pid_t()
        // Nobody is left to tell when it fails: the user sees that nothing opens.
        if spawn(["xdg-open", link], &child) == 0 { cn_collect(child) }
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
