// SPDX-License-Identifier: Apache-2.0

/// What happened, before it has an id, a time and a place in the journal.
public struct DraftEvent: Sendable, Hashable {
    public var kind: Event.Kind
    public var item: Item?
    public var changes: [FieldChange]
    public var error: Event.Problem?

    public init(_ kind: Event.Kind, item: Item? = nil, changes: [FieldChange] = [], error: Event.Problem? = nil) {
        (self.kind, self.item, self.changes, self.error) = (kind, item, changes, error)
    }

    public func event(id: Identifier, source: Source, poll: String, at time: Timestamp) -> Event {
        let isOurs = kind.isAboutWatcher
        var error = error
        if !isOurs, !source.server.name.isEmpty { error?.server = source.server.name }
        return Event(
            id: id, kind: kind, time: time, source: isOurs ? Event.watcher : source.name,
            sourceKind: isOurs ? Event.watcher : source.kindName, poll: poll, item: item, changes: changes,
            error: error)
    }
}
