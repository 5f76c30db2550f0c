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

    /// Reads a text. libpq reads it again when it connects, and checks the values. A problem tells the place of what is wrong
    /// and, but for a misspelt keyword, no part of the text: any other may belong to a password (I9).
    public init(_ text: String) throws(Problem) {
        self.text = text
        guard !text.utf8.contains(0) else { throw Problem(detail: "must hold no NUL character") }
        let keywords = try Self.isURL(text) ? Self.url(text) : Self.pairs(text)
        if keywords.isEmpty { throw Problem(detail: "names no database; write \"host=db dbname=vedette\"") }
        if Self.holdsSecret(keywords) { throw Self.password }
        for keyword in keywords where !Self.keywords.contains(keyword.name) {
            guard let meant = suggestion(for: keyword.name, among: Self.keywords.sorted()) else {
                throw Problem(detail: "has an unknown keyword; look at libpq's list")
            }
            throw Problem(detail: "has the unknown keyword '\(keyword.name)'; did you mean '\(meant)'?")
        }
        let values = Dictionary(keywords.map { ($0.name, $0.value) }) { _, last in last }
        func value(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        for port in value("port")?.split(separator: ",") ?? [] where UInt16(port) ?? 0 == 0 {
            throw Problem(detail: "has a port that is no number from 1 to 65535")
        }
        let database = value("dbname") ?? value("service").map { "service \($0)" } ?? value("user") ?? "its default"
        let host = value("host") ?? value("hostaddr")
        location =
            "PostgreSQL database \(database)"
            + (host.map { " on \($0)" } ?? "") + (value("port").map { " port \($0)" } ?? "")
    }

    private typealias Keywords = [(name: String, value: String)]

    private static let password = Problem(
        detail: "must hold no password; write {journal: {postgres: …, password: {credential: NAME}}} in 'settings', or "
            + "name a 'passfile'")

    private static func holdsSecret(_ keywords: Keywords) -> Bool { keywords.contains { secrets.contains($0.name) } }

    /// Reads `keyword = value …`; a value with spaces is in single quotes, and a backslash escapes.
    private static func pairs(_ text: String) throws(Problem) -> Keywords {
        var keywords: Keywords = []
        var rest = text.unicodeScalars[...]
        func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }
        // What follows a password with a space in it is a part of the password.
        func problem(_ detail: String) -> Problem { holdsSecret(keywords) ? password : Problem(detail: detail) }
        while true {
            rest = rest.drop(while: isSpace)
            if rest.isEmpty { return keywords }
            let place = keywords.count + 1
            let name = String(String.UnicodeScalarView(rest.prefix { $0 != "=" && !isSpace($0) }))
            rest = rest.drop { $0 != "=" && !isSpace($0) }.drop(while: isSpace)
            guard rest.first == "=" else {
                throw problem("lacks '=' after the keyword in place \(place); write \"host=db dbname=vedette\"")
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
            keywords.append((name, String(value)))
            if isOpen { throw problem("lacks a closing quote after the keyword in place \(place)") }
        }
    }

    /// Reads `postgres://user@host:port/dbname?keyword=value&…`.
    private static func url(_ text: String) throws(Problem) -> Keywords {
        guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else { return [] }
        let rest = text.dropFirst(scheme.count)
        let (login, address) = try split(rest)
        var keywords: Keywords = []
        if let login { keywords.append(("user", FormEncoding.decoded(login))) }
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = (parts.first ?? "").split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        // Several hosts are separated by commas; each may have a port, and an address of IPv6 is in brackets.
        let hosts = (path.first ?? "").split(separator: ",").map { host -> (name: Substring, port: Substring?) in
            guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return (host, nil) }
            return (host[..<colon], host[host.index(after: colon)...])
        }
        keywords.append(("host", hosts.map { FormEncoding.decoded($0.name) }.joined(separator: ",")))
        keywords.append(("port", hosts.compactMap { $0.port.map(String.init) }.joined(separator: ",")))
        if path.count > 1 { keywords.append(("dbname", FormEncoding.decoded(path[1]))) }
        return keywords + (try parts.count > 1 ? query(parts[1]) : [])
    }

    /// Splits what follows the scheme at the last `@`.
    ///
    /// libpq wants `/` in a password written as `%2F`. One that is not would make the rest of the password a path, so an `@`
    /// behind the address is refused, too.
    /// - Returns: user and password, nil when there are none; and the rest.
    private static func split(_ text: Substring) throws(Problem) -> (login: Substring?, address: Substring) {
        guard let at = text.lastIndex(of: "@") else { return (nil, text) }
        let login = text[..<at]
        if login.contains(":") { throw password }
        if login.contains(where: { "/?#".contains($0) }) {
            throw Problem(
                detail:
                    "has an '@' behind '/', '?' or '#'; it must hold no password, and any other '@' is written as %40")
        }
        return (login, text[text.index(after: at)...])
    }

    /// Reads `keyword=value&…`.
    private static func query(_ text: Substring) throws(Problem) -> Keywords {
        var keywords: Keywords = []
        for pair in text.split(separator: "&") {
            let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2 else {
                let place = "behind '?' in place \(keywords.count + 1)"
                throw Problem(detail: "lacks '=' \(place); write postgres://HOST/DATABASE?KEYWORD=VALUE")
            }
            // An alias of libpq, for the URLs of JDBC.
            let name = words[0] == "ssl" ? "sslmode" : FormEncoding.decoded(words[0])
            keywords.append((name, FormEncoding.decoded(words[1])))
        }
        return keywords
    }
}
