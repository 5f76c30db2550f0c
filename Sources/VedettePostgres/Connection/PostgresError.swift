// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What libpq or the server reported.
struct PostgresError: Error, Hashable {
    enum Cause: Hashable {
        /// No connection could be made.
        case connect
        /// No connection could be made, although the server was sent the password that it asked for.
        case password
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
        case .connect, .password, .lost: true
        case .statement(let state):
            state.hasPrefix("08") || state.hasPrefix("57P") || state == "25006" || state == "25P03"
        }
    }
}
