// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What libpq or the server reported.
struct PostgresError: Error, Hashable {
    enum Cause: Hashable {
        /// No connection could be made.
        case connect
        /// The connection ended, or the server did not answer in time.
        case lost
        /// The server refused a statement, with this SQLSTATE.
        case statement(state: String)
    }

    /// The SQLSTATE of damaged data.
    static let dataCorrupted = "XX001"

    var cause: Cause
    var message: String

    init(_ cause: Cause, _ message: String) { (self.cause, self.message) = (cause, message) }

    /// Whether the connection cannot be used any more. After a fail-over it may lead to a server that only reads.
    var endsConnection: Bool {
        switch cause {
        case .connect, .lost: true
        case .statement(let state):
            state.hasPrefix("08") || state.hasPrefix("57P") || state == "25006" || state == "25P03"
        }
    }

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
        case "42P01", "3F000":
            return JournalError(
                .missing, "there is no journal in \(location) yet: start 'vedette run' first, or check the address")
        case "42P07":
            return JournalError(
                .corrupt,
                "\(location) holds another program's tables (\(message)): give Vedette a database or a schema of its own"
            )
        case _ where state.hasPrefix("XX"):
            return JournalError(
                .corrupt, "\(subject) is damaged (\(message)): look at the server's log, and restore a backup")
        case _ where state.hasPrefix("22") || state.hasPrefix("23") || state.hasPrefix("54"):
            return JournalError(.refused, "\(subject) refused a record (\(message))")
        default:
            return JournalError(.inputOutput, "\(subject) failed (\(message), \(state)): look at the server's log")
        }
    }
}
