// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore

@testable import VedetteSinks

enum MailSample {
    static let options: [String: OptionValue] = [
        "url": .text("smtp://mail.example.org"), "from": .text("Vedette <watch@example.org>"),
        "to": .list([.text("ann@example.org"), .text("Jürgen Groß <jg@example.net>")]),
    ]

    /// Another value replaces the sample's; nil leaves it out.
    static func settings(_ more: [String: OptionValue?] = [:]) throws -> MailSettings {
        try MailSettings(Options(options.merging(more.mapValues { $0 ?? .flag(false) }) { $1 }))
    }

    static func sink(_ carrier: any MailCarrier, _ more: [String: OptionValue] = [:]) throws -> any Sink {
        let services = SinkServices(
            fetcher: ScriptedFetcher(status: 200), clock: StillClock(), userAgent: "v", mail: carrier)
        return try MailKind.entry.make(Options(options.merging(more) { $1 }))("post", services)
    }

    static func bytes(_ message: Message, _ more: [String: OptionValue] = [:], at time: String = "2026-11-21T10:00:05Z")
        throws -> [UInt8]
    {
        let settings = try settings(more)
        let now = try #require(Timestamp(rfc3339: time))
        return MailMessage(message, from: settings.from, to: settings.to, cc: settings.cc, now: now).bytes
    }
}

/// A mail carrier that records mails and gives a scripted reply.
final class ScriptedCarrier: MailCarrier {
    private let answer: @Sendable (Mail) -> Result<MailReply, FetchError>
    private let seen = Mutex<[Mail]>([])

    init(_ answer: @escaping @Sendable (Mail) -> Result<MailReply, FetchError>) { self.answer = answer }

    convenience init(_ code: Int, _ text: String = "", at stage: MailReply.Stage = .content) {
        self.init { _ in .success(MailReply(stage: stage, code: code, text: text)) }
    }

    var mails: [Mail] { seen.withLock { $0 } }

    func send(_ mail: Mail) async throws(FetchError) -> MailReply {
        seen.withLock { $0.append(mail) }
        return try answer(mail).get()
    }
}

/// Parses mails with Python's email package.
struct ReadMail: Decodable {
    struct Part: Decodable {
        var type: String
        var text: String
    }

    var names: [String]
    var headers: [String: String]
    var addresses: [[String]]
    var type: String
    var parts: [Part]
    var defects: [String]

    /// A line of JSON per mail, each given as a line of hexadecimal digits.
    private static let script = """
        import email, email.policy, email.utils, json, sys
        for line in sys.stdin.read().split():
            mail = email.message_from_bytes(bytes.fromhex(line), policy=email.policy.default)
            defects = [repr(d) for part in mail.walk() for d in part.defects]
            for name, value in mail.items():
                defects += [f"{name}: {d!r}" for d in getattr(value, "defects", ())]
            parts = [{"type": p.get_content_type(), "text": p.get_content().replace("\\r\\n", "\\n")} for p in mail.walk() if not p.is_multipart()]
            addresses = [[a.display_name, a.addr_spec] for n in ("From", "To", "Cc") if mail[n] for a in mail[n].addresses]
            headers = {n: str(v) for n, v in mail.items()}
            headers["(time)"] = str(int(mail["Date"].datetime.timestamp()))
            print(json.dumps({"names": list(mail.keys()), "headers": headers, "addresses": addresses,
                              "type": mail.get_content_type(), "parts": parts, "defects": defects}))
        """

    static func of(_ mails: [[UInt8]]) throws -> [ReadMail] {
        let lines = mails.map { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
        let (output, status) = try Python.run(script, input: Array(lines.joined(separator: "\n").utf8))
        try #require(status == 0, "\(output)")
        return try output.split(separator: "\n").map {
            try JSONDecoder().decode(ReadMail.self, from: Data($0.utf8))
        }
    }
}
