// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The result of one check of `doctor`.
struct Finding: Sendable, Hashable {
    enum Severity: String, Sendable, Hashable, CaseIterable {
        case ok
        /// It works, or may work; a person should know.
        case warning = "warn"
        /// It stops a notification, a poll or a delivery.
        case failure = "fail"
    }

    var severity: Severity
    /// What was checked: `configuration`, `sink desk`.
    var subject: String
    /// One sentence without a full stop.
    var text: String
    /// What to do about it.
    var remedy: String?

    static func ok(_ subject: String, _ text: String) -> Finding {
        Finding(severity: .ok, subject: subject, text: text)
    }

    static func warning(_ subject: String, _ text: String, remedy: String? = nil) -> Finding {
        Finding(severity: .warning, subject: subject, text: text, remedy: remedy)
    }

    static func failure(_ subject: String, _ text: String, remedy: String? = nil) -> Finding {
        Finding(severity: .failure, subject: subject, text: text, remedy: remedy)
    }

    /// Returns what `doctor` prints: severity, subject, text and remedy.
    /// - Parameter width: columns of a line; a longer one is broken, and the remedy begins a line of its own. Nil breaks none.
    func lines(_ palette: Palette, width: Int?) -> [StyledText] {
        let role: Palette.Role =
            switch severity {
            case .ok: .good
            case .warning: .doubtful
            case .failure: .bad
            }
        let name = palette.paint(severity.rawValue, role).padded(to: 6) + StyledText(subject, limit: 40)
        let head = name.padded(to: 22) + StyledText("  ")
        let body = StyledText(text, limit: 400)
        let end = remedy.map { StyledText("; ") + palette.paint($0, .strong) } ?? StyledText("")
        let line = head + body + end
        guard let width, line.width > width else { return [line] }
        let indent = StyledText("").padded(to: min(head.width, Finding.column))
        let room = max(20, width - indent.width)
        var lines = WrappedText.lines(body.text + (remedy == nil ? "" : ";"), width: room)
        if let remedy { lines += WrappedText.lines(remedy, width: room).map { palette.paint($0.text, .strong) } }
        // Beside a long subject there is no room for a text.
        guard head.width <= Finding.column else { return [name] + lines.map { indent + $0 } }
        return lines.enumerated().map { i, rest in (i == 0 ? head : indent) + rest }
    }

    /// Where the text of a finding begins at the latest.
    private static let column = 32

    var json: JSON {
        .members([
            "verdict": .string(severity.rawValue), "subject": .string(subject), "text": .string(text),
            "remedy": remedy.map(JSON.string),
        ])
    }
}

extension [Finding] {
    /// Returns the first findings, all of one severity, and a last one that counts the others.
    func bounded(to limit: Int, _ subject: String, remedy: String) -> [Finding] {
        guard count > limit + 1, let severity = first?.severity else { return self }
        let rest = Finding(
            severity: severity, subject: subject, text: "and \(count - limit) more like these", remedy: remedy)
        return prefix(limit) + [rest]
    }
}

/// Lets a check list its findings as statements, under conditions.
@resultBuilder
enum Findings {
    static func buildExpression(_ finding: Finding) -> [Finding] { [finding] }
    static func buildExpression(_ findings: [Finding]) -> [Finding] { findings }
    static func buildBlock(_ parts: [Finding]...) -> [Finding] { parts.flatMap { $0 } }
    static func buildOptional(_ part: [Finding]?) -> [Finding] { part ?? [] }
    static func buildEither(first: [Finding]) -> [Finding] { first }
    static func buildEither(second: [Finding]) -> [Finding] { second }
    static func buildArray(_ parts: [[Finding]]) -> [Finding] { parts.flatMap { $0 } }
}
