// SPDX-License-Identifier: Apache-2.0

/// Where a database is, as libpq reads it: keywords and values (`host=db dbname=vedette`) or a URL
/// (`postgres://db/vedette`), by https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING. It holds no
/// password, since a process list and a log show it (I9).
public struct ConnectionString: Sendable, Hashable {
    /// Why a text is refused.
    public struct Problem: Error, Hashable {
        /// What is wrong and what to write instead, to follow the name of the value.
        public let detail: String
    }

    /// The text as it was given.
    public let text: String
    /// What a person is shown: the database, its host and its port.
    public let location: String

    /// Whether a text is meant as the URL of a database.
    public static func isURL(_ text: String) -> Bool { schemes.contains { text.hasPrefix($0) } }

    private static let schemes = ["postgres://", "postgresql://"]
    private static let secrets: Set = ["password", "sslpassword"]

    /// The keywords of libpq 15 to 18.
    static let keywords: Set = [
        "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "require_auth", "channel_binding",
        "connect_timeout", "client_encoding", "options", "application_name", "fallback_application_name", "keepalives",
        "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout", "replication", "gssencmode",
        "sslmode", "requiressl", "sslnegotiation", "sslcompression", "sslcert", "sslkey", "sslpassword",
        "sslcertmode", "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "requirepeer", "ssl_min_protocol_version",
        "ssl_max_protocol_version", "krbsrvname", "gsslib", "gssdelegation", "service", "target_session_attrs",
        "load_balance_hosts",
    ]

    /// Reads a text. libpq reads it again when it connects, and checks the values.
    public init(_ text: String) throws(Problem) {
        self.text = text
        guard !text.utf8.contains(0) else { throw Problem(detail: "must hold no NUL character") }
        let values = try Self.isURL(text) ? Self.url(text) : Self.pairs(text)
        if values.isEmpty { throw Problem(detail: "names no database; write \"host=db dbname=vedette\"") }
        for name in values.keys.sorted() where !Self.keywords.contains(name) {
            let meant = suggestion(for: name, among: Self.keywords.sorted()).map { "; did you mean '\($0)'?" } ?? ""
            throw Problem(detail: "has the unknown keyword '\(name)'\(meant)")
        }
        if values.keys.contains(where: Self.secrets.contains) {
            throw Problem(
                detail: "must hold no password; write {journal: {postgres: …, password: {credential: NAME}}} in "
                    + "'settings', or name a 'passfile'")
        }
        func value(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        let database = value("dbname") ?? value("service").map { "service \($0)" } ?? value("user") ?? "its default"
        let host = value("host") ?? value("hostaddr")
        location =
            "PostgreSQL database \(database)"
            + (host.map { " on \($0)" } ?? "") + (value("port").map { " port \($0)" } ?? "")
    }

    /// Reads `keyword = value …`; a value with spaces is in single quotes, and a backslash escapes.
    private static func pairs(_ text: String) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        var rest = text.unicodeScalars[...]
        func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }
        while true {
            rest = rest.drop(while: isSpace)
            if rest.isEmpty { return values }
            let name = String(String.UnicodeScalarView(rest.prefix { $0 != "=" && !isSpace($0) }))
            rest = rest.drop { $0 != "=" && !isSpace($0) }.drop(while: isSpace)
            guard rest.first == "=" else {
                throw Problem(detail: "lacks '=' after '\(name)'; write \"host=db dbname=vedette\"")
            }
            rest = rest.dropFirst().drop(while: isSpace)
            let isQuoted = rest.first == "'"
            if isQuoted { rest = rest.dropFirst() }
            var (value, isOpen) = (String.UnicodeScalarView(), isQuoted)
            while let scalar = rest.popFirst() {
                if isQuoted ? scalar == "'" : isSpace(scalar) {
                    isOpen = false
                    break
                }
                value.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
            }
            if isOpen { throw Problem(detail: "lacks a closing quote after '\(name)'") }
            values[name] = String(value)
        }
    }

    /// Reads `postgres://user@host:port/dbname?keyword=value&…`.
    private static func url(_ text: String) throws(Problem) -> [String: String] {
        guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else { return [:] }
        var values: [String: String] = [:]
        let parts = text.dropFirst(scheme.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = (parts.first ?? "").split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var authority = path.first ?? ""
        if let at = authority.lastIndex(of: "@") {
            let login = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            authority = authority[authority.index(after: at)...]
            values["user"] = login.first.map(FormEncoding.decoded)
            if login.count > 1 { values["password"] = "" }
        }
        // Several hosts are separated by commas; each may have a port, and an address of IPv6 is in brackets.
        let hosts = authority.split(separator: ",").map { host -> (name: Substring, port: Substring?) in
            guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return (host, nil) }
            return (host[..<colon], host[host.index(after: colon)...])
        }
        values["host"] = hosts.map { FormEncoding.decoded($0.name) }.joined(separator: ",")
        values["port"] = hosts.compactMap { $0.port.map(String.init) }.joined(separator: ",")
        if path.count > 1 { values["dbname"] = FormEncoding.decoded(path[1]) }
        for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2 else {
                throw Problem(detail: "lacks '=' in '\(pair)'; write postgres://HOST/DATABASE?KEYWORD=VALUE")
            }
            // An alias of libpq, for the URLs of JDBC.
            let name = words[0] == "ssl" ? "sslmode" : FormEncoding.decoded(words[0])
            values[name] = FormEncoding.decoded(words[1])
        }
        return values
    }
}
