// SPDX-License-Identifier: Apache-2.0

/// `how_many`: the engine makes an event when the number of items crosses the bound.
extension RuleEngine {
    /// Evaluates the counts of a source after its poll.
    mutating func evaluateCounts(of source: String, at moment: StepContext) {
        world.count(source, &step.world)
        for rule in rules.counting {
            guard let wanted = rule.when.count, wanted.condition.source == source,
                let count = world.facts.inForce.count(rule.name)
            else { continue }
            let key = rule.key(of: Subject(source: source, key: nil))
            let row = table[key]
            let event = wanted.event(count, id: moment.identifier(), at: moment.now.wall)
            switch (wanted.isTrue(count), row?.isStanding == true) {
            case (true, false):
                var row = row ?? RuleMemory(key: key, identity: rule.identity, since: moment.now.steady)
                (row.isStanding, row.event) = (true, row.event ?? event)
                put(row)
                hold(rule, event, at: moment)
            case (true, true): if let row { updateCount(row, wanted, count) }
            case (false, true): if let row { end(row, rule, by: event, at: moment) }
            case (false, false): break
            }
        }
    }

    /// The count is another one beyond the bound: what waits to announce it, and its reminders, have the latest one.
    private mutating func updateCount(_ row: RuleMemory, _ wanted: ItemCount, _ count: Int) {
        var row = row
        row.event?.show(count, of: wanted)
        row.held?.event.show(count, of: wanted)
        row.told?.event.show(count, of: wanted)
        if row != table[row.key] { put(row) }
    }
}

extension Event {
    fileprivate mutating func show(_ count: Int, of wanted: ItemCount) {
        guard kind == .elapsed else { return }
        summary?.count = count
        summary?.title = MessageTitle.of(count, wanted)
    }
}
