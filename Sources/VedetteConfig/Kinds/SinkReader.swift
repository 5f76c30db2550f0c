// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a sink.
struct SinkReader {
    let kinds: [SinkKindEntry]
    let policy: DeliveryPolicyReader
    let links: LinkValidator
    let values: ValueReader

    func sink(_ entry: YAMLEntry) -> SinkDefinition? {
        let what = "sink '\(entry.name)'"
        guard let name = KindName.read(entry.value, what, among: kinds.map(\.name), values),
            let kind = kinds.first(where: { $0.name == name }),
            let map = MapReader(
                entry.value, what, keys: ConfigurationKeys.sink, options: kind.options, remedies: remedies, values)
        else { return nil }
        var policy = policy.policy(map, of: entry.name)
        policy.isTextSink = !kind.isEventSink
        if map.has("group"), !kind.isEventSink {
            values.findings.error(
                map.key("group"),
                "'group' is about sinks that pass on events; '\(name)' gets one message about several anyway, so remove it"
            )
        }
        guard let options = map.options(kind.options) else { return nil }
        if options.flag("links") == true { links.validate(at: map.key("links")) }
        // A kind may refuse the value of a secret, so without secrets no sink can be made.
        let factory = map.making(options) { options throws(OptionProblem) -> SinkKindEntry.Factory in
            do throws(OptionProblem) {
                return values.secrets.reads ? try kind.make(options) : UnreadSink.make
            } catch {
                throw error.withSubject
            }
        }
        return factory.map { factory in
            SinkDefinition(
                name: entry.name, kindName: kind.name, make: linking(factory), policy: policy,
                isInsecure: options.tls("tls").insecure, watcher: map.text("watcher"),
                isGrouped: map.flag("group") == true, secrets: options.secrets, fingerprint: fingerprint(entry.value))
        }
    }

    private var publicURL: String? { links.settings.publicURL }

    private var remedies: [String: String] {
        let able = kinds.filter { $0.options.contains { $0.name == "update" } }.map(\.name).joined(separator: " and ")
        var remedies = ConfigurationKeys.misplacedInSink
        if !able.isEmpty { remedies["update"] = "is for \(able): no other receiver changes a message that it has" }
        return remedies
    }

    /// Returns a factory of sinks that know the address of the page.
    private func linking(_ factory: @escaping SinkKindEntry.Factory) -> SinkKindEntry.Factory {
        guard let publicURL else { return factory }
        return { name, services in
            var services = services
            services.publicURL = publicURL
            return factory(name, services)
        }
    }

    private func fingerprint(_ node: YAMLNode) -> UInt64 {
        var digest = StableHash()
        digest.add(publicURL ?? "")
        add(node, to: &digest, depth: 0)
        return digest.value
    }

    private func add(_ node: YAMLNode, to digest: inout StableHash, depth: Int) {
        // The options had no error, so the tree is no deeper than their types.
        guard depth < 64 else { return }
        // In a body, `1` differs from "1", and a list from a map of the same texts.
        digest.add("\(node.noun) \(node.isPlain) \(node.children.count)")
        if let text = node.text { digest.add(text) }
        for child in node.children { add(child, to: &digest, depth: depth + 1) }
    }
}

extension OptionProblem {
    /// The same problem as a whole sentence: what a sink says of an option is the end of one.
    fileprivate var withSubject: OptionProblem {
        guard let option = path.first else { return self }
        var problem = self
        let element = path.count == 2 && Int(path[1]) == nil ? "'\(path[1])' of " : ""
        problem.detail = "\(element)'\(option)' \(detail)"
        return problem
    }
}

/// The sink of a configuration whose secrets were not read, for commands that send nothing.
private struct UnreadSink: Sink {
    static let make: SinkKindEntry.Factory = { _, _ in UnreadSink() }

    func deliver(_ message: Message) async -> Outcome {
        .retry(reason: "the secrets of the configuration were not read", after: nil)
    }
    func close() async {}
}
