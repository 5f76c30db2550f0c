// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads what a login sends: the fields of a form, or JSON. A value whose name tells that it is a secret must be one.
struct LoginFieldReader {
    let values: ValueReader

    private var findings: Findings { values.findings }

    private static let secretWords = ["pass", "secret", "token", "pin"]
    private static let origins = Set(ConfigurationKeys.secret.map(\.name))

    func field(_ entry: YAMLEntry) -> LoginForm.Field? {
        let what = "'\(entry.name)' of 'fields'"
        if entry.value.isMap || isSecret(entry.name) {
            return values.secrets.secret(entry.value, what).map { LoginForm.Field(entry.name, .secret($0)) }
        }
        return values.text(entry.value, what).map { LoginForm.Field(entry.name, .plain($0)) }
    }

    /// Reads JSON with secrets in it, in the pieces of `TokenLogin.Body.json`.
    func json(_ node: YAMLNode, _ what: String) -> [Header.Content]? {
        guard node.isMap || node.isList else {
            findings.error(node.place, "\(what) must be a map or a list, not \(node.noun)")
            return nil
        }
        return pieces(node, what, name: "")
    }

    private func isSecret(_ name: String) -> Bool { Self.secretWords.contains(where: name.lowercased().contains) }

    private func pieces(_ node: YAMLNode, _ what: String, name: String) -> [Header.Content]? {
        if node.isMap {
            let keys = node.keys.compactMap(\.text)
            if keys.count == 1, Self.origins.contains(keys[0]) { return secret(node, what) }
            guard let entries = node.entries(what, findings) else { return nil }
            let members = entries.compactMap { entry in
                pieces(entry.value, "'\(entry.name)' of \(what)", name: entry.name).map {
                    [Header.Content.plain(JSON.string(entry.name).text + ":")] + $0
                }
            }
            return members.count == entries.count ? joined(members, "{", "}") : nil
        }
        if node.isList {
            guard let elements = node.elements(what, findings) else { return nil }
            let read = elements.compactMap { pieces($0, what, name: "") }
            return read.count == elements.count ? joined(read, "[", "]") : nil
        }
        if let word = JSONValueReader(values: values).word(node) { return [.plain(word.text)] }
        if isSecret(name) { return secret(node, what) }
        return values.text(node, what).map { [.plain(JSON.string($0).text)] }
    }

    private func secret(_ node: YAMLNode, _ what: String) -> [Header.Content]? {
        values.secrets.secret(node, what).map { [.secret($0)] }
    }

    private func joined(_ parts: [[Header.Content]], _ open: String, _ close: String) -> [Header.Content] {
        var all: [Header.Content] = [.plain(open)]
        for (i, part) in parts.enumerated() {
            if i > 0 { all.append(.plain(",")) }
            all += part
        }
        all.append(.plain(close))
        return all
    }
}
