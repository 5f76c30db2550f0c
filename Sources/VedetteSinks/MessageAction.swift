// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A link of a message that acts on its match: it opens a page with one button.
struct MessageAction: Sendable, Hashable {
    var label: String
    /// Printable ASCII without quotes and brackets of any kind of markup.
    var url: String
}

extension SinkServices {
    /// Makes the links of a message, for one attempt: they are valid from now on. None for ends and messages about several
    /// matches, and none where they cannot be signed, since a message does not wait for that.
    func actions(of message: Message) async -> [MessageAction] {
        guard let links, let publicURL, let match = message.event.toldMatch else { return [] }
        let actions = ActionLink.Action.allCases.filter {
            $0 != .acknowledge || silencer?.canAcknowledge(rule: message.rule) == true
        }
        var made: [MessageAction] = []
        for action in actions {
            let link = ActionLink(
                action, rule: message.rule, Subject(message.event), match: match, from: clock.now().wall)
            let token = await ActionLink.Token(link) { await links.sign($0, day: link.day, makesKey: true) }
            let url = token.flatMap { ChatContent.link("\(publicURL)/\(ActionLink.path)/\($0.text)") }
            if let url { made.append(MessageAction(label: action.label, url: url)) }
        }
        return made
    }
}
