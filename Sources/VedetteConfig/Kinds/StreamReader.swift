// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads `stream` of a source.
struct StreamReader {
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    /// Returns the settings; nil for a source without a stream, or with an error in it.
    func settings(_ map: MapReader, of kind: SourceKindEntry, among kinds: [SourceKindEntry]) -> StreamSettings? {
        guard let node = map["stream"] else { return nil }
        if node.text == "false" { return nil }
        guard kind.streams != .none else {
            let able = kinds.filter { $0.streams != .none }.map(\.name).joined(separator: ", ")
            findings.error(map.key("stream"), "the kind '\(kind.name)' reads no stream; these do: \(able)")
            return nil
        }
        for key in ["command", "while"] where map.has(key) {
            findings.error(
                map.key("stream"),
                key == "command"
                    ? "'stream' needs a server that pushes; a command is run again and again, so remove one of the two"
                    : "'while' sets intervals of polls, which a stream does not have; remove one of the two")
            return nil
        }
        if map["url"]?.text?.hasPrefix("file:") ?? false {
            findings.error(map.key("stream"), "'stream' needs a server that pushes; a file is read again and again")
            return nil
        }
        guard node.isMap else { return scalars.flag(node, "'stream'").map { _ in StreamSettings() } }
        guard let inner = MapReader(node, "'stream'", keys: ConfigurationKeys.stream, findings) else { return nil }
        return settings(inner, of: kind)
    }

    private func settings(_ map: MapReader, of kind: SourceKindEntry) -> StreamSettings {
        var settings = StreamSettings()
        settings.format = map["format"].flatMap { scalars.choice($0, "'format'") }
        let least = Duration.seconds(1)
        settings.keepAlive =
            map["keep_alive"].flatMap { scalars.duration($0, "'keep_alive'", atLeast: least) } ?? settings.keepAlive
        settings.initial = map["initial"].flatMap { scalars.duration($0, "'initial'", atLeast: .milliseconds(100)) }
        settings.parameter = map["parameter"].flatMap { scalars.text($0, "'parameter'") }
        settings.resume = map["resume"].flatMap { scalars.text($0, "'resume'") }
        settings.only = conditions(map, "only", of: kind)
        settings.delete = conditions(map, "delete", of: kind)
        settings.bookmark = conditions(map, "bookmark", of: kind)
        settings.expired = conditions(map, "expired", of: kind)
        if settings.resume != nil, kind.streams != .paths {
            findings.error(map.key("resume"), "'resume' is a path, which the kind '\(kind.name)' does not find")
        } else if settings.resume != nil, settings.parameter == nil {
            findings.error(map.key("resume"), "'resume' needs 'parameter', the query parameter that takes the id back")
        } else if settings.parameter != nil, settings.resume == nil, settings.format == .lines {
            findings.error(map.key("parameter"), "'parameter' needs 'resume', the path of the id in a line")
        }
        return settings
    }

    private func conditions(_ map: MapReader, _ key: String, of kind: SourceKindEntry) -> [RecordCondition] {
        guard let node = map[key], let entries = node.entries("'\(key)'", findings) else { return [] }
        return entries.compactMap { entry in
            guard entry.name == RecordCondition.event || kind.streams == .paths else {
                findings.error(
                    entry.key.place,
                    "the kind '\(kind.name)' finds no path in a record; write '$event', the event's name")
                return nil
            }
            return scalars.texts(entry.value, "'\(entry.name)' of '\(key)'").map { RecordCondition(entry.name, $0) }
        }
    }
}
