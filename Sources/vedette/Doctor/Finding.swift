// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// What one check of `doctor` says.
struct Finding: Sendable, Hashable {
    enum Verdict: String, Sendable, Hashable, CaseIterable {
        case ok
        /// It works, or may work; a person should know.
        case warning = "warn"
        /// A bubble, a poll or a delivery does not work because of it.
        case failure = "fail"
    }

    var verdict: Verdict
    /// What was checked: `configuration`, `sink desk`.
    var subject: String
    /// One sentence, without a dot.
    var text: String
    /// What to do about it.
    var remedy: String?

    static func ok(_ subject: String, _ text: String) -> Finding {
        Finding(verdict: .ok, subject: subject, text: text)
    }

    static func warning(_ subject: String, _ text: String, remedy: String? = nil) -> Finding {
        Finding(verdict: .warning, subject: subject, text: text, remedy: remedy)
    }

    static func failure(_ subject: String, _ text: String, remedy: String? = nil) -> Finding {
        Finding(verdict: .failure, subject: subject, text: text, remedy: remedy)
    }

    func line(isColoured: Bool) -> String {
        let threshold = verdict.rawValue.padded(to: 4)
        let name = TerminalText.safe(subject, limit: 40).padded(to: 16)
        let text = TerminalText.safe(text, limit: 400)
        let remedy = remedy.map { TerminalText.safe($0, limit: 400) }
        guard isColoured else { return "\(threshold)  \(name)  \(text)" + (remedy.map { "; \($0)" } ?? "") }
        return "\(colour)\(threshold)\u{1B}[0m  \(name)  \(text)" + (remedy.map { "; \u{1B}[1m\($0)\u{1B}[0m" } ?? "")
    }

    private var colour: String {
        switch verdict {
        case .ok: "\u{1B}[32m"
        case .warning: "\u{1B}[33m"
        case .failure: "\u{1B}[1;31m"
        }
    }

    var json: JSON {
        .members([
            "verdict": .string(verdict.rawValue), "subject": .string(subject), "text": .string(text),
            "remedy": remedy.map(JSON.string),
        ])
    }
}

extension [Finding] {
    /// At most so many lines of one verdict: what is more is counted.
    func bounded(to most: Int, _ subject: String, remedy: String) -> [Finding] {
        guard count > most + 1, let verdict = first?.verdict else { return self }
        let rest = Finding(
            verdict: verdict, subject: subject, text: "and \(count - most) more like these", remedy: remedy)
        return prefix(most) + [rest]
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
