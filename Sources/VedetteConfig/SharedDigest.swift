// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A digest of what watchers that share a journal must agree on: of maps of the configuration, without secrets. The order of
/// their keys does not count.
struct SharedDigest {
    /// The keys of a server that say how a machine reaches it and logs in there.
    private static let ofMachine: Set = [
        "user", "password", "auth", "netrc", "token", "oauth2", "aws", "session", "tls", "proxy",
    ]
    static let serverKeys = ConfigurationKeys.server.filter { !ofMachine.contains($0.name) }
    static let ruleKeys = ConfigurationKeys.rule.filter { $0.name != "tests" }
    /// What was read without an error is no deeper.
    private static let deepest = 64

    private var digest = StableHash()
    private let findings = Findings()

    var value: UInt64 { digest.value }

    /// Adds entries in the order of their names.
    /// - Parameters:
    ///   - keys: the keys that count.
    ///   - options: further keys, by the name of the kind that has them.
    mutating func add(
        _ noun: String, _ entries: [YAMLEntry], _ keys: [OptionSpec], options: [String: [OptionSpec]] = [:]
    ) {
        let common = SharedDigest.types(keys)
        let ofKinds = options.mapValues { common.merging(SharedDigest.types($0)) { $1 } }
        for entry in entries.sorted(by: { $0.name < $1.name }) {
            digest.add("\(noun) \(entry.name)")
            let pairs = pairs(entry.value)
            let kind = pairs.first { $0.name == "kind" }?.value.text
            let types = kind.flatMap { ofKinds[$0] } ?? common
            add(pairs, 0) { types[$0] }
        }
    }

    private static func types(_ keys: [OptionSpec]) -> [String: OptionType] {
        Dictionary(keys.map { ($0.name, $0.type) }) { first, _ in first }
    }

    /// Adds rules in their order, which is the order of evaluation.
    mutating func add(rules: [YAMLNode]) {
        for rule in rules { add(rule, .object(SharedDigest.ruleKeys), depth: 0) }
    }

    private mutating func add(_ node: YAMLNode, _ type: OptionType, depth: Int) {
        guard depth < SharedDigest.deepest else { return }
        switch type {
        case .secret, .tls: break
        case .textOrSecret where node.isMap: break
        case .headers:
            addMap(node, depth) { Header.isUsuallySecret($0) ? .secret : .textOrSecret }
        case .map(let inner): addMap(node, depth) { _ in inner }
        case .object(let keys):
            let types = SharedDigest.types(keys)
            addMap(node, depth) { types[$0] }
        case .either(let one, let other): add(node, node.isMap ? other : one, depth: depth)
        case .list(let inner), .oneOrMany(let inner):
            let elements = node.isList ? node.children : [node]
            digest.add("[\(elements.count)")
            for element in elements { add(element, inner, depth: depth + 1) }
        case .body, .json: addAll(node, depth, isTyped: true)
        default: addAll(node, depth, isTyped: false)
        }
    }

    private mutating func addMap(_ node: YAMLNode, _ depth: Int, _ type: (String) -> OptionType?) {
        guard node.isMap else { return addAll(node, depth, isTyped: false) }
        add(pairs(node), depth, type)
    }

    private func pairs(_ node: YAMLNode) -> [YAMLEntry] { node.entries("", findings) ?? [] }

    /// - Parameter type: returns the type of a key's value; nil where the key does not count.
    private mutating func add(_ pairs: [YAMLEntry], _ depth: Int, _ type: (String) -> OptionType?) {
        for pair in pairs.sorted(by: { $0.name < $1.name }) {
            guard let type = type(pair.name) else { continue }
            digest.add("{\(pair.name)")
            add(pair.value, type, depth: depth + 1)
        }
        digest.add("}")
    }

    /// Adds texts and structure.
    /// - Parameter isTyped: whether `1` differs from "1".
    private mutating func addAll(_ node: YAMLNode, _ depth: Int, isTyped: Bool) {
        guard depth < SharedDigest.deepest else { return }
        let children = node.children
        digest.add("\(node.noun) \(isTyped && node.isPlain) \(children.count)")
        if let text = node.text { digest.add(text) }
        for child in children { addAll(child, depth + 1, isTyped: isTyped) }
    }
}
