// SPDX-License-Identifier: Apache-2.0

import CNotify
import Glibc

/// The user's browser.
enum Browser {
    /// Opens an http or https URL with `xdg-open`: no shell, nothing of this process's descriptors, nobody waits for
    /// it. GLib forks twice here, so no child is left for this process to collect.
    static func open(_ link: String) {
        guard let link = Bubble.webLink(link) else { return }
        var arguments: [UnsafeMutablePointer<gchar>?] = [strdup("xdg-open"), strdup(link), nil]
        defer { for argument in arguments { free(argument) } }
        let flags = GSpawnFlags(
            G_SPAWN_SEARCH_PATH.rawValue | G_SPAWN_STDOUT_TO_DEV_NULL.rawValue | G_SPAWN_STDERR_TO_DEV_NULL.rawValue)
        // Nobody is left to tell when it fails: the user sees that nothing opens, and `doctor` looks for the program.
        _ = callingGLib { g_spawn_async(nil, &arguments, nil, flags, nil, nil, nil, $0) }
    }
}
