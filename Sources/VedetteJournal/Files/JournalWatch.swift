// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// Wakes a task when a journal changed. A wake-up is a hint: it may come for nothing, and several may come as one.
struct JournalWatch {
    /// Which changes wake.
    enum Interest {
        /// Changes by commands only.
        case requests
        /// Commits, changes by commands, another journal in this place, the end of the watcher.
        case all
    }

    /// For one consumer. The watch ends with its consumer.
    let wakes: AsyncStream<Void>

    /// - Parameter fallback: the longest time between two wake-ups, for a file system that reports nothing; nil for never.
    init(_ files: JournalFiles, _ interest: Interest, fallback: Duration? = .seconds(5)) throws(JournalError) {
        // The end of the watcher closes the lock file, which it has open for writing.
        let names = [JournalFiles.databaseName] + (interest == .all ? [JournalFiles.lockName] : [])
        guard
            let watch = DirectoryWatch([files.directory], files: names, reportsStart: true, fallback: fallback)
        else {
            throw JournalError.system(
                errno, "failed to watch \(files.directory)", "raise the limits of open files and threads")
        }
        wakes = watch.changes
    }
}
