// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The configured sources, and which of them this watcher polls.
struct SourceShare {
    /// All of them, also those that other watchers poll.
    var configured: [Source]
    /// The sources that this watcher holds; nil where no other watcher polls any.
    var held: Set<String>?

    /// Whether other watchers share the journal.
    var isShared: Bool { held != nil }

    /// The configured sources that this watcher polls.
    var polled: [Source] { polled(of: configured) }

    func polled(of sources: [Source]) -> [Source] { sources.filter { held?.contains($0.name) ?? true } }
}
