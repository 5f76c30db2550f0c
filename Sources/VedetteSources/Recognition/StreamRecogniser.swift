// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Proposes ways to watch a stream, from its first records.
public struct StreamRecogniser {
    private let records: [StreamRecord]
    private let settings: StreamSettings

    /// - Parameters:
    ///   - records: none where the server sent none in the time.
    ///   - settings: how the response was read.
    public init(_ records: [StreamRecord], _ settings: StreamSettings) {
        (self.records, self.settings) = (records.filter { !$0.data.isEmpty }, settings)
    }

    /// The likeliest proposal first.
    public var proposals: [Proposal] {
        guard !records.isEmpty else { return [silent] }
        let rows = records.map { record in (record, (try? JSON(parsing: record.data)).flatMap(StreamRecogniser.object))
        }
        let objects = rows.compactMap(\.1)
        guard !objects.isEmpty else { return [text] }
        var settings = settings
        if objects.count < rows.count {
            // The data of other events is of another shape.
            let events = Set(rows.filter { $0.1 != nil }.map(\.0.event))
            settings.only = [RecordCondition(RecordCondition.event, events.sorted())]
        }
        return [proposal(objects, settings)]
    }

    private static func object(_ json: JSON) -> JSON? { json.members == nil ? nil : json }

    private func proposal(_ rows: [JSON], _ settings: StreamSettings) -> Proposal {
        let table = JSONTable(path: [], rows: rows, areRecords: true)
        let reason = "a stream of JSON objects"
        var proposal: Proposal
        if table.key == nil, let single = table.single(as: "json", because: reason, least: 0) {
            proposal = single
            proposal.remarks.append(
                "No member identifies a record, so all records are one item: write the path of a key.")
        } else {
            let isAboutSame = !table.state.isEmpty && !table.isKeyUnique
            proposal = Proposal("json", isAboutSame ? .state : .arrivals, because: reason)
            table.describe(&proposal, isWindow: false)
        }
        proposal.stream = settings
        return proposal
    }

    /// A stream that sent nothing yet.
    private var silent: Proposal {
        var proposal = Proposal("json", .arrivals, because: "a stream that has sent nothing yet")
        proposal.set("key", .text("id"), "a guess: nothing came yet")
        proposal.stream = settings
        proposal.remarks.append("Nothing came yet, so its fields are unknown: probe again when it sends.")
        return proposal
    }

    private var text: Proposal {
        var proposal = Proposal("text", .text, because: "a stream of texts")
        proposal.stream = settings
        return proposal
    }
}
