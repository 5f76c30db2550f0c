// SPDX-License-Identifier: Apache-2.0

/// Warns of links in messages that lead nowhere. Whether the page takes the name in them, `SettingsReader` checks.
struct LinkValidator {
    let settings: Settings
    let listen: ListenSettings?
    let findings: Findings

    /// Checks the page to which the links of a sink lead.
    /// - Parameter place: where the sink says that its messages have links.
    func validate(at place: Place) {
        // A setting that an error is about is not absent.
        if !findings.hasErrors, let problem { findings.warn(place, problem) }
    }

    private var problem: String? {
        guard settings.publicURL != nil else {
            return Self.withoutEffect("'settings.public_url', where people open the page")
        }
        guard listen != nil else { return Self.withoutEffect("'settings.listen', where the page is offered") }
        return nil
    }

    private static func withoutEffect(_ missing: String) -> String {
        "'links' has no effect without \(missing); add it, or remove 'links'"
    }
}
