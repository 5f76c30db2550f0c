// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSources
import VedetteText

/// The first proposal whose kind reads the response.
struct WorkingProposal {
    let proposal: Proposal
    let kind: any SourceKind
    let items: [Item]
    let warnings: [String]
    /// There are further pages.
    let hasMore: Bool

    /// - Parameters:
    ///   - page: the response as a kind reads it.
    ///   - seen: the response as a kind observes it; nil for a file.
    ///   - later: the body of a later response; nil for none.
    ///   - ask: the options of the source that ask in the way that a person wants.
    ///   - wanted: the kind that a person names; nil for the kind that the response suggests.
    ///   - fault: tells why a proposal does not work; nil when it does.
    /// - Throws: why the likeliest kind does not read it.
    static func from(
        _ page: PageBody, _ seen: Response?, later: [UInt8]? = nil, ask: [Proposal.Option] = [], kind wanted: String?,
        fault: (WorkingProposal) async -> String? = { _ in nil }
    ) async throws(ReadError) -> WorkingProposal {
        let proposals = Recogniser.proposals(url: page.url, headers: page.headers, body: page.bytes, later: later)
        return try await first(of: proposals, ask, wanted, fault) { kind, _ throws(ReadError) in
            try read(page, seen, kind)
        }
    }

    /// The first proposal whose kind reads the records of a stream.
    /// - Parameters:
    ///   - page: the response without a body.
    ///   - settings: how the records were told apart.
    static func from(
        _ records: [StreamRecord], _ settings: StreamSettings, of page: PageBody, ask: [Proposal.Option] = [],
        kind wanted: String?, fault: (WorkingProposal) async -> String?
    ) async throws(ReadError) -> WorkingProposal {
        let proposals = StreamRecogniser(records, settings).proposals
        return try await first(of: proposals, ask, wanted, stream: settings, fault) {
            kind, proposal throws(ReadError) in
            try read(records, proposal.stream ?? settings, of: page, kind)
        }
    }

    private static func first(
        of all: [Proposal], _ ask: [Proposal.Option], _ wanted: String?, stream: StreamSettings? = nil,
        _ fault: (WorkingProposal) async -> String?, read: (any SourceKind, Proposal) throws(ReadError) -> Page?
    ) async throws(ReadError) -> WorkingProposal {
        var proposals = all
        if let wanted {
            var named = Proposal(kind: wanted)
            named.stream = stream
            proposals = proposals.filter { $0.kind == wanted } + [named]
        }
        var problem: ReadError?
        for var proposal in proposals {
            proposal.options = ask + proposal.options
            guard let entry = KindRegistry.sourceKinds.first(where: { $0.name == proposal.kind }),
                let options = proposal.options(for: entry, pattern: { try? RegularExpression($0) }),
                let kind = try? entry.make(options)
            else { continue }
            do throws(ReadError) {
                guard let read = try read(kind, proposal) else { continue }
                let found = WorkingProposal(proposal, kind, read, problem, isNamed: wanted != nil)
                guard let fault = await fault(found) else { return found }
                problem = problem ?? ReadError(.shape, fault)
            } catch {
                problem = problem ?? error
            }
        }
        throw problem ?? ReadError(.shape, "no kind can read the response")
    }

    private init(_ proposal: Proposal, _ kind: any SourceKind, _ page: Page, _ problem: ReadError?, isNamed: Bool) {
        var proposal = proposal
        if isNamed, proposal.options.allSatisfy({ ["method", "body"].contains($0.name) }) {
            let isState = page.items.contains { $0.state != nil }
            proposal.hint = kind.mode == .window ? .arrivals : isState ? .state : .presence
        }
        (self.proposal, self.kind) = (proposal, kind)
        (items, hasMore) = (page.items, page.next != nil)
        warnings = (problem.map { [$0.detail] } ?? []) + page.warnings
    }

    /// Reads each record that has items; the last record about a key counts.
    private static func read(
        _ records: [StreamRecord], _ settings: StreamSettings, of page: PageBody, _ kind: any SourceKind
    ) throws(ReadError) -> Page {
        var items: [Item] = []
        for record in records where !record.data.isEmpty && !settings.isIgnored(event: record.event) {
            var body = page
            (body.bytes, body.event) = (record.data, record.event)
            for item in try kind.read(&body).items {
                items.removeAll { $0.key == item.key }
                items.append(item)
            }
        }
        return Page(items: items)
    }

    private static func read(_ page: PageBody, _ seen: Response?, _ kind: any SourceKind) throws(ReadError) -> Page? {
        if let observing = kind as? any ObservingKind {
            let context = ObservationContext(url: page.url, now: page.receivedAt)
            return seen.map { observing.observe(.response($0), context) }
        }
        var page = page
        return try kind.read(&page)
    }
}
