// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a secret of the configuration: a literal in a private file, or a map that names the place where it is kept.
final class SecretReader {
    let environment: [String: String]
    /// Whether secrets are read; else each has an empty value, and none that cannot be read is an error.
    let reads: Bool
    let findings: Findings
    /// What the programs of `command:` printed; nil while they are only collected.
    private let answers: [[String]: SecretCommands.Answer]?
    /// The programs that were found while they were collected.
    private(set) var commands: [[String]] = []
    /// The secrets of files, with those that are read from a netrc file.
    private(set) var watched: [WatchedSecret] = []
    /// Each origin is read once, however often it is named.
    private var known: [SecretOrigin: Secret?] = [:]

    /// - Parameter answers: nil to collect programs; their secrets are then no real ones.
    init(
        environment: [String: String], findings: Findings, answers: [[String]: SecretCommands.Answer]? = [:],
        reads: Bool = true
    ) {
        (self.environment, self.findings, self.answers, self.reads) = (environment, findings, answers, reads)
    }

    private var values: ValueReader { ValueReader(secrets: self) }

    /// - Parameter what: `'password'`.
    func secret(_ node: YAMLNode, _ what: String) -> Secret? {
        if node.isMap { return origin(node, what).flatMap { read($0, node.place) } }
        guard let text = values.text(node, what) else { return nil }
        guard node.source.file.isPrivate else {
            findings.error(
                node.place,
                "\(what) stands in a file that others can read; "
                    + "write 'chmod 600 \(node.source.file.path)', or {env: NAME} here")
            return nil
        }
        guard !text.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" || $0 == "\0" }), !text.isEmpty else {
            findings.error(node.place, "\(what) must be one line of text")
            return nil
        }
        return Secret(text)
    }

    private func read(_ origin: SecretOrigin, _ place: Place) -> Secret? {
        guard reads else { return Secret("") }
        if let secret = known[origin] { return secret }
        var secret: Secret?
        do throws(SecretOrigin.Problem) {
            let (value, warning) = try answer(origin)
            if let warning { findings.warn(place, warning) }
            let environment = environment
            let read = Secret(value) { await origin.readAgain(environment) }
            if let path = origin.path(environment) { watch(read, in: path) }
            secret = read
        } catch {
            findings.error(place, error.detail, mayPass: origin.mayAppear(environment))
        }
        known[origin] = .some(secret)
        return secret
    }

    /// Notes that a secret is read from a file.
    func watch(_ secret: Secret, in path: String) { watched.append(WatchedSecret(secret, in: path)) }

    private func answer(_ origin: SecretOrigin) throws(SecretOrigin.Problem) -> SecretOrigin.Answer {
        guard let program = origin.program(environment) else { return try origin.read(environment) }
        guard let answers else {
            commands.append(program)
            return ("collected", nil)
        }
        guard let answer = answers[program] else { return try origin.read(environment) }
        do throws(SecretOrigin.Problem) {
            return (try answer.get(), nil)
        } catch {
            throw origin.problem(error, environment)
        }
    }

    private func origin(_ node: YAMLNode, _ what: String) -> SecretOrigin? {
        guard let map = MapReader(node, what, keys: ConfigurationKeys.secret, values) else { return nil }
        let given = ConfigurationKeys.secret.map(\.name).filter(map.has)
        guard given.count == 1, let name = given.first else {
            if !given.isEmpty || node.isEmpty {
                findings.error(node.place, "\(what) takes one of 'env', 'file', 'credential', 'command'")
            }
            return nil
        }
        switch name {
        case "env": return map.text(name).map { .environment($0) }
        case "file": return map.path(name).map { .file($0) }
        case "command": return map.node(name).flatMap(command)
        default:
            guard let text = map.text(name) else { return nil }
            guard !text.isEmpty, !text.contains("/"), text != ".", text != ".." else {
                map.refuse(name, "'credential' is a name without '/'; write {file: PATH} for a path")
                return nil
            }
            return .credential(text)
        }
    }

    private func command(_ node: YAMLNode) -> SecretOrigin? {
        guard node.isList else {
            findings.error(
                node.place, "'command' is a list of program and arguments, as [pass, show, lab]; no shell reads it")
            return nil
        }
        guard let words = node.elements("'command'", findings) else { return nil }
        let arguments = words.compactMap { values.text($0, "'command'") }
        guard arguments.count == words.count else { return nil }
        guard let program = arguments.first, !program.isEmpty, !arguments.contains(where: { $0.contains("\0") }) else {
            findings.error(node.place, "'command' must begin with a program")
            return nil
        }
        return .command(arguments)
    }
}
