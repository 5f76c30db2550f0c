// SPDX-License-Identifier: Apache-2.0
import CXML2

/// The callbacks from libxml2's SAX2 interface to the engine
/// (https://gnome.pages.gitlab.gnome.org/libxml2/html/structxmlSAXHandler.html).
enum XMLCallbacks {
    static var table: xmlSAXHandler {
        var table = XMLParserRun.callbacks
        table.startElementNs = { user, local, prefix, namespace, declared, _, count, _, attributes in
            guard let user, let local else { return }
            Unmanaged<XMLEngine>.fromOpaque(user)._withUnsafeGuaranteedRef {
                $0.start(
                    local: local, prefix: prefix, namespace: namespace, declared: Int(declared),
                    attributes: XMLAttributes(fields: attributes, count: Int(count)))
            }
        }
        table.endElementNs = { user, local, _, _ in
            guard let user, let local else { return }
            Unmanaged<XMLEngine>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.end(local: local) }
        }
        let text: charactersSAXFunc = { user, bytes, count in
            guard let user else { return }
            Unmanaged<XMLEngine>.fromOpaque(user)._withUnsafeGuaranteedRef {
                $0.text(UnsafeBufferPointer(start: bytes, count: Int(count)))
            }
        }
        table.characters = text
        table.cdataBlock = text
        // The same function: with another one libxml2 would guess which white space matters.
        table.ignorableWhitespace = text
        return table
    }
}
