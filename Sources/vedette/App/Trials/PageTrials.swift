// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteHTTP
import VedettePage
import VedetteSources
import VedetteSystem

/// Tries addresses and rules for the page, on threads of their own: a trial that works long delays no poll. It reads the files
/// of the configuration without secrets and, for a rule, the journal; it writes nothing.
struct PageTrials: Trials {
    /// Without secrets.
    let loader: ConfigurationLoader
    let journal: any JournalAccess

    /// What bounds the requests of a trial. They go through no proxy, since nobody could check which address that connects to.
    static func bounds(privateAt places: Set<String>) -> ProbeTarget.Bounds {
        ProbeTarget.Bounds(
            total: .seconds(8), body: (4 << 20, 8 << 20), reach: .privateOnly(at: places), isDirect: true,
            namesOptions: false)
    }

    func address(_ address: String, privateAt places: Set<String>) async throws(TrialProblem) -> AddressTrial {
        do {
            // A file is none of the addresses that the page takes.
            guard WebURL(address) != nil else { throw Exit(.usage, "this is no http or https address") }
            let target = try ProbeTarget(address, bounds: PageTrials.bounds(privateAt: places))
            // With connections, cookies and memory of its own, it takes nothing from the polls.
            let client = try HTTPClient()
            let prober = Prober(target: target, loader: loader)
            let result: Result<AddressTrial, any Error> = await withTaskExecutorPreference(client.executor) {
                do { return .success(AddressTrial(try await prober.probe(client))) } catch { return .failure(error) }
            }
            await client.shutdown()
            return try result.get()
        } catch {
            throw .failed(Exit(error).description)
        }
    }

    func rule(_ yaml: String, from start: Timestamp, to end: Timestamp) async throws(TrialProblem) -> RuleTrial {
        let run = RuleTrialRun()
        let result: Result<RuleTrial, any Error> = await withTaskCancellationHandler {
            do {
                return .success(try await rule(yaml, from: start, to: end, run))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            run.cancel()
        }
        do {
            return try result.get()
        } catch {
            throw .failed(Exit(error).description)
        }
    }

    private func rule(
        _ yaml: String, from start: Timestamp, to end: Timestamp, _ run: RuleTrialRun
    ) async throws -> RuleTrial {
        let (rules, diagnostics) = try await SystemThread.run { [loader] in loader.rules(trying: yaml) }
        let errors = diagnostics.filter { $0.severity == .error }
        guard errors.isEmpty else {
            throw Exit(.configuration, errors.prefix(5).map(\.description).joined(separator: "; "))
        }
        guard !rules.isEmpty else {
            throw Exit(.configuration, "there is no rule; write one as a file of rules has it")
        }
        run.begin(rules, diagnostics.map(\.description), until: end)
        let reader = try await journal.reader()
        for try await page in reader.allEvents(EventFilter(since: start)) {
            guard try await SystemThread.run({ run.play(page) }) else { break }
        }
        return try await SystemThread.run { run.finish() }
    }
}

extension AddressTrial {
    init(_ finding: Prober.Finding) {
        self.init(
            kind: finding.found.proposal.kind, summary: finding.summary,
            notes: [finding.redirection].compactMap { $0 } + finding.found.warnings, items: finding.found.items,
            yaml: finding.text.lines.joined(separator: "\n") + "\n")
    }
}
