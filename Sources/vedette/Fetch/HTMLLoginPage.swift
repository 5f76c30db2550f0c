// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Finds the login form of a page of HTML.
struct HTMLLoginPage: LoginPageReader {
    private static let form = "(//form[.//input[translate(@type, 'PASWORD', 'pasword') = 'password']])[1]"
    private static let hidden = form + "//input[translate(@type, 'HIDEN', 'hiden') = 'hidden'][@name]"

    func loginPage(in response: Response) -> LoginPage? {
        guard response.headers.mediaType == "text/html",
            let tree = try? DOMReader().html(response.body, charset: response.headers.charset, mustEnd: false),
            let form = HTMLLoginPage.nodes(HTMLLoginPage.form, tree).first, let url = WebURL(response.url)
        else { return nil }
        let base = HTMLLoginPage.text("//base/@href", tree, at: form).flatMap { url.resolving($0) } ?? url
        let action = HTMLLoginPage.text("@action", tree, at: form)
        // A form without an action is sent to its own page.
        guard let target = action.map({ base.resolving($0) }) ?? url else { return nil }
        let hidden = HTMLLoginPage.nodes(HTMLLoginPage.hidden, tree).prefix(100).compactMap { node in
            HTMLLoginPage.text("@name", tree, at: node).map { name in
                LoginPage.HiddenField(name, HTMLLoginPage.text("@value", tree, at: node) ?? "")
            }
        }
        return LoginPage(action: target.text, hidden: hidden)
    }

    private static func nodes(_ text: String, _ tree: DOMTree) -> [DOMNode] {
        guard let path = try? XPath(text) else { return [] }
        return (try? tree.nodes(path)) ?? []
    }

    private static func text(_ text: String, _ tree: DOMTree, at node: DOMNode) -> String? {
        guard let path = try? XPath(text) else { return nil }
        return (try? tree.texts(path, at: node))?.first
    }
}
