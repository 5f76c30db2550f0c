// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// Puts a repaired journal in the place of the damaged one, which is kept beside it with its log.
///
/// A log belongs to the file of its name, so both must change at once, and no call does that. Therefore the name of the new
/// file marks a replacement that has begun, and whoever opens the journal next for writing finishes it: each step may be made
/// twice, and is on the disk before the next one that needs it.
struct JournalReplacement {
    private static let prefix = "journal.replacing-"
    private static let suffix = ".db"

    private let files: JournalFiles
    private let stamp: String

    /// Where the damaged journal is kept.
    var kept: String { "\(files.directory)/journal.damaged-\(stamp).db" }
    private var new: String { files.directory + "/" + JournalReplacement.prefix + stamp + JournalReplacement.suffix }

    /// Begins one. From here on the damaged journal is not used any more.
    /// - Parameters:
    ///   - fresh: the repaired journal, closed.
    ///   - stamp: a part of the names of files.
    init(of files: JournalFiles, by fresh: String, stamp: String) throws(JournalError) {
        (self.files, self.stamp) = (files, stamp)
        try files.flush(fresh)
        try files.attempt(to: "move \(fresh)") { rename(fresh, new) }
        try files.flush(files.directory)
    }

    /// Finds one that was interrupted; nil for none.
    init?(interruptedIn files: JournalFiles) {
        guard let directory = opendir(files.directory) else { return nil }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard name.hasPrefix(JournalReplacement.prefix), name.hasSuffix(JournalReplacement.suffix) else { continue }
            let stamp = name.dropFirst(JournalReplacement.prefix.count).dropLast(JournalReplacement.suffix.count)
            (self.files, self.stamp) = (files, String(stamp))
            return
        }
        return nil
    }

    /// The steps, in their order.
    enum Step: CaseIterable {
        case keepDatabase, moveLog, moveIndex
        /// Else the new file could be on the disk beside the old log, which SQLite would apply to it.
        case flushMoves
        case replace, flushReplacement
    }

    /// Makes one step. The caller holds the journal's lock.
    func make(_ step: Step) throws(JournalError) {
        switch step {
        case .keepDatabase:
            try files.attempt(to: "keep \(files.database) as \(kept)") {
                link(files.database, kept) == 0 || errno == EEXIST ? 0 : -1
            }
        case .moveLog: try move("-wal")
        case .moveIndex: try move("-shm")
        case .flushMoves, .flushReplacement: try files.flush(files.directory)
        case .replace: try files.attempt(to: "move \(new)") { rename(new, files.database) }
        }
    }

    func finish() throws(JournalError) {
        for step in Step.allCases { try make(step) }
    }

    /// A file that is kept already is the right one: SQLite may have made another beside the damaged journal since then.
    private func move(_ suffix: String) throws(JournalError) {
        let file = files.database + suffix
        guard access(file, F_OK) == 0 else { return }
        if access(kept + suffix, F_OK) == 0 {
            try files.attempt(to: "remove \(file)") { unlink(file) }
        } else {
            try files.attempt(to: "move \(file)") { rename(file, kept + suffix) }
        }
    }
}

extension JournalFiles {
    /// Refuses a journal whose repair was interrupted: beside the damaged file its log may be missing.
    func requireReplaced() throws(JournalError) {
        guard JournalReplacement(interruptedIn: self) != nil else { return }
        throw JournalError(
            .corrupt,
            "the repair of the journal \(database) did not end: run 'vedette journal repair' again, or start 'vedette run'; "
                + "both finish it")
    }
}
