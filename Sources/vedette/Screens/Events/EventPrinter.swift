// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Prints the events of `tail` in the requested form, a batch at a time.
struct EventPrinter {
    private enum Form {
        case json
        case template(MustacheTemplate)
        case lines(EventLayout)
    }

    private let journal: any JournalAccess
    private var form: Form
    /// Reads the deliveries of the events.
    private var reader: (any JournalReader)?

    /// - Parameter template: takes the place of lines; the caller refuses it beside `json`.
    init(json: Bool, template: String?, _ layout: EventLayout, _ journal: any JournalAccess) throws {
        self.journal = journal
        if let template {
            do throws(TemplateError) {
                form = .template(try MustacheTemplate(template, names: .message))
            } catch {
                throw Exit(.usage, "--template: \(error)")
            }
        } else {
            form = json ? .json : .lines(layout)
        }
    }

    mutating func print(_ events: [Event]) async throws {
        switch form {
        case .json: try Output.print(events.map { StyledText(painted: $0.json.text, width: 0) })
        case .template(let template):
            try Output.print(events.map { StyledText(template.render($0.templateContext(rule: "", field: nil))) })
        case .lines(var layout):
            let (states, width) = (await states(of: events), TerminalSize.current?.columns)
            let lines = events.flatMap { event in
                layout.lines(of: event, DeliveryMark(states[event.seq] ?? []), width: width)
            }
            form = .lines(layout)
            try Output.print(lines)
        }
    }

    /// Reads the states of the deliveries of events. A line without its mark is better than none, so an error is none here.
    private mutating func states(of events: [Event]) async -> [Int64: Set<DeliveryState>] {
        if reader?.isCurrent != true { reader = try? await journal.reader() }
        return (try? await reader?.deliveryStates(of: events.map(\.seq))) ?? [:]
    }
}
