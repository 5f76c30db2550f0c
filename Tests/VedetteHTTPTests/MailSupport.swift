// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteHTTP

/// A real mail server, aiosmtpd, with a folder for the mails that it accepts.
final class MailBox: Sendable {
    struct Taken: Decodable {
        var from: String
        var to: [String]
        var tls: Bool
        var hello: String
        var user: String
        var raw: String
        var defects: [String]
    }

    let folder: URL
    private let server: ScriptServer

    /// The Python interpreter that has aiosmtpd.
    private static let python = Task { ScriptServer.python(with: "aiosmtpd") }

    init(_ options: String...) async throws {
        let python = try #require(await MailBox.python.value, "python3-aiosmtpd is not installed")
        folder = FileManager.default.temporaryDirectory.appending(path: "vedette-mail-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pair = try await Certificates.all.value.server
        server = try ScriptServer(
            "mail.py",
            ["--folder", folder.path, "--certificate", pair.certificate, "--key", pair.key] + options, python: python)
    }

    deinit {
        // While it runs, it may write a file into the folder that is being removed.
        server.end()
        try? FileManager.default.removeItem(at: folder)
    }

    var port: Int { server.port }

    func taken() throws -> [Taken] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        return try names.sorted().map {
            try JSONDecoder().decode(Taken.self, from: Data(contentsOf: folder.appending(path: $0)))
        }
    }

    /// The log of the server.
    var log: String { (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? "" }

    /// Waits until the server has the content of a mail and has not replied.
    func hasContent() async throws {
        let file = folder.appending(path: "judging")
        while !FileManager.default.fileExists(atPath: file.path) { await Task.yield() }
        try FileManager.default.removeItem(at: file)
    }

    func touch(_ name: String) throws { try Data().write(to: folder.appending(path: name)) }
}

extension Mail {
    static let text =
        "From: a@example.org\r\nTo: b@example.org\r\nSubject: Hello\r\n\r\n.One\r\n..two\r\n.\r\nthree\r\n"

    static func to(
        _ recipients: String..., at port: Int, scheme: String = "smtp", _ change: (inout Mail) -> Void = { _ in }
    ) throws -> Mail {
        let server = try #require(MailServer("\(scheme)://127.0.0.1:\(port)"))
        var mail = Mail(
            server: server, upgrade: .optional, sender: "a@example.org",
            recipients: recipients.map { $0 + "@example.org" }, content: Array(text.utf8), timeout: .seconds(20),
            group: "mail")
        change(&mail)
        return mail
    }
}

extension HTTPClient {
    /// Returns how a mail failed; a reply is a failed test.
    func failed(_ mail: Mail, _ location: SourceLocation = #_sourceLocation) async -> FetchError? {
        do throws(FetchError) {
            let reply = try await send(mail)
            Issue.record("answered \(reply)", sourceLocation: location)
            return nil
        } catch {
            return error
        }
    }

    var runningMails: Int { transfers.mails.ids.count + transfers.waiting.count }
    var watchedMails: Int { loop.extraSockets.count }
}
