// SPDX-License-Identifier: Apache-2.0

/// Finds out which elements a browser does not show. Of styles only the element's own are read.
enum HTMLVisibility {
    /// The elements whose content is no text of the page, in a browser that runs scripts: a form's text is a person's own.
    static let unseen: Set<String> = ["script", "style", "template", "noscript", "textarea"]

    /// Returns whether the value of the attribute `style` hides its element. Of several declarations the last counts, or the last
    /// that is important (CSS Cascading 4 §6.1).
    static func hides(style: ArraySlice<UInt8>) -> Bool {
        var values: [String: (word: String, isImportant: Bool)] = [:]
        for declaration in style.split(separator: UInt8(ascii: ";")) {
            let parts = declaration.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2 else { continue }
            let (name, isImportant) = (word(parts[0]), parts[1].contains(UInt8(ascii: "!")))
            if isImportant || values[name]?.isImportant != true { values[name] = (word(parts[1]), isImportant) }
        }
        return values["display"]?.word == "none" || values["visibility"]?.word == "hidden"
    }

    /// The first word of one side of a declaration, without `!important`.
    private static func word(_ bytes: ArraySlice<UInt8>) -> String {
        let word = bytes.drop { $0 <= 0x20 }.prefix { $0 > 0x20 && $0 != UInt8(ascii: "!") }
        return String(decoding: word.map(\.lowercased), as: UTF8.self)
    }

    /// Returns whether the attributes of a start tag hide its element.
    /// - Parameter tag: from the place after the `<` to the place after the `>`.
    static func hides(_ tag: some RandomAccessCollection<UInt8>) -> Bool {
        guard mayHide(tag), let tag = try? MarkupTag(Array(tag), name: 0, mostAttributes: 256, isHTML: true) else {
            return false
        }
        return tag.attributes.contains { attribute in
            switch String(decoding: attribute.name.map(\.lowercased), as: UTF8.self) {
            case "hidden": true
            case "style": hides(style: attribute.value)
            default: false
            }
        }
    }

    /// Whether an attribute may be `hidden` or `style`; most tags have neither. White space, a quotation mark or a slash
    /// precedes a name, and all are at most 0x2F.
    private static func mayHide(_ tag: some RandomAccessCollection<UInt8>) -> Bool {
        var before: UInt8 = 0xFF
        for byte in tag {
            let letter = byte | 0x20
            if letter == UInt8(ascii: "h") || letter == UInt8(ascii: "s"), before <= 0x2F { return true }
            before = byte
        }
        return false
    }

    /// Returns the place after the end tag that closes an element; nil where there is none.
    /// - Parameters:
    ///   - name: in lower case.
    ///   - start: the place after the start tag.
    static func end(of name: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var (open, at) = (1, start)
        while let less = bytes[at...].firstIndex(of: UInt8(ascii: "<")) {
            let isEnd = less + 1 < bytes.count && bytes[less + 1] == UInt8(ascii: "/")
            at = less + (isEnd ? 2 : 1)
            guard at + name.count < bytes.count, has(name, bytes, at) else { continue }
            let next = bytes[at + name.count]
            guard next <= 0x20 || next == UInt8(ascii: ">") || next == UInt8(ascii: "/") else { continue }
            open += isEnd ? -1 : 1
            if open == 0 { return bytes[at...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } }
        }
        return nil
    }

    private static func has(_ name: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Bool {
        for i in 0..<name.count where bytes[start + i].lowercased != name[i] { return false }
        return true
    }
}
