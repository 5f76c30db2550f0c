// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteHTTP

/// Renders what `vedette trust` found out about a server's certificates.
struct TrustReport {
    let origin: String
    let server: Server
    let finding: CertificateProbe.Finding

    private var now: Timestamp { SystemClock().now().wall }
    /// The pin of the server's own certificate, the only one that is compared with a pin.
    private var pin: String { finding.chain[0].pin }

    private var isPinned: Bool {
        server.tls.pin?.split(separator: ";").contains { $0 == pin } ?? false
    }

    func lines(isWritten: Bool) -> [StyledText] {
        var lines = [StyledText(origin)]
        for (index, certificate) in finding.chain.enumerated() {
            var table = TextTable(columns: 2)
            table.add(["  certificate", "\(index + 1) of \(finding.chain.count)"])
            table.add(["  subject", certificate.subject.isEmpty ? "-" : certificate.subject])
            table.add(["  issuer", certificate.issuer == certificate.subject ? "itself" : certificate.issuer])
            if !certificate.names.isEmpty { table.add(["  names", certificate.names]) }
            table.add(["  valid from", TrustReport.day(certificate.validFrom)])
            table.add([
                "  valid until",
                "\(TrustReport.day(certificate.validUntil)), \(certificate.validUntil.relative(to: now))",
            ])
            table.add(["  SHA-256", certificate.fingerprint])
            table.add(["  pin", certificate.pin])
            lines += table.lines + [StyledText("")]
        }
        return lines + (summary + [""] + (isWritten || isPinned ? [] : advice)).map { StyledText($0) }
    }

    /// Returns a time in seconds of UTC, as certificates have it.
    private static func day(_ time: Timestamp) -> String { time.rfc3339.replacing(".000Z", with: "Z") }

    private var summary: [String] {
        let usual =
            finding.doubts.isEmpty
            ? "The usual check passes: chain, date and name are valid."
            : "The usual check fails: \(finding.doubts.joined(separator: "; "))."
        if isPinned { return [usual, "The server '\(server.name)' has this key pinned, so it is trusted."] }
        if server.tls.pin != nil {
            return [
                usual,
                "The server '\(server.name)' has ANOTHER key pinned: the key was changed, or this is another server.",
            ]
        }
        if server.tls.insecure { return [usual, "The server '\(server.name)' is 'insecure': nothing is checked."] }
        return [usual]
    }

    private var advice: [String] {
        let place = server.name.isEmpty ? "its server" : "the server '\(server.name)'"
        let start =
            finding.doubts.isEmpty
            ? "No pin is needed. To trust this key and no authority, write at \(place):"
            : "When the server's owner confirms this SHA-256, write at \(place):"
        return [start, "", "    tls: {pin: \"\(pin)\"}"]
    }

    var json: JSON {
        let chain = finding.chain.map { certificate in
            JSON.members([
                "subject": .string(certificate.subject), "issuer": .string(certificate.issuer),
                "names": .string(certificate.names), "valid_from": .string(certificate.validFrom.rfc3339),
                "valid_until": .string(certificate.validUntil.rfc3339), "sha256": .string(certificate.fingerprint),
                "pin": .string(certificate.pin),
            ])
        }
        return .members([
            "origin": .string(origin), "trusted": .bool(finding.doubts.isEmpty), "pinned": .bool(isPinned),
            "doubts": .array(finding.doubts.map(JSON.string)), "pin": .string(pin), "chain": .array(chain),
        ])
    }
}
