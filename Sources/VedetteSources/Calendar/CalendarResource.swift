// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The events and to-dos of a calendar in iCalendar (RFC 5545) that are not over.
struct CalendarResource: SourceKind {
    static let entry = SourceKindEntry(
        name: "calendar", summary: "Events and to-dos of a calendar in iCalendar (RFC 5545).",
        options: CalendarQuery.options + [
            OptionSpec(
                "ahead", .duration, "How far ahead the dates of recurring events are items: `1d` to `366d`.",
                default: "7d"),
            OptionSpec(
                "remind", .duration,
                "The field `remind_at` is this long before the start, of a to-do before it is due.",
                default: "the event's first alarm"),
            OptionSpec(
                "timezone", .text,
                "The time zone of whole days and times without one, and of the times that are shown.",
                default: "the calendar's, else the machine's"),
        ],
        every: .seconds(1800),
        make: { options throws(OptionProblem) in try CalendarResource(options) })

    /// How often an unchanged calendar is read again, since events end and come near.
    private static let period = Duration.seconds(3600)

    private let ahead: Duration
    private let remind: Duration?
    private let zone: String?
    private let query: CalendarQuery

    init(_ options: Options) throws(OptionProblem) {
        ahead = options.duration("ahead") ?? .seconds(7 * 86_400)
        guard (.seconds(86_400) ... .seconds(366 * 86_400)).contains(ahead) else {
            throw OptionProblem("ahead", detail: "'ahead' is from 1d to 366d")
        }
        query = try CalendarQuery(options)
        remind = options.duration("remind")
        if let remind, remind > .seconds(30 * 86_400) {
            throw OptionProblem("remind", detail: "'remind' is at most 30d")
        }
        zone = options.text("timezone")
        if let zone, !ICalendar.isZone(zone) {
            throw OptionProblem("timezone", detail: "'\(zone)' is no known time zone; write a name as Europe/Berlin")
        }
    }

    var mode: ReadingMode { .list }
    var identity: UInt64 { StableHash.of(["calendar", "\(ahead.wholeMilliseconds)"] + query.fingerprint) }
    var fingerprints: [String: UInt64] {
        let shown = zone.map { StableHash.of([$0]) } ?? 0
        let reminder = remind.map { StableHash.of(["\($0.wholeMilliseconds)", zone ?? ""]) } ?? shown
        return [SnapshotHead.everyField: 1, "start": shown, "end": shown, "due": shown, "remind_at": reminder]
    }
    var fieldNames: [String]? { CalendarEntry.fields + CalendarEntry.notes + ["percent"] }
    var noteNames: Set<String> { Set(CalendarEntry.notes) }
    var measureNames: Set<String> { ["percent"] }
    var stateNames: StateNames? { StateNames(CalendarEntry.eventStates + CalendarEntry.toDoStates) }

    func request(base: String, context: PollContext) -> RequestTemplate {
        var template = query.template(base)
        template.period = UInt64(
            clamping: context.now.milliseconds / CalendarResource.period.wholeMilliseconds + 1)
        return template
    }

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, [.xml]) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let now = Int(page.receivedAt.milliseconds / 1000)
        do throws(DocumentError) {
            guard let calendar = try query.calendar(in: page) else { return Page(items: []) }
            let (found, warnings) = try calendar.occurrences(
                in: now...(now + Int(ahead.wholeMilliseconds / 1000)), home: zone)
            var list = ItemList(url: WebURL(page.url))
            list.reserve(found.count)
            var common: [Int: Item] = [:]
            for occurrence in found {
                let line = occurrence.component.line
                let shared = common[line] ?? CalendarEntry.common(occurrence.component, isToDo: occurrence.isToDo)
                common[line] = shared
                list.add(CalendarEntry(occurrence, remind: remind, common: shared).item)
            }
            return Page(items: list.items, warnings: warnings + list.warnings)
        } catch {
            throw ReadError(error)
        }
    }

    func isOver(_ item: Item, at now: Timestamp) -> Bool {
        item.notes["over_at"].flatMap { Timestamp(rfc3339: $0.description) }.map { $0 <= now } ?? false
    }

    /// A date behind what was read last, of a recurring event that was known.
    func entered(_ items: [Item], known: Dictionary<String, StoredItem>.Keys, since last: Timestamp) -> Set<String> {
        let series = Set(known.compactMap(CalendarEntry.series))
        // The last reading may be a period older than the last good poll; and a date that is moved to that day is new for nobody.
        let seen = last.advanced(by: ahead - CalendarResource.period - .seconds(86_400))
        return Set(
            items.lazy.filter { item in
                guard item.notes["date"] != nil, let uid = CalendarEntry.series(item.key), series.contains(uid) else {
                    return false
                }
                let start = item.fields["start"].flatMap { Timestamp(anyForm: $0.description) }
                return start.map { $0 > seen } ?? false
            }.map(\.key))
    }
}
