// SPDX-License-Identifier: Apache-2.0

/// A sink of a kind, with the receiver that takes its messages.
struct SinkKindCase: Sendable {
    /// Where the message goes; it decides how a refusal is arranged, and where the message is seen.
    enum Receiver: Sendable {
        /// The receiver of Tests/lab, at this path or below it.
        case http(String)
        case output, file, command, mail, desktop
    }

    /// The sink's name; a kind may have several.
    let name: String
    let kind: String
    let receiver: Receiver
    /// Options of the sink; `URL`, `FOLDER` and `PORT` stand for the receiver's address, a folder and the mail server's port.
    let options: String

    init(_ kind: String, _ receiver: Receiver, _ options: String = "", name: String? = nil) {
        (self.name, self.kind, self.receiver, self.options) = (name ?? kind, kind, receiver, options)
    }

    /// Whether its receiver can answer that it will never take a message.
    var isRefusable: Bool {
        switch receiver {
        case .http, .command: true
        case .output, .file, .mail, .desktop: false
        }
    }

    /// A kind that is missing here is found by the suite's first test.
    static let all = [
        SinkKindCase("stdout", .output, "format: json"),
        SinkKindCase("file", .file, "path: FOLDER/taken/messages"),
        SinkKindCase("command", .command, #"command: [sh, -c, "cat >> FOLDER/commands; exit $(cat FOLDER/status)"]"#),
        SinkKindCase(
            "webhook", .http("/structured"), "url: URL/structured, sign: \"whsec_\(String(repeating: "s", count: 32))\""
        ),
        SinkKindCase("webhook", .http("/binary"), "url: URL/binary, mode: binary", name: "binary"),
        SinkKindCase(
            "webhook", .http("/form"), #"url: URL/form, format: form, body: "link={{link}}""#, name: "form"),
        SinkKindCase("slack", .http("/slack"), "url: URL/slack"),
        SinkKindCase("mattermost", .http("/hooks/mattermost"), "url: URL/hooks/mattermost"),
        SinkKindCase("discord", .http("/discord"), "url: URL/discord"),
        SinkKindCase("teams", .http("/teams"), "url: URL/teams"),
        SinkKindCase("googlechat", .http("/googlechat"), "url: URL/googlechat"),
        SinkKindCase("matrix", .http("/matrix"), #"url: URL/matrix, token: token, room: "!room:example.org""#),
        SinkKindCase("ntfy", .http("/"), "url: URL, topic: topic"),
        SinkKindCase("gotify", .http("/gotify"), "url: URL/gotify, token: token"),
        SinkKindCase(
            "telegram", .http("/telegram"),
            #"url: URL/telegram, token: "1234:AA\#(String(repeating: "t", count: 33))", chat: "1""#),
        SinkKindCase("mail", .mail, #"url: "smtp://127.0.0.1:PORT", from: watch@example.org, to: grey@example.org"#),
        SinkKindCase("desktop", .desktop),
    ]
}
