// SPDX-License-Identifier: Apache-2.0
import CXML2

/// The callbacks that lead from libxml2's parsers through `DOMBuilder` to libxml2's own tree builder (SAX2.h). What has no
/// callback is not built: comments, processing instructions, a DOCTYPE.
enum DOMCallbacks {
    static var xml: xmlSAXHandler {
        var table = common
        table.startElementNs = { user, local, prefix, uri, declared, namespaces, count, defaulted, attributes in
            guard let builder = DOMCallbacks.builder(user), let local else { return }
            guard builder.start(local, declared: Int(declared), attributes: Int(count)) else { return }
            xmlSAX2StartElementNs(
                builder.parser, local, prefix, uri, declared, namespaces, count, defaulted, attributes)
        }
        table.endElementNs = { user, local, prefix, uri in
            guard let builder = DOMCallbacks.builder(user), builder.end() else { return }
            xmlSAX2EndElementNs(builder.parser, local, prefix, uri)
        }
        table.cdataBlock = table.characters
        return table
    }

    /// libxml2's HTML parser calls the SAX1 functions, with scripts and styles as CDATA.
    static var html: xmlSAXHandler {
        var table = common
        table.startElement = { user, name, attributes in
            guard let builder = DOMCallbacks.builder(user), let name else { return }
            var count = 0
            if let attributes { while attributes[2 * count] != nil { count += 1 } }
            guard builder.start(name, declared: 0, attributes: count) else { return }
            xmlSAX2StartElement(builder.parser, name, attributes)
        }
        table.endElement = { user, name in
            guard let builder = DOMCallbacks.builder(user), builder.end() else { return }
            xmlSAX2EndElement(builder.parser, name)
        }
        table.cdataBlock = { user, bytes, count in
            guard let builder = DOMCallbacks.builder(user), builder.text(Int(count), isScript: true) else { return }
            xmlSAX2Characters(builder.parser, bytes, count)
        }
        return table
    }

    private static var common: xmlSAXHandler {
        var table = XMLParserRun.callbacks
        table.startDocument = { user in xmlSAX2StartDocument(DOMCallbacks.builder(user)?.parser) }
        table.characters = { user, bytes, count in
            guard let builder = DOMCallbacks.builder(user), builder.text(Int(count)) else { return }
            xmlSAX2Characters(builder.parser, bytes, count)
        }
        // The same function: else libxml2 guesses which white space matters, and words run together.
        table.ignorableWhitespace = table.characters
        return table
    }

    private static func builder(_ user: UnsafeMutableRawPointer?) -> DOMBuilder? {
        user.map { Unmanaged<DOMBuilder>.fromOpaque($0).takeUnretainedValue() }
    }
}
