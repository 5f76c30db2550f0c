// SPDX-License-Identifier: Apache-2.0

/// Replaces the secrets of a server in what it answers, so that none that it repeats reaches an item, an event, an error
/// or the journal (I9).
///
/// Secrets of fewer than 8 bytes are left alone: they would be found in words that have nothing to do with them.
public struct SecretRedactor: Sendable {
    /// The text that stands for a secret. It is the same for all of them, so that a rotated secret changes no item.
    public static let replacement = "[secret]"
    private static let minimumLength = 8
    /// A URL in a URL in a URL: more levels of percent-encoding than any server has been seen to write.
    private static let maximumLevels = 3

    /// The longest first: `user:password` in Base64 may hold another.
    private let secrets: [[UInt8]]

    /// - Parameters:
    ///   - secrets: the values that a request to the server carries.
    ///   - credentials: add the form in which basic authentication sends them.
    /// - Returns: nil when none is long enough.
    public init?(_ secrets: [Secret], credentials: Credentials? = nil) {
        if secrets.isEmpty, credentials == nil { return nil }
        var texts = secrets.map { Array($0.value.utf8) }
        if case .basic(let user, let password) = credentials {
            // The padding may be missing or encoded.
            let encoded = Base64.encode("\(user):\(password.value)".utf8)
            texts.append(Array(encoded.utf8.prefix { $0 != UInt8(ascii: "=") }))
        }
        self.secrets = Set(texts).filter { $0.count >= SecretRedactor.minimumLength }
            .sorted { $0.count > $1.count }
        if self.secrets.isEmpty { return nil }
    }

    /// Returns the text with each secret replaced, also where it is percent-encoded or form-encoded.
    public func redacted(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            var out: [UInt8] = []
            var (start, position) = (0, 0)
            while position < bytes.count {
                guard let end = end(ofSecretAt: position, in: bytes) else {
                    position += 1
                    continue
                }
                out += bytes[start..<position]
                out += SecretRedactor.replacement.utf8
                (start, position) = (end, end)
            }
            return start == 0 ? nil : String(decoding: out + bytes[start...], as: UTF8.self)
        } ?? text
    }

    private func end(ofSecretAt start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        for secret in secrets {
            // Almost every byte fails here.
            guard bytes[start] == secret[0] || bytes[start] == 0x25 || bytes[start] == 0x2B else { continue }
            var position = start
            let isFound = secret.allSatisfy { byte in
                guard let next = SecretRedactor.end(of: byte, at: position, in: bytes) else { return false }
                position = next
                return true
            }
            if isFound { return position }
        }
        return nil
    }

    /// Returns the end of one byte, written plainly, percent-encoded up to three times, or as `+` for a space.
    private static func end(of byte: UInt8, at start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard start < bytes.count else { return nil }
        if bytes[start] == byte || (byte == 0x20 && bytes[start] == 0x2B) { return start + 1 }
        guard bytes[start] == 0x25 else { return nil }
        var position = start + 1
        for _ in 0..<maximumLevels {
            guard position + 2 <= bytes.count, let high = digit(bytes[position]), let low = digit(bytes[position + 1])
            else { return nil }
            position += 2
            let value = high << 4 | low
            if value == byte { return position }
            // An encoded `%`, whose own digits follow.
            guard value == 0x25 else { return nil }
        }
        return nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}

extension SecretRedactor {
    /// Redacts everything that is stored or shown of a page. The address of the next page stays: a server may want its
    /// own parameter back, and it goes to the same origin alone.
    public func redact(_ page: inout Page) {
        for i in page.items.indices { redact(&page.items[i]) }
        page.warnings = page.warnings.map(redacted)
    }

    public func redact(_ item: inout Item) {
        item.key = redacted(item.key)
        item.title = item.title.map(redacted)
        item.state = item.state.map(redacted)
        item.url = item.url.map(redacted)
        item.fields = redacted(item.fields)
        item.notes = redacted(item.notes)
    }

    /// Returns the validators without one that holds a secret: it would be stored, and with a replacement it is no
    /// validator.
    public func redacted(_ validators: Validators) -> Validators {
        Validators(
            etag: validators.etag.flatMap { redacted($0) == $0 ? $0 : nil },
            lastModified: validators.lastModified.flatMap { redacted($0) == $0 ? $0 : nil })
    }

    public func redacted(_ error: FetchError) -> FetchError {
        FetchError(error.failure, redacted(error.detail), timedOut: error.timedOut)
    }

    /// Returns the fields with redacted values. Names come from the configuration.
    public func redacted(_ fields: Fields) -> Fields {
        var out = fields
        for field in fields {
            switch field.value {
            case .text(let text):
                let clean = redacted(text)
                if clean != text { out[field.name] = .text(clean) }
            case .list(let list):
                let clean = list.map(redacted)
                if clean != list { out[field.name] = .list(clean) }
            }
        }
        return out
    }
}
