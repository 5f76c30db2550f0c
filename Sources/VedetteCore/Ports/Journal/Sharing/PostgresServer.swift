// SPDX-License-Identifier: Apache-2.0

/// Where a journal on PostgreSQL is, and the password for it.
public struct PostgresServer: Sendable {
    /// What libpq is told, as keywords and values or as a URL; it holds no password.
    public var connection: ConnectionString
    /// Nil where the server asks for none, or where libpq finds one (`passfile`, `service`).
    public var password: Secret?

    /// Creates a value.
    public init(_ connection: ConnectionString, password: Secret? = nil) {
        (self.connection, self.password) = (connection, password)
    }
}
