// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// Where a journal lies: a directory of its own, so that a watch on it hears of nothing else.
struct JournalFiles: Sendable, Hashable {
    static let databaseName = "journal.db"
    static let lockName = "vedette.lock"

    let directory: String

    var database: String { "\(directory)/\(JournalFiles.databaseName)" }
    var lock: String { "\(directory)/\(JournalFiles.lockName)" }

    /// Makes the directories that are missing, 0700 each (XDG Base Directory Specification 0.8), and an empty database
    /// file of mode 0600, which SQLite's other files then inherit.
    func create() throws(JournalError) {
        var path = directory.hasPrefix("/") ? "/" : ""
        for part in directory.split(separator: "/") {
            path += (path.isEmpty || path.hasSuffix("/") ? "" : "/") + part
            guard mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            // The system answers so for a directory that exists where nobody may write.
            if errno == EROFS || errno == EACCES, access(path, F_OK) == 0 { continue }
            throw JournalError.system(
                errno, "the directory \(path) cannot be made", "make it, or choose another --state")
        }
        let file = Glibc.open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw JournalError.system(
                errno, "the journal \(database) cannot be opened for writing", "check its owner and mode")
        }
        Glibc.close(file)
    }

    /// Says to those who watch the directory that something was committed. The writes themselves are heard too early:
    /// with synchronous=FULL a commit is seen by others only after the last of them was flushed.
    func ring() {
        _ = utimensat(AT_FDCWD, lock, nil, 0)
    }

    /// Free bytes of the file system; nil when it does not say.
    var free: UInt64? {
        var status = statvfs()
        return statvfs(directory, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : nil
    }

    /// Which file stands at the database's path now.
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
