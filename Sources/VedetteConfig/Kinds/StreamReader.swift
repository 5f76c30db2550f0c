// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads `stream` of a source.
struct StreamReader {
    let findings: Findings

    /// Returns the settings; nil for a source without a stream, or with an error in it.
    func settings(_ map: MapReader, of kind: SourceKindEntry, among kinds: [SourceKindEntry]) -> StreamSettings? {
        guard let node = map.node("stream") else { return nil }
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
        if map.value("url")?.text?.hasPrefix("file:") ?? false {
            findings.error(map.key("stream"), "'stream' needs a server that pushes; a file is read again and again")
            return nil
        }
        if map.flag("stream") == true { return StreamSettings() }
        return map.object("stream").map { settings($0, of: kind) }
    }

    private func settings(_ map: MapReader, of kind: SourceKindEntry) -> StreamSettings {
        var settings = StreamSettings()
        settings.format = map.choice("format")
        settings.keepAlive = map.duration("keep_alive") ?? settings.keepAlive
        settings.initial = map.duration("initial")
        settings.parameter = map.text("parameter")
        settings.resume = map.text("resume")
        settings.only = conditions(map, "only", of: kind)
        settings.delete = conditions(map, "delete", of: kind)
        settings.bookmark = conditions(map, "bookmark", of: kind)
        settings.expired = conditions(map, "expired", of: kind)
        if map.has("resume"), kind.streams != .paths {
            findings.error(map.key("resume"), "'resume' is a path, which the kind '\(kind.name)' does not find")
        } else if map.has("resume"), !map.has("parameter") {
            findings.error(map.key("resume"), "'resume' needs 'parameter', the query parameter that takes the id back")
        } else if map.has("parameter"), !map.has("resume"), settings.format == .lines {
            findings.error(map.key("parameter"), "'parameter' needs 'resume', the path of the id in a line")
        }
        return settings
    }

    private func conditions(_ map: MapReader, _ key: String, of kind: SourceKindEntry) -> [RecordCondition] {
        guard let entries = map.node(key)?.entries("'\(key)'", findings) else { return [] }
        return entries.compactMap { entry in
            guard entry.name == RecordCondition.event || kind.streams == .paths else {
                findings.error(
                    entry.key.place,
                    "the kind '\(kind.name)' finds no path in a record; write '$event', the event's name")
                return nil
            }
            return map.values.texts(entry.value, "'\(entry.name)' of '\(key)'").map { RecordCondition(entry.name, $0) }
        }
    }
}
