// SPDX-License-Identifier: Apache-2.0

extension ReadError {
    /// The error of a response without a usable body; nil for a body.
    /// - Parameters:
    ///   - method: of the request.
    ///   - mayBeEmpty: an empty body is read like any other.
    public init?(_ response: Response, method: String, mayBeEmpty: Bool) {
        if response.status == 304 {
            self.init(.protocol, "the server answered 'not modified' to a request that set no condition")
        } else if let failure = Failure(status: response.status, method: method) {
            self.init(status: response.status, failure)
        } else if response.body.isEmpty, !mayBeEmpty {
            let detail =
                "the answer was \(response.status) with an empty body; a server may do so for a User-Agent that it does "
                + "not know"
            self.init(.empty, detail)
        } else {
            return nil
        }
    }

    /// The error of a status.
    public init(status: Int, _ failure: Failure) {
        let remedy =
            switch failure {
            case .incomplete: ReadError.incompleteness(of: status)
            case .unauthorized: "; check user and password"
            case .forbidden: "; these credentials may not read it"
            case .notFound: "; check the path"
            case .gone: ": it is gone for good; it is asked once a day until the source is removed or has another url"
            case .redirect: "; write the new address as the source's url"
            default: ""
            }
        self.init(failure, "the server answered \(status)\(remedy)")
    }

    /// Names what a success without a complete representation is (RFC 9110 §15.3, RFC 4918 §11.1, RFC 3229 §10.4.1).
    private static func incompleteness(of status: Int) -> String {
        let name =
            switch status {
            case 202: "accepted: the answer is not ready yet"
            case 204: "no content"
            case 205: "reset content"
            case 206: "partial content, though no range was asked for"
            case 207: "multi-status, which is complete for PROPFIND and REPORT alone"
            case 226: "IM used: the difference to an earlier answer"
            default: "neither 200 nor 203"
            }
        return " (\(name)); it is not read as a complete list"
    }
}
