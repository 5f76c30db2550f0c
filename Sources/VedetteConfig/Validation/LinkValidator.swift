// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Warns of links in messages that nobody could open.
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
        guard let url = settings.publicURL.flatMap(WebURL.init) else {
            return Self.withoutEffect("'settings.public_url', where people open the page")
        }
        guard let listen else {
            return Self.withoutEffect("'settings.listen', where the page is offered")
        }
        let host = url.host.contains(":") ? "[\(url.host)]" : url.host
        guard !PageHost.isAccepted(host, among: Set(listen.hosts)) else { return nil }
        return "'links' lead to \(quoted(host)), a name for which the page answers 421; write "
            + "listen: {address: …, hosts: [\(host)]}"
    }

    private static func withoutEffect(_ missing: String) -> String {
        "'links' has no effect without \(missing); add it, or remove 'links'"
    }
}
