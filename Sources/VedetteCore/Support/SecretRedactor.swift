// SPDX-License-Identifier: Apache-2.0

/// Replaces the secrets of a server in what it answers, so that none that it repeats reaches an item, an event, an error
/// or the journal (I9).
///
/// Secrets of fewer than 8 bytes are left alone: they would be found in words that have nothing to do with them.
public struct SecretRedactor: Sendable {
    /// The text that stands for a secret. It is the same for all of them, so that a rotated secret changes no item.
    public static let replacement = "[secret]"
    private static let minimumLength = 8
    /// `user:password` may hold the Base64 of the password, so the longest first.
    private let forms: [Form]

    /// A text that is looked for: a secret, or what a client makes of it.
    private struct Form {
        let scalars: [Unicode.Scalar]
        /// Almost every byte of a text differs from this one.
        let first: UInt8
        let length: Int

        init?(_ text: some StringProtocol) {
            guard let first = text.utf8.first else { return nil }
            (scalars, self.first, length) = (Array(text.unicodeScalars), first, text.utf8.count)
        }
    }

    /// - Parameters:
    ///   - secrets: the values that a request to the server carries.
    ///   - credentials: add the form in which basic authentication sends them.
    /// - Returns: nil when none is long enough.
    public init?(_ secrets: [Secret], credentials: Credentials? = nil) {
        if secrets.isEmpty, credentials == nil { return nil }
        var texts = Set(secrets.flatMap(\.values)).filter { $0.utf8.count >= SecretRedactor.minimumLength }
        for text in texts { texts.formUnion(SecretRedactor.base64(text)) }
        if case .basic(let user, let password) = credentials {
            for value in password.values { texts.formUnion(SecretRedactor.base64("\(user):\(value)")) }
        }
        forms = texts.filter { $0.utf8.count >= SecretRedactor.minimumLength }
            .compactMap { Form($0) }
            .sorted { $0.length > $1.length }
        if forms.isEmpty { return nil }
    }

    /// Base64 of RFC 4648 §4 and §5, without the padding, which may be missing or encoded.
    private static func base64(_ text: String) -> [String] {
        let digits = String(Base64.encode(text.utf8).prefix { $0 != "=" })
        return [digits, String(digits.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })]
    }

    /// Returns the text with each secret replaced, also where it is percent-encoded or form-encoded, or written with the escapes
    /// of JSON or the references of HTML.
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
        let escape = EscapedText.begins(bytes[start])
        for form in forms where escape || bytes[start] == form.first {
            // A secret may itself hold what looks like an escape: `a%20b` stands for itself or for `a b`.
            for prefersEscapes in [true, false] {
                var position = start
                let isFound = form.scalars.allSatisfy { scalar in
                    guard
                        let next = EscapedText.end(of: scalar, at: position, in: bytes, prefersEscapes: prefersEscapes)
                    else { return false }
                    position = next
                    return true
                }
                if isFound { return position }
            }
        }
        return nil
    }
}

extension SecretRedactor {
    /// Redacts everything that is stored or shown of a page. The address of the next page stays: a server may want its
    /// own parameter back, and it goes to the same origin alone.
    public func redact(_ page: inout Page) {
        for i in page.items.indices { redact(&page.items[i]) }
        page.warnings = page.warnings.map(redacted)
        page.sharedKeys.last = page.sharedKeys.last.map(redacted)
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
        var error = error
        error.detail = redacted(error.detail)
        return error
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
