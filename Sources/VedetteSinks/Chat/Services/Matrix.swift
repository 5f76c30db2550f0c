// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts to a room of Matrix. https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid
enum MatrixKind {
    static let entry = SinkKindEntry.chat(
        "matrix", "Sends to a Matrix room as a user of its own.",
        [
            OptionSpec("url", .text, "The homeserver, as https://matrix.example.org.", required: true),
            OptionSpec("token", .secret, "The access token of the user that writes.", required: true),
            OptionSpec(
                "room", .text,
                "The room: its internal id, as !abc:example.org, or an alias, as #team:example.org. The user joins it where it may, so that an invitation is enough.",
                required: true),
            .links,
        ], isHosted: true,
        make: { options throws(OptionProblem) in
            let room = try options.line("room") ?? ""
            // From room version 12 an id has no server name.
            let isAlias = room.hasPrefix("#") && room.contains(":")
            guard isAlias || room.hasPrefix("!"), (2...255).contains(room.utf8.count) else {
                throw OptionProblem(
                    "room", detail: "is no room; those read !abc:example.org or, with an alias, #team:example.org")
            }
            return Matrix(base: try options.base(), token: try options.token(), room: MatrixRoom(room))
        })
}

struct Matrix: Chat {
    let base: String
    let token: Secret
    let room: MatrixRoom
    /// Synapse's default limit for a user: 0.2 a second, 10 at once.
    let rate = CallRate(every: .seconds(5), burst: 10)
    var secrets: [Secret] { [token] }

    /// An event may have 64 KiB as JSON, where a quote or backslash takes two bytes, so all texts together get half of
    /// that. The HTML repeats the plain text with escapes.
    static let plain = ChatText(.bytes)
    static let html = ChatText.html(.bytes, newline: "<br>")
    static let longestText = 5000

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        let json = JSON.members([
            // A notice makes no sound.
            "msgtype": .string(content.priority == .low ? "m.notice" : "m.text"),
            "body": .string(plain(content)),
            "format": .string("org.matrix.custom.html"),
            "formatted_body": .string(html(content)),
            // Nobody is mentioned, whatever the body holds (Matrix 1.7, "User and room mentions").
            "m.mentions": .members([:]),
        ])
        // The message's id is the transaction's id, so the server recognises a repeat.
        let path =
            "/_matrix/client/v3/rooms/\(WebURL.encoded(room.id))/send/m.room.message/\(WebURL.encoded(content.id))"
        return ChatPost(method: "PUT", url: base + path, headers: headers, json: json)
    }

    private var headers: [Header] { [Header("Authorization", Secret("Bearer " + token.value))] }

    /// Joins the room, which accepts an invitation and tells the id behind an alias.
    /// https://spec.matrix.org/latest/client-server-api/#post_matrixclientv3joinroomidoralias
    var preparation: ChatPost? {
        guard room.mustJoin else { return nil }
        let path = "/_matrix/client/v3/join/\(WebURL.encoded(room.configured))"
        return ChatPost(url: base + path, headers: headers, json: .members([:]))
    }

    func prepared(by reply: ChatReply) -> Outcome? {
        if (200..<300).contains(reply.status), let id = reply.json?["room_id"]?.string, id.hasPrefix("!"),
            id.utf8.count <= 255
        {
            room.join(as: id)
            return nil
        }
        guard reply.status != 404 else {
            return reply.pausing(reply.json?["errcode"]?.string, "correct the room: there is none of that name")
        }
        switch outcome(of: reply) {
        case .delivered: return .retry(reason: "the receiver's answer names no room", after: nil)
        // A room that cannot be joined refuses every message.
        case .rejected: return reply.pausing(reply.json?["errcode"]?.string, "correct the room")
        case let outcome: return outcome
        }
    }

    /// The user may have been invited since, or removed and invited again.
    func needsPreparation(after reply: ChatReply) -> Bool {
        guard reply.status == 403, reply.json?["errcode"]?.string == "M_FORBIDDEN" else { return false }
        room.leave()
        return true
    }

    private func plain(_ content: ChatContent) -> String {
        var lines = [Matrix.plain.line(content.title, 600)]
        if !content.text.isEmpty { lines.append(Matrix.plain.lines(of: content, Matrix.longestText)) }
        lines += content.facts.map { "\(Matrix.plain.line($0.name, 100)): \(Matrix.plain.line($0.value, 300))" }
        lines += content.actions.map { "\($0.label): \($0.url)" }
        lines += [content.link, Matrix.plain.line(content.footer, 300)].compactMap { $0 }
        return lines.joined(separator: "\n")
    }

    /// https://spec.matrix.org/latest/client-server-api/#mroommessage-msgtypes
    private func html(_ content: ChatContent) -> String {
        let title = "<strong>\(Matrix.html.line(content.title, 1200))</strong>"
        let linked = content.link.map { "<a href=\"\(Matrix.html.line($0, 10_000))\">\(title)</a>" } ?? title
        var lines = ["<font data-mx-color=\"\(content.color.hex)\" color=\"\(content.color.hex)\">●</font> \(linked)"]
        if !content.text.isEmpty { lines.append(Matrix.html.lines(of: content, 8000)) }
        lines += content.facts.map { "<em>\(Matrix.html.line($0.name, 150))</em>: \(Matrix.html.line($0.value, 500))" }
        let actions = content.actions.map { "<a href=\"\(Matrix.html.line($0.url, 10_000))\">\($0.label)</a>" }
        if !actions.isEmpty { lines.append(actions.joined(separator: " · ")) }
        lines.append("<font color=\"#57606a\">\(Matrix.html.line(content.footer, 600))</font>")
        return lines.joined(separator: "<br>")
    }

    /// https://spec.matrix.org/latest/client-server-api/#standard-error-response
    func outcome(of reply: ChatReply) -> Outcome {
        let json = (200..<300).contains(reply.status) ? nil : reply.json
        let code = json?["errcode"]?.string
        switch code {
        case "M_LIMIT_EXCEEDED":
            return reply.outcome(code, wait: ChatReply.wait(seconds: json?["retry_after_ms"]?.double.map { $0 / 1000 }))
        case "M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED":
            return reply.pausing(code, "make a new access token")
        case "M_FORBIDDEN": return reply.pausing(code, "invite the user to the room, and let it write there")
        case "M_UNRECOGNIZED": return reply.pausing(code, "correct the url: it is no homeserver")
        default: return reply.outcome(code)
        }
    }
}
