// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore
import VedetteEngine

/// `run` in the foreground: watches until SIGTERM or SIGINT, reloads on SIGHUP or a changed file.
struct Daemon {
    private enum Cause: Sendable {
        case signal(Int32)
        case filesChanged
        case hourPassed
        case secondPassed
    }

    let house: App
    let loader: ConfigurationLoader

    /// - Parameters:
    ///   - configuration: what the house was made of.
    ///   - signals: heard since before the house stood.
    func run(_ configuration: Configuration, _ signals: Signals) async throws {
        let notifier = ServiceNotifier()
        let (causes, continuation) = AsyncStream.makeStream(of: Cause.self)
        var configuration = configuration
        var rack = house.rack
        let forwarders = forward(signals, to: continuation)
        let watching = Task { await house.watcher.run() }
        notifier.ready()
        house.log.log(.notice, "watching \(counted(configuration.sources.count, "source"))")
        for await cause in causes {
            switch cause {
            case .signal(SIGHUP), .filesChanged:
                notifier.reloading()
                if let fresh = await reload(&rack) { configuration = fresh }
                notifier.ready()
            case .signal: continuation.finish()
            case .hourPassed: await house.prune(configuration)
            case .secondPassed: await house.takeRequests()
            }
        }
        notifier.stopping()
        house.log.log(.notice, "stopping")
        await house.watcher.stop()
        await watching.value
        await house.close()
        for forwarder in forwarders { forwarder.cancel() }
    }

    private func forward(
        _ signals: Signals, to continuation: AsyncStream<Cause>.Continuation
    ) -> [Task<Void, Never>] {
        let directory = loader.directoryInUse ?? ""
        let watch = DirectoryWatch([directory, directory + "/rules"])
        let (clock, stream) = (house.clock, signals.stream)
        return [
            Task {
                var isStopping = false
                for await number in stream {
                    // Whoever asks twice does not want to wait for what is under way; it stays owed.
                    if isStopping, number != SIGHUP { Glibc._exit(128 + number) }
                    isStopping = isStopping || number != SIGHUP
                    continuation.yield(.signal(number))
                }
            },
            Task {
                for await _ in watch.changes {
                    // An editor writes a file in several steps.
                    guard (try? await clock.sleep(until: clock.now().boot.advanced(by: .milliseconds(200)))) != nil
                    else { return }
                    continuation.yield(.filesChanged)
                }
            },
            ticker(.seconds(3600)) { continuation.yield(.hourPassed) },
            ticker(.seconds(1)) { continuation.yield(.secondPassed) },
        ]
    }

    private func ticker(_ interval: Duration, _ tick: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let clock = house.clock
        return Task {
            while !Task.isCancelled {
                tick()
                guard (try? await clock.sleep(until: clock.now().boot.advanced(by: interval))) != nil else { return }
            }
        }
    }

    /// All or nothing: with any error the old set goes on.
    private func reload(_ rack: inout SinkRegistry) async -> Configuration? {
        let loaded = loader.load()
        for diagnostic in loaded.diagnostics { house.log.log(.warning, diagnostic.description) }
        guard let configuration = loaded.configuration else {
            house.log.log(.error, "the configuration has errors; the old one stays in force")
            return nil
        }
        do throws(JournalError) {
            rack = try await house.reload(configuration, rack: rack)
            house.log.log(
                .notice,
                "reloaded: \(counted(configuration.sources.count, "source")), \(counted(configuration.rules.count, "rule"))"
            )
            return configuration
        } catch {
            house.log.log(.error, "the new configuration was not taken: \(error.detail)")
            return nil
        }
    }
}
