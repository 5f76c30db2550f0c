// SPDX-License-Identifier: Apache-2.0

/// What a link in a message does: one action about one match of one rule, once, until a time.
public struct ActionLink: Sendable, Hashable {
    /// The actions that a link can have.
    public enum Action: String, Sendable, CaseIterable {
        case acknowledge, snooze

        /// What the link is called.
        public var label: String {
            switch self {
            case .acknowledge: "Acknowledge"
            case .snooze: "Snooze \(DurationText.long(seconds: Silence.usualLength.inSeconds))"
            }
        }
    }

    /// What became of the note that a link is used.
    public enum Use: Sendable, Hashable {
        case first
        /// It was used before.
        case again
        /// The note could not be stored.
        case failed
    }

    /// The first segment of the path at which the page takes links.
    public static let path = "link"

    /// How long a link is valid.
    public static let lifetime = Duration.seconds(Int64(86_400))

    /// What it does.
    public var action: Action
    /// The rule's name.
    public var rule: String
    /// The item or source.
    public var subject: Subject
    /// The id of the event that began the match.
    public var match: String
    /// When it ends, on the wall clock.
    public var expires: Timestamp

    /// Creates a link that is valid from a time on.
    public init(_ action: Action, rule: String, _ subject: Subject, match: String, from now: Timestamp) {
        (self.action, self.rule, self.subject, self.match) = (action, rule, subject, match)
        expires = now.advanced(by: Self.lifetime)
    }

    /// The day whose key signs it: the one on which it was made, in days since 1970 (UTC).
    public var day: Int64 { ActionLink.day(of: expires.advanced(by: .zero - Self.lifetime)) }

    /// Returns the number of a day since 1970 (UTC).
    public static func day(of time: Timestamp) -> Int64 { time.milliseconds / 86_400_000 }

    /// Whether a link that was made on a day can be valid at a time.
    public static func isKept(day: Int64, at now: Timestamp) -> Bool { day >= self.day(of: now) - 1 }

    /// Whether it has not ended. A link never ends later than its lifetime from now, unless the clock was set back.
    public func isValid(at now: Timestamp) -> Bool {
        expires > now && expires <= now.advanced(by: Self.lifetime)
    }
}

extension ActionLink {
    /// A link as its address carries it: `BODY.SIGNATURE`, both in base64url (RFC 4648 §5).
    public struct Token: Sendable, Hashable {
        /// Longer ones are neither made nor read: receivers cut addresses.
        public static let longest = 1600

        /// What it stands for.
        public let link: ActionLink
        /// The token itself.
        public let text: String
        /// The text that was signed.
        public let signed: String
        /// The signature as it is written. Names the link among those that were used.
        public let signature: String

        /// Reads a token; returns nil for anything else. Its signature is not checked.
        public init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard text.utf8.count <= Self.longest, parts.count == 2, parts[1].utf8.count == 43,
                parts.allSatisfy(HTTPSyntax.isWord),
                let link = Self.bytes(parts[0]).flatMap(ActionLink.init(body:))
            else { return nil }
            (self.link, self.text, signature) = (link, text, parts[1])
            signed = Self.signed(parts[0])
        }

        /// Signs a link.
        /// - Parameter sign: returns the HMAC-SHA256 of a text; nil where it cannot.
        /// - Returns: nil without a signature, and for a link that is too long.
        public init?(_ link: ActionLink, sign: (_ text: String) async -> [UInt8]?) async {
            let body = Self.text(link.body)
            guard let signature = await sign(Self.signed(body)).map(Self.text),
                body.utf8.count + 1 + signature.utf8.count <= Self.longest
            else { return nil }
            (self.link, self.signature, text) = (link, signature, "\(body).\(signature)")
            signed = Self.signed(body)
        }

        /// What is signed for the form that carries out the link; no link has this text.
        public var form: String { "vedette form \(text)" }

        /// Returns bytes in base64url without padding.
        public static func text(_ bytes: [UInt8]) -> String {
            String(
                Base64.encode(bytes).compactMap { digit -> Character? in
                    switch digit {
                    case "+": "-"
                    case "/": "_"
                    case "=": nil
                    default: digit
                    }
                })
        }

        private static func signed(_ body: String) -> String { "vedette link \(body)" }

        private static func bytes(_ text: String) -> [UInt8]? {
            Base64.decode(String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }))
        }
    }

    private var body: [UInt8] {
        JSON.members([
            "do": .string(action.rawValue), "rule": .string(rule), "source": .string(subject.source),
            "key": subject.key.map(JSON.string), "match": .string(match), "end": .number(expires.milliseconds),
        ]).bytes
    }

    private init?(body: [UInt8]) {
        guard let json = try? JSON(parsing: body), let action = json["do"]?.string.flatMap(Action.init),
            let rule = json["rule"]?.string, let source = json["source"]?.string, let match = json["match"]?.string,
            let end = json["end"]?.int64, (0...Self.latest).contains(end)
        else { return nil }
        self.init(
            action, rule: rule, Subject(source: source, key: json["key"]?.string), match: match,
            from: Timestamp(milliseconds: end).advanced(by: .zero - Self.lifetime))
    }

    /// The year 9999, so that no sum of a forged time overflows.
    private static let latest: Int64 = 253_402_300_799_000
}
