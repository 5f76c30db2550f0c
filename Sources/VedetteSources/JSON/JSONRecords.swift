// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// What the records of a stream mean, and with which id reading resumes behind them, by the paths of `stream`.
struct JSONRecords {
    private let settings: StreamSettings
    /// Columns of the document by path.
    private var columns: [String: Int] = [:]
    private let resume: Int?

    init(_ settings: StreamSettings, _ document: inout JSONColumns) throws(OptionProblem) {
        self.settings = settings
        resume = try settings.resume.map { path throws(OptionProblem) in
            try document.add(path, ["stream", "resume"])
        }
        let groups = [
            ("only", settings.only), ("delete", settings.delete), ("bookmark", settings.bookmark),
            ("expired", settings.expired),
        ]
        for (name, conditions) in groups {
            for condition in conditions where !condition.isAboutEvent && columns[condition.path] == nil {
                columns[condition.path] = try document.add(condition.path, ["stream", name, condition.path])
            }
        }
    }

    /// - Parameter cells: of the document.
    func note(_ cells: [JSONCell], event: String) -> RecordNote {
        let meaning = settings.meaning { path in
            path == RecordCondition.event ? event : columns[path].flatMap { cells[$0].text }
        }
        let id = resume.flatMap { cells[$0].text }.flatMap { $0.isEmpty ? nil : $0 }
        switch meaning {
        case .nothing, .expired: return RecordNote(meaning)
        case .items, .deletion, .bookmark: return RecordNote(meaning, resume: id)
        }
    }

    /// Returns the data of an event that is nothing but the key of a deleted item, as Mastodon sends it; nil for a document.
    func deletedKey(_ data: [UInt8], event: String) -> String? {
        let isDeletion = settings.meaning { $0 == RecordCondition.event ? event : nil } == .deletion
        let text = String(decoding: data, as: UTF8.self).trimmed()
        guard isDeletion, let first = text.first, !"{[".contains(first) else { return nil }
        return (try? JSON(parsing: Array(text.utf8)))?.string ?? text
    }
}

extension RecordNote {
    /// Whether items are read from the record.
    var hasItems: Bool { meaning == .items || meaning == .deletion }
}
