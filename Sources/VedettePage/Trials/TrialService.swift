// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Checks what a person wants to try, and has it tried. The page and the API share one.
public struct TrialService: Sendable {
    /// The paths whose requests are cancelled when their client closes its connection.
    public static let paths: Set<String> = ["/try", TrialRoutes.probe, TrialRoutes.test]
    /// The period whose events are played unless another one is asked for.
    static let usualPeriod = "7d"

    private let trials: any Trials
    private let slot: TrialSlot
    private let clock: any Clock
    private let configuration: @Sendable () async -> ConfigurationFacts

    /// - Parameter configuration: returns the one in force, whose sources decide which private addresses are requested.
    public init(
        _ trials: any Trials, clock: any Clock, configuration: @escaping @Sendable () async -> ConfigurationFacts
    ) {
        (self.trials, self.clock, self.configuration) = (trials, clock, configuration)
        slot = TrialSlot(clock)
    }

    /// Requests an address and proposes how to watch it.
    func address(_ text: String) async throws(TrialProblem) -> AddressTrial {
        guard let url = WebURL(text.trimmed()) else {
            throw .failed(
                "this is no address that can be tried; write it whole, as https://host/path, and without a password in it"
            )
        }
        let places = Set(await configuration().sources.compactMap { WebURL($0.url)?.hostAndPort })
        return try await slot.run { [trials] () async throws(TrialProblem) in
            try await trials.address(url.text, privateAt: places)
        }
    }

    /// Plays the events of the last period against a rule.
    /// - Parameter period: such as `7d`.
    func rule(_ yaml: String, since period: String) async throws(TrialProblem) -> RuleTrial {
        guard let length = Duration(configured: period.trimmed()), length > .zero else {
            throw .failed("\(quoted(period)) is no period; write it as 7d or 12h")
        }
        guard !yaml.trimmed().isEmpty else { throw .failed("there is no rule; write one as a file of rules has it") }
        let end = clock.now().wall
        return try await slot.run { [trials] () async throws(TrialProblem) in
            try await trials.rule(yaml, from: end.advanced(by: .zero - length), to: end)
        }
    }
}
