// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// The files of a journal, in a directory of its own.
struct JournalFiles: Sendable, Hashable {
    static let databaseName = "journal.db"
    static let lockName = "vedette.lock"

    let directory: String
    /// The name of the database in its directory.
    let name: String

    init(directory: String, name: String = databaseName) { (self.directory, self.name) = (directory, name) }

    var database: String { "\(directory)/\(name)" }
    var lock: String { "\(directory)/\(JournalFiles.lockName)" }

    /// Creates the missing directories with mode 0700 (XDG Base Directory Specification 0.8).
    func createDirectory() throws(JournalError) {
        var path = directory.hasPrefix("/") ? "/" : ""
        for part in directory.split(separator: "/") {
            path += (path.isEmpty || path.hasSuffix("/") ? "" : "/") + part
            guard mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            let code = errno
            // mkdir(2) gives these codes also for a directory that exists below one that is not writable.
            if code == EROFS || code == EACCES, access(path, F_OK) == 0 { continue }
            throw JournalError.system(
                code, "failed to create the directory \(path)", "create it, or choose another --state")
        }
    }

    /// Creates the missing directories, and an empty database file with mode 0600, which SQLite's other files inherit.
    func create() throws(JournalError) {
        try createDirectory()
        let file = Glibc.open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw JournalError.system(
                errno, "the journal \(database) cannot be opened for writing", "check its owner and mode")
        }
        Glibc.close(file)
    }

    /// Creates an empty file that only its owner can read.
    /// - Throws: `.readOnly` where it exists or cannot be created.
    static func newFile(_ path: String) throws(JournalError) -> JournalFiles {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let code = errno
            throw JournalError(
                .readOnly, "failed to create \(path) (\(String(cString: strerror(code)))): choose a new file")
        }
        Glibc.close(file)
        let (directory, name) =
            path.lastIndex(of: "/").map { (path[..<$0], path[path.index(after: $0)...]) } ?? (".", path[...])
        return JournalFiles(directory: directory.isEmpty ? "/" : String(directory), name: String(name))
    }

    /// Deletes a copy that is not finished, with SQLite's file beside it.
    func deleteCopy() {
        for path in [database, database + "-journal"] { unlink(path) }
    }

    /// The size of a file in bytes; 0 where there is none.
    static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// What happened to a journal, for those who watch its directory.
    enum Change {
        /// The watcher committed something.
        case commit
        /// A command changed something and wrote control requests.
        case requests
    }

    /// Wakes the readers, and for `.requests` the watcher too, by touching a file that they watch. The writes of the
    /// commit itself would wake them too early: with synchronous=FULL others see a commit only after the last write was
    /// flushed.
    func notify(_ change: Change) {
        switch change {
        case .commit: _ = utimensat(AT_FDCWD, lock, nil, 0)
        case .requests: _ = utimensat(AT_FDCWD, database, nil, 0)
        }
    }

    /// Refuses a network file system: its locks are not reliable, and SQLite's shared memory does not work over it
    /// (https://www.sqlite.org/wal.html, "All processes using a database must be on the same host computer").
    func requireLocal() throws(JournalError) {
        guard let name = MountTable.network(at: directory) else { return }
        throw JournalError(
            .readOnly,
            "the state directory \(directory) is on a network file system (\(name)), where a journal is not safe: "
                + "choose a --state on a local disk")
    }

    /// Free bytes of the file system; nil when unknown.
    var free: UInt64? {
        var status = statvfs()
        return statvfs(directory, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : nil
    }

    /// The file that is at the database's path now.
    var identity: FileIdentity? {
        var status = stat()
        guard stat(database, &status) == 0 else { return nil }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size))
    }
}

struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int64

    func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }
}

extension JournalFiles {
    /// Which changes wake.
    enum WakeReason {
        /// Changes by commands only.
        case requests
        /// Commits, changes by commands, another journal in this place, the end of the watcher.
        case all
    }

    /// Wakes one consumer when the journal changed. A wake-up is a hint: it may come for nothing, and several may come as one.
    /// The watch ends with its consumer.
    /// - Parameter fallback: the longest time between two wake-ups, for a file system that reports nothing; nil for no limit.
    func wakes(for reason: WakeReason, fallback: Duration? = .seconds(5)) throws(JournalError) -> AsyncStream<Void> {
        // The end of the watcher closes the lock file, which it has open for writing.
        let names = [JournalFiles.databaseName] + (reason == .all ? [JournalFiles.lockName] : [])
        guard let watch = DirectoryWatch([directory], files: names, reportsStart: true, fallback: fallback) else {
            throw JournalError.system(
                errno, "failed to watch \(directory)", "raise the limits of open files and threads")
        }
        return watch.changes
    }
}
