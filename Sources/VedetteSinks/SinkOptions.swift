// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension OptionSpec {
    /// The same keys as a server's `tls:`.
    static let tls = OptionSpec(
        "tls", .tls, "How the receiver's certificate is verified, and which certificate is sent to it.")

    /// The option of sinks whose messages can carry links that act on a match.
    static let links = OptionSpec(
        "links", .flag,
        "Each message of a match has links that acknowledge and snooze it on the page at `settings.public_url`; every reader of the message can use them.",
        default: "false")

    /// How long one attempt may take; `Options.timeout` has its bounds.
    static let timeout = OptionSpec("timeout", .duration, "How long one attempt may take.", default: "20s")
}

extension Options {
    /// Returns how long one attempt may take.
    func timeout() throws(OptionProblem) -> Duration {
        let timeout = duration("timeout") ?? .seconds(20)
        guard timeout >= .milliseconds(1), timeout <= .seconds(30) else {
            throw OptionProblem("timeout", detail: "must be longer than nothing and at most 30s")
        }
        return timeout
    }

    /// Returns a text on one line, for a field of a payload or a path.
    func line(_ name: String) throws(OptionProblem) -> String? {
        guard let text = text(name) else { return nil }
        if text.trimmed().isEmpty { throw OptionProblem(name, detail: "is empty; write a value or remove the key") }
        guard !text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            throw OptionProblem(name, detail: "has a line break or control character; write one line")
        }
        return text
    }

    /// Returns the address of the user's own server, or of the service.
    func base(_ name: String = "url", standard: String? = nil) throws(OptionProblem) -> String {
        let url = text(name) ?? secret(name)?.value ?? standard ?? ""
        if let problem = ReceiverURL.problem(url) { throw OptionProblem(name, detail: problem) }
        if url.contains("?") || url.contains("#") {
            throw OptionProblem(name, detail: "is the server's address alone; remove what begins with ? or #")
        }
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// Returns the user and the password.
    func login() throws(OptionProblem) -> Credentials? {
        switch (text("user"), secret("password")) {
        case (let user?, let password?): return Credentials(user: user, password: password)
        case (nil, nil): return nil
        case (_?, nil): throw OptionProblem("user", detail: "needs `password` beside it")
        case (nil, _?): throw OptionProblem("password", detail: "needs `user` beside it")
        }
    }

    /// Returns the token, if it can go into a header.
    func token() throws(OptionProblem) -> Secret {
        let token = secret("token") ?? Secret(text("token") ?? "")
        guard !token.value.isEmpty, token.value.utf8.allSatisfy({ (33...126).contains($0) }) else {
            throw OptionProblem("token", detail: "is empty, or holds a space or a character outside ASCII")
        }
        return token
    }
}
