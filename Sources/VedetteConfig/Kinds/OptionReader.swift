// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads the options of a kind by their specifications, and reports what the kind itself refuses at its place in the file.
struct OptionReader {
    let secrets: SecretReader
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    /// Returns the options; nil when one is missing or wrong.
    /// - Parameter stream: how a source reads records that its server pushes.
    func options(_ specs: [OptionSpec], in map: MapReader, stream: StreamSettings? = nil) -> Options? {
        var values: [String: OptionValue] = [:]
        var isGood = true
        for spec in specs {
            if !map.has(spec.name) {
                guard spec.isRequired else { continue }
                findings.error(map.node.place, "\(map.what) lacks '\(spec.name)': \(OptionReader.phrase(spec.summary))")
                isGood = false
            } else if let node = map[spec.name], let value = value(node, spec.type, "'\(spec.name)'") {
                values[spec.name] = value
            } else {
                isGood = false
            }
        }
        return isGood ? Options(values, stream: stream) : nil
    }

    /// Returns a sentence of the documentation as it stands behind a colon; one that begins with an abbreviation keeps it.
    private static func phrase(_ sentence: String) -> String {
        let body = sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]
        guard let second = body.dropFirst().first, second.isLowercase else { return String(body) }
        return body.prefix(1).lowercased() + body.dropFirst()
    }

    /// Reports what a kind refused at its place in the file.
    func report(_ problem: OptionProblem, in map: MapReader) {
        guard let name = problem.path.first, map.has(name), let node = map[name] else {
            findings.error(map.node.place, "\(map.what): \(problem.detail)")
            return
        }
        findings.error(place(of: problem.path.dropFirst(), in: node), problem.detail)
    }

    private func place(of path: ArraySlice<String>, in node: YAMLNode) -> Place {
        guard let step = path.first else { return node.place }
        let next = node.child(step) ?? Int(step).flatMap { node.child($0) }
        if let next { return place(of: path.dropFirst(), in: next) }
        // The path may name an element of a list by its text.
        return node.isList ? node.children.first { $0.text == step }?.place ?? node.place : node.place
    }

    private func value(_ node: YAMLNode, _ type: OptionType, _ what: String) -> OptionValue? {
        switch type {
        case .text: scalars.text(node, what).map { .text($0) }
        case .flag: scalars.flag(node, what).map { .flag($0) }
        case .integer(let range): scalars.integer(node, what, in: range).map { .integer($0) }
        case .duration: scalars.duration(node, what).map { .duration($0) }
        case .choice(let choices): scalars.choice(node, what, among: choices).map { .text($0) }
        case .secret: secrets.secret(node, what).map { .secret($0) }
        case .textOrSecret:
            node.isMap ? secrets.secret(node, what).map { .secret($0) } : scalars.text(node, what).map { .text($0) }
        case .oneOrMany(let inner): scalars.oneOrMany(node, what).flatMap { list($0, inner, what) }
        case .list(let inner): node.elements(what, findings).flatMap { list($0, inner, what) }
        case .map(let inner): map(node, inner, what)
        case .pattern: pattern(node, what).map { .pattern($0) }
        case .template: TemplateReader(findings: findings).template(node, what).map { .template($0) }
        case .body: BodyReader(findings: findings).value(node, what)
        case .headers: headers(node, what)
        case .tls:
            .tls(
                TLSReader(environment: secrets.environment, reads: secrets.reads, findings: findings).policy(node))
        case .json: JSONValueReader(findings: findings).value(node, what).map { .json($0) }
        }
    }

    private func pattern(_ node: YAMLNode, _ what: String) -> (any Pattern)? {
        guard let text = scalars.text(node, what) else { return nil }
        do throws(PatternError) {
            return try RegularExpression(text)
        } catch {
            findings.error(node.place(ofScalarAt: error.offset ?? 0), "in \(what): \(error.detail)")
            return nil
        }
    }

    private func headers(_ node: YAMLNode, _ what: String) -> OptionValue? {
        .headers(HeaderReader(secrets: secrets, findings: findings).headers(node))
    }

    private func list(_ nodes: [YAMLNode], _ type: OptionType, _ what: String) -> OptionValue? {
        let values = nodes.compactMap { node in present(node, what).flatMap { value($0, type, what) } }
        return values.count == nodes.count ? .list(values) : nil
    }

    private func map(_ node: YAMLNode, _ type: OptionType, _ what: String) -> OptionValue? {
        guard let entries = node.entries(what, findings) else { return nil }
        let pairs = entries.compactMap { entry in
            present(entry.value, "'\(entry.name)' of \(what)")
                .flatMap { value($0, type, "'\(entry.name)' of \(what)") }
                .map { (name: entry.name, value: $0) }
        }
        return pairs.count == entries.count ? .map(pairs) : nil
    }

    private func present(_ node: YAMLNode, _ what: String) -> YAMLNode? {
        if node.isAbsent { findings.error(node.place, "\(what) has no value; write one or remove it") }
        return node.isAbsent ? nil : node
    }
}
