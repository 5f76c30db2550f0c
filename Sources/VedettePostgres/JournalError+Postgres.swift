// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension PostgresError {
    /// Translates the error into a sentence with a remedy (https://www.postgresql.org/docs/15/errcodes-appendix.html).
    func journalError(_ location: String) -> JournalError {
        let subject = "the journal \(location)"
        guard case .statement(let state) = cause, !endsConnection else {
            return JournalError(
                .unavailable,
                "\(subject) does not answer (\(message)): check that PostgreSQL runs and accepts this connection")
        }
        switch state {
        case "42501":
            return JournalError(
                .readOnly, "\(subject) cannot be written (\(message)): grant this user the rights on its schema")
        case "53100": return JournalError(.full, "the disk of \(location) is full (\(message)): make room there")
        case "55P03", "57014", "40001", "40P01":
            return JournalError(
                .busy, "\(subject) stays locked or answers too slowly (\(message)): end what holds its locks")
        case "53200":
            return JournalError(.busy, "\(subject) has no memory for a record (\(message)): look at the server's log")
        case "42P01", "3F000":
            return .missing(location)
        case "42P07":
            return JournalError(
                .corrupt,
                "\(location) holds another program's tables (\(message)): give Vedette a database or a schema of its own"
            )
        case _ where state.hasPrefix("XX"):
            return JournalError(
                .corrupt, "\(subject) is damaged (\(message)): look at the server's log, and restore a backup")
        // Data, constraints, limits of the server, and what a trigger of the operator's raises.
        case _ where ["22", "23", "54", "P0"].contains(state.prefix(2)):
            return JournalError(.refused, "\(subject) refused a record (\(message))")
        default:
            return JournalError(.inputOutput, "\(subject) failed (\(message), \(state)): look at the server's log")
        }
    }
}

extension JournalError {
    static func missing(_ location: String) -> JournalError {
        JournalError(
            .missing, "there is no journal in \(location) yet: start 'vedette run' first, or check the address")
    }

    static func older(_ location: String) -> JournalError {
        JournalError(
            .older,
            "the journal \(location) was written by an earlier Vedette: the next 'vedette run' brings it up to date")
    }

    static func unreleased(_ location: String, _ column: String) -> JournalError {
        JournalError(
            .corrupt,
            "the journal \(location) was written by a Vedette from before the release, which had other tables (it lacks "
                + "\(column)): delete its tables to begin with an empty journal, or use that program")
    }

    /// - Parameters:
    ///   - version: of its tables.
    ///   - known: the newest version that this program knows.
    static func newer(_ location: String, version: Int, known: Int) -> JournalError {
        JournalError(
            .newer,
            "the journal \(location) was written by a later Vedette (schema \(version), known: \(known)): "
                + "use that version, or another database")
    }

    /// - Parameters:
    ///   - version: of its tables.
    ///   - known: the newest version that this program knows.
    static func upgraded(version: Int, known: Int) -> JournalError {
        JournalError(
            .newer,
            "a later Vedette has upgraded the journal (schema \(version), known: \(known)): "
                + "install that version here, too, and start it")
    }

    static func unfinishedCopy(_ location: String) -> JournalError {
        JournalError(
            .missing,
            "the copy of a journal into \(location) did not end: repeat 'vedette journal copy', or delete its tables")
    }

    static func occupied(_ location: String) -> JournalError {
        JournalError(
            .readOnly,
            "\(location) holds a journal already: choose another schema, or compare the two with "
                + "'vedette journal verify'")
    }

    static func otherCopy(_ location: String) -> JournalError {
        JournalError(.readOnly, "\(location) holds a copy that another version began: delete its tables")
    }

    static func copyRuns(_ location: String) -> JournalError {
        JournalError(.busy, "another copy into \(location) runs, or a watcher starts there: wait for its end")
    }

    static func noSchema(_ location: String) -> JournalError {
        JournalError(.missing, "\(location) has no schema of the 'search_path': create it first")
    }
}
