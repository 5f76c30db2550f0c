// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Finds user and password of a host in a netrc file, which must be as private as the file of a secret. The password is
/// read again when it is refused, as every secret.
struct NetrcReader {
    let environment: [String: String]

    struct Problem: Error {
        /// What is wrong, and what to do. It contains nothing of the file.
        var detail: String
    }

    struct Found {
        var user: String
        var password: String
        /// A warning about the file; nil for none.
        var warning: String?
    }

    /// - Parameter path: absolute; nil for `~/.netrc`.
    func find(_ host: String, in path: String?) throws(Problem) -> Found {
        guard let path = file(path) else {
            throw Problem(detail: "'netrc: true' means ~/.netrc, but $HOME is not set; name the file")
        }
        let name = "the netrc file '\(path)'"
        let (text, isShared) = try content(of: path, name)
        let netrc: Netrc
        do throws(Netrc.Problem) {
            netrc = try Netrc(text)
        } catch {
            throw Problem(detail: "\(name) cannot be used: line \(error.line): \(error.detail)")
        }
        guard let login = netrc.login(for: host) else {
            throw Problem(
                detail: "\(name) has no entry for '\(host)'; add 'machine \(host) login NAME password SECRET' to it")
        }
        guard let user = login.user, let password = login.password else {
            throw Problem(detail: "\(name) lacks '\(login.user == nil ? "login" : "password")' for '\(host)'; add it")
        }
        guard NetrcReader.isOneLine(user), !user.contains(":"), NetrcReader.isOneLine(password) else {
            throw Problem(
                detail: "\(name) has a login or password for '\(host)' that is empty, holds a line end, "
                    + "or a login with ':' (RFC 7617)")
        }
        let warning = isShared ? "\(name) can be read by its group; write 'chmod 600 \(path)'" : nil
        return Found(user: user, password: password, warning: warning)
    }

    /// Returns the file that is read.
    func file(_ path: String?) -> String? { path ?? environment["HOME"].map { $0 + "/.netrc" } }

    private func content(of path: String, _ name: String) throws(Problem) -> (text: String, isShared: Bool) {
        switch BoundedFile.read(path, most: 1 << 20) {
        case .failure(let problem): throw Problem(detail: "\(name) cannot be used: \(problem.detail)")
        case .success(let file):
            guard file.mode & 0o007 == 0 else {
                throw Problem(detail: "\(name) can be read or changed by other users; write 'chmod 600 \(path)'")
            }
            guard let text = String(validating: file.bytes, as: UTF8.self) else {
                throw Problem(detail: "\(name) is not UTF-8; save it as UTF-8")
            }
            return (text, file.mode & 0o070 != 0)
        }
    }

    private static func isOneLine(_ text: String) -> Bool {
        !text.isEmpty && !text.unicodeScalars.contains { $0 == "\n" || $0 == "\r" || $0 == "\0" }
    }
}

extension AuthenticationReader {
    /// Reads `netrc`: `true`, or a path.
    func netrc(_ map: MapReader, host: String?, isDigest: Bool) -> Credentials? {
        guard let text = map.text("netrc"), let node = map.value("netrc") else { return nil }
        guard text != "false" else {
            findings.error(node.place, "'netrc: false' has no effect; remove it")
            return nil
        }
        guard let host else { return nil }
        guard values.secrets.reads else { return .basic(user: "", password: Secret("")) }
        let path = text == "true" ? nil : map.path("netrc")
        let reader = NetrcReader(environment: values.secrets.environment)
        do throws(NetrcReader.Problem) {
            let found = try reader.find(host, in: path)
            if let warning = found.warning { findings.warn(node.place, warning) }
            let secret = Secret(found.password) {
                (try? await SystemThread.run { try? reader.find(host, in: path).password }) ?? nil
            }
            if let file = reader.file(path) { values.secrets.watch(secret, in: file) }
            return isDigest ? .digest(user: found.user, password: secret) : .basic(user: found.user, password: secret)
        } catch {
            findings.error(node.place, error.detail)
            return nil
        }
    }
}
