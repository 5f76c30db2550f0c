// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore
import VedetteSinks
import VedetteSystem

/// The keys of links, and the links that were used, in files. A message does not wait long for a file system that hangs, and
/// the log says why it has no links.
struct LinkFiles: ActionLinkStore {
    private let files: LinkDirectory
    private let clock: any VedetteCore.Clock
    private let log: any Log
    private let queue: BlockingQueue
    private let limit: Duration

    /// - Parameters:
    ///   - directory: is created when the first key is.
    ///   - limit: how long one call of the file system may take.
    init(
        directory: String, clock: any VedetteCore.Clock, log: any Log, queue: BlockingQueue = BlockingQueue(),
        limit: Duration = .seconds(5)
    ) {
        (files, self.clock, self.log) = (LinkDirectory(path: directory), clock, log)
        (self.queue, self.limit) = (queue, limit)
    }

    func sign(_ text: String, day: Int64, makesKey: Bool) async -> [UInt8]? {
        guard ActionLink.isKept(day: day, at: clock.now().wall) else { return nil }
        let key = makesKey ? await madeKey(day) : await storedKey(day)
        return key.flatMap { MessageAuthentication.code(of: Array(text.utf8), key: $0) }
    }

    func use(_ token: ActionLink.Token) async -> ActionLink.Use {
        let (now, decision) = (clock.now().wall, Decision())
        do throws(LinkDirectory.Problem) {
            return try await run { [files] () throws(LinkDirectory.Problem) in
                guard try files.note(token) else { return .again }
                files.removeOld(at: now)
                if !decision.take(.kept) { files.remove(token) }
                return .first
            }
        } catch {
            // A call that ends late takes its note back, since the person was told that nothing was done.
            guard decision.take(.abandoned) else { return .first }
            log.log(.warning, "failed to note that a link is used, so it did nothing: \(error.detail)")
            return .failed
        }
    }

    func release(_ token: ActionLink.Token) async {
        _ = try? await queue.run(within: limit) { [files] in files.remove(token) }
    }

    /// Logs nothing: everybody can show a link.
    private func storedKey(_ day: Int64) async -> [UInt8]? {
        let key = try? await run { [files] () throws(LinkDirectory.Problem) in try files.key(day) }
        guard case .good(let bytes)? = key else { return nil }
        return bytes
    }

    private func madeKey(_ day: Int64) async -> [UInt8]? {
        let now = clock.now().wall
        do throws(LinkDirectory.Problem) {
            let made = try await run { [files] () throws(LinkDirectory.Problem) in try files.makeKey(day, at: now) }
            if let reason = made.replaced {
                log.log(.warning, "replaced a key of links, which makes earlier links invalid: \(reason)")
            }
            return made.key
        } catch {
            log.log(.warning, "failed to sign links, so a message has none: \(error.detail)")
            return nil
        }
    }

    private func run<Value: Sendable>(
        _ call: @escaping @Sendable () throws(LinkDirectory.Problem) -> Value
    ) async throws(LinkDirectory.Problem) -> Value {
        let result: Result<Value, LinkDirectory.Problem>
        do throws(BlockingQueue.Refusal) {
            result = try await queue.run(within: limit) { Result(catching: call) }
        } catch {
            let reason = error == .cancelled ? "it was stopped" : "\(files.path) does not answer; check its file system"
            throw LinkDirectory.Problem(detail: reason)
        }
        return try result.get()
    }
}

/// What became of a note that may be made after nobody waits for it any more. The first to decide is right.
private final class Decision: Sendable {
    enum Outcome { case kept, abandoned }

    private let outcome = Mutex<Outcome?>(nil)

    /// Returns whether that is the outcome.
    func take(_ wish: Outcome) -> Bool {
        outcome.withLock { outcome in
            outcome = outcome ?? wish
            return outcome == wish
        }
    }
}
