// SPDX-License-Identifier: Apache-2.0

/// The steps that the recurrences and time zones of one calendar may take. A step is a period of a rule or a date that is looked at; what
/// takes longer counts as several. So the bound is one of the calendar and not of the machine.
final class ICalendarBudget {
    private let limit: Int
    private var left: Int
    /// What took the last step; nil while there are more.
    private var culprit: String?

    init(steps: Int = ICalendar.maximumSteps) { (limit, left) = (steps, steps) }

    var isExhausted: Bool { left < 0 }
    /// The steps that were taken.
    var taken: Int { limit - left }

    /// - Returns: false when there are no more steps.
    func take(_ steps: Int = 1) -> Bool {
        left -= steps
        return left >= 0
    }

    /// Remembers what was computed when the last step was taken.
    func blame(_ subject: String) {
        if isExhausted, culprit == nil { culprit = subject }
    }

    func check() throws(DocumentError) {
        guard isExhausted else { return }
        throw DocumentError(
            .tooLarge,
            "\(culprit ?? "its recurrences") takes more steps than the \(limit) that a calendar may take;"
                + " remove it from the calendar, or write a simpler rule")
    }
}
