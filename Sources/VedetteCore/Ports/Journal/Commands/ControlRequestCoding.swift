// SPDX-License-Identifier: Apache-2.0

extension ControlRequest {
    /// The request as a journal stores it.
    public var columns: (verb: String, argument: String) {
        switch self {
        case .accept(let source): ("accept", source)
        case .poll(let source): ("poll", source)
        case .acknowledge(let rule, let subject, let acknowledgement):
            (
                "acknowledge",
                JSON.members([
                    "rule": .string(rule), "source": .string(subject.source), "key": subject.key.map(JSON.string),
                    "acknowledged": acknowledgement?.json,
                ]).text
            )
        case .reloadSilences: ("silences", "")
        case .retry(let sink): ("retry", sink)
        case .reloadQueue(let sink): ("reread", sink)
        case .unknown(let verb): (verb, "")
        }
    }

    /// Reads a stored request; a verb of another version is kept.
    public init(verb: String, argument: String) {
        switch verb {
        case "accept": self = .accept(source: argument)
        case "poll": self = .poll(source: argument)
        case "acknowledge":
            guard let json = try? JSON(parsing: Array(argument.utf8)), let rule = json["rule"]?.string,
                let source = json["source"]?.string
            else {
                self = .unknown(verb: verb)
                return
            }
            self = .acknowledge(
                rule: rule, subject: Subject(source: source, key: json["key"]?.string),
                json["acknowledged"].flatMap(Acknowledgement.init(json:)))
        case "silences": self = .reloadSilences
        case "retry": self = .retry(sink: argument)
        case "reread": self = .reloadQueue(sink: argument)
        default: self = .unknown(verb: verb)
        }
    }
}
