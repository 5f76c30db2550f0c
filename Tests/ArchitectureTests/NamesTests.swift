// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Names")
struct NamesTests {
    /// Names that types and files had, by target: each was replaced by the field's own name and must not come back.
    static let old: [String: String] = [
        "vedette": """
        House Workshop SinkRack Buttons Lookup Places Examination Contact ContactCheck ContactProbe Within WrittenSink \
        Knock Soundness Trouble Owed Room JQShaper SystemChance Style SnapshotHeader LocalCheck StateCheck DatabaseCheck \
        Recognised
        """,
        "VedetteCore": """
        Doubt EventSketch PageWalk Rekeying Timing Chorus Voice Mark Marks MarkBook Routing Wording Circuit \
        SinkManners Outbox OutboxLane OutboxSink OutboxLimit Asking Shaper Sighting \
        Persistence Rehearsal Pace Ask Chance Notice Manners Scheduler Reachability PollBackoff URLReference \
        ScheduledSink ScheduledLane MessageBuilder Digest QueueLimits ChangeConfirmation
        """,
        "VedetteEngine": """
        Surroundings Settlement Committer Courier CourierAudit Observing SteadyTime LiveReading Requester Touch Watch \
        WakeTimer PollNote PollStep
        """,
        "VedetteHTTP": """
        Hop Lanes MannersBook Manners PinBook TokenShelf SessionLedger QueryEcho Route ProxyChoice Inflate Classification \
        PinRegistry PeerCertificate PinnedConnections TLSOptions CertificateExpiry SessionCache SystemTime
        """,
        "VedetteSinks": "Pace Turns Turn Renewal Unsendable Attachment ChatNote Tone SlackAttachment",
        "VedettePage": "MachineAPI APIRoute Mailbox ListRoutes SharedEvents",
        "VedetteDesktop": "Bubble BubbleText Shown Missed DesktopLook ServerCapabilities",
        "VedetteJournal": """
        Schema Requests Sources Bytes Events Deliveries Attempts Cookies Silences RuleMemories Overflows JournalWatch \
        JournalErrors ControlQueue
        """,
        "VedettePostgres": "Registration RequestRows",
        "VedetteConfig": "Keys Assembly Scope Scalars Standards Written SinkMannersReader",
        "VedetteSources": """
        KeptText Reading XPathVerdict JSONVerdict JSONResourceVerdict Standards Telling FeedDateWords LinkHeader KeySet \
        CompositeKey HTMLPage FeedCollector
        """,
        "VedetteDocument": "XMLIllness XMLHealer XMLRepair XMLStart XPathMeter",
    ]

    @Test("no type and no file has its old name in the target where it was renamed")
    func renamed() throws {
        let declaration = /\b(?:struct|class|enum|actor|protocol|typealias) ([A-Z][A-Za-z0-9]*)/
        for file in try Tree.swiftFiles(in: "Sources") {
            let old = Set((Self.old[file.target] ?? "").split(whereSeparator: \.isWhitespace).map(String.init))
            let stem = file.name.split(separator: "/").last.map { String($0.dropLast(".swift".count)) } ?? ""
            #expect(!old.contains(stem), "\(file.name) has its old name")
            for line in file.lines where !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") {
                for match in line.matches(of: declaration) where old.contains(String(match.1)) {
                    Issue.record("\(file.name): \(match.1) has its old name")
                }
            }
        }
    }

    @Test("every path that the pages for engineers name exists")
    func paths() throws {
        var count = 0
        for page in ["Sources/vedette/Documentation.docc/Architecture.md", "CONTRIBUTING.md", "README.md"] {
            let text = try String(contentsOf: Tree.root.appending(path: page), encoding: .utf8)
            for match in text.matches(of: /`((?:Sources|Tests|contrib|rules)\/[^`\s*]*)`/) {
                count += 1
                let exists = FileManager.default.fileExists(atPath: Tree.root.appending(path: String(match.1)).path())
                #expect(exists, "\(page): there is no \(match.1)")
            }
        }
        #expect(count > 50)
    }
}
