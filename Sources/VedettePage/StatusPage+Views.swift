// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads what each view shows.
extension StatusPage {
    func overview(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let facts = try await self.facts.facts(of: configuration)
        let events = facts.hasJournal ? try await sources.journal.reader().lastEvents(20, EventFilter()) : []
        let polls = OverviewView.Polls(inFlight: sources.polls.inFlight(), streams: sources.polls.streams())
        let view = OverviewView(
            render: render, facts: facts, polls: polls, events: events.reversed(), page: page(request))
        return ("Overview", view.content)
    }

    func events(_ request: PageRequest, _ render: Render) async throws(JournalError) -> Found {
        let reader = try await sources.journal.reader()
        let (source, page) = (request.query["source"], min(page(request), EventsView.maximumPage))
        let filter = EventFilter(source: source)
        let size = EventsView.perPage
        let start = try await reader.seq(before: page * size, filter)
        let end = page == 1 ? .max : try await reader.seq(before: (page - 1) * size, filter)
        let events = try await reader.events(after: start, filter, limit: size)
        let view = EventsView(
            render: render, events: events.filter { $0.seq <= end }.reversed(), source: source, page: page,
            hasNext: start > 0)
        return (source.map { "Events of \($0)" } ?? "Events", view.content)
    }

    func event(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let reader = try await sources.journal.reader()
        let id = request.parameters["event"] ?? ""
        let found = try await reader.events(matching: id)
        guard found.count == 1, let event = found.first else {
            return found.isEmpty ? try await message(id, reader, render, configuration) : nil
        }
        let deliveries = try await reader.deliveries(DeliveryFilter(event: event.seq), after: 0, limit: 200)
        let memories = try await reader.ruleMemories().filter {
            $0.event?.id == event.id || $0.events.contains(event.id.description)
        }
        var verdicts: [EventView.Verdict] = []
        for evaluation in RuleSet(configuration.rules).evaluateAll(event) {
            let rule = evaluation.rule
            var made: [(status: DeliveryStatus, attempts: [Attempt])] = []
            for status in deliveries where status.delivery.message.rule == rule.name {
                made.append((status, try await reader.attempts(of: status.delivery.id)))
            }
            let waiting = memories.filter { $0.key.rule == rule.name }.compactMap {
                $0.waitingText(of: rule, at: render.now)
            }
            verdicts.append(
                EventView.Verdict(rule: rule.name, result: evaluation.result, waiting: waiting, deliveries: made))
        }
        let known = Set(configuration.rules.map(\.name))
        let view = EventView(
            render: render, event: event, verdicts: verdicts,
            orphans: deliveries.filter { !known.contains($0.delivery.message.rule) })
        return ("Event \(event.seq)", view.content)
    }

    /// Finds a message whose own event is not stored, by the id of that event.
    private func message(
        _ id: String, _ reader: any JournalReader, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let made = try await reader.deliveries(ofMessage: id)
        guard let message = made.first?.delivery.message,
            made.allSatisfy({ $0.delivery.message.event.id == message.event.id })
        else { return nil }
        var subjects: [MessageView.Subject] = []
        for subject in message.event.summary?.subjects.prefix(MessageView.mostSubjects) ?? [] {
            let event = try await reader.events(matching: subject.event).first
            subjects.append(MessageView.Subject(event: event, text: subject.text))
        }
        var deliveries: [(status: DeliveryStatus, attempts: [Attempt])] = []
        for status in made { deliveries.append((status, try await reader.attempts(of: status.delivery.id))) }
        let view = MessageView(
            render: render, message: message,
            isConfigured: configuration.rules.contains { $0.name == message.rule }, subjects: subjects,
            deliveries: deliveries)
        return (message.title, view.content)
    }

    func source(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let name = request.parameters["source"] ?? ""
        guard let source = configuration.sources.first(where: { $0.name == name }) else { return nil }
        let reader = try await sources.journal.reader()
        let status = SourceStatus(source, try await reader.sourceRecord(of: name))
        let (first, size) = ((page(request) - 1) * SourceView.perPage, SourceView.perPage)
        let count = status.record?.snapshot?.count ?? 0
        let stored =
            count > SourceView.mostSorted
            ? try await reader.items(of: name, from: first, limit: size)
            : Array(
                sorted(try await reader.items(of: name).values, kind: source.kindName).dropFirst(first).prefix(size))
        var read: [(item: Item, since: Timestamp, history: [Event])] = []
        for stored in stored {
            guard let item = stored.item else { continue }
            read.append((item, stored.stateSince, try await reader.history(source: name, key: item.key, limit: 50)))
        }
        func rows(from start: Timestamp) -> [SourceView.Row] {
            read.map { row in
                let current = row.item.state.map { ($0, row.since) }
                let timeline = StateTimeline(row.history, current: current, from: start, to: render.now)
                return SourceView.Row(item: row.item, since: row.since, timeline: timeline)
            }
        }
        // The bars of a source that is new would be empty for the most part.
        var (start, shown) = (render.now.advanced(by: .zero - SourceView.span), [SourceView.Row]())
        shown = rows(from: start)
        if let earliest = shown.compactMap(\.timeline.segments.first?.start).min(), earliest > start {
            (start, shown) = (earliest, rows(from: earliest))
        }
        let view = SourceView(
            render: render, status: status, durations: await sources.polls.durations(name),
            isWatched: await sources.journal.watcher() != nil, rows: shown,
            start: start, page: page(request), hasNext: count > first + size)
        return (name, view.content)
    }

    /// Returns the items that are present: bad states first, then those on their way, then the newest.
    private func sorted(_ items: some Sequence<StoredItem>, kind: String) -> [StoredItem] {
        let ranked = items.filter { $0.absentSince == nil }.map { stored -> (rank: Int, stored: StoredItem) in
            let meaning = stored.item?.state.flatMap { sources.text.meaning($0, kind) }
            let rank =
                switch meaning {
                case .bad: 0
                case .busy: 1
                case nil: 2
                case .good: 3
                }
            return (rank, stored)
        }
        return ranked.sorted { a, b in
            if a.rank != b.rank { return a.rank < b.rank }
            if a.stored.stateSince != b.stored.stateSince { return a.stored.stateSince > b.stored.stateSince }
            return a.stored.key < b.stored.key
        }.map(\.stored)
    }

    func item(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let (name, key) = (request.parameters["source"] ?? "", request.query["key"] ?? "")
        guard let source = configuration.sources.first(where: { $0.name == name }) else { return nil }
        let reader = try await sources.journal.reader()
        let events = try await reader.history(source: name, key: key, limit: 100)
        let stored = try await reader.items(of: name, withKeys: [key])[key]
        guard let item = stored?.item ?? events.last?.item else { return nil }
        var history: [ItemView.Past] = []
        for event in events {
            let deliveries = try await reader.deliveries(DeliveryFilter(event: event.seq), after: 0, limit: 20)
            history.append(ItemView.Past(event: event, deliveries: deliveries))
        }
        let isThere = stored != nil && stored?.absentSince == nil
        let current: (state: String, since: Timestamp)? =
            isThere ? item.state.flatMap { state in stored.map { (state, $0.stateSince) } } : nil
        let start = max(
            events.first?.time ?? stored?.stateSince ?? render.now, render.now.advanced(by: .seconds(-30 * 86_400)))
        let view = ItemView(
            render: render, source: name, kind: source.kindName, item: item, since: stored?.stateSince,
            absentSince: isThere ? nil : stored?.absentSince ?? events.last?.time, history: history,
            timeline: StateTimeline(events, current: current, from: start, to: render.now))
        return (item.title ?? item.key, view.content)
    }

    func rules(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let facts = try await self.facts.facts(of: configuration)
        let (first, size) = ((page(request) - 1) * RulesView.perPage, RulesView.perPage)
        let waiting = Dictionary(grouping: facts.timers, by: \.key.rule)
        var rows: [RulesView.Row] = []
        let reader = facts.hasJournal ? try await sources.journal.reader() : nil
        for rule in facts.rules.dropFirst(first).prefix(size) {
            let last = try await reader?.lastEvents(1, EventFilter(rule: rule.name)).last
            rows.append(
                RulesView.Row(
                    rule: rule, last: last, count: try await reader?.ruleCount(of: rule.name),
                    waiting: waiting[rule.name] ?? [],
                    silences: facts.silences.filter { $0.rule == rule.name },
                    warning: facts.unmatched.first { $0.rule == rule.name }?.text))
        }
        let view = RulesView(
            render: render, rows: rows, page: page(request), hasNext: facts.rules.count > first + size)
        return ("Rules", view.content)
    }

    func silences(_ render: Render) async throws(JournalError) -> Found {
        let silences = try await sources.journal.reader().silences().filter { !$0.isOver(at: render.now) }
        return ("Silences", SilencesView(render: render, silences: silences).content)
    }

    func outbox(_ request: PageRequest, _ render: Render) async throws(JournalError) -> Found {
        let reader = try await sources.journal.reader()
        let sink = request.query["sink"]
        let after = request.query["after"].flatMap { Int64($0) } ?? 0
        let size = OutboxView.perPage
        let found = try await reader.deliveries(DeliveryFilter(.unsent, sink: sink), after: after, limit: size + 1)
        let shown = Array(found.prefix(size))
        let view = OutboxView(
            render: render, deliveries: shown, sink: sink, next: found.count > size ? shown.last?.delivery.id : nil)
        return (sink.map { "Outbox of \($0)" } ?? "Outbox", view.content)
    }

    /// The number of the page that is asked for, from 1.
    private func page(_ request: PageRequest) -> Int {
        max(1, min(1_000_000, request.query["page"].flatMap { Int($0) } ?? 1))
    }
}
