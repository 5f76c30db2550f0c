// SPDX-License-Identifier: Apache-2.0

import Glibc
import GRDB
import VedetteCore

extension JournalError {
    /// Translates an `errno` that was read where the call failed.
    static func system(_ code: Int32, _ what: String, _ remedy: String) -> JournalError {
        let reason: Reason =
            switch code {
            case ENOSPC, EDQUOT: .full
            case EROFS, EACCES, EPERM, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG: .readOnly
            case ENOENT: .missing
            default: .inputOutput
            }
        return JournalError(reason, "\(what) (\(String(cString: strerror(code)))): \(remedy)")
    }

    /// Why there is nothing at the database's path.
    static func absent(_ files: JournalFiles) -> JournalError {
        files.identity == nil && errno == EACCES ? denied(files) : missing(files)
    }

    static func missing(_ files: JournalFiles) -> JournalError {
        JournalError(.missing, "there is no journal \(files.database) yet: start 'vedette run' first, or check --state")
    }

    static func denied(_ files: JournalFiles) -> JournalError {
        JournalError(
            .denied,
            "the journal \(files.database) cannot be read (permission denied): run the command as the user of the watcher, "
                + "or with sudo")
    }

    static func older(_ files: JournalFiles) -> JournalError {
        JournalError(
            .older,
            "the journal \(files.database) was written by an earlier Vedette: the next 'vedette run' brings it up to date"
        )
    }

    static func unreleased(_ files: JournalFiles, _ column: String) -> JournalError {
        JournalError(
            .corrupt,
            "the journal \(files.database) was written by a Vedette from before the release, which had other tables (it lacks "
                + "\(column)): move the file away to begin with an empty journal, or use that program")
    }

    static func corrupt(_ files: JournalFiles, _ what: String) -> JournalError {
        JournalError(
            .corrupt,
            "the journal \(files.database) is damaged (\(what)): stop the watcher, then save what can be read with "
                + "'vedette journal repair', or restore a backup")
    }

    static func foreign(_ files: JournalFiles) -> JournalError {
        JournalError(
            .corrupt, "the file \(files.database) is another program's database: choose another --state")
    }

    /// Translates an error of SQLite into a sentence with a remedy.
    static func from(_ error: any Error, _ files: JournalFiles) -> JournalError {
        if let error = error as? JournalError { return error }
        if let error = error as? UnreadableRow { return corrupt(files, error.text) }
        guard let error = error as? DatabaseError else {
            return JournalError(.inputOutput, "the journal \(files.database) failed: \(error)")
        }
        let path = files.database
        let message = error.message ?? "SQLite code \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_FULL: return full(files)
        // A disk that fills under a write of SQLite's is an I/O error to it.
        case .SQLITE_IOERR where (files.free ?? .max) < 65_536: return full(files)
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            return JournalError(
                .readOnly, "the journal \(path) cannot be written (\(message)): check its owner, mode and file system")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return corrupt(files, message)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return JournalError(
                .busy, "the journal \(path) stays locked by another program: end its sqlite3 shell or backup")
        case .SQLITE_CANTOPEN where files.identity == nil: return absent(files)
        case .SQLITE_CONSTRAINT, .SQLITE_TOOBIG, .SQLITE_MISMATCH:
            return JournalError(.refused, "the journal \(path) refused a record (\(message))")
        case .SQLITE_CANTOPEN where access(path, R_OK) != 0 && errno == EACCES: return denied(files)
        case .SQLITE_CANTOPEN:
            return JournalError(
                .readOnly, "the journal \(path) cannot be opened (\(message)): check its owner and mode")
        default:
            return JournalError(.inputOutput, "the journal \(path) failed (\(message)): look at the disk and its log")
        }
    }

    private static func full(_ files: JournalFiles) -> JournalError {
        JournalError(
            .full, "the disk that holds \(files.database) is full: make room; nothing was lost or half written")
    }
}
