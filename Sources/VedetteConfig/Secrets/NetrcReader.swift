// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

extension Netrc {
    /// Finds user and password of a host in a file, which must be as private as the file of a secret.
    /// - Returns: with a warning about the file. An error contains nothing of the file.
    static func find(
        _ host: String, in path: String
    ) throws(SecretOrigin.Problem) -> (user: String, password: String, warning: String?) {
        let name = "the netrc file '\(path)'"
        let (text, warning) = try SecretFile.privateText(of: path, name, most: 1 << 20)
        let netrc: Netrc
        do throws(Netrc.Problem) {
            netrc = try Netrc(text)
        } catch {
            throw SecretOrigin.Problem(detail: "\(name) cannot be used: line \(error.line): \(error.detail)")
        }
        guard let login = netrc.login(for: host) else {
            throw SecretOrigin.Problem(
                detail: "\(name) has no entry for '\(host)'; add 'machine \(host) login NAME password SECRET' to it")
        }
        guard let user = login.user, let password = login.password else {
            let missing = login.user == nil ? "login" : "password"
            throw SecretOrigin.Problem(detail: "\(name) lacks '\(missing)' for '\(host)'; add it")
        }
        let isGood = [user, password].allSatisfy { text in
            !text.isEmpty && !text.unicodeScalars.contains { $0 == "\n" || $0 == "\r" || $0 == "\0" }
        }
        guard isGood, !user.contains(":") else {
            throw SecretOrigin.Problem(
                detail: "\(name) has a login or password for '\(host)' that is empty, holds a line end, "
                    + "or a login with ':' (RFC 7617)")
        }
        return (user, password, warning)
    }
}

extension AuthenticationReader {
    /// Reads `netrc`: `true` for `~/.netrc`, or a path. The password is read again when it is refused, as every secret.
    func netrc(_ map: MapReader, host: String?, isDigest: Bool) -> Credentials? {
        guard let text = map.text("netrc"), let node = map.value("netrc") else { return nil }
        guard text != "false" else {
            findings.error(node.place, "'netrc: false' has no effect; remove it")
            return nil
        }
        guard let host else { return nil }
        guard values.secrets.reads else { return .basic(user: "", password: Secret("")) }
        let home = values.secrets.environment["HOME"].map { $0 + "/.netrc" }
        guard let path = text == "true" ? home : map.path("netrc") else {
            findings.error(node.place, "'netrc: true' means ~/.netrc, but $HOME is not set; name the file")
            return nil
        }
        do throws(SecretOrigin.Problem) {
            let (user, password, warning) = try Netrc.find(host, in: path)
            if let warning { findings.warn(node.place, warning) }
            let secret = Secret(password) {
                (try? await SystemThread.run { try? Netrc.find(host, in: path).password }) ?? nil
            }
            values.secrets.watch(secret, in: path)
            return isDigest ? .digest(user: user, password: secret) : .basic(user: user, password: secret)
        } catch {
            findings.error(node.place, error.detail)
            return nil
        }
    }
}
