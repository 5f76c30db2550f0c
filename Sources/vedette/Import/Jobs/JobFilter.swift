// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A step that another program applies to what it fetched before it compares.
struct JobFilter {
    var name: String
    /// The named settings; the main one is under the empty name where it has none.
    var settings: [String: JSON] = [:]

    /// Returns a setting as text.
    /// - Parameter isMain: whether it may be written without its name.
    func text(_ setting: String, isMain: Bool = false) -> String? {
        let value = settings[setting] ?? (isMain ? settings[""] : nil)
        return value?.string ?? value?.double.map { _ in value?.text ?? "" }
    }

    func flag(_ setting: String) -> Bool { settings[setting].map(JobValue.isTrue) ?? false }

    func number(_ setting: String) -> Int? {
        settings[setting].flatMap { $0.int64 ?? $0.string.flatMap { Int64($0) } }.flatMap { Int(exactly: $0) }
    }

    /// Reads a list of names and of maps with one name, or the old form `css:body,strip`.
    static func list(_ value: JSON?) -> [JobFilter] {
        switch value {
        case .string(let text)?:
            text.split(separator: ",").map { part in
                let words = part.split(separator: ":", maxSplits: 1)
                let argument = words.count > 1 ? ["": JSON.string(String(words[1]))] : [:]
                return JobFilter(name: words.first.map { $0.trimmed() } ?? "", settings: argument)
            }
        case .array(let steps)?: steps.flatMap(list(step:))
        case let step?: list(step: step)
        case nil: []
        }
    }

    private static func list(step: JSON) -> [JobFilter] {
        if let name = step.string { return [JobFilter(name: name)] }
        return (step.members ?? []).map { member in
            let settings =
                switch member.value {
                case .null: [String: JSON]()
                case .object(let members): Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
                default: ["": member.value]
                }
            return JobFilter(name: member.name, settings: settings)
        }
    }
}

/// Values of YAML 1.1, which those programs read.
enum JobValue {
    /// Whether a flag is set (https://yaml.org/type/bool.html).
    static func isTrue(_ value: JSON) -> Bool {
        switch value {
        case .bool(let flag): flag
        case .string(let text): ["yes", "on", "true", "y"].contains(text.lowercased())
        case .number(let text): text != "0"
        default: false
        }
    }

    /// Whether a setting is written and not switched off.
    static func isSet(_ value: JSON) -> Bool {
        switch value {
        case .null, .bool(false): false
        case .string(let text): !["no", "off", "false", "n", ""].contains(text.lowercased())
        case .array(let list): !list.isEmpty
        default: true
        }
    }

    /// Returns a single value as text; nil for a map, a list and null.
    static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .number, .bool: value.text
        default: nil
        }
    }

    /// Returns the pairs of a map whose values are single.
    static func pairs(_ value: JSON?) -> [(name: String, value: String)] {
        (value?.members ?? []).compactMap { member in text(member.value).map { (member.name, $0) } }
    }
}
