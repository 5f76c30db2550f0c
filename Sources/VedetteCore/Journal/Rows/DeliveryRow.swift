// SPDX-License-Identifier: Apache-2.0

/// How both stores keep a delivery.
public enum DeliveryRow {
    /// The beginning of a statement that reads deliveries as `d`, each with the body of its event.
    public static let select = "select \(columns) \(tables)"

    private static let columns = """
        d.id, d.message, d.rule, d.sink, coalesce(e.body, d.event_body), d.title, d.text, d.priority,
          d.created, d.attempts, d.due, d.reason, d.state, d.ended_at, d.tags, d.suppressed, d.chain, d.field,
          d.receiver_id
        """

    private static let tables = "from delivery d left join event e on e.seq = d.event"

    /// The beginning of a statement for `decodeQueued`: an earlier delivery about the same subject, or one about several subjects
    /// of the rule, may be in another lane of the sink. One about several may be in the lane of any of their sources.
    public static let selectQueued = """
        select \(columns), (select p.id || ' ' || p.priority || ' ' || p.source from delivery p where p.id =
          case when d.subject = '' then
            (select max(o.id) from delivery o where o.sink = d.sink and o.rule = d.rule and o.id < d.id
              and o.ended_at is null and (o.source <> d.source or o.priority <> d.priority))
          else
            (select max(o.id) from delivery o where o.sink = d.sink and o.rule = d.rule and o.subject in (d.subject, '')
              and o.id < d.id and o.ended_at is null and (o.source <> d.source or o.priority <> d.priority))
          end)
        \(tables)
        """

    /// Reads a pending delivery, and which other one it must not overtake.
    public static func decodeQueued(_ row: some StoredRow) throws(UnreadableRow) -> Delivery {
        var delivery = try decode(row).delivery
        let parts = try row.optionalText(19)?.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        if let parts, let id = Int64(parts[0]), let priority = Priority(rawValue: String(parts[1])) {
            let lane = DeliveryLane(source: String(parts[2]), sink: delivery.message.sink, priority: priority)
            delivery.behind = DeliveryPlace(lane: lane, id: id)
        }
        return delivery
    }

    /// Returns the beginning of a statement for `decodeEarlier`. The event is read where its parts matter.
    /// - Parameter type: the expression for the type of an event that is not stored.
    public static func selectEarlier(type: String) -> String {
        """
        select d.id, d.source, d.sink, d.priority, d.rule, d.subject, coalesce(e.type, \(type)),
          coalesce(e.id, d.own_event_id), case when d.subject = '' then coalesce(e.body, d.event_body) end,
          d.attempts, d.due \(tables)
        """
    }

    /// Reads what of a pending delivery matters to a later one; nil when its priority or type is not known.
    public static func decodeEarlier(_ row: some StoredRow) throws(UnreadableRow) -> EarlierDelivery? {
        guard let priority = Priority(rawValue: try row.text(3)),
            let kind = try row.optionalText(6).flatMap(Event.Kind.init(rawValue:))
        else { return nil }
        let lane = DeliveryLane(source: try row.text(1), sink: try row.text(2), priority: priority)
        var several: Event?
        if let body = try row.optionalBytes(8) { several = try EventRow.decode(body) }
        return EarlierDelivery(
            DeliveryPlace(lane: lane, id: try row.int64(0)), rule: try row.text(4), subject: try row.text(5),
            kind: kind, event: try row.optionalText(7) ?? "", several: several, attempts: try row.int(9),
            due: try row.time(10))
    }

    /// Deliveries of a message by the id of its own event are read up to this number.
    public static let maximumOfMessage = 100

    /// Reads a row of that statement.
    public static func decode(_ row: some StoredRow) throws(UnreadableRow) -> DeliveryStatus {
        guard let body = try row.optionalBytes(4), let priority = Priority(rawValue: try row.text(7)),
            let state = DeliveryState(rawValue: try row.text(12))
        else { throw UnreadableRow("a delivery's row is unreadable") }
        var message = Message(
            id: try row.text(1), rule: try row.text(2), sink: try row.text(3), event: try EventRow.decode(body),
            title: try row.text(5), text: try row.text(6), priority: priority)
        message.tags = lines(try row.text(14))
        message.suppressed = try row.int(15)
        message.field = try row.optionalText(17)
        var delivery = Delivery(
            id: try row.int64(0), message: message, created: try row.time(8), attempts: try row.int(9),
            due: try row.time(10), reason: try row.optionalText(11))
        delivery.chain = try row.optionalText(16).map(lines)
        delivery.receiverID = try row.optionalText(18)
        return DeliveryStatus(delivery: delivery, state: state, endedAt: try row.optionalTime(13))
    }

    /// Returns the row of a new delivery, in the order of `JournalTable.delivery`.
    /// - Parameter event: the row of its event; nil when that is not in the journal.
    public static func new(_ delivery: Delivery, event: EventRow.Place?) -> JournalRow {
        let message = delivery.message
        let body = event == nil ? message.event.json.bytes : nil
        let texts = message.title.utf8.count + message.text.utf8.count
        return [
            // SQLite gives one without a number the next one.
            delivery.id == 0 ? .null : .integer(delivery.id), JournalValue(message.id),
            JournalValue(message.event.source), JournalValue(message.sink), JournalValue(message.rule),
            JournalValue(event?.seq), body.map(JournalValue.text) ?? .null,
            JournalValue(event == nil ? message.event.id.description : nil), JournalValue(message.title),
            JournalValue(message.text), JournalValue(message.priority.rawValue), JournalValue(delivery.state.rawValue),
            JournalValue(delivery.created.milliseconds), JournalValue(delivery.due.milliseconds),
            JournalValue(delivery.attempts), JournalValue(delivery.reason),
            JournalValue(delivery.state.isPending ? nil : delivery.created.milliseconds),
            JournalValue(message.tags.joined(separator: "\n")), JournalValue(message.suppressed),
            JournalValue(delivery.chain?.joined(separator: "\n")),
            JournalValue(texts + (event?.bytes ?? body?.count ?? 0)), JournalValue(message.field),
            JournalValue(message.subject), .null,
        ]
    }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
}
