// SPDX-License-Identifier: Apache-2.0
import CXML2

/// The trampolines from libxml2's SAX2 interface into the engine
/// (https://gnome.pages.gitlab.gnome.org/libxml2/html/structxmlSAXHandler.html).
enum XMLCallbacks {
    static var table: xmlSAXHandler {
        var table = xmlSAXHandler()
        table.initialized = cx_sax2_magic()
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
        // A DOCTYPE is legitimate (RSS 0.91 has one); what it declares is refused before anything can refer to it.
        table.entityDecl = { user, _, _, _, _, _ in XMLCallbacks.refuse(user, "entities") }
        table.unparsedEntityDecl = { user, _, _, _, _ in XMLCallbacks.refuse(user, "entities") }
        table.attributeDecl = { user, _, _, _, _, _, values in
            xmlFreeEnumeration(values)
            XMLCallbacks.refuse(user, "default attributes")
        }
        table.serror = { user, error in
            guard let engine = XMLCallbacks.engine(user), let error else { return }
            let message = error.pointee.message.map { String(cString: $0).prefix(200) } ?? "unknown error"
            engine.report(
                code: Int(error.pointee.code), isFatal: cx_is_fatal(error) != 0,
                message: String(message.split(separator: "\n").joined(separator: " ")))
        }
        return table
    }

    private static func engine(_ user: UnsafeMutableRawPointer?) -> XMLEngine? {
        user.map { Unmanaged<XMLEngine>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func refuse(_ user: UnsafeMutableRawPointer?, _ what: String) {
        engine(user)?.fail(
            DocumentError(.entityDeclared, "the XML document declares \(what) in its DOCTYPE, which is refused"))
    }
}
