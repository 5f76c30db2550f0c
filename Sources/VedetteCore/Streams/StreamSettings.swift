// SPDX-License-Identifier: Apache-2.0

/// How a source reads records that its server pushes over a kept connection.
public struct StreamSettings: Sendable, Hashable {
    /// How records are delimited.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// Server-sent events (WHATWG HTML §9.2).
        case events
        /// One record a line, as JSON lines.
        case lines
    }

    /// The format of responses whose media type names none; nil takes such a response for a complete body.
    public var format: Format?
    /// A connection without a byte for this long has failed.
    public var keepAlive = Duration.seconds(90)
    /// Where a connection without a resume id begins with everything that exists: the pause after which that is complete. Nil
    /// for servers that send only what happens from now on.
    public var initial: Duration?
    /// The query parameter that takes the resume id back; nil sends the id of server-sent events as `Last-Event-ID`.
    public var parameter: String?
    /// The path of the resume id in a record; nil takes the id of the server-sent event.
    public var resume: String?
    /// Records that do not fit have no item.
    public var only: [RecordCondition] = []
    /// Records that fit remove their items.
    public var delete: [RecordCondition] = []
    /// Records that fit bring a resume id and nothing else.
    public var bookmark: [RecordCondition] = []
    /// Records that fit report that the resume id is too old.
    public var expired: [RecordCondition] = []

    /// Creates the settings of `stream: true`.
    public init() {}

    /// Whether absent items may be gone: the server lists what exists, or reports what is deleted.
    public var isList: Bool { initial != nil || !delete.isEmpty }

    /// A digest of where the resume id is read and how it is sent: another one's ids mean nothing to this one.
    public var resumeForm: UInt64 { StableHash.of([resume ?? "", parameter ?? ""]) }

    /// Every condition.
    public var conditions: [RecordCondition] { only + delete + bookmark + expired }

    /// Bytes of one record at most.
    public static let recordLimit = 1 << 20

    private static let lineTypes: Set<String> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl",
        "application/jsonlines", "application/x-jsonlines", "application/stream+json", "application/json-seq",
    ]

    /// Returns the format of a response; nil for a complete body.
    /// - Parameters:
    ///   - mediaType: in lower case, without parameters.
    ///   - hasLength: whether the response announces its length.
    public func format(mediaType: String?, hasLength: Bool) -> Format? {
        if mediaType == "text/event-stream" { return .events }
        if let mediaType, StreamSettings.lineTypes.contains(mediaType) { return .lines }
        return hasLength ? nil : format
    }

    /// Returns what a record means.
    /// - Parameter value: the text at the path of a condition; nil for none.
    public func meaning(_ value: (String) -> String?) -> RecordNote.Meaning {
        func fits(_ conditions: [RecordCondition]) -> Bool {
            !conditions.isEmpty && conditions.allSatisfy { $0.values.contains(value($0.path) ?? "") }
        }
        if fits(expired) { return .expired }
        if fits(bookmark) { return .bookmark }
        guard only.isEmpty || fits(only) || fits(delete) else { return .nothing }
        return fits(delete) ? .deletion : .items
    }

    /// Whether the name of its server-sent event alone tells that a record means nothing, so that its data, which may be of
    /// another shape, need not be read.
    public func isIgnored(event: String) -> Bool {
        let names = conditions.filter(\.isAboutEvent)
        guard only.contains(where: \.isAboutEvent) else { return false }
        return !names.contains { $0.values.contains(event) }
    }
}
